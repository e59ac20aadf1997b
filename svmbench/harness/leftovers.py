"""Ends the processes that a solver has started and left, so that their time can be counted."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from contextlib import suppress

from svmbench.harness.system import PROC, read

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends, where the system can do that.

    A process that a solver has detached is then found by `end_children`.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children() -> tuple[int, float]:
    """Kill all children, and their children in turn, and wait for them.

    Returns
    -------
    count : int
        Of the processes.
    seconds : float
        Processor time that they used.
    """
    count, seconds = 0, 0.0
    while True:
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:  # those that live include the children of those that have ended
                for number in _children():
                    with suppress(ProcessLookupError):
                        os.kill(number, signal.SIGKILL)
                _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return count, seconds
        count += 1
        seconds += usage.ru_utime + usage.ru_stime


def _children() -> list[int]:
    own = os.getpid()
    found = []
    for place in PROC.glob("[0-9]*"):
        text = read(place / "stat")
        if text and int(text.rpartition(")")[2].split()[1]) == own:
            found.append(int(place.name))
    return found
