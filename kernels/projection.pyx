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

__build__ = build_record()


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
    cdef Py_ssize_t d = y.shape[0]
    cdef bint weighted = weights is not None
    if weighted and weights.shape[0] != d:
        raise ValueError(f"{weights.shape[0]} weights for {d} entries")
    # Size and 1/h of the entries still above the threshold, moved to the front.
    cdef double[::1] sizes = np.abs(y)
    cdef double[::1] spans = np.reciprocal(weights) if weighted else np.empty(0)
    cdef double total = 0.0, span = 0.0, tau = 0.0, size, each
    cdef Py_ssize_t i, active = d, kept
    with nogil:
        for i in range(d):
            total += sizes[i]
        if total <= radius:
            tau = 0.0
            active = 0
        while active:
            total = span = 0.0
            for i in range(active):
                total += sizes[i]
                span += spans[i] if weighted else 1.0
            tau = (total - radius) / span
            kept = 0
            for i in range(active):
                size, each = sizes[i], (spans[i] if weighted else 1.0)
                if size > tau * each:
                    sizes[kept] = size
                    if weighted:
                        spans[kept] = each
                    kept += 1
            # The mean of what is left exceeds tau, so rounding alone could drop all.
            if kept == active or kept == 0:
                break
            active = kept
        if tau > 0.0:
            for i in range(d):
                size = fabs(y[i]) - (tau / weights[i] if weighted else tau)
                if size <= 0.0:
                    y[i] = 0.0
                else:
                    y[i] = size if y[i] > 0.0 else -size
    return tau
