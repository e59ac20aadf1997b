# Some rows of a data set, as rows of their own.
#
#   take_rows   copies the chosen rows, n_i entries each; in ascending order it reads memory once

from libc.stdint cimport int32_t, int64_t
from libc.string cimport memcpy

import numpy as np

from .provenance cimport build_record
from .rows cimport CompactRows, Rows, look_ahead, trusted_rows

__build__ = build_record()


def take_rows(CompactRows rows, const int32_t[::1] chosen):
    """The chosen rows in this order, in the same storage.

    Parameters
    ----------
    rows : CompactRows
    chosen : ndarray of int32, shape (n,)
        From 0 to m - 1; a row may come more than once.

    Returns
    -------
    CompactRows

    Raises
    ------
    ValueError
        When ``chosen`` names a row that is not there.
    """
    cdef Py_ssize_t n = chosen.shape[0], k
    for k in range(n):
        if not 0 <= chosen[k] < rows.c.m:
            raise ValueError("a row is chosen that is not there")
    order = np.asarray(chosen)
    labels = rows.labels[order]
    if rows.indptr is None:
        return CompactRows(rows.c.d, None, None, rows.values[order], labels)
    indptr = np.zeros(n + 1, dtype=np.int64)
    np.cumsum(rows.indptr[order + 1] - rows.indptr[order], out=indptr[1:])
    indices = np.empty(indptr[n], dtype=rows.indices.dtype)
    values = None if rows.values is None else np.empty(indptr[n], dtype=rows.values.dtype)
    if n:
        _copy(&rows.c, chosen, indptr, indices.view(np.uint8), rows.indices.itemsize,
              <const char *> rows.c.indices)
        if values is not None:
            _copy(&rows.c, chosen, indptr, values.view(np.uint8), rows.values.itemsize,
                  <const char *> rows.c.values)
    return trusted_rows(rows.c.d, indptr, indices, values, labels)


cdef void _copy(const Rows *rows, const int32_t[::1] chosen, const int64_t[::1] indptr,
                unsigned char[::1] out, Py_ssize_t size, const char *entries) noexcept:
    cdef Py_ssize_t k, n = chosen.shape[0]
    with nogil:
        for k in range(n):
            look_ahead(rows, &chosen[0], k, n)
            if indptr[k + 1] > indptr[k]:
                memcpy(&out[indptr[k] * size], entries + rows.indptr[chosen[k]] * size,
                       (indptr[k + 1] - indptr[k]) * size)
