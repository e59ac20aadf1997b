"""The interior-point method, where rounding ends Newton steps on multipliers too early."""

from __future__ import annotations

import math
from importlib import import_module
from typing import TYPE_CHECKING

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.counters import Counters
from svmbench.problem import Problem

if TYPE_CHECKING:
    from svmbench.solvers.second_order.ipm import Ipm


def load_methods() -> None:
    """Import the methods, which few runs need: otherwise the first of these would do it."""
    for name in ("ipm", "scaled_interior"):
        import_module(f"svmbench.solvers.second_order.{name}")


class InteriorPhase:
    """Iterations of an interior-point method, and the best w and dual variables so far.

    Its dual variables are unknowns of their own. Those of Newton steps follow from w, so that the
    rounding of w limits their accuracy where a feature is very large.
    """

    def __init__(
        self, problem: Problem, w: FloatArray, alpha: FloatArray, counters: Counters
    ) -> None:
        self._problem = problem
        self._solver = _solver_for(problem)
        self.counters = self._solver.counters
        self.counters.presentations = counters.presentations
        self.counters.updates = counters.updates
        self.counters.nonzeros = counters.nonzeros
        self._primal, self._dual = math.inf, -math.inf
        self._w, self._alpha = np.zeros(len(w)), np.zeros(len(alpha))
        self._keep(w, alpha)

    def _keep(self, w: FloatArray, alpha: FloatArray) -> None:
        """Keep w if it has a smaller P, and alpha if it has a larger D: two passes."""
        primal, dual = self._problem.primal(w), self._problem.dual(alpha)
        if primal < self._primal:
            self._primal, self._w = primal, w
        if dual > self._dual:
            self._dual, self._alpha = dual, alpha
        self.counters.presentations += 2 * self._problem.data.n_samples
        self.counters.nonzeros += 2 * self._problem.data.nnz

    def iterate(self) -> None:
        self._solver.advance(1)
        if not self._solver.exhausted:
            self._keep(self._solver.w, self._solver.alpha)

    @property
    def gap(self) -> float:
        """P - D of the returned w and alpha."""
        return self._primal - self._dual

    def bound(self) -> float:
        """D(alpha)."""
        return self._dual

    @property
    def w(self) -> FloatArray:
        """The weights with the smallest P so far, shape (d,); a new array."""
        return self._w.copy()

    @property
    def alpha(self) -> FloatArray:
        """The dual variables with the largest D so far, shape (m,); a new array."""
        return self._alpha.copy()

    @property
    def exhausted(self) -> bool:
        """Whether rounding allows no further progress."""
        return self._solver.exhausted


def _solver_for(problem: Problem) -> Ipm:
    from svmbench.solvers.second_order.ipm import Ipm
    from svmbench.solvers.second_order.scaled_interior import ScaledInterior, fits

    solver = ScaledInterior() if fits(problem.data.n_samples, problem.data.n_features) else Ipm()
    solver.start(problem, seed=0)
    return solver
