# Compact rows and the few operations every solver makes of them.
#
# A data set is stored once, in the smallest form that holds it exactly (see
# svmbench/data/dataset.py), and every solver works on that form through one
# struct. Each operation switches on the storage once a row: at 14 nonzeros a row
# that costs about a tenth of the row, at 75 nothing measurable, and it spares
# compiling every solver once a storage.
#
#   row_dot(rows, i, w)       x_i . w          n_i multiply-adds, four accumulators
#   row_axpy(rows, i, c, w)   w += c x_i       n_i multiply-adds
#   row_scaled_axpy(..., b, w)    w_j += c b_j x_ij, with the roundings of row_axpy where b_j = 1
#   row_norm2(rows, i)        ||x_i||^2        n_i multiply-adds, in double
#   row_nonzeros(rows, i)     n_i              stored entries (d for dense rows)
#   look_ahead(rows, order, position, end)     asks memory for the rows of steps to come: what a
#                                              random row costs is the wait for its first bytes
#   look_ahead_at(numbers, order, ...)         the same for a method's own numbers of the rows
#
# Weights are double or, for the methods that run in single precision throughout,
# float; a sum of products is accumulated in the precision of the weights.

from libc.stdint cimport int8_t, int32_t, int64_t, uint16_t

ctypedef fused weight_t:
    float
    double

ctypedef fused index_t:
    uint16_t
    int32_t

ctypedef fused value_t:
    float
    double

cdef enum Storage:
    U16_ONES
    U16_F32
    U16_F64
    I32_ONES
    I32_F32
    I32_F64
    DENSE_F32
    DENSE_F64

cdef struct Rows:
    Py_ssize_t m            # rows
    Py_ssize_t d            # features
    int storage             # one of Storage
    const int64_t *indptr   # m + 1 row starts; not read for dense rows
    const void *indices     # uint16 or int32 columns from 0; NULL for dense rows
    const void *values      # float or double; NULL where all stored values are one
    const int8_t *labels    # -1 or +1


cdef class CompactRows:
    """Arrays of a data set, held so that kernels may read them without the GIL."""

    cdef Rows c
    cdef readonly object indptr, indices, values, labels
    cdef tuple buffers


cdef CompactRows trusted_rows(Py_ssize_t d, object indptr, object indices, object values,
                              object labels)


cdef inline weight_t ones_dot(const index_t *j, Py_ssize_t n, const weight_t *w) noexcept nogil:
    cdef weight_t s0 = 0, s1 = 0, s2 = 0, s3 = 0
    cdef Py_ssize_t k = 0
    while k + 4 <= n:
        s0 += w[j[k]]
        s1 += w[j[k + 1]]
        s2 += w[j[k + 2]]
        s3 += w[j[k + 3]]
        k += 4
    while k < n:
        s0 += w[j[k]]
        k += 1
    return (s0 + s1) + (s2 + s3)


cdef inline weight_t sparse_dot(const index_t *j, const value_t *x, Py_ssize_t n,
                                const weight_t *w) noexcept nogil:
    cdef weight_t s0 = 0, s1 = 0, s2 = 0, s3 = 0
    cdef Py_ssize_t k = 0
    while k + 4 <= n:
        s0 += <weight_t> (x[k] * w[j[k]])
        s1 += <weight_t> (x[k + 1] * w[j[k + 1]])
        s2 += <weight_t> (x[k + 2] * w[j[k + 2]])
        s3 += <weight_t> (x[k + 3] * w[j[k + 3]])
        k += 4
    while k < n:
        s0 += <weight_t> (x[k] * w[j[k]])
        k += 1
    return (s0 + s1) + (s2 + s3)


cdef inline weight_t dense_dot(const value_t *x, Py_ssize_t n, const weight_t *w) noexcept nogil:
    # Eight sums that know nothing of each other: compilers make vector instructions of them, of
    # whatever width the build may use, and the bits are the same with all.
    cdef weight_t s[8]
    cdef weight_t rest = 0
    cdef Py_ssize_t k = 0
    cdef int lane
    for lane in range(8):
        s[lane] = 0
    while k + 8 <= n:
        for lane in range(8):
            s[lane] += <weight_t> (x[k + lane] * w[k + lane])
        k += 8
    if k + 4 <= n:
        for lane in range(4):
            s[lane] += <weight_t> (x[k + lane] * w[k + lane])
        k += 4
    while k < n:
        rest += <weight_t> (x[k] * w[k])
        k += 1
    return (((s[0] + rest) + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))


