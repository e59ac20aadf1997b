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
#   cost      O(d) an iteration; O(d log d) would be the sort's.
#   source    Michelot, J. Optim. Theory Appl. 50 (1986), for h = 1; the weighted form by
#             the change of variables in Duchi, Hazan and Singer, JMLR 12 (2011).

from libc.math cimport fabs

import numpy as np

from .provenance cimport build_record
from .rows cimport weight_t

__build__ = build_record()


cdef double l1_threshold(const weight_t *y, Py_ssize_t d, double radius,
                         double *sizes) noexcept nogil:
    cdef double total = 0.0, tau, size, kept_total
    cdef Py_ssize_t i, kept, active = d
    for i in range(d):
        sizes[i] = fabs(y[i])
        total += sizes[i]
    if total <= radius:
        return 0.0
    while True:
        tau = (total - radius) / active
        kept, kept_total = 0, 0.0
        for i in range(active):          # without a branch that depends on the entry
            size = sizes[i]
            sizes[kept] = size
            kept += size > tau
            kept_total += size if size > tau else 0.0
        # The mean of what is left exceeds tau, so rounding alone could drop all.
        if kept == active or kept == 0:
            return tau
        active, total = kept, kept_total


cdef double weighted_l1_threshold(const double *y, const double *h, Py_ssize_t d, double radius,
                                  double *sizes, double *spans) noexcept nogil:
    cdef double total = 0.0, span = 0.0, tau, size, each, kept_total, kept_span
    cdef Py_ssize_t i, kept, active = d
    for i in range(d):
        sizes[i] = fabs(y[i])
        spans[i] = 1.0 / h[i]
        total += sizes[i]
        span += spans[i]
    if total <= radius:
        return 0.0
    while True:
        tau = (total - radius) / span
        kept, kept_total, kept_span = 0, 0.0, 0.0
        for i in range(active):
            size, each = sizes[i], spans[i]
            sizes[kept], spans[kept] = size, each
            kept += size > tau * each
            kept_total += size if size > tau * each else 0.0
            kept_span += each if size > tau * each else 0.0
        if kept == active or kept == 0:
            return tau
        active, total, span = kept, kept_total, kept_span


def project_l1(double[::1] y, double radius, const double[::1] weights=None):
    """Move ``y`` to the nearest point of the ball ||w||_1 <= radius, in place.

    Parameters
    ----------
    y : ndarray of float64, shape (d,)
        Overwritten.
    radius : float
        Positive.
    weights : ndarray of float64, shape (d,), optional
        Positive weights h of the squared distances; one each without.

    Returns
    -------
    tau : float
        The multiplier: 0 where ``y`` lay in the ball.

    Raises
    ------
    ValueError
        When the radius is not positive, or shapes differ.
    """
    if not radius > 0.0:
        raise ValueError(f"the radius must be positive, not {radius}")
    cdef Py_ssize_t i, d = y.shape[0]
    if weights is not None and weights.shape[0] != d:
        raise ValueError(f"{weights.shape[0]} weights for {d} entries")
    if d == 0:
        return 0.0
    cdef double[::1] sizes = np.empty(d)
    cdef double[::1] spans = np.empty(d if weights is not None else 0)
    cdef double tau
    if weights is None:
        tau = l1_threshold(&y[0], d, radius, &sizes[0])
    else:
        tau = weighted_l1_threshold(&y[0], &weights[0], d, radius, &sizes[0], &spans[0])
    if tau > 0.0:
        for i in range(d):
            y[i] = soft(y[i], tau if weights is None else tau / weights[i])
    return tau
