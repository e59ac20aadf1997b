# Normal equations of weighted rows, and their solution from a Cholesky factor.
#
#   weighted_gram   H += sum_i c_i x_i x_i^T, upper triangle; n_i (n_i + 1)/2 multiply-adds a row
#   dense_rows      sqrt(c_i) x_i of a block of rows, dense: BLAS forms the same sum of them with
#                   d^2/2 multiply-adds a row, in less time than scattering where rows are full
#   solution        U^T U x = b, by substitution forwards and backwards; d^2 multiply-adds; both
#                   read each row of U once
#   source          textbook

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .provenance cimport build_record
from .rows cimport CompactRows, dense_axpy, dense_dot

__build__ = build_record()


def weighted_gram(CompactRows rows, const double[::1] weights, double[:, ::1] out):
    """Add sum of weights_i x_i x_i^T to the upper triangle of ``out``."""
    if weights.shape[0] != rows.c.m or out.shape[0] != rows.c.d or out.shape[1] != rows.c.d:
        raise ValueError("rows, weights and out do not belong together")
    cdef int32_t[::1] columns = np.empty(rows.c.d + 1, dtype=np.int32)
    cdef double[::1] values = np.empty(rows.c.d + 1)
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.c.m):
            if weights[i] != 0.0:
                add_outer_product(&rows.c, i, weights[i], &columns[0], &values[0], &out[0, 0])


def dense_rows(CompactRows rows, const double[::1] weights, const int64_t[::1] chosen,
               double[:, ::1] out):
    """Write sqrt(weights_i) x_i for the chosen rows, one a line of ``out``."""
    if weights.shape[0] != rows.c.m or out.shape[1] != rows.c.d \
            or out.shape[0] != chosen.shape[0]:
        raise ValueError("rows, weights, chosen and out do not belong together")
    cdef int32_t[::1] columns = np.empty(rows.c.d + 1, dtype=np.int32)
    cdef double[::1] values = np.empty(rows.c.d + 1)
    cdef Py_ssize_t i, k, n, line
    cdef double root
    for line in range(chosen.shape[0]):
        if not 0 <= chosen[line] < rows.c.m:
            raise ValueError(f"there is no row {chosen[line]}")
    out[:, :] = 0.0
    with nogil:
        for line in range(out.shape[0]):
            i = chosen[line]
            root = sqrt(weights[i])
            n = unpack_row(&rows.c, i, &columns[0], &values[0])
            for k in range(n):
                out[line, columns[k]] = root * values[k]


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
                dense_axpy(-x[i], &factor[i, i + 1], d - i - 1, <const double *> NULL, &x[i + 1])
        for i in range(d - 1, -1, -1):
            if i + 1 < d:
                x[i] -= dense_dot(&factor[i, i + 1], d - i - 1, &x[i + 1])
            x[i] /= factor[i, i]
    return found
