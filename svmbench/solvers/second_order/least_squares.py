"""Least squares by a QR factorisation that keeps every row's digits, whatever its scale."""

from __future__ import annotations

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.solvers.cholesky import lapack

#: Columns per block of the factorisation.
BLOCK = 32


class LeastSquares:
    """Minimises ||A x - b|| for several b.

    Householder's QR with pivoted columns, of rows sorted by their largest entry: the error in each
    row is then a share of this row, and not of the largest one (Powell and Reid, Information
    Processing 68, 1969; Cox and Higham, in Numerical Analysis 1997). The sum A^T A would lose rows
    below 1e-8 of the largest one.

    - ``matrix``: (shape (rows, columns)) A, with at least as many rows as columns.
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
