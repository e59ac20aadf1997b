"""Ends the processes that a solver has started and left, so that their time can be counted."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Collection

from svmbench.harness.system import PROC, read

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends, so that `end_children` finds them."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children(kept: Collection[int] = ()) -> float:
    """Kill all children but those kept, and theirs in turn; return their processor seconds."""
    seconds, living = 0.0, set(kept)
    while True:
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:  # those that live include the children of those that have ended
                killed = children() - living
                if not killed:
                    return seconds
                for number in killed:
                    try:
                        os.kill(number, signal.SIGKILL)
                    except ProcessLookupError:
                        pass
                    except PermissionError:  # it runs as another user
                        living.add(number)
                if living.issuperset(killed):
                    continue
                _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            return seconds
        seconds += usage.ru_utime + usage.ru_stime


def children() -> set[int]:
    """The ids of the children that have not been waited for; none are known but on Linux."""
    if sys.platform != "linux":
        return set()
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # usually there are none, and /proc may be large
        return set()
    own, found = str(os.getpid()), set[int]()
    for place in PROC.glob("[0-9]*"):
        text = read(place / "stat")
        if text and text.rpartition(")")[2].split()[1] == own:
            found.add(int(place.name))
    return found
