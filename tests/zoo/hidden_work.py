"""Solvers that train, work or sleep where they hope that no clock runs."""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
import time

import numpy as np

from zoo.specimen import (
    EPOCHS,
    Hiding,
    Specimen,
    work,
)


class SleepsInW(Specimen):
    name = "sleeps-in-w"

    @property
    def w(self):
        if self.counters.presentations and not hasattr(self, "slept"):
            time.sleep(1.0)
            self.slept = True
        return super().w


class TrainsInW(Hiding):
    name = "trains-in-w"

    @property
    def w(self):
        self.train()
        return self.inner.w


class TrainsInCounters(Hiding):
    name = "trains-in-counters"

    def start(self, problem, seed):
        super().start(problem, seed)
        self.count = 0
        self.counters = Watched(self)


class Watched:
    """Counters whose reading trains."""

    def __init__(self, solver):
        self.solver, self.count = solver, 0
        self.updates = self.nonzeros = 0

    @property
    def presentations(self):
        if self.count and not self.solver.trained:
            self.solver.trained = True
            work()
            self.solver.inner.advance(EPOCHS * self.solver.m)
        return self.count

    @presentations.setter
    def presentations(self, value):
        self.count = value


class TrainsInDual(Hiding):
    name = "trains-in-dual"

    def dual(self):
        self.train()
        return self.inner.dual()


class TrainsInStopped(Hiding):
    name = "trains-in-stopped"

    @property
    def stopped(self):
        self.train()
        return False


class WorksInStep(Specimen):
    """Works while an attribute is read that the harness does not time."""

    name = "works-in-step"

    @property
    def step(self):
        if self.counters.presentations and not hasattr(self, "worked"):
            self.worked = True
            work(0.5)
        return "presentation"


class Lazy:
    """An array whose entries are computed when they are used."""

    def __init__(self, solver):
        self.solver = solver

    def __array__(self, dtype=None, copy=None):
        self.solver.train()
        return self.solver.inner.w


class LazyArray(Hiding):
    name = "lazy-array"

    @property
    def w(self):
        return Lazy(self)


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


class TrainsInDaemon(TrainsInChild):
    """The same in a process that has detached itself."""

    name = "trains-in-a-daemon"

    def is_trainer(self):
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                return True
            os._exit(0)
        os.wait()
        return False


class TrainsInEvaluation(Hiding):
    """Has the interpreter call it when the harness evaluates P, and trains there."""

    name = "trains-in-evaluation"

    def start(self, problem, seed):
        super().start(problem, seed)
        sys.setprofile(self._called)

    def _called(self, frame, event, argument):
        if event == "call" and frame.f_code.co_name == "evaluate" and not self.trained:
            self.train()


class TrainsInRecording(TrainsInEvaluation):
    """The same while the harness writes the trace."""

    name = "trains-in-recording"

    def _called(self, frame, event, argument):
        if event == "call" and frame.f_code.co_name == "append" and not self.trained:
            self.train()


class ReadsLong(TrainsInEvaluation):
    """Makes evaluations long, so that its reads may be long, too."""

    name = "stretches-evaluation"

    def _called(self, frame, event, argument):
        if event == "call" and frame.f_code.co_name == "evaluate" and self.counters.presentations:
            work(0.2)

    def dual(self):
        self.train()
        return self.inner.dual()


class TrainsInLookup(Hiding):
    """Trains while `advance` is looked up, before it is called."""

    name = "trains-in-lookup"

    def __getattribute__(self, name):
        if name == "advance":
            self.train()
        return super().__getattribute__(name)


class LateBound:
    """A lower bound that is computed when it becomes a number."""

    def __init__(self, solver):
        self.solver = solver

    def __float__(self):
        self.solver.train()
        return self.solver.inner.dual()


class LazyBound(Hiding):
    name = "lazy-bound"

    def dual(self):
        return LateBound(self)


class TracesEvaluation(TrainsInEvaluation):
    """Has the interpreter trace the harness's functions, and trains in the one that evaluates P."""

    name = "traces-evaluation"

    def start(self, problem, seed):
        Hiding.start(self, problem, seed)
        sys.settrace(self._called)


class TrainsInCollection(Hiding):
    """Has the garbage collector call it all the time, and trains when that is off the clock."""

    name = "trains-in-collection"

    def start(self, problem, seed):
        super().start(problem, seed)
        gc.set_threshold(1)
        gc.callbacks.append(self._collected)

    def _collected(self, phase, facts):
        frame = sys._getframe()
        while frame is not None:
            if frame.f_code.co_name == "evaluate":
                self.train()
            frame = frame.f_back


class WorksAtExit(Specimen):
    """Works when its process ends, after everything has been recorded."""

    name = "works-at-exit"

    def start(self, problem, seed):
        super().start(problem, seed)
        atexit.register(work, 0.5)


class WorksInRemark(Specimen):
    name = "works-in-remark"

    @property
    def remark(self):
        work(0.5)
        return ""
