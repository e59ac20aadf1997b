# What the normal equations' kernels make of one row, whatever its storage.

from libc.stdint cimport int32_t, uint16_t

from .rows cimport (
    DENSE_F32, I32_F32, I32_ONES, U16_F32, U16_F64, U16_ONES, Rows, row_nonzeros,
)


cdef inline Py_ssize_t unpack_row(const Rows *rows, Py_ssize_t i, int32_t *columns,
                                  double *values) noexcept nogil:
    """Columns and values of row i; return how many there are."""
    cdef Py_ssize_t n = row_nonzeros(rows, i)
    cdef Py_ssize_t k, start
    cdef int storage = rows.storage
    if storage >= DENSE_F32:
        start = i * rows.d
        for k in range(n):
            columns[k] = <int32_t> k
            if storage == DENSE_F32:
                values[k] = (<const float *> rows.values)[start + k]
            else:
                values[k] = (<const double *> rows.values)[start + k]
        return n
    start = rows.indptr[i]
    for k in range(n):
        if storage == U16_ONES or storage == U16_F32 or storage == U16_F64:
            columns[k] = (<const uint16_t *> rows.indices)[start + k]
        else:
            columns[k] = (<const int32_t *> rows.indices)[start + k]
        if storage == U16_ONES or storage == I32_ONES:
            values[k] = 1.0
        elif storage == U16_F32 or storage == I32_F32:
            values[k] = (<const float *> rows.values)[start + k]
        else:
            values[k] = (<const double *> rows.values)[start + k]
    return n


cdef inline void add_outer_product(const Rows *rows, Py_ssize_t i, double weight,
                                   int32_t *columns, double *values, double *out) noexcept nogil:
    """Add weight x_i x_i^T to the upper triangle of ``out``, d x d.

    ``columns`` and ``values`` have room for a row.
    """
    cdef Py_ssize_t n = unpack_row(rows, i, columns, values)
    cdef Py_ssize_t j, k
    cdef double scaled
    cdef double *line
    if rows.storage >= DENSE_F32:
        for j in range(n):
            scaled = weight * values[j]
            line = out + j * rows.d
            for k in range(j, n):
                line[k] += scaled * values[k]
        return
    for j in range(n):
        scaled = weight * values[j]
        line = out + columns[j] * rows.d
        for k in range(j, n):
            line[columns[k]] += scaled * values[k]
