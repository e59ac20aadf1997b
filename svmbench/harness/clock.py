"""The only clock, and stopwatches for what is not training.

The functions that tell the time are bound here by name. The harness imports this module before any
solver, so a solver that replaces functions of `time` changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter_ns, process_time_ns, thread_time_ns
from typing import NamedTuple


class Clock:
    """Training time: it runs inside ``with clock.running():`` and nowhere else.

    Attributes
    ----------
    wall : int
        Nanoseconds of the monotonic clock.
    cpu : int
        Nanoseconds of processor time of the whole process.
    thread : int
        Nanoseconds of processor time of the calling thread.
    switches : int
        Number of involuntary context switches.
    """

    def __init__(self) -> None:
        self.wall = 0
        self.cpu = 0
        self.thread = 0
        self.switches = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run the clock during the block."""
        switches = getrusage(RUSAGE_SELF).ru_nivcsw
        thread = thread_time_ns()
        cpu = process_time_ns()
        wall = perf_counter_ns()
        try:
            yield
        finally:
            self.wall += perf_counter_ns() - wall
            self.cpu += process_time_ns() - cpu
            self.thread += thread_time_ns() - thread
            self.switches += getrusage(RUSAGE_SELF).ru_nivcsw - switches


class Stopwatch:
    """Time of something that is not training.

    Attributes
    ----------
    wall : int
        Nanoseconds of the monotonic clock.
    thread : int
        Nanoseconds of processor time of the calling thread.
    count : int
        Number of blocks.
    """

    def __init__(self) -> None:
        self.wall = 0
        self.thread = 0
        self.count = 0

    @contextmanager
    def running(self) -> Iterator[None]:
        """Add the time of the block."""
        self.count += 1
        thread = thread_time_ns()
        wall = perf_counter_ns()
        try:
            yield
        finally:
            self.wall += perf_counter_ns() - wall
            self.thread += thread_time_ns() - thread


class Readings(NamedTuple):
    """Readings of all clocks at one moment, in nanoseconds.

    Parameters
    ----------
    wall : int
        Monotonic clock.
    process : int
        Processor time of all threads of this process.
    thread : int
        Processor time of the calling thread.
    children : int
        Processor time of the child processes that have ended and were waited for.
    """

    wall: int
    process: int
    thread: int
    children: int


def now() -> Readings:
    """Read all clocks."""
    children = getrusage(RUSAGE_CHILDREN)
    return Readings(
        perf_counter_ns(),
        process_time_ns(),
        thread_time_ns(),
        int((children.ru_utime + children.ru_stime) * 1e9),
    )
