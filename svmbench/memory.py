"""Free memory, and a one-line refusal of work that does not fit into it."""

from __future__ import annotations

from pathlib import Path

from svmbench.errors import DataError


def available_memory() -> int | None:
    """Bytes of free memory; None where the system does not report it."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
    except OSError:
        return None
    for line in lines:
        if line.startswith("MemAvailable"):
            return int(line.split()[1]) * 1024
    return None


def require_memory(needed: int, what: str, remedy: str) -> None:
    """Refuse work that needs more memory than is free.

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
        When the system reports how much memory is free, and it is less.
    """
    available = available_memory()
    if available is not None and needed > available:
        raise DataError(
            f"{what} needs {needed / 1e9:,.1f} GB of memory,"
            f" and {available / 1e9:,.1f} GB are free; {remedy}"
        )
