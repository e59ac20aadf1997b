"""Solvers that show what cannot be true, or what has another form than it should."""

from __future__ import annotations

import gc
from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from svmbench.kernels.counters import Counters
from zoo.specimen import (
    EPOCHS,
    Hiding,
    Specimen,
)


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


class CountsNothing(Hiding):
    name = "counts-nothing"

    def advance(self, steps):
        self.inner.advance(EPOCHS * self.m)


class CountsBackwards(Specimen):
    name = "counts-backwards"

    def advance(self, steps):
        self.counters.presentations += steps
        self.counters.updates -= 1


class BoundTooHigh(Specimen):
    name = "bound-too-high"

    def dual(self):
        return 10.0


class CostTooLow(Specimen):
    """Replaces the function that evaluates P."""

    name = "cost-too-low"

    def start(self, problem, seed):
        super().start(problem, seed)
        kind = type(problem)
        evaluate = kind.evaluate
        kind.evaluate = lambda self, w, bias: replace(evaluate(self, w, bias), primal=1e-6)


class NotANumber(Specimen):
    name = "not-a-number"

    @property
    def w(self):
        return np.full_like(super().w, np.nan)


class Infinite(Specimen):
    name = "infinite"

    @property
    def w(self):
        return np.full_like(super().w, np.inf)


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


class CountsBelowZero(Specimen):
    name = "counts-below-zero"

    def start(self, problem, seed):
        super().start(problem, seed)
        self.counters.nonzeros = -(10**6)


class Remarks(Specimen):
    name = "remarks-at-length"

    @property
    def remark(self):
        return "x" * 50_000_000


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


class CountsAstronomically(Specimen):
    """Counts more than a double holds."""

    name = "counts-astronomically"

    def advance(self, steps):
        super().advance(steps)
        self.counters = SimpleNamespace(presentations=10**309, updates=0, nonzeros=0)


class NeverAdvances(Specimen):
    name = "never-advances"

    def advance(self, steps):
        pass


class RemarksInPieces(Specimen):
    """Makes a remark of several lines, with characters that no file in UTF-8 can hold."""

    name = "remarks-in-pieces"

    @property
    def remark(self):
        return 'one\rtwo\nthree\0four\x1b[2Jfive, "six"\u202e\ud800'


class UsesABias(Specimen):
    """Shows a bias, although the problem has none."""

    name = "uses-a-bias"

    @property
    def bias(self):
        return 0.01


class Trapped(np.ndarray):
    """An array that cannot be used in any way that it notices."""

    def refuse(self, *given, **named):
        raise AssertionError("code of a solver was called")

    __array_ufunc__ = __array_function__ = __getitem__ = __eq__ = __len__ = __iter__ = refuse
    __hash__ = None


class ShowsOddArrays(Specimen):
    """Shows weights of a class, a byte order, a type and strides of its own."""

    name = "shows-odd-arrays"

    @property
    def w(self):
        kind = (">f8", np.longdouble, "<f8")[self.counters.presentations % 3]
        backwards = np.repeat(super().w[::-1], 2).astype(kind)
        return backwards[::2][::-1].view(Trapped)


class ShowsNoScale(Specimen):
    name = "shows-no-scale"
    largest_scaling = float("nan")


class ShowsOddT0(Specimen):
    name = "shows-odd-t0"
    t0 = float("nan")
