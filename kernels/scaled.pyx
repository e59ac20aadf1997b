# The Python side of scaled weight vectors.

import numpy as np

from .provenance cimport build_record
from .rows cimport CompactRows

__build__ = build_record()


cdef class ScaledWeights(RowWise):
    """A method that takes rows in a given order, with weights w = scale v."""

    def __init__(self, CompactRows rows, order, precision="float64"):
        super().__init__(rows, order)
        self._v = Weights(rows.c.d, precision)
        self.v = self._v.array
        self.scale = 1.0
        self.sum_precision = precision
        self.rest = NULL

    def begin_sum(self):
        """Sum the iterates from here on: those that the next steps start from."""
        self._u = Weights(self.rows.c.d, self.sum_precision)
        self.u, self.rest = self._u.array, self._u.data
        self.tau = self.bias_sum = 0.0
        self.summed_from = self.steps

    @property
    def summed(self):
        """Number of iterates in the sum."""
        return 0 if self.u is None else self.steps - self.summed_from

    @property
    def iterate(self):
        """The current w, which the next step starts from, shape (d,), float64; a new array."""
        return self.v.astype(np.float64) * self.scale

    @property
    def total(self):
        """The sum of iterates, shape (d,), float64; a new array."""
        return self.v.astype(np.float64) * self.tau + self.u
