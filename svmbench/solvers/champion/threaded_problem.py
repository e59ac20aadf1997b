"""A problem whose sums over rows are made by several threads."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import TypeVar

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem

T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ThreadedProblem(Problem):
    """The same P, D, gap and errors as `Problem`, but for rounding."""

    # the loss on ranges of the rows, each of which has a thread
    parts: Sequence[Problem] = field(kw_only=True)
    places: Sequence[slice] = field(kw_only=True)  # the ranges
    pool: ThreadPoolExecutor = field(kw_only=True)

    def loss_and_errors(self, w: FloatArray, bias: float = 0.0) -> tuple[float, int]:
        """Sum of the losses, and number of errors."""
        found = self._each(lambda part, place: part.loss_and_errors(w, bias))
        losses, errors = zip(*found, strict=True)
        return _sum(losses), sum(errors)

    def conjugate_sum(self, alpha: FloatArray) -> float:
        """Sum of q(alpha_i); -inf where an alpha_i lies outside its box."""
        return _sum(self._each(lambda part, place: part.conjugate_sum(alpha[place])))

    def row_sum(self, alpha: FloatArray) -> FloatArray:
        """Sum of alpha_i y_i x_i, shape (d,)."""
        found = self._each(lambda part, place: part.row_sum(alpha[place]))
        return np.asarray(np.sum(found, axis=0))

    def gap_sum(self, w: FloatArray, alpha: FloatArray, bias: float = 0.0) -> float:
        """Sum of the rows' terms of the gap."""
        return _sum(self._each(lambda part, place: part.gap_sum(w, alpha[place], bias)))

    def _each(self, of: Callable[[Problem, slice], T]) -> list[T]:
        return list(self.pool.map(of, self.parts, self.places))


def in_threads(problem: Problem, threads: int) -> Problem:
    """The same problem, each thread with a range of the rows for the sums of P and D."""
    if threads == 1:
        return problem
    bounds = np.linspace(0, problem.data.n_samples, threads + 1).astype(np.int64).tolist()
    places = [slice(begin, end) for begin, end in pairwise(bounds)]
    parts = [replace(problem, data=problem.data.between(each.start, each.stop)) for each in places]
    return ThreadedProblem(
        problem.data, problem.lam, problem.loss,
        parts=parts, places=places, pool=ThreadPoolExecutor(threads),
    )  # fmt: skip


def _sum(found: Sequence[float]) -> float:
    """Correctly rounded sum; inf or nan where it is not finite."""
    rough = float(sum(found))
    return math.fsum(found) if math.isfinite(rough) else rough
