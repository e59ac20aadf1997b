"""Solvers that go wrong by design, to be installed as plug-ins."""

from __future__ import annotations

import os
import signal
import time

import numpy as np

from svmbench.solvers.base import Solver


class Idle(Solver):
    """Never moves from w = 0, and counts presentations all the same."""

    name = "idle"
    summary = "stays at zero"
    source = "a test"

    def start(self, problem, seed):
        self.problem = problem

    def advance(self, steps):
        self.counters.presentations += steps

    @property
    def w(self):
        return np.zeros(self.problem.data.n_features)


class Hanging(Idle):
    """Does not come back."""

    name = "hanging"

    def advance(self, steps):
        time.sleep(3600.0)


class Crashing(Idle):
    """Dies of a segmentation fault."""

    name = "crashing"

    def advance(self, steps):
        os.kill(os.getpid(), signal.SIGSEGV)


class Raising(Idle):
    """Ends in a Python exception."""

    name = "raising"

    def advance(self, steps):
        raise ValueError("no step can be taken")


class Hungry(Idle):
    """Asks for more memory than any machine has."""

    name = "hungry"

    def advance(self, steps):
        np.empty(1 << 60, dtype=np.int8)


class Diverging(Idle):
    """Overflows after a while."""

    name = "diverging"

    @property
    def w(self):
        size = 1e200 if self.counters.presentations > 10 else 1.0
        return np.full(self.problem.data.n_features, size)


class Lying(Idle):
    """Shows a lower bound that lies above the optimum."""

    name = "lying"

    def dual(self):
        return 10.0