# In these, b is NULL where it is one.

cdef inline void ones_axpy(weight_t c, const index_t *j, Py_ssize_t n, const weight_t *b,
                           weight_t *w) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        w[j[k]] += c if b == NULL else <weight_t> (c * b[j[k]])


cdef inline void sparse_axpy(weight_t c, const index_t *j, const value_t *x, Py_ssize_t n,
                             const weight_t *b, weight_t *w) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        w[j[k]] += <weight_t> ((c if b == NULL else c * b[j[k]]) * x[k])


cdef inline void dense_axpy(weight_t c, const value_t *x, Py_ssize_t n, const weight_t *b,
                            weight_t *w) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        w[k] += <weight_t> ((c if b == NULL else c * b[k]) * x[k])


cdef inline double sum_squares(const value_t *x, Py_ssize_t n) noexcept nogil:
    # Eight sums, as in dense_dot: one alone would wait for each addition to end.
    cdef double s[8]
    cdef double rest = 0
    cdef Py_ssize_t k = 0
    cdef int lane
    for lane in range(8):
        s[lane] = 0
    while k + 8 <= n:
        for lane in range(8):
            s[lane] += <double> x[k + lane] * x[k + lane]
        k += 8
    while k < n:
        rest += <double> x[k] * x[k]
        k += 1
    return (((s[0] + rest) + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))


# The empty assembly is there because a function that only prefetches has no effect that
# compilers know of: they leave its calls out.
cdef extern from *:
    """
    #define svmbench_prefetch(address) \\
        do { __builtin_prefetch(address); __asm__ volatile (""); } while (0)
    """
    void prefetch "svmbench_prefetch" (const void *address) noexcept nogil

# Steps ahead at which a row's start is asked for, and its first entries are; bytes of a cache
# line; and lines of each array that are asked for, whence the processor goes on by itself.
cdef enum:
    START_AHEAD = 12
    ENTRIES_AHEAD = 6
    LINE = 64
    LINES = 4


cdef inline void prefetch_lines(const char *first, Py_ssize_t size) noexcept nogil:
    cdef Py_ssize_t k = 0
    while k < size and k < LINES * LINE:
        prefetch(first + k)
        k += LINE


cdef inline void prefetch_row(const Rows *rows, Py_ssize_t i) noexcept nogil:
    """Ask memory for the first entries of row i."""
    cdef int storage = rows.storage
    cdef Py_ssize_t start, n
    cdef Py_ssize_t value_size = 8
    if storage == U16_F32 or storage == I32_F32 or storage == DENSE_F32:
        value_size = 4
    if storage >= DENSE_F32:
        prefetch_lines(<const char *> rows.values + i * rows.d * value_size, rows.d * value_size)
        return
    start = rows.indptr[i]
    n = rows.indptr[i + 1] - start
    if storage <= U16_F64:
        prefetch_lines(<const char *> rows.indices + 2 * start, 2 * n)
    else:
        prefetch_lines(<const char *> rows.indices + 4 * start, 4 * n)
    if rows.values != NULL:
        prefetch_lines(<const char *> rows.values + value_size * start, value_size * n)


cdef inline void look_ahead(const Rows *rows, const int32_t *order, Py_ssize_t position,
                            Py_ssize_t end) noexcept nogil:
    """Ask for the rows that order[position + ...] will need, as far as ``end``."""
    if position + START_AHEAD < end:
        if rows.storage < DENSE_F32:
            prefetch(&rows.indptr[order[position + START_AHEAD]])
        prefetch(&rows.labels[order[position + START_AHEAD]])
    if position + ENTRIES_AHEAD < end:
        prefetch_row(rows, order[position + ENTRIES_AHEAD])


