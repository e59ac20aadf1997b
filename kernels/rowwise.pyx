# The Python side of methods that take one row after another.

import numpy as np

from .provenance cimport build_record

__build__ = build_record()


cdef class Weights:
    """A vector of d numbers in single or double precision.

    A class of kernels cannot have a member of fused type. It holds its vectors as `Weights`, and
    hands ``data`` to a fused function, cast to what ``single`` says.
    """

    def __init__(self, Py_ssize_t d, precision="float64"):
        if precision not in ("float64", "float32"):
            raise ValueError(f"weights are float64 or float32, not {precision!r}")
        cdef object whole = np.zeros(max(d, 1), dtype=precision)  # one at least, to point at
        self.single = whole.dtype == np.float32
        if self.single:
            self._floats = whole
            self.data = &self._floats[0]
        else:
            self._doubles = whole
            self.data = &self._doubles[0]
        self.array = whole[:d]


cdef class RowWise(Counters):
    """A method that takes rows in a given order."""

    def __init__(self, CompactRows rows, order):
        self.rows, self.order = rows, order
        self._order = order
        self.end = self._order.shape[0]
        self.row_at = &self._order[0] if self.end else NULL

    @property
    def summed(self):
        """Number of iterates in the sum; 0 where there is none."""
        return 0

    @property
    def iterate(self):
        """The current w, which the next step starts from, shape (d,), float64; a new array."""
        return self.w.astype(np.float64)


cdef class DualWise(RowWise):
    """A method that takes the rows that are not zero, and keeps a dual variable for each row."""

    def __init__(self, CompactRows rows, double zero_row_alpha, double constant=0.0):
        self.constant = constant
        self.norms2 = rows.norms2()
        if constant:
            self.norms2 += constant * constant
        self.alpha = np.zeros(rows.c.m)
        self.alpha[self.norms2 == 0.0] = zero_row_alpha
        self._norms2, self._alpha = self.norms2, self.alpha
        super().__init__(rows, np.flatnonzero(self.norms2).astype(np.int32))
