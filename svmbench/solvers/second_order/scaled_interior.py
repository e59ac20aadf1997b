"""An interior-point method for features of very different scales, by least squares.

    min lam/2 ||w||^2 + 1/M sum_i c_i xi_i   s.t.   z_i.w + xi_i - 1 = r_i >= 0,   xi_i >= 0

with z_i = y_i x_i, c_i equal rows, and M rows in all. alpha_i is complementary to r_i and
v_i = 1 - alpha_i to xi_i. A Newton step that is to bring these products to p_i and q_i leads to

    lam w = 1/M sum_i c_i alpha_i z_i,    z_i.w + D_i alpha_i = f_i + D_i alpha_i',

    D_i = r_i/alpha_i' + xi_i/v_i,    f_i = 1 + p_i/alpha_i' - q_i/v_i,

with alpha' the present alpha. `Ipm` eliminates alpha. Its d x d system squares the scales of the
features: beside a feature of 1e9, lambda and small features are lost in rounding. But the new w and
alpha are also the solution and the scaled residual of either of two problems of least squares,

    min_w      lam ||w||^2 + 1/M sum_i c_i/D_i (f_i + D_i alpha_i' - z_i.w)^2
    min_alpha  1/lam ||1/M sum_i c_i alpha_i z_i||^2
               + 1/M sum_i c_i D_i (alpha_i' + f_i/D_i - alpha_i)^2,

whose rows keep their digits in a QR factorisation, whatever their scales. The problem with fewer
unknowns is solved.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.counters import Counters
from svmbench.kernels.normal import dense_rows
from svmbench.problem import Problem
from svmbench.solvers.cholesky import lapack
from svmbench.solvers.second_order.ipm import STEP_TO_BOUNDARY, merged, to_zero

#: Columns per block of the factorisation.
BLOCK = 32

#: Most entries of the matrix, which is dense, and most multiply-adds of a factorisation.
MOST_ENTRIES, MOST_WORK = 1 << 24, 1 << 32

#: Share of the predictor's length below which the second-order correction is left out.
SHORT = 0.1

#: Step length and mean complementarity product below which rounding dominates: P(0) is 1.
NEGLIGIBLE_STEP, NEGLIGIBLE = 1e-12, 1e-20

#: Iterations in succession without a smaller mean product after which it has stalled. The product
#: may rise for some while w and w(alpha) are far apart.
PATIENCE = 20

#: Passes over the rows per iteration, for the matrix, right-hand sides and residuals.
PASSES = 5


def fits(m: int, d: int) -> bool:
    """Whether a problem of m rows and d features is small enough."""
    small = min(m, d)
    return small > 0 and (m + d) * small <= MOST_ENTRIES and (m + d) * small**2 <= MOST_WORK


class Complements(NamedTuple):
    """The rows' variables: alpha is complementary to r, and v = 1 - alpha to xi."""

    alpha: FloatArray
    v: FloatArray
    r: FloatArray
    xi: FloatArray


class Iterate(NamedTuple):
    """All variables, or their changes."""

    w: FloatArray
    pairs: Complements


class FactoredSystem(NamedTuple):
    """A factored problem of least squares, the rows' D, and the sizes that rows have in it."""

    squares: LeastSquares
    curvature: FloatArray
    sizes: FloatArray


