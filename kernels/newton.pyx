# Newton's method on the squared hinge and the logistic loss: the passes over the rows.
#
#   problem   min lam/2 ||w||^2 + 1/(2m) sum max(0, 1 - s_i)^2,   s_i = y_i w.x_i
#   update    with the support {s_i < 1}, where the loss is curved,
#             (lam I + 1/m X_s'X_s) step = -gradient, solved through `product`, or through
#             kernels/normal.pyx where the features are few; `weighted_product` has any
#             curvatures c_i in the place of the support, and a bias
#   cost      n_i a row for a margin; 2 n_i a row of the support for a product
#   source    Chapelle, Neural Computation 19 (2007), section 3

from libc.stdint cimport int64_t

from .provenance cimport build_record
from .rows cimport CompactRows, row_axpy, row_dot, row_nonzeros

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
