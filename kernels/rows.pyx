# The Python side of compact rows: the arrays checked once, so that kernels need not.
#
#   take_rows   copies the chosen rows, n_i entries each; in ascending order it reads memory once

from libc.string cimport memcpy

import numpy as np

from .provenance cimport build_record

__build__ = build_record()

_STORAGE = {
    ("uint16", None): U16_ONES,
    ("uint16", "float32"): U16_F32,
    ("uint16", "float64"): U16_F64,
    ("int32", None): I32_ONES,
    ("int32", "float32"): I32_F32,
    ("int32", "float64"): I32_F64,
    (None, "float32"): DENSE_F32,
    (None, "float64"): DENSE_F64,
}


cdef const void *_address(object array, list buffers) except? NULL:
    """Address of a contiguous array's first byte; the view that pins it joins ``buffers``."""
    cdef const unsigned char[::1] view
    if array is None or array.size == 0:
        return NULL
    if not array.flags.c_contiguous:
        raise ValueError("rows need contiguous arrays")
    view = array.reshape(-1).view(np.uint8)
    buffers.append(view)
    return &view[0]


def _dtype_name(array):
    """Name of an array's type as kernels know it; a foreign byte order has none of theirs."""
    if array is None:
        return None
    return array.dtype.name if array.dtype.isnative else array.dtype.str


cdef enum ColumnFault:
    NO_FAULT
    OUTSIDE
    NOT_ASCENDING


cdef ColumnFault _column_fault(const int64_t[::1] indptr, const index_t[::1] indices,
                               Py_ssize_t d) noexcept nogil:
    """What is wrong with the columns of any row; ``indptr`` is known to be right."""
    cdef Py_ssize_t i, k
    cdef int64_t previous
    for i in range(indptr.shape[0] - 1):
        previous = -1
        for k in range(indptr[i], indptr[i + 1]):
            if not 0 <= <int64_t> indices[k] < d:
                return OUTSIDE
            if indices[k] <= previous:
                return NOT_ASCENDING
            previous = indices[k]
    return NO_FAULT


# What `trusted_rows` hands over as checked; nothing outside this module has it.
cdef CompactRows _TRUSTED


