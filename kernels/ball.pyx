# Stochastic subgradient steps with the projection on the l1 ball: pegasos and sgd-sqrt.
#
#   problem   min over ||w||_1 <= z of lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i)
#   update    t = 1, 2, ...; A the next k rows;  eta = eta0/t or eta0/sqrt(t)
#                 w <- Pi((1 - lam eta) w + eta/k sum_{i in A} [y_i w.x_i < 1] y_i x_i)
#             all margins are those at the old w; Pi is the projection (projection.pyx)
#   cost      n_i for the inner product and n_i more at a margin error; then d some ten times
#             over, for the projection. Without an error w only shrinks (unless lam eta > 2)
#             and need not be looked at: w = scale v, and the sum of iterates is tau v + u
#             (scaled.pxd). u is double in both precisions, since a projection moves every entry.
#   source    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), figure 2,
#             with another ball than theirs; Zinkevich, ICML 2003.

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from .projection cimport Threshold, l1_threshold, soft
from .provenance cimport build_record
from .rows cimport CompactRows, look_ahead, row_axpy, row_dot, row_nonzeros, weight_t
from .scaled cimport ScaledState, too_small

__build__ = build_record()


def advance(CompactRows rows, weight_t[::1] v, double[::1] u, const int32_t[::1] order,
            double[::1] margins, double[::1] sizes, ScaledState state, double lam, double radius,
            double eta0, bint rooted, int64_t target):
    """Take steps of k rows until the order ends or the presentations reach ``target``.

    Parameters
    ----------
    rows : CompactRows
    v : ndarray of float32 or float64, shape (d,)
        Updated in place, as are ``u`` and ``state``; w = state.scale * v.
    u : ndarray of float64, shape (d,) or (0,)
        The iterate each step starts from is added to the sum state.tau * v + u; with shape
        (0,) there is no sum, and state.tau means nothing.
    order : ndarray of int32
        Rows to present, from state.position on. The last batch holds the rows that are left.
    margins : ndarray of float64, shape (k,)
        Room for the margins of a batch.
    sizes : ndarray of float64, shape (d,)
        Room for the projection.
    state : ScaledState
    lam, radius : float
    eta0 : float
        First step.
    rooted : bool
        Whether steps fall as 1/sqrt(t) rather than 1/t.
    target : int
        Number of presentations at which to return; a batch is not split.
    """
    cdef int64_t t = state.steps
    cdef int64_t presentations = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef double scale = state.scale
    cdef double tau = state.tau
    cdef Py_ssize_t position = state.position
    cdef Py_ssize_t d = v.shape[0]
    cdef bint averaging = u.shape[0] > 0
    cdef weight_t nothing = 0
    cdef double no_room = 0
    cdef weight_t *weights = &v[0] if d else &nothing
    cdef double *room = &sizes[0] if d else &no_room
    cdef double *rest = &u[0] if averaging else NULL
    cdef double eta, shrink, step, new
    cdef Threshold threshold
    cdef Py_ssize_t i, j, k
    cdef bint moved
    if d != rows.c.d or sizes.shape[0] != d or (averaging and u.shape[0] != d):
        raise ValueError("v, u, sizes and rows do not belong together")
    if margins.shape[0] == 0:
        raise ValueError("a batch has at least one row")
    with nogil:
        while presentations < target and position < order.shape[0]:
            t += 1
            k = min(margins.shape[0], order.shape[0] - position)
            for j in range(k):
                i = order[position + j]
                look_ahead(&rows.c, &order[0], position + j, order.shape[0])
                margins[j] = rows.c.labels[i] * scale * row_dot(&rows.c, i, weights)
                nonzeros += row_nonzeros(&rows.c, i)
            tau += scale
            eta = eta0 / (sqrt(<double> t) if rooted else <double> t)
            shrink = 1.0 - lam * eta
            scale *= shrink
            if too_small(weights, scale):          # as where steps turn w round, lam eta > 1
                for j in range(d):
                    if averaging:
                        rest[j] += tau * v[j]
                    weights[j] = <weight_t> (weights[j] * scale)
                scale = 1.0
                tau = 0.0
            moved = shrink < -1.0
            for j in range(k):
                if not margins[j] < 1.0:
                    continue
                i = order[position + j]
                step = eta / (scale * k) * rows.c.labels[i]
                row_axpy(&rows.c, i, <weight_t> step, weights)
                nonzeros += row_nonzeros(&rows.c, i)
                if averaging:
                    row_axpy(&rows.c, i, -tau * step, rest)
                    nonzeros += row_nonzeros(&rows.c, i)
                updates += 1
                moved = True
            presentations += k
            position += k
            if not moved:
                continue
            threshold = l1_threshold(weights, d, radius / scale, room)
            if threshold.value > 0.0:
                for j in range(d):
                    new = <weight_t> soft(weights[j], threshold, 1.0)
                    if averaging:
                        rest[j] += tau * (weights[j] - new)
                    weights[j] = <weight_t> new
    state.steps = t
    state.presentations = presentations
    state.updates = updates
    state.nonzeros = nonzeros
    state.scale = scale
    state.tau = tau
    state.position = position
