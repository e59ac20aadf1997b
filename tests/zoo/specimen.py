"""What solvers of the zoo are made of."""

from __future__ import annotations

import time

from svmbench.kernels.counters import Counters
from svmbench.solvers.dual.dcd import Dcd

#: Seconds of work that a hiding solver does where it hopes that no clock runs.
WORK = 0.3

#: Epochs that it makes there.
EPOCHS = 200

#: As it was: some specimens replace the functions of `time`.
_thread_time = time.thread_time


def work(seconds=WORK):
    """Keep the processor busy."""
    until = _thread_time() + seconds
    while _thread_time() < until:
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
