"""newton: Newton's method on the primal of the squared hinge.

P is quadratic as long as the support, the set of rows with margins below 1, does not change:

    P(w, b) = lam/2 ||w||^2 + 1/(2m) sum over the support of (1 - s_i)^2

A full step that leaves the support unchanged therefore reaches the optimum exactly.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels import cholesky
from svmbench.kernels.newton import weighted_product
from svmbench.kernels.objective import combination
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter
from svmbench.solvers.cholesky import factor_of, load
from svmbench.solvers.second_order.normal_equations import NormalEquations

#: Relative decrease of P that rounding hides.
ROUNDING = 1e-15

#: Most halvings of a step; after them no step is taken.
HALVINGS = 40


class NewtonParameters(Parameters):
    precision: Literal["float64"] = parameter(
        "float64", "Single precision is too inaccurate for normal equations.", source="ours"
    )
    solution: Literal["auto", "cholesky", "cg"] = parameter(
        "auto",
        "Solution of the system. cholesky: a factor of the d x d matrix. cg: truncated conjugate "
        "gradients. auto: cholesky for at most few_features features, else cg.",
        source="Chapelle, Neural Computation 19 (2007), section 3; the choice ours",
    )
    few_features: int = parameter(
        1000, "Features up to which auto uses the Cholesky factor.", source="ours", ge=0
    )
    forcing: float = parameter(
        0.1,
        "Largest residual at which conjugate gradients end, as a share of the gradient. Closer to "
        "the optimum the share is the square root of the gradient's ratio to the first gradient.",
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
    biases = ("none", "free")
    step = "iteration"
    schema = NewtonParameters
    mathematics = """
    problem  min P(w, b) = λ/2 ‖w‖² + 1/(2m) Σ max(0, 1 - sᵢ)²; b = 0, or free
    update   w = 0, b = 0 at the start; the support S = {i: sᵢ < 1}; z = (x, 1) where b is
             free, else x; E = I, but 0 for b:
                 solve (λE + 1/m Σ_S zᵢ zᵢᵀ) v = -gradient by a Cholesky factor, or by
                 conjugate gradients to a share of the gradient that falls with it
                 (w, b) ← (w, b) + kv, k the first of 1, 1/2, 1/4, ... for which P does
                 not grow
    stop     if a full step, by a factor, leaves S unchanged; or P falls by rounding only
    output   w and b, certified by D at αᵢ = max(0, 1 - sᵢ); with a free b, those of the
             class of the larger sum scaled down until Σ αᵢ yᵢ = 0
    cost     nnz, and nnz of S per product with the matrix; or nnz²/2 per row of S, and d³/3
