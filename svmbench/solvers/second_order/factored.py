"""Cholesky factors for the systems of Newton steps, exact or as preconditioners."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.kernels import cholesky
from svmbench.kernels.objective import combination
from svmbench.problem import Problem
from svmbench.solvers.cholesky import factor_cost, factor_of, solve_cost
from svmbench.solvers.second_order.normal_equations import MOST_FEATURES, NormalEquations

#: A step's own system comes first, instead of a multiple of the shared sum, where it is exact and
#: takes less than so many times the work. From 1 to 8, 2 and 4 took the least work on ten classes
#: of mnist and on generated dense rows of six classes.
MUCH_LESS = 2.0


class SharedGram:
    """The sum of x_i x_i^T over all rows, computed once for several problems.

    These are the classes of a model, each against the rest, at each C. Threads may share it.

    Parameters
    ----------
    data : Dataset
        Its labels do not matter.
    problems : int
        How many problems are expected to use it.
    """

    def __init__(self, data: Dataset, problems: int) -> None:
        self._data, self._lock = data, threading.Lock()
        self._equations = NormalEquations(data.rows)
        self._sums: tuple[FloatArray, FloatArray] | None = None
        #: What it costs each problem, in entries of a pass over sparse rows.
        self.work = self._equations.work / problems

    @property
    def sums(self) -> tuple[FloatArray, FloatArray]:
        """The sum of x_i x_i^T, of which the upper triangle is set, and that of (x_i, 1)."""
        with self._lock:
            if self._sums is None:
                rows, labels = self._data.rows, self._data.labels
                gram = self._equations.gram(np.ones(rows.m))
                # The rows bear their labels, whose squares are one.
                columns = combination(rows, labels.astype(np.float64))
                self._sums = gram, np.append(columns, float(rows.m))
            return self._sums


class Candidate(NamedTuple):
    """A system to factor: the sum of (weights_i + base) x_i x_i^T / m, plus lam I.

    Parameters
    ----------
    weights : ndarray, shape (m,)
    base : float
        Positive only where there is a `SharedGram`.
    work : float
        Work to form and to factor it, in entries of a pass over sparse rows.
    is_exact : bool
        Whether it is the system of the Newton step.
    """

    weights: FloatArray
    base: float
    work: float
    is_exact: bool


def factor_work(data: Dataset, shared: SharedGram | None = None) -> float:
    """Work of the first factor of Newton steps, in stored entries; inf if there is none."""
    if data.n_features > MOST_FEATURES:
        return math.inf
    rows = NormalEquations(data.rows).work if shared is None else shared.work
    return rows + factor_cost(data.n_features)


class Factored:
    """Systems of Newton steps, solved by Cholesky factors.

    Parameters
    ----------
    data : Dataset
    lam : float
    free : bool
        Whether b is free; otherwise its step is 0.
    shared : SharedGram, optional
        Of these rows.
    """

    def __init__(
        self, data: Dataset, lam: float, free: bool, shared: SharedGram | None = None
    ) -> None:
        self._equations, self._lam, self._free = NormalEquations(data.rows), lam, free
        self._shared = shared
        self._factor: FloatArray | None = None
        self._m, self._d = data.n_samples, data.n_features
        #: Work of conjugate gradients in stored entries, since the last factor or since the start,
        #: until there is a factor of the problem's own.
        self.unaided = 0.0
        #: Whether there has been such a factor.
        self.own = False
        #: Work to solve a system once it is factored, in stored entries.
        self.solving = solve_cost(self._d)

    @classmethod
    def of(cls, problem: Problem, shared: SharedGram | None = None) -> Factored | None:
        """For a problem's systems; None if there are too many features."""
        if problem.data.n_features > MOST_FEATURES:
            return None
        return cls(problem.data, problem.lam, problem.bias == "free", shared)

    def candidates(self, bends: FloatArray) -> Iterator[Candidate]:
        """Systems to factor for a Newton step, of which each serves better than the one before.

        All curvatures are alike at w = 0, so that a multiple of the shared sum is a good
        preconditioner of the first steps. Later, few rows are much more curved than the others: the
        rows above the mean get their own curvatures, and the others the mean of theirs. This takes
        a fraction of the work of the whole system, and is the same where the others have none.

        Parameters
        ----------
        bends : ndarray of float64, shape (m,)
            The curvatures times the weights of rows.
        """
        if self._shared is not None:
            # Of equal curvatures, rounding may put the mean below them all.
            mean = max(float(bends.mean()), float(bends.min()))
            above = bends > mean
            base = float(bends.mean(where=~above))
            weights = np.where(above, bends - base, 0.0)
            nearer = Candidate(weights, base, self.work_of(weights), is_exact=base == 0.0)
            work = self._shared.work + factor_cost(self._d)
            if self._factor is None and not (nearer.is_exact and nearer.work < MUCH_LESS * work):
                yield Candidate(np.zeros(self._m), mean, work, is_exact=False)
            yield nearer
        yield Candidate(bends, 0.0, self.work_of(bends), is_exact=True)

    def work(self, share: float) -> float:
        """Work to form and to factor a system of this share of the rows, in stored entries."""
        return share * self._equations.work + factor_cost(self._d)

    def work_of(self, weights: FloatArray) -> float:
        """That of a system with these weights."""
        return self.work(np.count_nonzero(weights) / self._m)

    def form(self, weights: FloatArray, border: FloatArray, base: float = 0.0) -> bool:
        """Factor a system; False where rounding has made it indefinite.

        Parameters
        ----------
        weights : ndarray, shape (m,)
            The system is lam I + sum weights_i x_i x_i^T, and a row and a column for b.
        border : ndarray, shape (d + 1,)
            The column of b.
        base : float
            What is to be added to each weight, times m; 0 without a `SharedGram`.
        """
        self.own, self.unaided = self._shared is None or bool(weights.any()), 0.0
        d = self._d
        system = np.zeros((d + self._free, d + self._free))
        if weights.any():
            system[:d, :d] = self._equations.gram(weights)
        if base > 0.0 and self._shared is not None:
            gram, columns = self._shared.sums
            system[:d, :d] += base / self._m * gram
            border = border + base / self._m * columns
        np.einsum("ii->i", system)[:d] += self._lam
        if self._free:
            system[:, d] = border
        self._factor = factor_of(system)
        return self._factor is not None

    def solved(self, right: FloatArray) -> FloatArray:
        """The solution of the last system for a right-hand side; that side if there is none."""
        if self._factor is None:
            return right
        n, found = len(self._factor), np.zeros_like(right)
        found[:n] = cholesky.solution(self._factor, right[:n])
        return found
