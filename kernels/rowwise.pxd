# What methods that take one row after another have in common: the rows, their order, how far along
# the order they are, and weights of either precision.
#
#   while more_rows(self, target):
#       i = next_row(self)                  also asks memory for the rows of the steps to come
#       look_ahead_in(self, numbers)        the same for numbers that a method keeps of every row

from libc.stdint cimport int32_t, int64_t

from .counters cimport Counters
from .rows cimport CompactRows, look_ahead, look_ahead_at


cdef class Weights:
    """A vector of d numbers in single or double precision."""

    cdef readonly object array
    cdef readonly bint single
    cdef void *data
    cdef float[::1] _floats
    cdef double[::1] _doubles


cdef class RowWise(Counters):
    """A method that takes rows in a given order."""

    cdef readonly CompactRows rows
    # The caller draws the next order into the same array once this one has ended, and sets the
    # position, its entries that have been presented, to 0.
    cdef readonly object order
    cdef public Py_ssize_t position
    cdef readonly Py_ssize_t end        # rows of the order that take part: all, unless shrunk
    cdef int32_t *row_at                # the order
    cdef int32_t[::1] _order


cdef class DualWise(RowWise):
    """A method that takes the rows that are not zero, and keeps a dual variable for each row.

    Where ``constant`` is not 0, each row has it as one more, last feature.
    """

    cdef readonly object norms2, alpha
    cdef readonly double constant
    cdef double[::1] _norms2, _alpha


cdef inline bint more_rows(RowWise self, int64_t target) noexcept nogil:
    """Whether neither the order has ended nor the target is reached."""
    return self.presentations < target and self.position < self.end


cdef inline Py_ssize_t next_row(RowWise self) noexcept nogil:
    """The next row of the order."""
    cdef Py_ssize_t i = self.row_at[self.position]
    look_ahead(&self.rows.c, self.row_at, self.position, self.end)
    self.position += 1
    return i


cdef inline void look_ahead_in(RowWise self, const double *numbers) noexcept nogil:
    look_ahead_at(numbers, self.row_at, self.position - 1, self.end)
