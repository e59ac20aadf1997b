# The four losses, their derivatives and conjugates, defined here alone.
#
#   margin s = y w.x             value                       dual q(alpha)             box
#   hinge                        max(0, 1 - s)               alpha                     [0, 1]
#   squared hinge                max(0, 1 - s)^2 / 2         alpha - alpha^2 / 2       [0, inf)
#   smoothed hinge, gamma > 0    0 for s >= 1,               alpha - gamma alpha^2/2   [0, 1]
#                                1 - s - gamma/2 for s <= 1 - gamma,
#                                (1 - s)^2 / (2 gamma) between
#   logistic                     log(1 + exp(-s))            -alpha log alpha          [0, 1]
#                                                            - (1 - alpha) log(1 - alpha)
#
# With nu = 0, 1, gamma in turn, q(alpha) = alpha - nu alpha^2 / 2 for all three hinges; the
# squared hinge is the smoothed one with gamma = 1 and its upper bound taken away.
# Smoothed hinge: Shalev-Shwartz and Zhang, JMLR 14 (2013), section 6. Dual of the logistic
# loss: Yu, Huang and Lin, Machine Learning 85 (2011), section 2.

from libc.math cimport INFINITY, exp, fabs, fmax, log

cdef enum LossKind:
    HINGE
    SQUARED_HINGE
    SMOOTHED_HINGE
    LOGISTIC

cdef struct Loss:
    int kind
    double nu       # curvature of a hinge's conjugate: 0, 1 or gamma
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


cdef inline double hinge_value(Loss loss, double short_by) noexcept nogil:
    """A hinge at the margin 1 - short_by, which may be nearer to 1 than doubles resolve."""
    if short_by <= 0.0:
        return 0.0
    if loss.kind == HINGE:
        return short_by
    if loss.kind == SMOOTHED_HINGE and short_by >= loss.nu:
        return short_by - 0.5 * loss.nu
    return 0.5 * short_by * short_by / loss.nu


cdef inline double log_of_one_and(double x) noexcept nogil:
    """log(1 + x) for -1 < x <= 1, in half the time of log1p.

    What rounding takes from 1 + x, its logarithm lacks, to first order.
    """
    cdef double near = 1.0 + x
    return log(near) + (x - (near - 1.0)) / near


cdef inline double loss_value(Loss loss, double s) noexcept nogil:
    """The loss at margin s; nan for nan."""
    if loss.kind == LOGISTIC:
        return log_of_one_and(exp(-fabs(s))) + fmax(-s, 0.0)
    return hinge_value(loss, 1.0 - s)


cdef inline double loss_conjugate(Loss loss, double alpha) noexcept nogil:
    if loss.kind == LOGISTIC:
        if alpha == 0.0 or alpha == 1.0:
            return 0.0
        return -alpha * log(alpha) - (1.0 - alpha) * log_of_one_and(-alpha)
    return alpha - 0.5 * loss.nu * alpha * alpha


cdef inline double best_alpha(Loss loss, double s) noexcept nogil:
    """The alpha of minus the loss's slope at s; 0 on the hinge's kink."""
    cdef double short_by = 1.0 - s
    if loss.kind == LOGISTIC:
        return 1.0 / (1.0 + exp(s))
    if short_by <= 0.0:
        return 0.0
    if loss.kind == HINGE:
        return 1.0
    return min(short_by / loss.nu, loss.upper)


cdef inline double margin_of(double alpha) noexcept nogil:
    """log((1 - alpha)/alpha), the margin at which alpha is minus the logistic loss's slope.

    It is clipped where doubles resolve no more of it: near alpha = 1 before near 0.
    """
    return max(-37.0, min(log((1.0 - alpha) / alpha), 745.0))


cdef inline double dual_gradient(Loss loss, double alpha, double s) noexcept nogil:
    """The gradient of -m D along alpha at the margin s."""
    if loss.kind == LOGISTIC:
        return s - margin_of(alpha)
    return s - 1.0 + loss.nu * alpha


cdef inline double projected_gradient(Loss loss, double alpha, double gradient) noexcept nogil:
    """The gradient of -m D along alpha, less what points out of the box; 0 at the optimum."""
    if alpha <= 0.0:
        return min(gradient, 0.0)
    if alpha >= loss.upper:
        return max(gradient, 0.0)
    return gradient


cdef inline double best_logistic(double alpha, double gradient, double q) noexcept nogil:
    """The alpha that maximises D along a coordinate of the logistic loss, q = n_i/(lam m) > 0.

    It is 1/(1 + exp(t)) for the root t of f(t) = t - s - q (1/(1 + exp(t)) - alpha). f increases,
    and is concave for t > 0 and convex for t < 0. On the root's side of 0, Newton steps therefore
    approach it from one side, but for the first. They end once |f| is at most a tenth of the
    gradient, and at most 1/10: D has then risen by nearly all that it can.
    """
    cdef double before = margin_of(alpha)
    cdef double s = gradient + before, t, p, off
    cdef double enough = 0.1 * min(fabs(gradient), 1.0)
    cdef double sign = 1.0 if s + q * (0.5 - alpha) > 0.0 else -1.0
    cdef int _
    t = before if before * sign > 0.0 else 0.0
    for _ in range(64):
        p = 1.0 / (1.0 + exp(t))
        off = t - s - q * (p - alpha)
        if fabs(off) <= enough:
            break
        t -= off / (1.0 + q * p * (1.0 - p))
        if t * sign < 0.0:
            t = 0.0
    return p


cdef inline double best_coordinate(Loss loss, double alpha, double gradient, double norm2,
                                   double lam_m) noexcept nogil:
    """The alpha that maximises D along one coordinate; norm2 > 0, and the gradient is as above."""
    if loss.kind == LOGISTIC:
        return best_logistic(alpha, gradient, norm2 / lam_m)
    alpha -= lam_m * gradient / (norm2 + loss.nu * lam_m)
    return max(0.0, min(alpha, loss.upper))


cdef inline double gap_term(Loss loss, double s, double alpha) noexcept nogil:
    """One example's share of P(w) - D(alpha): loss(s) - q(alpha) + alpha s >= 0."""
    cdef double below = max(0.0, 1.0 - s)
    cdef double above = max(0.0, s - 1.0)
    cdef double off
    if loss.kind == LOGISTIC:
        return max(loss_value(loss, s) - loss_conjugate(loss, alpha) + alpha * s, 0.0)
    if loss.kind == HINGE:
        return (1.0 - alpha) * below + alpha * above
    off = best_alpha(loss, s) - alpha
    if loss.kind == SQUARED_HINGE:
        return 0.5 * off * off + alpha * above
    return (0.5 * loss.nu * off * off + alpha * above
            + (1.0 - alpha) * max(0.0, 1.0 - s - loss.nu))
