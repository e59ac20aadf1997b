"""Errors that are not bugs of the program, and their exit codes.

Every such error is one line: where, what, what to do. The command line prints it and exits
with its code; ``--debug`` adds a traceback.
"""

from __future__ import annotations

import errno
import stat
from collections.abc import Collection
from pathlib import Path


class SvmbenchError(Exception):
    """An error with a message for the user and an exit code."""

    exit_code = 1


class ConfigError(SvmbenchError):
    """An invalid configuration or command line."""

    exit_code = 2


class UnwritableError(ConfigError):
    """A full disk, or a path that is not writable."""


class InterruptedRunError(SvmbenchError):
    """What keeps a run from being made and is no fault of its solver: the run is repeated."""


class DataError(SvmbenchError):
    """A data set that is missing, unreadable or does not match its checksum."""

    exit_code = 3


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says that there was no memory.

    NumPy and CPython forget to say so in some places, and CPython then raises a SystemError. It
    raises a RuntimeError where a lock gets no memory.
    """
    forgotten = ("returned NULL without setting an exception", "error return without exception set")
    return (
        isinstance(error, MemoryError)
        or (isinstance(error, SystemError) and str(error).endswith(forgotten))
        or (isinstance(error, RuntimeError) and str(error) == "can't allocate lock")
    )


#: Characters of another program's message that are shown.
_SHOWN = 300


def message_of(error: BaseException) -> str:
    """The message of an exception that is not our own, on one line and cut to a fit length."""
    return " ".join(str(error).split())[:_SHOWN] or "no message"


#: Errors of a system that is short of open files or memory.
_SHORT = (errno.EMFILE, errno.ENFILE, errno.ENOMEM)


def is_endless(path: Path) -> bool:
    """Whether a pipe or a device is there: whoever opens or reads it may wait without end."""
    try:
        kind = path.stat().st_mode
    except (OSError, ValueError):
        return False  # opening it says what is wrong
    return not (stat.S_ISREG(kind) or stat.S_ISDIR(kind))


def unopened(error: BaseException, path: object) -> DataError | None:
    """The error to show when a file could not be opened for want of the system's resources.

    Such a file must not be taken for a damaged one, which would be made again. None for any other
    error.
    """
    if lacks_memory(error):
        why = str(error) or "no memory left"
    elif isinstance(error, OSError) and error.errno in _SHORT:
        why = error.strerror or ""
    else:
        return None
    return DataError(
        f"{path}: cannot be opened ({why}); allow more (ulimit -n, memory), then give the same"
        " command again"
    )


#: A line does not list more names than these if a command lists them.
_MOST_LISTED = 15


def nearest(name: str, known: Collection[str], listed_by: str = "") -> str:
    """Advice on an unknown name: the most similar known name, or all of them."""
    import difflib  # slow to load, and most commands know their names

    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    if listed_by and len(known) > _MOST_LISTED:
        return f"'{listed_by}' lists the known ones"
    return f"known: {', '.join(known)}" if known else "remove it"
