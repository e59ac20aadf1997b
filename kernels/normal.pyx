# Normal equations of weighted rows, and their solution from a Cholesky factor; products of several
# rows or classes.
#
#   weighted_gram   H += sum_i c_i x_i x_i^T, upper triangle; n_i (n_i + 1)/2 multiply-adds a row
#   dense_rows      sqrt(c_i) x_i of a block of rows, dense: BLAS forms the same sum of them with
#                   d^2/2 multiply-adds a row, in less time than scattering where rows are full
#   solution        U^T U x = b, by substitution forwards and backwards; d^2 multiply-adds; both
#                   read each row of U once
#   weighted_product, weighted_squares   for Newton's method on smooth losses, whose system is
#                   lam I + 1/m sum c_i x_i x_i': its product with a vector, and its diagonal, which
#                   preconditions products; 2 n_i a row with curvature c_i
#   decision_values   sum_j x_ij w_cj for every class c, added up as LIBLINEAR's predict does, the
#                   columns in their order; n_i k multiply-adds a row. One sum a class: other orders
#                   round differently
#   source          textbook; Dembo and Steihaug, Mathematical Programming 26 (1983)

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .provenance cimport build_record
from .rows cimport CompactRows, dense_axpy, dense_dot, row_axpy, row_dot, row_nonzeros

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
    cdef Py_ssize_t line
    for line in range(chosen.shape[0]):
        if not 0 <= chosen[line] < rows.c.m:
            raise ValueError(f"there is no row {chosen[line]}")
    out[:, :] = 0.0
    if rows.c.d:
        with nogil:
            for line in range(out.shape[0]):
                row_axpy(&rows.c, chosen[line], sqrt(weights[chosen[line]]), &out[line, 0])


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


def weighted_product(CompactRows rows, const int64_t[::1] support, const double[::1] weights,
                     const double[::1] p, double shift, double[::1] out):
    """Add sum of c_i (x_i.p + shift) x_i over the rows of the support to ``out``."""
    if (weights.shape[0] != support.shape[0] or p.shape[0] != rows.c.d
            or out.shape[0] != rows.c.d):
        raise ValueError("rows, support, weights, p and out do not belong together")
    cdef double nothing = 0
    cdef const double *direction = &p[0] if rows.c.d else &nothing
    cdef double *sums = &out[0] if rows.c.d else &nothing
    cdef Py_ssize_t nonzeros = 0, k, i
    cdef double score, total = 0
    for k in range(support.shape[0]):
        if not 0 <= support[k] < rows.c.m:
            raise ValueError("the support names a row that is not there")
    with nogil:
        for k in range(support.shape[0]):
            i = support[k]
            score = weights[k] * (row_dot(&rows.c, i, direction) + shift)
            row_axpy(&rows.c, i, score, sums)
            total += score
            nonzeros += 2 * row_nonzeros(&rows.c, i)
    return total, nonzeros


def weighted_squares(CompactRows rows, const int64_t[::1] support, const double[::1] weights,
                     double[::1] out):
    """Add sum of c_i x_ij^2 over the rows of the support to each entry j of ``out``."""
    if weights.shape[0] != support.shape[0] or out.shape[0] != rows.c.d:
        raise ValueError("rows, support, weights and out do not belong together")
    cdef int32_t[::1] columns = np.empty(rows.c.d + 1, dtype=np.int32)
    cdef double[::1] values = np.empty(rows.c.d + 1)
    cdef double nothing = 0
    cdef double *sums = &out[0] if rows.c.d else &nothing
    cdef Py_ssize_t nonzeros = 0, k, e, n
    for k in range(support.shape[0]):
        if not 0 <= support[k] < rows.c.m:
            raise ValueError("the support names a row that is not there")
    with nogil:
        for k in range(support.shape[0]):
            if rows.c.values == NULL:  # ones, which are their squares
                row_axpy(&rows.c, support[k], weights[k], sums)
                nonzeros += 2 * row_nonzeros(&rows.c, support[k])
                continue
            n = unpack_row(&rows.c, support[k], &columns[0], &values[0])
            for e in range(n):
                out[columns[e]] += weights[k] * (values[e] * values[e])
            nonzeros += 2 * n
    return nonzeros


def decision_values(CompactRows rows, const double[:, ::1] weights):
    """Products of rows with the weights of several classes, shape (m, k)."""
    cdef Py_ssize_t n = weights.shape[0], k = weights.shape[1], i, e, c, entries
    cdef int32_t[::1] columns = np.empty(rows.c.d + 1, dtype=np.int32)
    cdef double[::1] values = np.empty(rows.c.d + 1)
    found = np.zeros((rows.c.m, k))
    cdef double[:, ::1] out = found
    cdef double total
    with nogil:
        for i in range(rows.c.m):
            entries = unpack_row(&rows.c, i, &columns[0], &values[0])
            while entries and columns[entries - 1] >= n:
                entries -= 1
            if k == 1:  # one sum in a register takes less than half the time
                total = 0.0
                for e in range(entries):
                    total += values[e] * weights[columns[e], 0]
                out[i, 0] = total
                continue
            for e in range(entries):
                for c in range(k):
                    out[i, c] += values[e] * weights[columns[e], c]
    return found
