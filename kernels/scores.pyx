# Decision values of rows, added up as LIBLINEAR's predict does.
#
#   decision_values   sum_j x_ij w_cj for every class c, the columns in their order; n_i k
#                     multiply-adds a row. One sum a class: other orders round differently.

from libc.stdint cimport int32_t

import numpy as np

from .normal cimport unpack_row
from .provenance cimport build_record
from .rows cimport CompactRows

__build__ = build_record()


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
