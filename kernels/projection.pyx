# Euclidean projection on the l1 ball, plain and weighted.
#
#   problem   min over ||w||_1 <= z of sum_i h_i (w_i - y_i)^2
#   solution  w_i = sign(y_i) max(|y_i| - tau/h_i, 0), and tau such that ||w||_1 = z;
#             w = y where y lies in the ball already
#   method    tau is the root of a convex, falling, piecewise linear function, found by
#             Newton's method from tau = 0: with A the entries with h|y| > tau,
#                 tau <- (sum_A |y| - z) / (sum_A 1/h).
#             tau rises and A shrinks until A stays what it is, at most d times and in
#             practice some five to ten times; nothing is sorted.
#   rounding  tau is known to some 1e-16 of |y|, which may be more than z: there a second
#             Newton's method, on |y| - tau/h, finds what rounding has taken from tau. Where
#             two numbers do not hold tau either, as from |y| of 1e25 z on, w is 0.
#   cost      O(d) an iteration; O(d log d) would be the sort's.
#   source    Michelot, J. Optim. Theory Appl. 50 (1986), for h = 1; the weighted form by
#             the change of variables in Duchi, Hazan and Singer, JMLR 12 (2011).

from libc.math cimport INFINITY, fabs

import numpy as np

from .provenance cimport build_record
from .rows cimport weight_t

__build__ = build_record()


# Survivors times their sum, in units of z, from which on rounding may leave more than some
# 1e-8 z of ||w||_1; and what |y| - tau/h of a survivor, in units of z, may be at most for the
# second Newton's method to find w.
cdef double ROUNDED = 1e8
cdef double LOST = 1e6


cdef double newton(double *sizes, double *spans, Py_ssize_t *active, double *total, double span,
                   double radius) noexcept nogil:
    """The root of sum max(sizes - tau spans, 0) = radius, from below it; spans are 1 where NULL.

    The sizes above it come first, and `active` and `total` are their number and sum.
    """
    cdef double tau, size, each = 1.0, kept_total, kept_span
    cdef Py_ssize_t i, kept
    while True:
        tau = (total[0] - radius) / span
        kept, kept_total, kept_span = 0, 0.0, 0.0
        for i in range(active[0]):       # without a branch that depends on the entry
            size = sizes[i]
            sizes[kept] = size
            if spans != NULL:
                each = spans[i]
                spans[kept] = each
            kept += size > tau * each
            kept_total += size if size > tau * each else 0.0
            kept_span += each if size > tau * each else 0.0
        # The mean of what is left exceeds tau, so rounding alone could drop all.
        if kept == active[0] or kept == 0:
            return tau
        active[0], total[0], span = kept, kept_total, kept_span


cdef double fill(const weight_t *y, const double *h, Py_ssize_t d, double tau, double *sizes,
                 double *spans, double *total) noexcept nogil:
    """Write |y| - tau/h and 1/h, and find the sum of the first; the sum of 1/h."""
    cdef double span = 0.0, each = 1.0
    cdef Py_ssize_t i
    total[0] = 0.0
    for i in range(d):
        if h != NULL:
            each = 1.0 / h[i]
            spans[i] = each
        sizes[i] = fabs(y[i]) - (tau if h == NULL else tau / h[i])
        total[0] += sizes[i]
        span += each
    return span


cdef Threshold l1_threshold(const weight_t *y, const double *h, Py_ssize_t d, double radius,
                            double *sizes, double *spans) noexcept nogil:
    cdef Threshold tau
    cdef double total, span, widest = 0.0, largest = 0.0
    cdef Py_ssize_t i, active = d
    tau.value = tau.rest = 0.0
    span = fill(y, h, d, 0.0, sizes, spans, &total)
    if total <= radius:
        return tau
    tau.value = newton(sizes, spans, &active, &total, span, radius)
    if active * total <= ROUNDED * radius or not tau.value < INFINITY:
        return tau
    span, active = fill(y, h, d, tau.value, sizes, spans, &total), d
    for i in range(d):
        largest = max(largest, sizes[i] * h[i] if h != NULL else sizes[i])
    tau.rest = newton(sizes, spans, &active, &total, span, radius)
    for i in range(active):
        widest = max(widest, fabs(sizes[i]))
    if widest > LOST * radius:
        tau.rest = largest * (1.0 + 1e-15)      # so that no quotient of it rounds below a size
    return tau


def project_l1(double[::1] y, double radius, const double[::1] weights=None):
    """Move ``y`` to the nearest point of the ball ||w||_1 <= radius, in place."""
    if not radius > 0.0:
        raise ValueError(f"the radius must be positive, not {radius}")
    cdef Py_ssize_t i, d = y.shape[0]
    if weights is not None and weights.shape[0] != d:
        raise ValueError(f"{weights.shape[0]} weights for {d} entries")
    if d == 0:
        return 0.0
    cdef double[::1] sizes = np.empty(d), spans = np.empty(d)
    cdef Threshold tau = l1_threshold(&y[0], NULL if weights is None else &weights[0], d, radius,
                                      &sizes[0], NULL if weights is None else &spans[0])
    if tau.value > 0.0:
        for i in range(d):
            y[i] = soft(y[i], tau, 1.0 if weights is None else weights[i])
    return tau.value + tau.rest
