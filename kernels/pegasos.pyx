# Pegasos: projected stochastic subgradient descent on the primal hinge SVM.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i)
#   update    t = 1, 2, ...; the next row i;  eta = 1/(lam t)
#                 w <- (1 - 1/t) w + [y_i w.x_i < 1] eta y_i x_i      (margin at the old w)
#                 w <- min(1, 1/(sqrt(lam) ||w||)) w                  (optional)
#   cost      n_i for the inner product, n_i more at a margin error and again n_i if iterates
#             are summed: w = scale v, the sum is tau v + u (scaled.pxd), and ||w||^2 is kept
#             by recurrence, so that neither shrinking nor projecting touches other features
#   source    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011),
#             figure 1. Batches of rows are in pegasos_batch.pyx.

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from .provenance cimport build_record
from .rows cimport CompactRows, look_ahead, row_axpy, row_dot, row_nonzeros, row_norm2, weight_t
from .scaled cimport ScaledState, take_in, too_small

__build__ = build_record()


def advance(CompactRows rows, weight_t[::1] v, weight_t[::1] u, const int32_t[::1] order,
            ScaledState state, double lam, bint project, int64_t target):
    """Take steps of one row until the order ends or t reaches ``target``.

    Parameters
    ----------
    rows : CompactRows
    v : ndarray of float32 or float64, shape (d,)
        Updated in place, as are ``u`` and ``state``; w = state.scale * v.
    u : ndarray like v, shape (d,) or (0,)
        The iterate each step starts from is added to the sum state.tau * v + u; with shape
        (0,) there is no sum, and state.tau means nothing.
    order : ndarray of int32
        Rows to present, from state.position on.
    state : ScaledState
    lam : float
    project : bool
        Whether each step ends with the projection on the ball of radius 1/sqrt(lam).
    target : int
        Number of presentations t at which to return.
    """
    cdef int64_t t = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef double scale = state.scale
    cdef double norm2 = state.norm2
    cdef double tau = state.tau
    cdef Py_ssize_t position = state.position
    cdef bint averaging = u.shape[0] > 0
    cdef weight_t nothing = 0
    cdef weight_t *weights = &v[0] if v.shape[0] else &nothing
    cdef weight_t *rest = &u[0] if averaging else NULL
    cdef double s, eta, shrink, step
    cdef Py_ssize_t i
    if v.shape[0] != rows.c.d or (averaging and u.shape[0] != rows.c.d):
        raise ValueError("v, u and rows do not belong together")
    with nogil:
        while t < target and position < order.shape[0]:
            t += 1
            i = order[position]
            look_ahead(&rows.c, &order[0], position, order.shape[0])
            position += 1
            s = rows.c.labels[i] * scale * row_dot(&rows.c, i, weights)
            nonzeros += row_nonzeros(&rows.c, i)
            tau += scale
            shrink = 1.0 - 1.0 / t
            scale *= shrink
            norm2 *= shrink * shrink
            if too_small(weights, scale):          # t = 1 comes here too: w = 0
                norm2 = take_in(weights, rest, rows.c.d, scale, tau)
                scale = 1.0
                tau = 0.0
            if s < 1.0:
                eta = 1.0 / (lam * t)
                step = eta / scale * rows.c.labels[i]
                row_axpy(&rows.c, i, <weight_t> step, weights)
                nonzeros += row_nonzeros(&rows.c, i)
                updates += 1
                if averaging:
                    row_axpy(&rows.c, i, <weight_t> (-tau * step), rest)
                    nonzeros += row_nonzeros(&rows.c, i)
                if project:
                    norm2 += 2.0 * eta * shrink * s + eta * eta * row_norm2(&rows.c, i)
                    if norm2 * lam > 1.0:
                        scale /= sqrt(norm2 * lam)
                        norm2 = 1.0 / lam
    state.presentations = state.steps = t
    state.updates = updates
    state.nonzeros = nonzeros
    state.scale = scale
    state.norm2 = norm2
    state.tau = tau
    state.position = position
