# Newton's method on the squared hinge and the logistic loss: the passes over the rows.
#
#   problem   min lam/2 ||w||^2 + 1/(2m) sum max(0, 1 - s_i)^2,   s_i = y_i w.x_i
#   update    with the support {s_i < 1}, where the loss is curved,
#             (lam I + 1/m X_s'X_s) step = -gradient, solved through `product`, or through
#             kernels/normal.pyx where the features are few; `weighted_product` has any
#             curvatures c_i in the place of the support, and a bias; `weighted_squares` is the
#             diagonal, which preconditions products
#   cost      n_i a row for a margin; 2 n_i a row of the support for a product or the diagonal
#   source    Chapelle, Neural Computation 19 (2007), section 3

from libc.stdint cimport int32_t, int64_t, uint16_t

from .provenance cimport build_record
from .rows cimport (
    DENSE_F32, I32_F32, I32_F64, I32_ONES, U16_F32, U16_F64, U16_ONES, CompactRows, Rows,
    index_t, row_axpy, row_dot, row_nonzeros, value_t,
)

__build__ = build_record()


def product(CompactRows rows, const int64_t[::1] support, const double[::1] p, double[::1] out):
    """Add sum of (x_i.p) x_i over the rows of the support to ``out``.

    Parameters
    ----------
    rows : CompactRows
    support : ndarray of int64
        Rows, 0 .. m - 1.
    p, out : ndarray of float64, shape (d,)

    Returns
    -------
    int
        Stored entries read and written.
    """
    if p.shape[0] != rows.c.d or out.shape[0] != rows.c.d:
        raise ValueError("rows, p and out do not belong together")
    cdef double nothing = 0
    cdef const double *direction = &p[0] if rows.c.d else &nothing
    cdef double *sums = &out[0] if rows.c.d else &nothing
    cdef Py_ssize_t nonzeros = 0, k, i
    for k in range(support.shape[0]):
        if not 0 <= support[k] < rows.c.m:
            raise ValueError("the support names a row that is not there")
    with nogil:
        for k in range(support.shape[0]):
            i = support[k]
            row_axpy(&rows.c, i, row_dot(&rows.c, i, direction), sums)
            nonzeros += 2 * row_nonzeros(&rows.c, i)
    return nonzeros


def weighted_product(CompactRows rows, const int64_t[::1] support, const double[::1] weights,
                     const double[::1] p, double shift, double[::1] out):
    """Add sum of c_i (x_i.p + shift) x_i over the rows of the support to ``out``.

    Parameters
    ----------
    rows : CompactRows
    support : ndarray of int64
        Rows, 0 .. m - 1.
    weights : ndarray of float64, of the support's shape
        c.
    p, out : ndarray of float64, shape (d,)
    shift : float

    Returns
    -------
    sum : float
        Of c_i (x_i.p + shift).
    nonzeros : int
        Stored entries read and written.
    """
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


cdef inline void add_sparse(double c, const index_t *j, const value_t *x, Py_ssize_t n,
                            double *sums) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        sums[j[k]] += c * (<double> x[k] * <double> x[k])


cdef inline void add_dense(double c, const value_t *x, Py_ssize_t n, double *sums) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        sums[k] += c * (<double> x[k] * <double> x[k])


cdef inline void add_squares(const Rows *rows, Py_ssize_t i, double c, double *sums) noexcept nogil:
    """Add c x_ij^2 of row i to the sum of each column j."""
    cdef Py_ssize_t n = row_nonzeros(rows, i)
    cdef Py_ssize_t k = i * rows.d if rows.storage >= DENSE_F32 else rows.indptr[i]
    cdef int storage = rows.storage
    if storage == U16_ONES or storage == I32_ONES:
        row_axpy(rows, i, c, sums)
    elif storage == U16_F32:
        add_sparse(c, <const uint16_t *> rows.indices + k, <const float *> rows.values + k, n, sums)
    elif storage == U16_F64:
        add_sparse(c, <const uint16_t *> rows.indices + k, <const double *> rows.values + k, n,
                   sums)
    elif storage == I32_F32:
        add_sparse(c, <const int32_t *> rows.indices + k, <const float *> rows.values + k, n, sums)
    elif storage == I32_F64:
        add_sparse(c, <const int32_t *> rows.indices + k, <const double *> rows.values + k, n, sums)
    elif storage == DENSE_F32:
        add_dense(c, <const float *> rows.values + k, n, sums)
    else:
        add_dense(c, <const double *> rows.values + k, n, sums)


def weighted_squares(CompactRows rows, const int64_t[::1] support, const double[::1] weights,
                     double[::1] out):
    """Add sum of c_i x_ij^2 over the rows of the support to each entry j of ``out``.

    Parameters
    ----------
    rows : CompactRows
    support : ndarray of int64
        Rows, 0 .. m - 1.
    weights : ndarray of float64, of the support's shape
        c.
    out : ndarray of float64, shape (d,)

    Returns
    -------
    int
        Stored entries read and written.
    """
    if weights.shape[0] != support.shape[0] or out.shape[0] != rows.c.d:
        raise ValueError("rows, support, weights and out do not belong together")
    cdef double nothing = 0
    cdef double *sums = &out[0] if rows.c.d else &nothing
    cdef Py_ssize_t nonzeros = 0, k
    for k in range(support.shape[0]):
        if not 0 <= support[k] < rows.c.m:
            raise ValueError("the support names a row that is not there")
    with nogil:
        for k in range(support.shape[0]):
            add_squares(&rows.c, support[k], weights[k], sums)
            nonzeros += 2 * row_nonzeros(&rows.c, support[k])
    return nonzeros
