"""newton: Newton's method on the primal of the squared hinge.

P is quadratic as long as the support, the rows with margins below 1, stays what it is:

    P(w) = lam/2 ||w||^2 + 1/(2m) sum over the support of (1 - s_i)^2

so that a full step that leaves the support unchanged has reached the optimum exactly.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve  # type: ignore[import-untyped]

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.newton import product
from svmbench.kernels.objective import combination
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter
from svmbench.solvers.second_order.normal_equations import NormalEquations

#: Fall of P, as a share of it, that rounding hides.
ROUNDING = 1e-15

#: Halvings of a step after which none is made.
HALVINGS = 40


class NewtonParameters(Parameters):
    """Parameters of newton."""

    precision: Literal["float64"] = parameter(
        "float64", "Normal equations leave single precision no digits.", source="ours"
    )
    solution: Literal["auto", "cholesky", "cg"] = parameter(
        "auto",
        "How a step is found: by a Cholesky factor of the d x d system, by truncated conjugate "
        "gradients, or by the former up to so many features and the latter beyond.",
        source="Chapelle, Neural Computation 19 (2007), section 3; which one, ours",
    )
    few_features: int = parameter(
        1000, "Features up to which auto takes the Cholesky factor.", source="ours", ge=0
    )
    forcing: float = parameter(
        0.1,
        "Residual, as a share of the gradient, at which conjugate gradients end at the latest; "
        "nearer the optimum it is the root of the gradient's own share of the first one.",
        source="Nocedal and Wright, Numerical Optimization (2006), section 7.1; the value ours",
        gt=0.0,
        lt=1.0,
    )


class Newton(Solver):
    """Newton steps on the current support, halved until P falls."""

    name = "newton"
    summary = "Primal Newton on the support, by Cholesky or conjugate gradients"
    source = "Chapelle, Neural Computation 19 (2007), section 3"
    losses = ("squared-hinge",)
    step = "iteration"
    kernels = ("newton", "normal", "objective", "rows")
    colour = "#B58B00"
    schema = NewtonParameters

    def start(self, problem: Problem, seed: int) -> None:
        """Start from w = 0, where every row is in the support."""
        data = problem.data
        self._problem = problem
        self._labels = data.labels.astype(np.float64)
        self._w = np.zeros(data.n_features)
        self._margins = np.zeros(data.n_samples)
        self._primal = 0.5
        self._first_gradient = 0.0
        self._direct = self.parameters.solution == "cholesky" or (
            self.parameters.solution == "auto" and data.n_features <= self.parameters.few_features
        )
        self._lengths = (
            np.full(data.n_samples, data.n_features)
            if data.indptr is None
            else np.diff(data.indptr)
        )
        self._equations = NormalEquations(data)
        self._stopped = False
        self.counters = type(self.counters)()

    def advance(self, steps: int) -> None:
        """Make ``steps`` iterations; nothing moves once the optimum is reached."""
        stopped = self._stopped
        for _ in range(steps):
            if self.halts and self._stopped > stopped:
                return
            if self._stopped:
                self.counters.presentations += self._problem.data.n_samples
            else:
                self._iterate()

    @property
    def w(self) -> FloatArray:
        """The iterate."""
        return self._w.copy()

    @property
    def alpha(self) -> FloatArray:
        """The dual variables that belong to w: max(0, 1 - s), shape (m,); at the optimum its."""
        alpha: FloatArray = np.maximum(0.0, 1.0 - self._margins)
        return alpha

    def dual(self) -> float:
        """D(alpha)."""
        return self._problem.dual(self.alpha)

    @property
    def stopped(self) -> bool:
        """Whether a full step left the support as it was, or rounding hides any fall of P."""
        return self._stopped

    def _iterate(self) -> None:
        data, lam, counters = self._problem.data, self._problem.lam, self.counters
        m = data.n_samples
        support = np.flatnonzero(self._margins < 1.0)
        entries = int(self._lengths[support].sum())
        gradient = lam * self._w - combination(data.rows, self.alpha) / m
        step, solved = self._step(support, entries, gradient)
        ahead: FloatArray = self._labels * data.rows.dot(self._w + step)
        counters.presentations += len(support) + m
        counters.updates += len(support)
        counters.nonzeros += entries + data.nnz
        last = self._primal
        length = self._line_search(step, ahead)
        unchanged = np.array_equal(ahead < 1.0, self._margins < 1.0)
        if length > 0.0:
            self._w += length * step
            self._margins = ahead if length == 1.0 else self._between(ahead, length)
        self._stopped = (solved and unchanged) or last - self._primal <= ROUNDING * last

    def _line_search(self, step: FloatArray, ahead: FloatArray) -> float:
        """The first of 1, 1/2, 1/4, ... at which P is no larger; 0 where there is none."""
        lam = self._problem.lam
        for halvings in range(HALVINGS):
            length = 0.5**halvings
            w = self._w + length * step
            short = np.maximum(0.0, 1.0 - self._between(ahead, length))
            primal = 0.5 * lam * float(w @ w) + 0.5 * float(short @ short) / len(short)
            if primal <= self._primal:
                self._primal = primal
                return length
        return 0.0

    def _between(self, ahead: FloatArray, length: float) -> FloatArray:
        return ahead if length == 1.0 else (1.0 - length) * self._margins + length * ahead

    def _step(self, support: Array, entries: int, gradient: FloatArray) -> tuple[FloatArray, bool]:
        """The step, and whether it solves the system to rounding."""
        if self._direct:
            factor = self._factor(support)
            self.counters.presentations += len(support)
            self.counters.nonzeros += entries
            if factor is not None:
                return cho_solve(factor, -gradient, check_finite=False), True
        return self._conjugate_gradients(support, gradient), False

    def _conjugate_gradients(self, support: Array, gradient: FloatArray) -> FloatArray:
        """An approximate step; each of its own steps is one pass over the support."""
        rows, lam, m = self._problem.data.rows, self._problem.lam, len(self._margins)
        norm = math.sqrt(float(gradient @ gradient))
        self._first_gradient = self._first_gradient or norm
        if norm == 0.0:
            return np.zeros_like(gradient)
        wanted = min(self.parameters.forcing, math.sqrt(norm / self._first_gradient)) * norm
        step, residual = np.zeros_like(gradient), -gradient
        direction, square = residual.copy(), norm * norm
        for _ in range(2 * len(gradient)):  # exact arithmetic would need no more than d
            curved = np.zeros_like(gradient)
            self.counters.nonzeros += product(rows, support, direction, curved)
            self.counters.presentations += len(support)
            curved = curved / m + lam * direction
            length = square / float(direction @ curved)
            step += length * direction
            residual -= length * curved
            last, square = square, float(residual @ residual)
            if math.sqrt(square) <= wanted:
                break
            direction = residual + square / last * direction
        return step

    def _factor(self, support: Array) -> tuple[Array, bool] | None:
        """Cholesky factor of lam I + 1/m X_s'X_s; None where rounding has made it indefinite."""
        m = self._problem.data.n_samples
        weights = np.zeros(m)
        weights[support] = 1.0 / m
        system = self._equations.gram(weights)
        np.einsum("ii->i", system)[:] += self._problem.lam
        try:
            return cho_factor(system, lower=False, check_finite=False)  # type: ignore[no-any-return]
        except LinAlgError:
            return None
