# Scaled weight vectors and lazy sums of their iterates.
#
#   w = sigma v           shrinking or projecting w is sigma *= f; adding e x to w is
#                         v += (e/sigma) x: no step touches more than the entries of its rows
#   S = tau v + u         the sum of iterates: adding the iterate w is tau += sigma; with
#                         e x added to w, u -= tau (e/sigma) x leaves S as it is
#   taking in             once sigma is small:  u += tau v, tau = 0;  v *= sigma, sigma = 1
#
# sigma and tau are double in both precisions. The sum cancels about as many digits as sigma
# spans between two takings-in, so its least value depends on the precision. v shrunk to
# nothing, sigma = 0, is taken in at once.

from libc.stdint cimport int64_t

from .rows cimport weight_t
from .rowwise cimport RowWise, Weights


cdef class ScaledWeights(RowWise):
    """A method that takes rows in a given order, with weights w = scale v."""

    cdef readonly object v, u  # w = scale v; the sum is tau v + u, u None until begin_sum
    cdef readonly int64_t summed_from  # steps before the first iterate of the sum
    cdef public int64_t steps  # t
    cdef public double scale, tau
    cdef public double norm2  # ||w||^2, by recurrence where a projection needs it
    cdef public double bias, bias_sum
    cdef str sum_precision
    cdef Weights _v, _u
    cdef void *rest                 # u, or NULL while iterates are not summed


cdef inline bint too_small(weight_t *v, double scale) noexcept nogil:
    """Whether v, of either precision, has to take its scale in."""
    return scale < (1e-2 if sizeof(v[0]) == sizeof(float) else 1e-5)


cdef inline double take_in(weight_t *v, weight_t *u, Py_ssize_t d, double scale,
                           double tau) noexcept nogil:
    """u <- u + tau v, unless u is NULL, and v <- scale v; return the exact ||v||^2."""
    cdef double norm2 = 0
    cdef Py_ssize_t j
    for j in range(d):
        if u != NULL:
            u[j] += <weight_t> (tau * v[j])
        v[j] = <weight_t> (v[j] * scale)
        norm2 += <double> v[j] * v[j]
    return norm2