"""
    reconstructed = (
        "The loss is a mean and λ weighs the norm; the paper's sum has m times our λ, and no "
        "half before the loss.",
    )
    unstated = (
        "The line search: the paper says that full steps mostly suffice; here they are halved "
        "until P does not grow.",
        "When conjugate gradients end: at a residual of at most a tenth of the gradient (forcing).",
        "An empty support gives no equation for b: b then stays unchanged.",
    )

    def load(self) -> None:
        load()

    def start(self, problem: Problem, seed: int) -> None:
        data = problem.data
        self._problem = problem
        self._labels = data.labels.astype(np.float64)
        self._w = np.zeros(data.n_features)
        self._bias = 0.0
        self._free = problem.bias == "free"
        self._margins = np.zeros(data.n_samples)
        self._primal = 0.5
        self._first_gradient = 0.0
        self._direct = self.parameters.solution == "cholesky" or (
            self.parameters.solution == "auto" and data.n_features <= self.parameters.few_features
        )
        self._lengths = data.rows.lengths()
        self._equations = NormalEquations(data.rows)
        self._stopped = False
        self.counters = type(self.counters)()

    def advance(self, steps: int) -> None:
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
        return self._w.copy()

    @property
    def bias(self) -> float:
        return self._bias

    @property
    def alpha(self) -> FloatArray:
        """The dual variables max(0, 1 - s) of w, shape (m,); the optimal ones at the optimum.

        With a free bias they are infeasible before the optimum; `dual` repairs them.
        """
        alpha: FloatArray = np.maximum(0.0, 1.0 - self._margins)
        return alpha

    def dual(self) -> float:
        return self._problem.dual(self._problem.repaired(self.alpha))

    @property
    def stopped(self) -> bool:
        """Whether a full step left the support unchanged, or rounding hides any decrease of P."""
        return self._stopped

    @property
    def exhausted(self) -> bool:
        """The same as `stopped`: nothing changes after it."""
        return self._stopped

    def _iterate(self) -> None:
        data, lam, counters = self._problem.data, self._problem.lam, self.counters
        m = data.n_samples
        alpha = self.alpha
        support = np.flatnonzero(self._margins < 1.0)
        entries = int(self._lengths[support].sum())
        gradient = np.zeros(len(self._w) + self._free)
        gradient[: len(self._w)] = lam * self._w - combination(data.rows, alpha) / m
        if self._free:
            gradient[-1] = -float(alpha @ self._labels) / m
        step, solved = self._step(support, entries, gradient)
        change, shift = step[: len(self._w)], float(step[-1]) if self._free else 0.0
        scores: FloatArray = data.rows.dot(self._w + change)
        ahead = self._labels * (scores + (self._bias + shift) if self._free else scores)
        counters.presentations += len(support) + m
        counters.updates += len(support)
        counters.nonzeros += entries + data.nnz
        last = self._primal
        length = self._line_search(change, ahead)
        unchanged = np.array_equal(ahead < 1.0, self._margins < 1.0)
        if length > 0.0:
            self._w += length * change
            self._bias += length * shift
            self._margins = ahead if length == 1.0 else self._between(ahead, length)
        self._stopped = (solved and unchanged) or last - self._primal <= ROUNDING * last

    def _line_search(self, step: FloatArray, ahead: FloatArray) -> float:
        """The first of 1, 1/2, 1/4, ... for which P does not grow; 0 if there is none."""
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
        """The step, with a free bias as its last entry, and whether it is exact up to rounding."""
        # With these sums of the support's rows, the bias acts like a column of ones.
        sums = self._sums(support) if self._free else np.zeros(0)
        if self._direct:
            factor = self._factor(support, sums)
            self.counters.presentations += len(support)
            self.counters.nonzeros += entries
            if factor is not None:
                return cholesky.solution(factor, -gradient), True
        return self._conjugate_gradients(support, sums, gradient), False

    def _sums(self, support: Array) -> FloatArray:
        """Sum of the support's rows, shape (d,)."""
        signs = np.zeros(len(self._margins))
        signs[support] = self._labels[support]
        self.counters.presentations += len(support)
        self.counters.nonzeros += int(self._lengths[support].sum())
        return np.asarray(combination(self._problem.data.rows, signs))

    def _conjugate_gradients(
        self, support: Array, sums: FloatArray, gradient: FloatArray
    ) -> FloatArray:
        """An approximate step; each of its iterations is one pass over the support."""
        norm = math.sqrt(float(gradient @ gradient))
        self._first_gradient = self._first_gradient or norm
        if norm == 0.0:
            return np.zeros_like(gradient)
        wanted = min(self.parameters.forcing, math.sqrt(norm / self._first_gradient)) * norm
        step, residual = np.zeros_like(gradient), -gradient
        direction, square = residual.copy(), norm * norm
        for _ in range(2 * len(gradient)):  # exact arithmetic would need no more than d
            curved = self._curved(support, sums, direction)
            curvature = float(direction @ curved)
            if not curvature > 0.0:  # underflow, or rounding
                break
            length = square / curvature
            step += length * direction
            residual -= length * curved
            last, square = square, float(residual @ residual)
            if math.sqrt(square) <= wanted:
                break
            direction = residual + square / last * direction
        return step

    def _curved(self, support: Array, sums: FloatArray, direction: FloatArray) -> FloatArray:
        """The system's matrix times a direction."""
        rows, lam, m = self._problem.data.rows, self._problem.lam, len(self._margins)
        weights = direction[: len(self._w)]
        inner = np.zeros(len(weights))
        ones = np.ones(len(support))
        _, read = weighted_product(rows, support, ones, weights, 0.0, inner)
        self.counters.nonzeros += read
        self.counters.presentations += len(support)
        if not self._free:
            return inner / m + lam * weights
        shift = float(direction[-1])
        curved = np.empty(len(direction))
        curved[:-1] = (inner + shift * sums) / m + lam * weights
        curved[-1] = (float(sums @ weights) + shift * len(support)) / m
        return curved

    def _factor(self, support: Array, sums: FloatArray) -> FloatArray | None:
        """Cholesky factor of the system; None where rounding has made it indefinite."""
        m, d = self._problem.data.n_samples, len(self._w)
        weights = np.zeros(m)
        weights[support] = 1.0 / m
        system = self._equations.gram(weights)
        np.einsum("ii->i", system)[:] += self._problem.lam
        if self._free:
            bordered = np.zeros((d + 1, d + 1))
            bordered[:d, :d] = system
            bordered[:d, d] = sums / m
            # As lambda > 0, one row in the support makes it positive definite.
            bordered[d, d] = len(support) / m if len(support) else 1.0
            system = bordered
        return factor_of(system)
