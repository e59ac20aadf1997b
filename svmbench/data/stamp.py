"""What tells that a file has changed, without reading it."""

from __future__ import annotations

import time
from pathlib import Path

from svmbench.errors import DataError

Stamp = tuple[str, int, int, int, int]

#: Longest time between two changes that a file system may give the same time: Linux's slowest tick.
_TICK_SECONDS = 0.02


def stamp(path: Path) -> Stamp:
    """Resolved path, number (inode), size, and times of modification and of change, in ns.

    A file replaced by another has another number. One that is written in place has a later time
    of change, even if its size is the same and its time of modification was set back.
    """
    return str(path.resolve()), *_state(path)


def stamps_in(folder: Path) -> tuple[Stamp, ...]:
    """The stamps of the files in a folder, each with its name in place of its path."""
    return tuple((file.name, *_state(file)) for file in sorted(folder.iterdir()))


def _state(path: Path) -> tuple[int, int, int, int]:
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns


def stamp_before_reading(path: Path) -> Stamp | None:
    """The stamp of a file that is about to be read; None if it is missing.

    A further change in the same tick of the file system's clock would not show: it waits for the
    next.
    """
    try:
        found = stamp(path)
        if 0.0 <= time.time() - found[-1] * 1e-9 < _TICK_SECONDS:
            time.sleep(_TICK_SECONDS)
            found = stamp(path)
    except (OSError, ValueError):
        return None  # reading it will say why
    return found


def require_unchanged(path: Path, before: Stamp | None) -> None:
    """Refuse what was read of a file that has changed since."""
    try:
        now = stamp(path)
    except OSError:
        now = None
    if now is None or now != before:
        raise DataError(
            f"{path}: it was changed or replaced while it was read; run again once it is complete"
        )
