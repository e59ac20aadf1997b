"""What may go wrong through no fault of the program, and the exit code of each.

Every such error is one line: where, what, what to do. The command line prints it
and leaves with its code; a traceback is shown on ``--debug`` only.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection


class SvmbenchError(Exception):
    """An error whose message is for the user, with the exit code it leads to."""

    exit_code = 1


class ConfigError(SvmbenchError):
    """A configuration or a command line that cannot be run as it is."""

    exit_code = 2


class UnwritableError(ConfigError):
    """A disk that is full, or a place that may not be written to."""


class DataError(SvmbenchError):
    """A data set that is missing, unreadable or not what its checksum says."""

    exit_code = 3


def nearest(name: str, known: Collection[str]) -> str:
    """What to do about an unknown name: the known one it most resembles, or all of them."""
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(known)}" if known else "remove it"
