# The solution of a system from its Cholesky factor.
#
#   solution   U^T U x = b, by substitution forwards and then backwards; d^2 multiply-adds
#
# Both read the rows of U one after another, each row once.

import numpy as np

from .provenance cimport build_record
from .rows cimport dense_axpy, dense_dot

__build__ = build_record()


def solution(const double[:, ::1] factor, const double[::1] right):
    """The x of factor^T factor x = right."""
    cdef Py_ssize_t d = right.shape[0], i
    if factor.shape[0] != d or factor.shape[1] != d:
        raise ValueError("factor and right do not belong together")
    found = np.array(right)
    cdef double[::1] x = found
    with nogil:
        for i in range(d):
            x[i] /= factor[i, i]
            if i + 1 < d:
                dense_axpy(-x[i], &factor[i, i + 1], d - i - 1, &x[i + 1])
        for i in range(d - 1, -1, -1):
            if i + 1 < d:
                x[i] -= dense_dot(&factor[i, i + 1], d - i - 1, &x[i + 1])
            x[i] /= factor[i, i]
    return found
