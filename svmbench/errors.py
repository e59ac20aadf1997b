"""Errors that are not bugs of the program, and their exit codes.

Every such error is one line: where, what, what to do. The command line prints it and exits
with its code; ``--debug`` adds a traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection


class SvmbenchError(Exception):
    """An error with a message for the user and an exit code."""

    exit_code = 1


class ConfigError(SvmbenchError):
    """An invalid configuration or command line."""

    exit_code = 2


class UnwritableError(ConfigError):
    """A full disk, or a path that is not writable."""


class DataError(SvmbenchError):
    """A data set that is missing, unreadable or does not match its checksum."""

    exit_code = 3


def nearest(name: str, known: Collection[str]) -> str:
    """Advice on an unknown name: the most similar known name, or all of them."""
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"known: {', '.join(known)}" if known else "remove it"