class ScaledInterior:
    """Mehrotra's predictor and corrector for the hinge without a bias or weights, systems by QR."""

    def __init__(self, problem: Problem) -> None:
        data, self._counts, self._group = merged(problem.data)
        self._lam, self._total = problem.lam, float(problem.data.n_samples)
        self._nnz = data.nnz
        m, d = data.n_samples, data.n_features
        self._rows = np.empty((m, d))
        dense_rows(data.rows, np.ones(m), np.arange(m, dtype=np.int64), self._rows)
        self._rows *= data.labels[:, None]
        largest = np.maximum(np.abs(self._rows).max(axis=0), math.sqrt(self._lam))
        # Powers of two change no digit.
        self._units = np.exp2(-np.round(np.log2(largest)))
        self._in_features = d <= m
        half, one = np.full(m, 0.5), np.ones(m)
        self._point = Iterate(np.zeros(d), Complements(half, half, one, 2.0 * one))
        self._least, self._waited = math.inf, 0
        # The share of the first point's violations of the constraints that steps have left. What
        # the best point so far lacks, the products included: rounding may lead away from it.
        self._violated, self._lacking, self._best = 1.0, math.inf, self._point
        self.exhausted = False
        self.counters = Counters()

    @property
    def w(self) -> FloatArray:
        """The weights, shape (d,)."""
        return self._point.w

    @property
    def alpha(self) -> FloatArray:
        """The dual variables of every row, shape (m,)."""
        alpha = self._point.pairs.alpha
        return np.clip(alpha if self._group is None else alpha[self._group], 0.0, 1.0)

    def advance(self, steps: int) -> None:
        """Take ``steps`` iterations; nothing changes once rounding stops progress."""
        for _ in range(steps):
            self.counters.presentations += PASSES * len(self._rows)
            self.counters.nonzeros += PASSES * self._nnz
            if not self.exhausted:
                self.counters.updates += 1
                # Where rounding ends progress, steps may be no numbers, and are not taken.
                with np.errstate(all="ignore"):
                    self._iterate()

    def _iterate(self) -> None:
        point = self._point
        product = self._mean(point.pairs)
        self._waited = 0 if product < self._least else self._waited + 1
        self._least = min(self._least, product)
        if product + self._violated < self._lacking:
            self._lacking, self._best = product + self._violated, point
        system = self._system()
        zero = np.zeros(len(self._rows))
        ahead = self._step(system, zero, zero)
        reach = min(1.0, _reach(point.pairs, ahead.pairs))
        after = self._mean(_moved(point.pairs, ahead.pairs, reach))
        target = product * (after / product) ** 3
        bend = ahead.pairs.alpha
        step = self._step(system, target - bend * ahead.pairs.r, target + bend * ahead.pairs.xi)
        length = min(1.0, STEP_TO_BOUNDARY * _reach(point.pairs, step.pairs))
        if not length >= SHORT * reach:
            # The correction is for a step that is not taken.
            step = self._step(system, zero + target, zero + target)
            length = min(1.0, STEP_TO_BOUNDARY * _reach(point.pairs, step.pairs))
        usable = length > NEGLIGIBLE_STEP and all(
            np.isfinite(x).all() for x in (step.w, *step.pairs)
        )
        if not usable or product < NEGLIGIBLE or self._waited >= PATIENCE:
            self.exhausted, self._point = True, self._best
            return
        self._violated *= 1.0 - length
        pairs = _moved(point.pairs, step.pairs, length)
        self._point = Iterate(point.w + length * step.w, pairs)

    def _system(self) -> FactoredSystem:
        """The problem of least squares at the present point, without its right-hand side."""
        _, (alpha, v, r, xi) = self._point
        curvature = r / alpha + xi / v
        root_of_lam = math.sqrt(self._lam)
        if self._in_features:
            sizes = np.sqrt(self._counts / (curvature * self._total))
            upper = sizes[:, None] * self._rows * self._units
            lower = np.diag(root_of_lam * self._units)
        else:
            sizes = np.sqrt(self._counts * curvature / self._total)
            upper = (self._counts * self._rows.T) / (self._total * root_of_lam)
            lower = np.diag(sizes)
        return FactoredSystem(LeastSquares(np.vstack([upper, lower])), curvature, sizes)

    def _step(self, system: FactoredSystem, p: FloatArray, q: FloatArray) -> Iterate:
        """The Newton step that is to bring alpha r to p, and v xi to q."""
        w, (alpha, v, r, xi) = self._point
        m, d = self._rows.shape
        squares, curvature, sizes = system
        force = 1.0 + p / alpha - q / v
        if self._in_features:
            b = np.append(sizes * (force + curvature * alpha), np.zeros(d))
            scaled, residual = squares.solve(b)
            new_w, new_alpha = self._units * scaled, residual[:m] / (sizes * curvature)
        else:
            b = np.append(np.zeros(d), sizes * (alpha + force / curvature))
            new_alpha, residual = squares.solve(b)
            new_w = residual[:d] / -math.sqrt(self._lam)
        change = new_alpha - alpha
        # alpha r + alpha dr + r dalpha = p, and v xi + v dxi - xi dalpha = q.
        new_r, new_xi = (p - r * change) / alpha, (q + xi * change) / v
        return Iterate(new_w - w, Complements(change, -change, new_r - r, new_xi - xi))

    def _mean(self, pairs: Complements) -> float:
        """Mean of the complementarity products."""
        products = pairs.alpha * pairs.r + pairs.v * pairs.xi
        return float(self._counts @ products) / (2.0 * self._total)


def _moved(pairs: Complements, change: Complements, length: float) -> Complements:
    return Complements(*(value + length * by for value, by in zip(pairs, change, strict=True)))


def _reach(pairs: Complements, change: Complements) -> float:
    """Largest multiple of the change that leaves all variables positive."""
    return min(to_zero(value, by) for value, by in zip(pairs, change, strict=True))


class LeastSquares:
    """Minimises ||A x - b|| for several b; every row keeps its digits, whatever its scale.

    Householder's QR with pivoted columns, of rows sorted by their largest entry (Powell and Reid,
    Information Processing 68, 1969; Cox and Higham, in Numerical Analysis 1997).
    """

    def __init__(self, matrix: FloatArray) -> None:
        columns = matrix.shape[1]
        self._order: Array = np.argsort(-np.abs(matrix).max(axis=1), kind="stable")
        self._factor, pivots, self._reflections, _, _ = lapack().dgeqp3(
            np.asfortranarray(matrix[self._order]),
            lwork=2 * columns + (columns + 1) * BLOCK,
            overwrite_a=1,
        )
        self._pivots = pivots - 1

    def solve(self, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        columns = len(self._pivots)
        rotated = self._reflected(b[self._order], "T")
        solved, failed = lapack().dtrtrs(self._factor[:columns], rotated[:columns])
        x, residual = np.empty(columns), np.empty(len(b))
        x[self._pivots] = np.nan if failed else solved
        rotated[:columns] = 0.0
        residual[self._order] = self._reflected(rotated, "N")
        return x, residual

    def _reflected(self, vector: FloatArray, transposed: str) -> FloatArray:
        """Q^T times a vector for "T", Q times it for "N"."""
        column = np.array(vector[:, None], order="F")
        lwork = BLOCK * BLOCK + BLOCK
        column, _, _ = lapack().dormqr(
            "L", transposed, self._factor, self._reflections, column, lwork, overwrite_c=1
        )
        result: FloatArray = column[:, 0]
        return result
