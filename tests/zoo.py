"""Plug-ins that go wrong as one's own may by accident, each with what comes of it."""

from __future__ import annotations

import gc
import signal
import subprocess
import threading
import time
from dataclasses import dataclass, replace

import numpy as np

from svmbench.kernels.counters import Counters
from svmbench.solvers.base import Solver
from svmbench.solvers.dual.dcd import Dcd

#: Seconds of work that a hiding solver does where no clock should run.
WORK = 0.3

#: Epochs that it makes there.
EPOCHS = 200


def work(seconds=WORK):
    """Keep the processor busy."""
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        sum(range(1000))


class Specimen(Dcd):
    """Trains as dcd does, unless a subclass has other ideas."""


class Hiding(Specimen):
    """Counts what it is asked for, and trains when `train` is called."""

    trained = False

    def start(self, problem, seed):
        self.inner = Dcd()
        self.inner.start(problem, seed)
        self.m = problem.data.n_samples
        self.counters = Counters()

    def advance(self, steps):
        self.counters.presentations += steps

    def train(self):
        if not self.trained and self.counters.presentations:
            self.trained = True
            work()
            self.inner.advance(EPOCHS * self.m)

    @property
    def w(self):
        return self.inner.w

    stopped = None

    def dual(self):
        return None


class TrainsInW(Hiding):
    name = "trains-in-w"

    @property
    def w(self):
        self.train()
        return self.inner.w


class WorksInStep(Specimen):
    """Works while an attribute is read that the harness does not time."""

    name = "works-in-step"

    @property
    def step(self):
        if self.counters.presentations and not hasattr(self, "worked"):
            self.worked = True
            work(0.5)
        return "presentation"


class TrainsInThread(Hiding):
    name = "trains-in-a-thread"

    def start(self, problem, seed):
        super().start(problem, seed)
        self.thread = threading.Thread(target=self._train, daemon=True)
        self.thread.start()

    def _train(self):
        work()
        self.inner.advance(EPOCHS * self.m)

    @property
    def w(self):
        if self.counters.presentations:
            self.thread.join()
            return self.inner.w
        return np.zeros_like(self.inner.w)


class WorksInProcess(Specimen):
    """Leaves the work to processes that it has started before the run."""

    name = "works-in-a-process"

    def load(self):
        # So many get enough of a busy machine too.
        busy = ["sh", "-c", "while :; do :; done"]
        self.processes = [subprocess.Popen(busy) for _ in range(4)]

    @property
    def w(self):
        if self.counters.presentations and not hasattr(self, "slept"):
            self.slept = True
            time.sleep(0.2)
        return super().w


class ChangesRows(Specimen):
    name = "changes-rows"

    def start(self, problem, seed):
        problem.data.values[:] = 0.0


class BoundTooHigh(Specimen):
    name = "bound-too-high"

    def dual(self):
        return 10.0


class Stays(Specimen):
    """Ignores SIGTERM and does not come back."""

    name = "stays"

    def advance(self, steps):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            work(1.0)


class CostUnderstated(Specimen):
    """Replaces the function that evaluates P, and shows no less than the certified bound."""

    name = "cost-understated"

    def start(self, problem, seed):
        super().start(problem, seed)
        run = next(found for found in gc.get_objects() if type(found).__name__ == "Measurement")
        kind, bound = type(problem), run.terms.reference_dual
        evaluate = kind.evaluate
        kind.evaluate = lambda self, w, bias: replace(
            evaluate(self, w, bias), primal=1.0001 * bound
        )


@dataclass(frozen=True)
class Entry:
    """A specimen, and what comes of it."""

    solver: type[Solver]
    state: str = "failed"
    reason: str = ""  # a part of the run's reason
    flag: str = ""  # the entry of the column ``off_clock``
    refused: bool = False  # whether it has failed because what it showed cannot be true


BACKGROUND = "in other threads or processes"


SPECIMENS = (
    Entry(TrainsInW, "converged", flag="read"),
    Entry(WorksInStep, "converged", flag="unaccounted"),
    Entry(TrainsInThread, reason=BACKGROUND, refused=True),
    Entry(WorksInProcess, reason=BACKGROUND, refused=True),
    Entry(ChangesRows, reason="read-only"),
    Entry(BoundTooHigh, reason="reports the lower bound", refused=True),
    Entry(Stays, "time_limit", reason="killed after"),
    Entry(CostUnderstated, "converged"),
)
