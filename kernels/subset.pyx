# Some rows of a data set, as rows of their own.
#
#   take_rows   copies the chosen rows, n_i entries each; in ascending order it reads memory once

from libc.stdint cimport int8_t, int32_t, int64_t
from libc.string cimport memcpy

import numpy as np

from .provenance cimport build_record
from .rows cimport CompactRows, Rows, look_ahead, row_nonzeros, trusted_rows

__build__ = build_record()


def take_rows(CompactRows rows, const int32_t[::1] chosen):
    """The chosen rows in this order, in the same storage."""
    cdef Py_ssize_t n = chosen.shape[0], k
    for k in range(n):
        if not 0 <= chosen[k] < rows.c.m:
            raise ValueError("a row is chosen that is not there")
    labels, indptr = np.empty(n, dtype=np.int8), np.zeros(n + 1, dtype=np.int64)
    cdef int8_t[::1] taken = labels
    cdef int64_t[::1] starts = indptr
    with nogil:
        for k in range(n):
            taken[k] = rows.c.labels[chosen[k]]
            starts[k + 1] = starts[k] + row_nonzeros(&rows.c, chosen[k])
    if rows.indptr is None:
        return CompactRows(rows.c.d, None, None, rows.values[np.asarray(chosen)], labels)
    indices = np.empty(starts[n], dtype=rows.indices.dtype)
    values = None if rows.values is None else np.empty(starts[n], dtype=rows.values.dtype)
    if starts[n]:
        _copy(&rows.c, chosen, starts, indices.view(np.uint8),
              None if values is None else values.view(np.uint8))
    return trusted_rows(rows.c.d, indptr, indices, values, labels)


cdef void _copy(const Rows *rows, const int32_t[::1] chosen, int64_t[::1] starts,
                unsigned char[::1] indices, unsigned char[::1] values) noexcept:
    """Copy the entries of the chosen rows, at least one; ``values`` is None if all are one."""
    cdef Py_ssize_t k, n = chosen.shape[0]
    cdef Py_ssize_t wide = indices.shape[0] // starts[n]
    cdef Py_ssize_t value_wide = 0 if values is None else values.shape[0] // starts[n]
    cdef Py_ssize_t first, to, length
    with nogil:
        for k in range(n):
            look_ahead(rows, &chosen[0], k, n)
            first, to, length = rows.indptr[chosen[k]], starts[k], starts[k + 1] - starts[k]
            if length == 0:
                continue
            memcpy(&indices[wide * to], <const char *> rows.indices + wide * first, wide * length)
            if value_wide:
                memcpy(&values[value_wide * to], <const char *> rows.values + value_wide * first,
                       value_wide * length)
