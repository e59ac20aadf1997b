# SGD, mini-batch and full subgradient steps on the hinge SVM with an unregularised bias.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i (w.x_i + b))
#   update    t = 0, 1, ...; S the next k rows; gamma = 1/(mu0 + increment t)
#                 w <- w - gamma (pull w - sum_S [y_i (w.x_i + b) <= 1] y_i x_i)
#                 b <- b + gamma sum_S [the same] y_i
#             all margins are those at the old w and b; pull = row_pull k + step_pull, where
#             the source's sums of losses have their lambda equal to m times lam:
#                 row_pull = lam, step_pull = 0      the share of P that k rows have
#                 row_pull = 0, step_pull = m lam    as printed: all of it in every step
#   cost      n_i for the inner product, n_i more at a margin error: w = scale v (scaled.pxd)
#   source    Garrido, Stochastic gradient descent for SVM (2021), section 1

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

from .provenance cimport build_record
from .rows cimport CompactRows, look_ahead, row_axpy, row_dot, row_nonzeros, weight_t
from .scaled cimport ScaledState, take_in, too_small

__build__ = build_record()


def advance(CompactRows rows, weight_t[::1] v, const int32_t[::1] order, double[::1] margins,
            ScaledState state, double mu0, double increment, double row_pull, double step_pull,
            int64_t target):
    """Take steps of k rows until the order ends or the presentations reach ``target``.

    Parameters
    ----------
    rows : CompactRows
    v : ndarray of float32 or float64, shape (d,)
        Updated in place, as is ``state``; w = state.scale * v, b = state.bias.
    order : ndarray of int32
        Rows to present, from state.position on. The last batch holds the rows that are left.
    margins : ndarray of float64, shape (k,)
        Room for the margins of a batch.
    state : ScaledState
    mu0, increment : float
        Inverse of the first step, positive, and what each step adds to it.
    row_pull, step_pull : float
        What a step of k rows shrinks w by, over gamma: row_pull * k + step_pull.
    target : int
        Number of presentations at which to return; a batch is not split.
    """
    cdef int64_t t = state.steps
    cdef int64_t presentations = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef double scale = state.scale
    cdef double bias = state.bias
    cdef Py_ssize_t position = state.position
    cdef weight_t nothing = 0
    cdef weight_t *weights = &v[0] if v.shape[0] else &nothing
    cdef double gamma, size
    cdef int64_t push
    cdef Py_ssize_t i, j, k
    if v.shape[0] != rows.c.d:
        raise ValueError("v and rows do not belong together")
    if margins.shape[0] == 0:
        raise ValueError("a batch has at least one row")
    with nogil:
        while presentations < target and position < order.shape[0]:
            k = min(margins.shape[0], order.shape[0] - position)
            for j in range(k):
                i = order[position + j]
                look_ahead(&rows.c, &order[0], position + j, order.shape[0])
                margins[j] = rows.c.labels[i] * (scale * row_dot(&rows.c, i, weights) + bias)
                nonzeros += row_nonzeros(&rows.c, i)
            gamma = 1.0 / (mu0 + increment * t)
            t += 1
            scale *= 1.0 - gamma * (row_pull * k + step_pull)
            # A step too long turns w round, and may make it grow without bound.
            size = fabs(scale)
            if too_small(weights, size) or size > 100.0:
                take_in(weights, <weight_t *> NULL, rows.c.d, scale, 0.0)
                scale = 1.0
            push = 0
            for j in range(k):
                if not margins[j] <= 1.0:
                    continue
                i = order[position + j]
                row_axpy(&rows.c, i, <weight_t> (gamma / scale * rows.c.labels[i]), weights)
                nonzeros += row_nonzeros(&rows.c, i)
                push += rows.c.labels[i]
                updates += 1
            bias += gamma * push
            presentations += k
            position += k
    state.steps = t
    state.presentations = presentations
    state.updates = updates
    state.nonzeros = nonzeros
    state.scale = scale
    state.bias = bias
    state.position = position
