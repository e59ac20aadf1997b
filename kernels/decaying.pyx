# SGD on the primal hinge SVM whose steps decay as a power of t: svmsgd, svmasgd and norma.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i (w.x_i + b)), b = 0 or free
#   update    t = 0, 1, ...; the next row i, its margin s at w and b;
#                 eta = eta0 / (1 + decay t)^(quarters/4)
#                 w <- (1 - eta lam) w + [s < rho, or s = rho where ties count] eta y_i x_i
#                 b <- b + [the same] bias_rate eta y_i
#                 svmsgd    decay = lam eta0, quarters = 4, ties count
#                 svmasgd   decay = lam eta0, quarters = 3, ties count
#                 norma     decay = 1,        quarters = 2
#             decay = 0 makes the steps constant, as the search for eta0 has them
#   cost      n_i for the inner product, n_i more at a margin error and again n_i if iterates
#             are summed: w = scale v, the sum is tau v + u (scaled.pxd)
#   source    Bottou, sgd-2.0, programs svmsgd and svmasgd (2011);
#             Kivinen, Smola and Williamson, IEEE Trans. Signal Processing 52 (2004)

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from .loss cimport HINGE, Loss, loss_value, make_loss
from .provenance cimport build_record
from .rows cimport CompactRows, look_ahead, row_axpy, row_dot, row_nonzeros, weight_t
from .scaled cimport ScaledState, take_in, too_small

__build__ = build_record()


cdef inline double decayed(double z, int quarters) noexcept nogil:
    """z^(quarters/4): square roots cost a fraction of a general power."""
    cdef double root
    if quarters == 4:
        return z
    root = sqrt(z)
    return root if quarters == 2 else root * sqrt(root)


def advance(CompactRows rows, weight_t[::1] v, weight_t[::1] u, const int32_t[::1] order,
            ScaledState state, double lam, double eta0, double decay, int quarters,
            double rho, bint ties, int64_t target, double bias_rate=0.0):
    """Take steps of one row until the order ends or the presentations reach ``target``.

    Parameters
    ----------
    rows : CompactRows
    v : ndarray of float32 or float64, shape (d,)
        Updated in place, as are ``u`` and ``state``; w = state.scale * v, b = state.bias.
    u : ndarray like v, shape (d,) or (0,)
        The iterate each step starts from is added to the sums state.tau * v + u and
        state.bias_sum; with shape (0,) there is no sum, and these two mean nothing.
    order : ndarray of int32
        Rows to present, from state.position on.
    state : ScaledState
    lam : float
    eta0 : float
        First step. While eta * lam > 1, as it may be early in sgd-sqrt, steps turn w round;
        the other methods refuse an eta0 that does.
    decay : float
    quarters : {2, 3, 4}
        Four times the power of t by which steps decay.
    rho : float
        Margin below which a row is in error.
    ties : bool
        Whether a margin of exactly rho is an error.
    target : int
        Number of presentations at which to return.
    bias_rate : float
        Step of b as a share of that of w; 0 leaves b as it is.
    """
    cdef int64_t t = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef double scale = state.scale
    cdef double tau = state.tau
    cdef double bias = state.bias
    cdef double bias_sum = state.bias_sum
    cdef Py_ssize_t position = state.position
    cdef bint averaging = u.shape[0] > 0
    cdef bint free = bias_rate != 0
    cdef weight_t nothing = 0
    cdef weight_t *weights = &v[0] if v.shape[0] else &nothing
    cdef weight_t *rest = &u[0] if averaging else NULL
    cdef double y, s, eta, step
    cdef Py_ssize_t i
    if v.shape[0] != rows.c.d or (averaging and u.shape[0] != rows.c.d):
        raise ValueError("v, u and rows do not belong together")
    if not 2 <= quarters <= 4:
        raise ValueError(f"steps decay with 2, 3 or 4 quarters, not {quarters}")
    with nogil:
        while t < target and position < order.shape[0]:
            i = order[position]
            look_ahead(&rows.c, &order[0], position, order.shape[0])
            position += 1
            eta = eta0 / decayed(1.0 + decay * t, quarters)
            t += 1
            y = rows.c.labels[i]
            s = y * scale * row_dot(&rows.c, i, weights)
            if free:          # an addition of nothing costs a twentieth of a short row's step
                s += y * bias
                bias_sum += bias
            nonzeros += row_nonzeros(&rows.c, i)
            tau += scale
            scale *= 1.0 - eta * lam
            if too_small(weights, scale):
                take_in(weights, rest, rows.c.d, scale, tau)
                scale = 1.0
                tau = 0.0
            if s < rho or (ties and s == rho):
                step = eta / scale * y
                row_axpy(&rows.c, i, <weight_t> step, weights)
                nonzeros += row_nonzeros(&rows.c, i)
                if free:
                    bias += bias_rate * eta * y
                updates += 1
                if averaging:
                    row_axpy(&rows.c, i, <weight_t> (-tau * step), rest)
                    nonzeros += row_nonzeros(&rows.c, i)
    state.presentations = state.steps = t
    state.updates = updates
    state.nonzeros = nonzeros
    state.scale = scale
    state.tau = tau
    state.bias = bias
    state.bias_sum = bias_sum
    state.position = position


def mean_loss(CompactRows rows, weight_t[::1] v, double scale, const int32_t[::1] order,
              double bias=0.0):
    """Mean hinge loss of the rows of ``order`` at w = scale * v and b; nan where w is.

    Parameters
    ----------
    rows : CompactRows
    v : ndarray of float32 or float64, shape (d,)
    scale : float
    order : ndarray of int32
        At least one row.
    bias : float
    """
    cdef Loss loss = make_loss(HINGE, 1.0)
    cdef weight_t nothing = 0
    cdef weight_t *weights = &v[0] if v.shape[0] else &nothing
    cdef double total = 0
    cdef double score
    cdef Py_ssize_t k
    if v.shape[0] != rows.c.d or order.shape[0] == 0:
        raise ValueError("v, order and rows do not belong together")
    with nogil:
        for k in range(order.shape[0]):
            score = scale * row_dot(&rows.c, order[k], weights) + bias
            total += loss_value(loss, rows.c.labels[order[k]] * score)
    return total / order.shape[0]
