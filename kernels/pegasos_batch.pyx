# Mini-batch Pegasos: as pegasos.pyx, with the mean of the subgradients of several rows.
#
#   update    t = 1, 2, ...; A the next k rows;  eta = 1/(lam t)
#                 w <- (1 - 1/t) w + eta/k sum_{i in A} [y_i w.x_i < 1] y_i x_i
#                 w <- min(1, 1/(sqrt(lam) ||w||)) w                  (optional)
#             all margins are those at the old w
#   cost      n_i for the inner product, n_i more at a margin error, and again n_i there if
#             iterates are summed; the projection takes another inner product at every margin
#             error of a batch but the first, for the products x_i.x_j in ||w||^2
#   source    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), figure 2.
#
# It is a module of its own so that the compiler inlines the inner product of pegasos.pyx:
# a loop over batches of one row was a quarter slower than the plain loop.

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

from .provenance cimport build_record
from .rows cimport CompactRows, look_ahead, row_axpy, row_dot, row_nonzeros, row_norm2, weight_t
from .scaled cimport ScaledState, take_in, too_small

__build__ = build_record()


def advance(CompactRows rows, weight_t[::1] v, weight_t[::1] u, const int32_t[::1] order,
            double[::1] margins, ScaledState state, double lam, bint project, int64_t target):
    """Take steps of k rows until the order ends or the presentations reach ``target``.

    Parameters
    ----------
    rows : CompactRows
    v, u : ndarray of float32 or float64
        As in `svmbench.kernels.pegasos.advance`.
    order : ndarray of int32
        Rows to present, from state.position on. The last batch holds the rows that are left.
    margins : ndarray of float64, shape (k,)
        Room for the margins of a batch.
    state : ScaledState
    lam : float
    project : bool
    target : int
        Number of presentations at which to return; a batch is not split.
    """
    cdef int64_t t = state.steps
    cdef int64_t presentations = state.presentations
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
    cdef double y, eta, shrink, step, inner
    cdef Py_ssize_t i, j, k
    cdef bint moved
    if v.shape[0] != rows.c.d or (averaging and u.shape[0] != rows.c.d):
        raise ValueError("v, u and rows do not belong together")
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
            shrink = 1.0 - 1.0 / t
            scale *= shrink
            norm2 *= shrink * shrink
            if too_small(weights, scale):          # t = 1 comes here too: w = 0
                norm2 = take_in(weights, rest, rows.c.d, scale, tau)
                scale = 1.0
                tau = 0.0
            eta = 1.0 / (lam * t * k)
            moved = False
            for j in range(k):
                if not margins[j] < 1.0:
                    continue
                i = order[position + j]
                y = rows.c.labels[i]
                if project:
                    inner = shrink * margins[j]
                    if moved:                      # w is no longer the old one, shrunk
                        inner = y * scale * row_dot(&rows.c, i, weights)
                        nonzeros += row_nonzeros(&rows.c, i)
                    norm2 += 2.0 * eta * inner + eta * eta * row_norm2(&rows.c, i)
                step = eta / scale * y
                row_axpy(&rows.c, i, <weight_t> step, weights)
                nonzeros += row_nonzeros(&rows.c, i)
                if averaging:
                    row_axpy(&rows.c, i, <weight_t> (-tau * step), rest)
                    nonzeros += row_nonzeros(&rows.c, i)
                updates += 1
                moved = True
            if moved and project and norm2 * lam > 1.0:
                scale /= sqrt(norm2 * lam)
                norm2 = 1.0 / lam
            presentations += k
            position += k
    state.steps = t
    state.presentations = presentations
    state.updates = updates
    state.nonzeros = nonzeros
    state.scale = scale
    state.norm2 = norm2
    state.tau = tau
    state.position = position
