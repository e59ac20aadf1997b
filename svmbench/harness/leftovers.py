"""Ends the processes that a solver has started and left, so that their time can be counted."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Collection

from svmbench.harness.child import processor_seconds
from svmbench.harness.system import PROC, read

_PR_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends, where the system can do that.

    A process that a solver has detached is then found by `end_children`.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_children(kept: Collection[int] = ()) -> tuple[int, float]:
    """Kill all children, and their children in turn, and wait for them.

    - ``kept``: ids of those that live on, as those do that this process may not kill. Without
      /proc, all do.
    """
    count, seconds, living = 0, 0.0, set(kept)
    while True:
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:  # those that live include the children of those that have ended
                killed = [number for number in _children() if number not in living]
                if not killed:
                    return count, seconds
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
            return count, seconds
        count += 1
        seconds += usage.ru_utime + usage.ru_stime


def descendants() -> dict[int, float]:
    """Processor seconds of each living descendant and of those it has waited for, by its id.

    Empty on systems other than Linux.
    """
    if sys.platform != "linux":
        return {}
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:  # usually there are none, and /proc may be large
        return {}
    processes = _processes()
    found, sought = dict[int, float](), {os.getpid()}
    while sought:
        sought = {number for number, (parent, _) in processes.items() if parent in sought}
        for number in sought:
            found[number] = (processor_seconds(number) or 0.0) + processes[number][1]
    return found


def _children() -> list[int]:
    own = os.getpid()
    return [number for number, (parent, _) in _processes().items() if parent == own]


def _processes() -> dict[int, tuple[int, float]]:
    """Parent of each process, and processor seconds of the children that it has waited for."""
    found = {}
    for place in PROC.glob("[0-9]*"):
        text = read(place / "stat")
        if text:
            fields = text.rpartition(")")[2].split()
            ticks = int(fields[13]) + int(fields[14])  # cutime, cstime
            found[int(place.name)] = int(fields[1]), ticks / os.sysconf("SC_CLK_TCK")
    return found
