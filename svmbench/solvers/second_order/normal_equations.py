"""Sums of weighted outer products of rows, computed by the cheaper of two methods."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.normal import dense_rows, weighted_gram
from svmbench.kernels.rows import CompactRows

#: Most features for which a d x d system is formed.
MOST_FEATURES = 5000

#: Bytes of a matrix up to which it stays in the cache next to the core.
CORE_CACHE_BYTES = 1 << 20

#: Time of a multiply-add that is scattered into a matrix in the cache and into a larger one, and
#: time of BLAS per row over d^2, relative to the time per entry of a pass over sparse rows.
SCATTER_COST, FAR_SCATTER_COST, BLAS_COST = 1.0, 2.0, 0.04

#: Bytes of a block of rows in dense form for BLAS.
BLOCK_BYTES = 1 << 24


class Costs(NamedTuple):
    """What a sum costs by each of the two methods, in entries of a pass over sparse rows."""

    scattered: float
    through_blas: float

    @property
    def least(self) -> float:
        return min(self)


def costs(lengths: Array | None, m: int, d: int) -> Costs:
    """What the sum over these rows costs."""
    scattered = math.inf
    if lengths is not None:
        entries: FloatArray = lengths.astype(np.float64)
        each = SCATTER_COST if 8 * d * d <= CORE_CACHE_BYTES else FAR_SCATTER_COST
        scattered = each * 0.5 * float(entries @ entries)
    return Costs(scattered, BLAS_COST * m * float(d) ** 2)


class NormalEquations:
    """Computes sum_i c_i x_i x_i^T over rows, scattered or by BLAS on dense blocks of rows."""

    def __init__(self, rows: CompactRows) -> None:
        self._rows = rows
        lengths = None if rows.indptr is None else rows.lengths()
        self._costs = costs(lengths, rows.m, rows.d)

    @property
    def work(self) -> float:
        """Cost of a sum over all rows, in entries of a pass over sparse rows."""
        return self._costs.least

    def gram(self, weights: FloatArray) -> FloatArray:
        """The sum for these weights, shape (d, d); at least its upper triangle is set."""
        rows, d = self._rows, self._rows.d
        system = np.zeros((d, d))
        if self._costs.scattered <= self._costs.through_blas:
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
