"""The memory that is free, and refusing in one line what does not fit into it."""

from __future__ import annotations

from pathlib import Path

from svmbench.errors import DataError


def available_memory() -> int | None:
    """Bytes of memory that are free to be taken, where the system tells."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) * 1024
    return None


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse work that takes more memory than is free.

    Parameters
    ----------
    needed : int
        Bytes.
    what : str
        The data set and the work, as the subject of "needs".
    remedy : str
        What the user can do.

    Raises
    ------
    DataError
        Where the system tells how much memory is free, and that is less.
    """
    available = available_memory()
    if available is not None and needed > available:
        raise DataError(
            f"{what} needs {needed / 1e9:,.1f} GB of memory,"
            f" and {available / 1e9:,.1f} GB are free; {remedy}"
        )
