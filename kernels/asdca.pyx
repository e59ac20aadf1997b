# Accelerated mini-batch stochastic dual coordinate ascent.
#
#   problem   min lam/2 ||w||^2 + 1/m sum loss(y_i w.x_i), smoothed hinge of width gamma;
#             dual variables 0 <= alpha_i <= 1, z = w(alpha) = 1/(lam m) sum alpha_i y_i x_i
#   update    u = (1 - theta) x + theta z, x the vector that is the output, 0 at the start;
#             for each of the k distinct rows i of the batch, all with the same u:
#                 alpha_i <- (1 - theta) alpha_i + theta clip((1 - y_i u.x_i)/gamma, 0, 1)
#             z is kept in step;  x <- (1 - theta) x + theta z
#   cost      n_i for the inner product, n_i more where alpha_i moves, and 4 d a batch: x, u
#             and z are dense combinations of each other
#   source    Shalev-Shwartz and Zhang, NIPS 2013, figure 1

from libc.stdint cimport int32_t, int64_t

from .counters cimport Counters
from .loss cimport SMOOTHED_HINGE, Loss, best_alpha, make_loss
from .provenance cimport build_record
from .rows cimport (
    CompactRows,
    look_ahead,
    look_ahead_at,
    row_axpy,
    row_dot,
    row_nonzeros,
    weight_t,
)

__build__ = build_record()


cdef class BatchState(Counters):
    """Counters, the place in the order of rows, and the number of iterates summed.

    Attributes
    ----------
    position : int
        Entries of the order that have been presented.
    summed : int
        Iterates in the sum.
    """

    cdef public Py_ssize_t position
    cdef public int64_t summed


def advance(CompactRows rows, weight_t[::1] x, weight_t[::1] z, weight_t[::1] u,
            double[::1] total, double[::1] alpha, const int32_t[::1] order, BatchState state,
            double lam, double gamma, double theta, Py_ssize_t batch, int64_t target):
    """Present rows until the order ends or the presentations reach ``target``.

    Parameters
    ----------
    rows : CompactRows
    x, z, u : ndarray of float32 or float64, shape (d,)
        The output, w(alpha) and (1 - theta) x + theta z; updated in place, as are ``total``,
        ``alpha`` and ``state``.
    total : ndarray of float64, shape (d,) or (0,)
        The x each step starts from is added to it, unless its shape is (0,).
    alpha : ndarray of float64, shape (m,)
    order : ndarray of int32
        Batches of distinct rows, one after another, from state.position on.
    state : BatchState
    lam, gamma : float
    theta : float
        From 0 to 1.
    batch : int
        k; a batch may be left half-way, x stays what it was until the batch ends.
    target : int
        Number of presentations at which to return.
    """
    cdef Loss loss = make_loss(SMOOTHED_HINGE, gamma)
    cdef double lam_m = lam * rows.c.m
    cdef int64_t presentations = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef int64_t summed = state.summed
    cdef Py_ssize_t position = state.position
    cdef bint averaging = total.shape[0] > 0
    cdef weight_t nothing = 0
    cdef weight_t *combined = &z[0] if z.shape[0] else &nothing
    cdef weight_t *probe = &u[0] if u.shape[0] else &nothing
    cdef double y, old, new, mixed
    cdef Py_ssize_t i, j
    if not (x.shape[0] == z.shape[0] == u.shape[0] == rows.c.d and alpha.shape[0] == rows.c.m):
        raise ValueError("x, z, u, alpha and rows do not belong together")
    if averaging and total.shape[0] != rows.c.d:
        raise ValueError("total and rows do not belong together")
    if batch < 1 or order.shape[0] % batch != 0:
        raise ValueError(f"an order of {order.shape[0]} rows does not hold batches of {batch}")
    with nogil:
        while presentations < target and position < order.shape[0]:
            if averaging and position % batch == 0:
                summed += 1
                for j in range(rows.c.d):
                    total[j] += x[j]
            i = order[position]
            look_ahead(&rows.c, &order[0], position, order.shape[0])
            look_ahead_at(&alpha[0], &order[0], position, order.shape[0])
            position += 1
            presentations += 1
            y = rows.c.labels[i]
            old = alpha[i]
            # In this form rounding cannot leave [0, 1].
            new = old + theta * (best_alpha(loss, y * row_dot(&rows.c, i, probe)) - old)
            nonzeros += row_nonzeros(&rows.c, i)
            if new != old:
                alpha[i] = new
                row_axpy(&rows.c, i, <weight_t> ((new - old) * y / lam_m), combined)
                nonzeros += row_nonzeros(&rows.c, i)
                updates += 1
            if position % batch == 0:
                for j in range(rows.c.d):
                    mixed = (1.0 - theta) * x[j] + theta * combined[j]
                    x[j] = <weight_t> mixed
                    probe[j] = <weight_t> ((1.0 - theta) * mixed + theta * combined[j])
    state.presentations = presentations
    state.updates = updates
    state.nonzeros = nonzeros
    state.summed = summed
    state.position = position
