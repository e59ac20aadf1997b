"""Runs a program, measures its time and keeps the end of what it prints."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from resource import struct_rusage
from time import perf_counter_ns, thread_time_ns
from typing import NamedTuple

#: Bytes of a program's output that are kept; all of it is read, however much it prints.
KEPT = 1 << 16

#: Seconds to wait for the end of the output of a program that has ended.
_AFTER = 0.2


class Execution(NamedTuple):
    """How a program ran."""

    code: int  # its exit code; negative for a signal
    # nanoseconds from its start to the end of its output, which a process that it has left may hold
    # open
    wall: int
    cpu: int  # nanoseconds of processor time of the program and of the processes it waited for
    reading: int  # nanoseconds of processor time that reading its output took this process
    said: str  # the end of its output, both streams together
    late: bool  # whether it was killed because its time was over

    @property
    def last_line(self) -> str:
        """The last line that it printed; empty if there is none."""
        lines = self.said.strip().splitlines()
        return lines[-1] if lines else ""


class _Output:
    """Reads a pipe to its end in a thread of its own."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._kept = b""
        self.cpu = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        begun = thread_time_ns()
        with os.fdopen(self._descriptor, "rb", buffering=0) as pipe:
            while part := pipe.read(KEPT):
                self._kept = (self._kept + part)[-KEPT:]
                self.cpu = thread_time_ns() - begun

    def close(self) -> str:
        """Wait for the end, but not for processes that the program left; return what is kept."""
        self._thread.join(_AFTER)
        return self._kept.decode(errors="replace")


def execute(words: Sequence[str], limit: float | None = None) -> Execution:
    """Run a program to its end, in a process group of its own, and kill what it leaves there."""
    receiving, sending = os.pipe()
    output = _Output(receiving)
    begun = perf_counter_ns()
    try:
        process = subprocess.Popen(
            words,
            stdin=subprocess.DEVNULL,
            stdout=sending,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    finally:
        os.close(sending)
    late = threading.Event()

    def kill() -> None:
        late.set()
        _kill_group(process.pid)

    timer = None if limit is None else threading.Timer(limit, kill)
    if timer is not None:
        timer.start()
    ended = _wait(process.pid)
    if timer is not None:
        timer.cancel()
    _kill_group(process.pid)
    said = output.close()
    wall = perf_counter_ns() - begun
    if timer is not None:
        timer.join()
    _, status, usage = ended or os.wait4(process.pid, 0)
    # Popen did not wait itself: from here on, its id may belong to another process.
    process.returncode = os.waitstatus_to_exitcode(status)
    return Execution(process.returncode, wall, _spent(usage), output.cpu, said, late.is_set())


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
