"""An interior-point method for features of very different scales, by least squares.

It is `Ipm` for the hinge without a bias or weights. That eliminates alpha, and its d x d system
squares the scales of the features: beside a feature of 1e9, lambda and small features are lost in
rounding. But the new w and alpha, of z_i.w + D_i alpha_i = f_i and lam w = 1/M sum_i c_i alpha_i
z_i, are also the solution and the scaled residual of either of two problems of least squares,

    min_w      lam ||w||^2 + 1/M sum_i c_i/D_i (f_i - z_i.w)^2
    min_alpha  1/lam ||1/M sum_i c_i alpha_i z_i||^2 + 1/M sum_i c_i D_i (f_i/D_i - alpha_i)^2,

whose rows keep their digits in a QR factorisation, whatever their scales. The problem with fewer
unknowns is solved.
"""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.normal import dense_rows
from svmbench.problem import Problem
from svmbench.solvers.cholesky import lapack
from svmbench.solvers.second_order.ipm import Ipm, Products, System

#: Columns per block of the factorisation.
BLOCK = 32

#: Most entries of the matrix, which is dense, and most multiply-adds of a factorisation.
MOST_ENTRIES, MOST_WORK = 1 << 24, 1 << 32

#: Iterations in succession without a smaller mean product after which it has stalled. The product
#: may rise for some while w and w(alpha) are far apart.
PATIENCE = 20


def fits(m: int, d: int) -> bool:
    """Whether a problem of m rows and d features is small enough."""
    small = min(m, d)
    return small > 0 and (m + d) * small <= MOST_ENTRIES and (m + d) * small**2 <= MOST_WORK


class ScaledInterior(Ipm):
    """`Ipm` without its path, and with its systems solved by QR."""

    _negligible = 1e-20

    def start(self, problem: Problem, seed: int) -> None:
        super().start(problem, seed)
        data, self._on_path = self._data, False
        m, d = data.n_samples, data.n_features
        self._dense = np.empty((m, d))
        dense_rows(data.rows, np.ones(m), np.arange(m, dtype=np.int64), self._dense)
        self._dense *= data.labels[:, None]
        largest = np.maximum(np.abs(self._dense).max(axis=0), math.sqrt(problem.lam))
        # Powers of two change no digit.
        self._units = np.exp2(-np.round(np.log2(largest)))
        self._in_features = d <= m
        self._least, self._waited = math.inf, 0

    def _finish(self) -> None:
        product = self._mean(self._products_after(None, 0.0))
        self._waited = 0 if product < self._least else self._waited + 1
        self._least = min(self._least, product)
        self._stopped = self._exhausted = self._waited >= PATIENCE
        if not self._exhausted:
            # Where rounding ends progress, steps may be no numbers, and are not taken.
            with np.errstate(all="ignore"):
                super()._finish()

    def _system(self) -> System:
        curvature = self._r / self._alpha + self._xi / self._v
        root_of_lam = math.sqrt(self._problem.lam)
        if self._in_features:
            sizes = np.sqrt(self._counts / (curvature * self._total))
            upper = sizes[:, None] * self._dense * self._units
            lower = np.diag(root_of_lam * self._units)
        else:
            sizes = np.sqrt(self._counts * curvature / self._total)
            upper = (self._counts * self._dense.T) / (self._total * root_of_lam)
            lower = np.diag(sizes)
        self._sizes = sizes  # that rows have in it
        return System(LeastSquares(np.vstack([upper, lower])), curvature, None)

    def _eliminated(
        self, system: System, wanted: FloatArray, of: Products, towards: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        m, d = self._dense.shape
        sizes, curvature, none = self._sizes, system.curvature, np.zeros(0)
        force = 1.0 + curvature * self._alpha if towards else wanted
        if self._in_features:
            scaled, residual = system.factor.solve(np.append(sizes * force, np.zeros(d)))
            w, alpha = self._units * scaled, residual[:m] / (sizes * curvature)
        else:
            alpha, residual = system.factor.solve(np.append(np.zeros(d), sizes * force / curvature))
            w = residual[:d] / -math.sqrt(self._problem.lam)
        return (w - self._w, alpha - self._alpha, none, none) if towards else (w, alpha, none, none)


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