cdef class CompactRows:
    """Rows of a data set in their stored form, as the kernels read them.

    Parameters
    ----------
    d : int
        Number of features.
    indptr : ndarray of int64, shape (m + 1,), or None
        Row starts; None for dense rows.
    indices : ndarray of uint16 or int32, shape (nnz,), or None
        Columns from 0, ascending within a row; None for dense rows.
    values : ndarray of float32 or float64, or None
        Shape (nnz,), or (m, d) for dense rows; None where every stored value is one.
    labels : ndarray of int8, shape (m,)
        -1 or +1.
    checked : CompactRows, optional
        Rows of the same arrays, with other labels: what was checked for them is not checked again.

    Raises
    ------
    ValueError
        When the arrays do not describe m rows of d features: kernels trust them blindly.
    """

    def __cinit__(
        self, Py_ssize_t d, indptr, indices, values, labels, CompactRows checked=None
    ):
        key = (_dtype_name(indices), _dtype_name(values))
        if key not in _STORAGE:
            raise ValueError(f"no kernel reads rows stored as indices {key[0]}, values {key[1]}")
        m = len(labels)
        if labels.dtype != np.int8 or labels.ndim != 1:
            raise ValueError("labels must be int8 of one dimension")
        if m and not np.all(np.abs(labels) == 1):
            raise ValueError("labels must be -1 or +1")
        if indices is None:
            if values.shape != (m, d):
                raise ValueError(f"dense values have shape {values.shape}, not {(m, d)}")
        elif checked is None or checked is not _TRUSTED and not (
            checked.c.m == m and checked.c.d == d and checked.indptr is indptr
            and checked.indices is indices and checked.values is values
        ):
            self._check_sparse(m, d, indptr, indices, values)
        cdef list buffers = []
        self.c.m = m
        self.c.d = d
        self.c.storage = _STORAGE[key]
        self.c.indptr = <const int64_t *> _address(indptr, buffers)
        self.c.indices = _address(indices, buffers)
        self.c.values = _address(values, buffers)
        self.c.labels = <const int8_t *> _address(labels, buffers)
        self.indptr, self.indices, self.values, self.labels = indptr, indices, values, labels
        self.buffers = tuple(buffers)

    @staticmethod
    def _check_sparse(m, d, indptr, indices, values):
        cdef ColumnFault fault
        if indptr is None or indptr.dtype != np.int64 or indptr.shape != (m + 1,):
            raise ValueError(f"indptr must be int64 of shape ({m + 1},)")
        if indices.ndim != 1:
            raise ValueError(f"indices have shape {indices.shape}, not one dimension")
        if indptr[0] != 0 or indptr[m] != len(indices) or np.any(indptr[1:] < indptr[:m]):
            raise ValueError("indptr must rise from 0 to the number of stored values")
        if values is not None and values.shape != indices.shape:
            raise ValueError("values and indices differ in length")
        if indices.dtype == np.uint16:
            fault = _column_fault[uint16_t](indptr, indices, d)
        else:
            fault = _column_fault[int32_t](indptr, indices, d)
        if fault == OUTSIDE:
            raise ValueError(f"a column index lies outside 0 .. {d - 1}")
        if fault == NOT_ASCENDING:
            raise ValueError("the column indices of a row must ascend, none twice")

    @property
    def m(self):
        """Number of rows."""
        return self.c.m

    @property
    def d(self):
        """Number of features."""
        return self.c.d

    @property
    def nnz(self):
        """Number of stored entries."""
        return self.c.m * self.c.d if self.indptr is None else int(self.indptr[self.c.m])

    def lengths(self):
        """Number of stored entries of every row, shape (m,), int64."""
        if self.indptr is None:
            return np.full(self.c.m, self.c.d, dtype=np.int64)
        return np.diff(self.indptr)

    def between(self, Py_ssize_t begin, Py_ssize_t end):
        """Rows ``begin`` to ``end - 1``; no entry is copied, and none is checked again."""
        if not 0 <= begin <= end <= self.c.m:
            raise ValueError(f"no rows {begin} to {end} among {self.c.m}")
        labels = self.labels[begin:end]
        if self.indptr is None:
            return CompactRows(self.c.d, None, None, self.values[begin:end], labels)
        cdef int64_t first = self.c.indptr[begin], last = self.c.indptr[end]
        values = None if self.values is None else self.values[first:last]
        starts = self.indptr[begin:end + 1]
        if first:
            starts = starts - first
        return trusted_rows(self.c.d, starts, self.indices[first:last], values, labels)

    def norms2(self):
        """Squared Euclidean norm of every row, shape (m,), float64."""
        cdef double[::1] out = np.empty(self.c.m)
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.c.m):
                out[i] = row_norm2(&self.c, i)
        return np.asarray(out)

    def dot(self, const double[::1] w):
        """Products x_i . w of all rows, shape (m,), float64."""
        if w.shape[0] != self.c.d:
            raise ValueError(f"w has {w.shape[0]} entries, the rows {self.c.d} features")
        cdef double[::1] out = np.empty(self.c.m)
        cdef double nothing = 0
        cdef const double *weights = &w[0] if self.c.d else &nothing
        cdef Py_ssize_t i
        with nogil:
            for i in range(self.c.m):
                out[i] = row_dot(&self.c, i, weights)
        return np.asarray(out)


_TRUSTED = CompactRows(0, None, None, np.empty((0, 0)), np.empty(0, dtype=np.int8))


cdef CompactRows trusted_rows(Py_ssize_t d, object indptr, object indices, object values,
                              object labels):
    """Sparse rows of arrays made of checked rows: their entries are not checked again."""
    return CompactRows(d, indptr, indices, values, labels, _TRUSTED)


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
