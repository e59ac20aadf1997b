# The three losses, their derivatives and conjugates, defined here alone.
#
#   margin s = y w.x             value                       dual q(alpha)             box
#   hinge                        max(0, 1 - s)               alpha                     [0, 1]
#   squared hinge                max(0, 1 - s)^2 / 2         alpha - alpha^2 / 2       [0, inf)
#   smoothed hinge, gamma > 0    0 for s >= 1,               alpha - gamma alpha^2/2   [0, 1]
#                                1 - s - gamma/2 for s <= 1 - gamma,
#                                (1 - s)^2 / (2 gamma) between
#
# With nu = 0, 1, gamma in turn, q(alpha) = alpha - nu alpha^2 / 2 for all three; the
# squared hinge is the smoothed one with gamma = 1 and its upper bound taken away.
# Smoothed hinge: Shalev-Shwartz and Zhang, JMLR 14 (2013), section 6.

from libc.math cimport INFINITY

cdef enum LossKind:
    HINGE
    SQUARED_HINGE
    SMOOTHED_HINGE

cdef struct Loss:
    int kind
    double nu       # curvature of the conjugate: 0, 1 or gamma
    double upper    # upper end of the box of alpha: 1 or inf


cdef inline Loss make_loss(int kind, double gamma) noexcept nogil:
    cdef Loss loss
    loss.kind = kind
    loss.nu = 0.0 if kind == HINGE else 1.0 if kind == SQUARED_HINGE else gamma
    loss.upper = INFINITY if kind == SQUARED_HINGE else 1.0
    return loss


cdef inline Loss loss_of(object loss):
    """The loss that a `svmbench.problem.Loss` stands for."""
    return make_loss(loss.code, loss.gamma)


cdef inline double loss_value(Loss loss, double s) noexcept nogil:
    """The loss at margin s; nan for nan, since no comparison below holds of it."""
    cdef double short_by = 1.0 - s
    if short_by <= 0.0:
        return 0.0
    if loss.kind == HINGE:
        return short_by
    if loss.kind == SMOOTHED_HINGE and short_by >= loss.nu:
        return short_by - 0.5 * loss.nu
    return 0.5 * short_by * short_by / loss.nu


cdef inline double loss_conjugate(Loss loss, double alpha) noexcept nogil:
    return alpha - 0.5 * loss.nu * alpha * alpha


cdef inline double best_alpha(Loss loss, double s) noexcept nogil:
    """The alpha of minus the loss's slope at s; 0 on the hinge's kink."""
    cdef double short_by = 1.0 - s
    if short_by <= 0.0:
        return 0.0
    if loss.kind == HINGE:
        return 1.0
    return min(short_by / loss.nu, loss.upper)


cdef inline double projected_gradient(Loss loss, double alpha, double gradient) noexcept nogil:
    """The gradient of -D along alpha, less what points out of the box; 0 at the optimum."""
    if alpha <= 0.0:
        return min(gradient, 0.0)
    if alpha >= loss.upper:
        return max(gradient, 0.0)
    return gradient


cdef inline double best_coordinate(Loss loss, double alpha, double gradient, double norm2,
                                   double lam_m) noexcept nogil:
    """The alpha that maximises D along one coordinate; norm2 > 0, gradient as above."""
    alpha -= lam_m * gradient / (norm2 + loss.nu * lam_m)
    return max(0.0, min(alpha, loss.upper))


cdef inline double gap_term(Loss loss, double s, double alpha) noexcept nogil:
    """One example's share of P(w) - D(alpha): loss(s) - q(alpha) + alpha s >= 0.

    Written as a sum of non-negative terms, so that a gap far below the objective's
    own rounding can still be computed.
    """
    cdef double below = max(0.0, 1.0 - s)
    cdef double above = max(0.0, s - 1.0)
    cdef double off
    if loss.kind == HINGE:
        return (1.0 - alpha) * below + alpha * above
    off = best_alpha(loss, s) - alpha
    if loss.kind == SQUARED_HINGE:
        return 0.5 * off * off + alpha * above
    return (0.5 * loss.nu * off * off + alpha * above
            + (1.0 - alpha) * max(0.0, 1.0 - s - loss.nu))
