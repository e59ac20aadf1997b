"""Sums of weighted outer products of rows, computed by the cheaper of two methods."""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.kernels.normal import dense_rows, weighted_gram

#: Multiply-adds that BLAS does in the time of one scattered into the triangle.
BLAS_ADVANTAGE = 8.0

#: Bytes of a block of rows in dense form for BLAS.
BLOCK_BYTES = 1 << 24


class NormalEquations:
    """Computes sum_i c_i x_i x_i^T over a data set's rows.

    Sparse rows are scattered into the triangle, with n_i^2/2 multiply-adds per row. BLAS on dense
    blocks takes m d^2/2, and is used where rows are full enough to make it faster.

    Parameters
    ----------
    data : Dataset
    """

    def __init__(self, data: Dataset) -> None:
        self._data = data
        through_blas = data.n_samples * float(data.n_features) ** 2 / BLAS_ADVANTAGE
        scattered = math.inf
        if data.indptr is not None:
            scattered = float(np.square(np.diff(data.indptr).astype(np.float64)).sum()) / 2.0
        self._through_blas = scattered > through_blas
        self._work = min(scattered, through_blas)

    @property
    def work(self) -> float:
        """Work of a sum, in multiply-adds of sparse rows.

        One scattered into the triangle takes about the time of one in a product with a vector.
        """
        return self._work

    def gram(self, weights: FloatArray) -> FloatArray:
        """The sum for these weights, shape (d, d); at least its upper triangle is set.

        Parameters
        ----------
        weights : ndarray of float64, shape (m,)
            Non-negative; rows of weight zero cost nothing.
        """
        rows, d = self._data.rows, self._data.n_features
        system = np.zeros((d, d))
        if not self._through_blas:
            weighted_gram(rows, weights, system)
            return system
        kept = np.flatnonzero(weights)
        block = max(1, BLOCK_BYTES // (8 * max(d, 1)))
        for begin in range(0, len(kept), block):
            chosen = kept[begin : begin + block]
            dense = np.empty((len(chosen), d))
            dense_rows(rows, weights, chosen, dense)
            system += dense.T @ dense
        return system