cdef inline void look_ahead_at(const double *numbers, const int32_t *order, Py_ssize_t position,
                               Py_ssize_t end) noexcept nogil:
    """As `look_ahead`, for numbers that a method keeps of every row."""
    if position + ENTRIES_AHEAD < end:
        prefetch(&numbers[order[position + ENTRIES_AHEAD]])


cdef inline Py_ssize_t row_nonzeros(const Rows *rows, Py_ssize_t i) noexcept nogil:
    if rows.storage >= DENSE_F32:
        return rows.d
    return rows.indptr[i + 1] - rows.indptr[i]


cdef inline weight_t row_dot(const Rows *rows, Py_ssize_t i, const weight_t *w) noexcept nogil:
    cdef Py_ssize_t n = row_nonzeros(rows, i)
    cdef Py_ssize_t k = i * rows.d if rows.storage >= DENSE_F32 else rows.indptr[i]
    cdef int storage = rows.storage
    if storage == U16_ONES:
        return ones_dot(<const uint16_t *> rows.indices + k, n, w)
    if storage == U16_F32:
        return sparse_dot(<const uint16_t *> rows.indices + k, <const float *> rows.values + k,
                          n, w)
    if storage == U16_F64:
        return sparse_dot(<const uint16_t *> rows.indices + k, <const double *> rows.values + k,
                          n, w)
    if storage == I32_ONES:
        return ones_dot(<const int32_t *> rows.indices + k, n, w)
    if storage == I32_F32:
        return sparse_dot(<const int32_t *> rows.indices + k, <const float *> rows.values + k,
                          n, w)
    if storage == I32_F64:
        return sparse_dot(<const int32_t *> rows.indices + k, <const double *> rows.values + k,
                          n, w)
    if storage == DENSE_F32:
        return dense_dot(<const float *> rows.values + k, n, w)
    return dense_dot(<const double *> rows.values + k, n, w)


cdef inline void row_scaled_axpy(const Rows *rows, Py_ssize_t i, weight_t c, const weight_t *b,
                                 weight_t *w) noexcept nogil:
    cdef Py_ssize_t n = row_nonzeros(rows, i)
    cdef Py_ssize_t k = i * rows.d if rows.storage >= DENSE_F32 else rows.indptr[i]
    cdef int storage = rows.storage
    if storage == U16_ONES:
        ones_axpy(c, <const uint16_t *> rows.indices + k, n, b, w)
    elif storage == U16_F32:
        sparse_axpy(c, <const uint16_t *> rows.indices + k, <const float *> rows.values + k,
                    n, b, w)
    elif storage == U16_F64:
        sparse_axpy(c, <const uint16_t *> rows.indices + k, <const double *> rows.values + k,
                    n, b, w)
    elif storage == I32_ONES:
        ones_axpy(c, <const int32_t *> rows.indices + k, n, b, w)
    elif storage == I32_F32:
        sparse_axpy(c, <const int32_t *> rows.indices + k, <const float *> rows.values + k,
                    n, b, w)
    elif storage == I32_F64:
        sparse_axpy(c, <const int32_t *> rows.indices + k, <const double *> rows.values + k,
                    n, b, w)
    elif storage == DENSE_F32:
        dense_axpy(c, <const float *> rows.values + k, n, b, w)
    else:
        dense_axpy(c, <const double *> rows.values + k, n, b, w)


cdef inline void row_axpy(const Rows *rows, Py_ssize_t i, weight_t c, weight_t *w) noexcept nogil:
    row_scaled_axpy(rows, i, c, <const weight_t *> NULL, w)


cdef inline double row_norm2(const Rows *rows, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t n = row_nonzeros(rows, i)
    cdef Py_ssize_t k = i * rows.d if rows.storage >= DENSE_F32 else rows.indptr[i]
    cdef int storage = rows.storage
    if rows.values == NULL:
        return <double> n
    if storage == U16_F32 or storage == I32_F32 or storage == DENSE_F32:
        return sum_squares(<const float *> rows.values + k, n)
    return sum_squares(<const double *> rows.values + k, n)
