"""The only clock, and stopwatches for what is not training.

The functions that tell the time are bound here by name. The harness imports this module before any
solver, so a solver that replaces functions of `time` changes nothing.
"""

from __future__ import annotations

from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage
from time import perf_counter_ns, process_time_ns, thread_time_ns
from typing import NamedTuple


class Clock:
    """Nanoseconds of training: it runs inside ``with clock.running():`` and nowhere else."""

    def __init__(self) -> None:
        self.wall = 0
        self.cpu = 0
        self.thread = 0
        self.switches = 0
        # To read the processor time takes a microsecond of it, which is not training.
        self.reading = 0
        taken = []
        for _ in range(5):
            wall, cpu = self.wall, self.cpu
            with self.running():
                pass
            taken.append(self.cpu - cpu - (self.wall - wall))
        self.reading = max(0, min(taken))
        self.wall = self.cpu = self.thread = self.switches = 0

    def running(self) -> _Running:
        return _Running(self)


class _Running:
    """A block of a clock. A generator would take microseconds, some of them on the clock."""

    __slots__ = ("_clock", "_cpu", "_switches", "_thread", "_wall")

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    def __enter__(self) -> None:
        self._switches = getrusage(RUSAGE_SELF).ru_nivcsw
        self._thread = thread_time_ns()
        self._cpu = process_time_ns()
        self._wall = perf_counter_ns()

    def __exit__(self, *_: object) -> None:
        clock = self._clock
        clock.wall += perf_counter_ns() - self._wall
        clock.cpu += max(0, process_time_ns() - self._cpu - clock.reading)
        clock.thread += thread_time_ns() - self._thread
        clock.switches += getrusage(RUSAGE_SELF).ru_nivcsw - self._switches


class Stopwatch:
    """Nanoseconds of something that is not training, and the number of its blocks."""

    def __init__(self) -> None:
        self.wall = 0
        self.thread = 0
        self.count = 0

    def running(self) -> _Watched:
        self.count += 1
        return _Watched(self)


class _Watched:
    __slots__ = ("_thread", "_wall", "_watch")

    def __init__(self, watch: Stopwatch) -> None:
        self._watch = watch

    def __enter__(self) -> None:
        self._thread = thread_time_ns()
        self._wall = perf_counter_ns()

    def __exit__(self, *_: object) -> None:
        self._watch.wall += perf_counter_ns() - self._wall
        self._watch.thread += thread_time_ns() - self._thread


class Readings(NamedTuple):
    """Readings of all clocks at one moment, in nanoseconds."""

    wall: int  # monotonic clock
    process: int  # processor time of all threads of this process
    thread: int  # processor time of the calling thread
    children: int  # processor time of the child processes that have ended and were waited for


def now() -> Readings:
    children = getrusage(RUSAGE_CHILDREN)
    return Readings(
        perf_counter_ns(),
        process_time_ns(),
        thread_time_ns(),
        int((children.ru_utime + children.ru_stime) * 1e9),
    )
