# The losses, their conjugates and the terms of the gap, row by row.
#
# Sums over rows that have weights, and methods that need the terms themselves, use these; the
# formulas are those of loss.pxd.
#
#   cost      one evaluation a row

import numpy as np

from .loss cimport Loss, gap_term, loss_conjugate, loss_of, loss_value
from .provenance cimport build_record

__build__ = build_record()


cdef object _of_each(double (*term)(Loss, double) noexcept nogil,
                     const double[::1] numbers, loss):
    cdef Loss of = loss_of(loss)
    cdef double[::1] out = np.empty(numbers.shape[0])
    cdef Py_ssize_t i
    with nogil:
        for i in range(numbers.shape[0]):
            out[i] = term(of, numbers[i])
    return np.asarray(out)


def losses(const double[::1] margins, loss):
    """The loss at each margin, shape (m,)."""
    return _of_each(loss_value, margins, loss)


def conjugates(const double[::1] alpha, loss):
    """The conjugate q at each dual variable, shape (m,)."""
    return _of_each(loss_conjugate, alpha, loss)


def gap_terms(const double[::1] margins, const double[::1] alpha, loss):
    """loss(s_i) - q(alpha_i) + alpha_i s_i of each row, shape (m,); none is negative."""
    if margins.shape[0] != alpha.shape[0]:
        raise ValueError(f"{margins.shape[0]} margins, {alpha.shape[0]} dual variables")
    cdef Loss of = loss_of(loss)
    cdef double[::1] out = np.empty(alpha.shape[0])
    cdef Py_ssize_t i
    with nogil:
        for i in range(alpha.shape[0]):
            out[i] = gap_term(of, margins[i], alpha[i])
    return np.asarray(out)
