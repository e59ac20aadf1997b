"""Solvers that need special care, or go wrong, by design; to be installed as plug-ins.

Those that go wrong are in `zoo`.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np

from svmbench.solvers.base import Parameters, Solver, parameter
from svmbench.solvers.dual.dcd import Dcd


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
    """Computes without end."""

    name = "hanging"

    def advance(self, steps):
        while True:
            pass


class Waiting(Idle):
    """Waits without end."""

    name = "waiting"

    def advance(self, steps):
        time.sleep(3600.0)


class Frozen(Idle):
    """Is stopped from outside, as by a suspended machine."""

    name = "frozen"

    def advance(self, steps):
        os.kill(os.getpid(), signal.SIGSTOP)


class Parental(Idle):
    """Leaves a process that computes on, out of its process group and with another parent."""

    name = "parental"

    def start(self, problem, seed):
        super().start(problem, seed)
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                Path(os.environ["SVMBENCH_TEST_LEFT"]).write_text(str(os.getpid()))
                while True:
                    pass
            os._exit(0)
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            time.sleep(0.01)


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


class Greedy(Idle):
    """Takes 300 MB and keeps them."""

    name = "greedy"

    def advance(self, steps):
        if self.counters.presentations == 0:
            self.taken = np.ones(300 * 1024 * 1024 // 8)
        super().advance(steps)


class Slow(Idle):
    """Takes its time, and gets nowhere."""

    name = "slow"

    def advance(self, steps):
        time.sleep(0.05)
        super().advance(steps)


class Foreign(Idle):
    """A program that is not installed."""

    name = "foreign"

    @classmethod
    def missing(cls):
        return "the package 'foreign' is not installed; pip install foreign"


class StepsParameters(Parameters):
    epochs: float | None = parameter(None, "Epochs it will run.", source="a test", gt=0.0)


class Steps(Dcd):
    """dcd that claims to depend on its last step; converts, too."""

    name = "steps"
    horizon = "steps"
    horizon_parameter = "epochs"

    class schema(Dcd.schema, StepsParameters):  # noqa: N801
        """Both sets of parameters."""

    def convert(self, problem):
        time.sleep(0.01)


class AccuracyParameters(Parameters):
    epsilon: float | None = parameter(None, "Accuracy it will run to.", source="a test", gt=0.0)


class Accuracy(Dcd):
    """dcd whose tolerance is the accuracy asked for."""

    name = "accuracy"
    horizon = "accuracy"
    horizon_parameter = "epsilon"

    class schema(Dcd.schema, AccuracyParameters):  # noqa: N801
        """Both sets of parameters."""

    def start(self, problem, seed):
        super().start(problem, seed)
        self._tolerance = self.parameters.epsilon


class Ladder(Accuracy):
    """dcd by a ladder of tolerances."""

    name = "ladder"
    ladder = True
    rungs = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-5, 1e-6)

    def horizons(self, accuracy, max_epochs):
        return self.rungs


class Rotten(Ladder):
    """Breaks at the third rung."""

    name = "rotten"

    def advance(self, steps):
        if self.parameters.epsilon <= 0.1:
            raise ValueError("the rung gave way")
        super().advance(steps)


class Endless(Ladder):
    """Does not come back from the third rung."""

    name = "endless"

    def advance(self, steps):
        while self.parameters.epsilon <= 0.1:
            pass
        super().advance(steps)


class Limited(Ladder):
    """Has a limit of its own, which the third rung meets."""

    name = "limited"

    @property
    def exhausted(self):
        return self.parameters.epsilon <= 0.1 and self.counters.presentations > 0

    @property
    def stopped(self):
        return super().stopped and not self.exhausted


class Absent(Ladder):
    """Not installed."""

    name = "absent"

    @classmethod
    def missing(cls):
        return "the package 'absent' is not installed; pip install absent"


class Killed(Idle):
    """Is killed from outside, as by a user or for want of memory."""

    name = "killed"
    signal = signal.SIGKILL

    def advance(self, steps):
        os.kill(os.getpid(), self.signal)
        super().advance(steps)


class Terminated(Killed):
    """Receives SIGTERM, as from a machine that shuts down."""

    name = "terminated"
    signal = signal.SIGTERM


class Interrupted(Killed):
    """Gets a Ctrl-C, which is not meant for it."""

    name = "interrupted"
    signal = signal.SIGINT


class Flipping(Dcd):
    """Tries to write other labels into the rows themselves."""

    name = "flipping"

    def start(self, problem, seed):
        problem.data.labels.setflags(write=True)
        problem.data.labels[:] = 1
        super().start(problem, seed)


class Wordy(Idle):
    """Dies after a line of 3 MB on its standard error."""

    name = "wordy"

    def advance(self, steps):
        os.write(2, b"x" * 3_000_000 + b" and that was all\n")
        os._exit(3)
