"""Ends the processes that a solver has started and left, so that their time can be counted."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

from svmbench.harness.system import PROC, read

_PR_SET_CHILD_SUBREAPER = 36

#: Rounds in which children are killed: each round ends those that the last one has orphaned.
ROUNDS = 100


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends, where the system can do that.

    A process that a solver has detached is then found by `end_children`.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children() -> None:
    """Kill all children, and their children in turn, and wait for them."""
    with suppress(ChildProcessError):  # there are none, or no more
        for _ in range(ROUNDS):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
            for number in _children():
                os.kill(number, signal.SIGKILL)  # it is ours until we have waited for it
            os.waitpid(-1, 0)


def _children() -> list[int]:
    own = os.getpid()
    found = []
    for place in PROC.glob("[0-9]*"):
        text = read(place / "stat")
        if text and int(text.rpartition(")")[2].split()[1]) == own:
            found.append(int(place.name))
    return found
