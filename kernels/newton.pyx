# Newton's method on smooth losses: the passes over the rows.
#
#   problem   min lam/2 ||w||^2 + 1/m sum loss(s_i),   s_i = y_i (w.x_i + b), b = 0 or free
#   update    with the curvatures c_i of the rows that have some,
#             (lam I + 1/m sum c_i x_i x_i') step = -gradient, solved through `weighted_product`,
#             or through kernels/normal.pyx where the features are few; `weighted_squares` is the
#             diagonal, which preconditions products
#   cost      2 n_i a row with curvature, for a product or the diagonal
#   source    Dembo and Steihaug, Mathematical Programming 26 (1983)

from libc.stdint cimport int32_t, int64_t

import numpy as np

from .normal cimport unpack_row
from .provenance cimport build_record
from .rows cimport CompactRows, row_axpy, row_dot, row_nonzeros

__build__ = build_record()


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
