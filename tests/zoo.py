"""Plug-ins that go wrong as one's own may by accident, each with what comes of it."""

from __future__ import annotations

import gc
import os
import signal
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


class Lazy:
    """An array whose entries are computed when they are used."""

    def __init__(self, solver):
        self.solver = solver

    def __array__(self, dtype=None, copy=None):
        self.solver.train()
        return self.solver.inner.w


class TrainsInW(Hiding):
    name = "trains-in-w"

    @property
    def w(self):
        self.train()
        return self.inner.w


class LazyArray(Hiding):
    name = "lazy-array"

    @property
    def w(self):
        return Lazy(self)


class WorksInStep(Specimen):
    """Works while an attribute is read that the harness does not time."""

    name = "works-in-step"

    @property
    def step(self):
        if self.counters.presentations and not hasattr(self, "worked"):
            self.worked = True
            work(0.5)
        return "presentation"


class TrainsInConvert(Hiding):
    name = "trains-in-convert"

    def convert(self, problem):
        self.start(problem, 1)
        self.counters.presentations = 1
        self.train()

    def start(self, problem, seed):
        if not self.trained:
            super().start(problem, seed)


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


class TrainsInChild(Hiding):
    """Has a child train, and reads the weights from a pipe."""

    name = "trains-in-a-child"

    def start(self, problem, seed):
        super().start(problem, seed)
        self.best = None
        self.pipe, writing = os.pipe()
        if self.is_trainer():
            work()
            self.inner.advance(EPOCHS * self.m)
            os.write(writing, self.inner.w.tobytes())
            time.sleep(60.0)
            os._exit(0)
        os.close(writing)

    def is_trainer(self):
        return os.fork() == 0

    @property
    def w(self):
        if not self.counters.presentations:
            return self.inner.w
        if self.best is None:
            self.best = np.frombuffer(os.read(self.pipe, 1 << 16))
        return self.best


class ReplacesLabels(Specimen):
    name = "replaces-labels"

    def start(self, problem, seed):
        object.__setattr__(problem.data, "labels", np.ones_like(problem.data.labels))
        super().start(problem, seed)


class ReplacesLambda(Specimen):
    name = "replaces-lambda"

    def start(self, problem, seed):
        object.__setattr__(problem, "lam", problem.lam / 1000.0)
        super().start(problem, seed)


class ReplacesRows(Specimen):
    name = "replaces-rows"

    def start(self, problem, seed):
        super().start(problem, seed)
        object.__setattr__(problem.data, "values", np.zeros_like(problem.data.values))


class CountsTooMuch(Specimen):
    name = "counts-too-much"

    def advance(self, steps):
        super().advance(steps)
        self.lie = Counters()
        self.lie.presentations = 10**9 * self._m
        self.counters = self.lie

    def start(self, problem, seed):
        super().start(problem, seed)
        self._m = problem.data.n_samples


class CountsBackwards(Specimen):
    name = "counts-backwards"

    def advance(self, steps):
        self.counters.presentations += steps
        self.counters.updates -= 1


class BoundTooHigh(Specimen):
    name = "bound-too-high"

    def dual(self):
        return 10.0


class NotANumber(Specimen):
    name = "not-a-number"

    @property
    def w(self):
        return np.full_like(super().w, np.nan)


class WrongShape(Specimen):
    name = "wrong-shape"

    @property
    def w(self):
        return super().w[:-1]


class WrongType(Specimen):
    name = "wrong-type"

    @property
    def w(self):
        return super().w.astype(complex)


class ChangesWeights(Specimen):
    """Shows an array that it overwrites later."""

    name = "changes-weights"

    @property
    def w(self):
        self.buffer = getattr(self, "buffer", None)
        if self.buffer is None:
            self.buffer = np.empty_like(super().w)
        self.buffer[:] = super().w
        return self.buffer

    def dual(self):
        self.buffer[:] = 1e300
        return


class RaisesExit(Specimen):
    name = "raises-exit"

    def advance(self, steps):
        raise SystemExit(0)


class Prints(Specimen):
    name = "prints"

    def advance(self, steps):
        for _ in range(300):
            os.write(2, b"x" * 1_000_000)
        os.write(2, b"\n")
        raise ValueError("out of paper")


class Allocates(Specimen):
    name = "allocates"

    def advance(self, steps):
        taken = []
        while True:
            taken.append(np.ones(1 << 23))


class Stays(Specimen):
    """Ignores SIGTERM and does not come back."""

    name = "stays"

    def advance(self, steps):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        while True:
            work(1.0)


class Leaves(Specimen):
    name = "leaves"

    def advance(self, steps):
        os._exit(0)


class NeverAdvances(Specimen):
    name = "never-advances"

    def advance(self, steps):
        pass


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


class UsesABias(Specimen):
    """Shows a bias, although the problem has none."""

    name = "uses-a-bias"

    @property
    def bias(self):
        return 0.01


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
    Entry(LazyArray, "converged", flag="read"),
    Entry(WorksInStep, "converged", flag="unaccounted"),
    Entry(TrainsInConvert, "converged", flag="conversion"),
    Entry(TrainsInThread, reason=BACKGROUND, refused=True),
    Entry(TrainsInChild, reason=BACKGROUND, refused=True),
    Entry(ReplacesLabels, reason="changed the problem", refused=True),
    Entry(ReplacesRows, reason="changed the problem", refused=True),
    Entry(ReplacesLambda, reason="changed the problem", refused=True),
    Entry(CountsTooMuch, reason="passes over the rows in", refused=True),
    Entry(CountsBackwards, reason="its counts decrease", refused=True),
    Entry(BoundTooHigh, reason="reports the lower bound", refused=True),
    Entry(NotANumber, "diverged"),
    Entry(WrongShape, reason="w has the shape"),
    Entry(WrongType, reason="not floating-point numbers"),
    Entry(ChangesWeights, "converged"),
    Entry(RaisesExit, reason="raised SystemExit"),
    Entry(Prints, reason="out of paper"),
    Entry(Allocates, "out_of_memory", "Unable to allocate"),
    Entry(Stays, "time_limit", reason="killed after"),
    Entry(Leaves, reason="exited with code 0"),
    Entry(NeverAdvances, "max_steps", "advance has counted nothing"),
    Entry(CostUnderstated, "converged"),
    Entry(UsesABias, reason="the problem has none", refused=True),
)
