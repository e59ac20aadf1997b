"""Runs a program, measures its time and keeps the end of what it prints."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from resource import struct_rusage
from time import perf_counter_ns
from typing import NamedTuple

#: Bytes at the end of a program's output that are read, however much it prints.
KEPT = 1 << 16


class Execution(NamedTuple):
    """How a program ran."""

    code: int  # its exit code; negative for a signal
    wall: int  # nanoseconds from its start to its end
    cpu: int  # nanoseconds of processor time of the program and of the processes it waited for
    said: str  # the end of its output, both streams together
    late: bool  # whether it was killed because its time was over

    @property
    def last_line(self) -> str:
        """The last line that it printed; empty if there is none."""
        lines = self.said.strip().splitlines()
        return lines[-1] if lines else ""


def execute(words: Sequence[str], output: Path, limit: float | None = None) -> Execution:
    """Run a program to its end, in a process group of its own, and kill what it leaves there.

    - ``output``: the file to which it prints.

    Raises OSError if it cannot be started.
    """
    with output.open("wb") as printed:
        begun = perf_counter_ns()
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=printed,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    late = threading.Event()

    def kill() -> None:
        late.set()
        _kill_group(process.pid)

    timer = None if limit is None else threading.Timer(limit, kill)
    if timer is not None:
        timer.start()
    ended = _wait(process.pid)
    wall = perf_counter_ns() - begun
    if timer is not None:
        timer.cancel()
    _kill_group(process.pid)
    if timer is not None:
        timer.join()
    _, status, usage = ended or os.wait4(process.pid, 0)
    # Popen did not wait itself: from here on, its id may belong to another process.
    process.returncode = os.waitstatus_to_exitcode(status)
    return Execution(process.returncode, wall, _spent(usage), _end_of(output), late.is_set())


def _end_of(output: Path) -> str:
    with output.open("rb") as printed:
        printed.seek(-min(KEPT, output.stat().st_size), os.SEEK_END)
        return printed.read().decode(errors="replace")


def _wait(pid: int) -> tuple[int, int, struct_rusage] | None:
    """Wait for a process to end; None if it remains to be waited for, and so keeps its id."""
    if not hasattr(os, "waitid"):  # macOS before Python 3.13
        return os.wait4(pid, 0)
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    return None


def _kill_group(leader: int) -> None:
    """Kill a process and all others of its group, if there are any left."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)


def _spent(usage: struct_rusage) -> int:
    return round((usage.ru_utime + usage.ru_stime) * 1e9)
