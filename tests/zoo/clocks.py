"""Solvers that act on the clock, or pass for programs, which state their own time."""

from __future__ import annotations

import gc
import sys
import time
from typing import Literal

from svmbench.kernels.counters import Counters
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.program import ForeignProgram, ProgramParameters, ProgramTime
from zoo.specimen import (
    EPOCHS,
    Hiding,
    Specimen,
    work,
)


class PatchesTime(Specimen):
    """Replaces the functions that tell the time, wherever a module has them by name."""

    name = "patches-time"

    def start(self, problem, seed):
        for module in [time, *(m for n, m in sys.modules.items() if n.startswith("svmbench"))]:
            if getattr(module, "time", None) is time or module is time:
                for function in ("perf_counter", "perf_counter_ns", "monotonic", "process_time"):
                    setattr(time, function, lambda: 0)
        super().start(problem, seed)
        work()


class PatchesClock(Specimen):
    """Replaces the functions that the clock itself has bound."""

    name = "patches-the-clock"

    def start(self, problem, seed):
        clock = sys.modules["svmbench.harness.clock"]
        frozen = clock.perf_counter_ns()
        clock.perf_counter_ns = lambda: frozen
        super().start(problem, seed)
        until = time.monotonic() + 2.0
        while time.monotonic() < until:
            work(0.1)


class StretchesThePass(Specimen):
    """Makes time run a thousand times as fast while the harness measures a pass over the rows."""

    name = "stretches-the-pass"

    def load(self):
        super().load()
        real = time.perf_counter_ns
        time.perf_counter_ns = lambda: 1000 * real()


class StatedParameters(ProgramParameters):
    command: tuple[str, ...] = ("true", "{data}", "{model}")
    model: Literal["text"] = "text"


class StatesItsTime(ForeignProgram):
    """Passes for a command line, whose own time counts, and states a microsecond."""

    name = "states-its-time"
    schema = StatedParameters

    def convert(self, problem):
        pass

    def start(self, problem, seed):
        self.m = problem.data.n_samples
        self.inner = Dcd()
        self.inner.start(problem, seed)
        self.counters = Counters()
        self._bias, self._trained = 0.0, False

    def advance(self, steps):
        if self._trained:
            return
        work()
        self.inner.advance(EPOCHS * self.m)
        self.counters.presentations = self.m
        self._trained = True
        self.spent = ProgramTime(1_000, 1_000, 10**10)

    @property
    def w(self):
        return self.inner.w


class ResetsClock(Specimen):
    """Finds the clock among all objects, and sets it back."""

    name = "resets-the-clock"

    def advance(self, steps):
        super().advance(steps)
        work(0.02)
        for found in gc.get_objects():
            if type(found).__name__ == "Clock":
                found.wall = 0


class BecomesAProgram(Hiding):
    """Takes the class of programs, which state what they took, and states a microsecond."""

    name = "becomes-a-program"

    def start(self, problem, seed):
        super().start(problem, seed)
        self._w, self._bias, self._remark = self.inner.w, 0.0, ""
        self._trained, self.horizon, self.spent = False, "none", None
        self.advance = self.train_as_a_program
        self.__class__ = ForeignProgram

    def train_as_a_program(self, steps):
        if self._trained:
            return
        work()
        self.inner.advance(EPOCHS * self.m)
        self._w, self._trained = self.inner.w, True
        self.counters.presentations = self.m
        self.spent = ProgramTime(1_000, 1_000, 10**10)
