# Stochastic dual coordinate ascent, with a lazy mean of its iterates.
#
#   problem   max D(alpha) = 1/m sum q(alpha_i) - lam/2 ||w(alpha)||^2 over the box
#             of the hinge, the squared or the smoothed hinge;
#             w = w(alpha) = 1/(lam m) sum alpha_i y_i x_i is kept in step
#   update    the next row i:
#                 alpha_i <- clip(alpha_i + lam m (1 - s_i - nu alpha_i)/(n_i + nu lam m), box)
#                 w += (change of alpha_i) y_i x_i / (lam m),  n_i = ||x_i||^2, s_i = y_i w.x_i
#             exact maximisation over alpha_i: the step of dcd.pyx, without shrinking
#   averages  the sums of the iterates are tau w + u and tau alpha + beta: an iterate adds one
#             to tau, and what w and alpha_i gain is taken tau times from u and beta_i
#   cost      n_i for the inner product, n_i more where alpha_i moves, and again n_i there
#             if iterates are summed
#   source    Shalev-Shwartz and Zhang, JMLR 14 (2013), procedures SDCA and SDCA-Perm.

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

from .counters cimport Counters
from .loss cimport Loss, best_coordinate, make_loss, projected_gradient
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


cdef class SumState(Counters):
    """Counters, the place in the order of rows, and the number of iterates summed.

    Attributes
    ----------
    position : int
        Entries of the order that have been presented.
    tau : float
        Iterates in the sums, a whole number.
    """

    cdef public Py_ssize_t position
    cdef public double tau


def advance(CompactRows rows, weight_t[::1] w, weight_t[::1] u, double[::1] alpha,
            double[::1] beta, const int32_t[::1] order, const double[::1] norms2,
            SumState state, double lam, int kind, double gamma, int64_t target):
    """Present rows until the order ends or the presentations reach ``target``.

    Parameters
    ----------
    rows : CompactRows
    w : ndarray of float32 or float64, shape (d,)
        Updated in place, as are ``u``, ``alpha``, ``beta`` and ``state``.
    u : ndarray like w, shape (d,)
    alpha : ndarray of float64, shape (m,)
    beta : ndarray of float64, shape (m,) or (0,)
        The iterates each step starts from are added to the sums state.tau * w + u and
        state.tau * alpha + beta; none of them, and u is not read, with shape (0,).
    order : ndarray of int32
        Rows to present, from state.position on; no zero rows.
    norms2 : ndarray of float64, shape (m,)
        Squared row norms.
    state : SumState
    lam : float
    kind, gamma
        The loss: 0 hinge, 1 squared hinge, 2 smoothed hinge of width gamma.
    target : int
        Number of presentations at which to return.
    """
    cdef Loss loss = make_loss(kind, gamma)
    cdef double lam_m = lam * rows.c.m
    cdef int64_t presentations = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef Py_ssize_t position = state.position
    cdef double tau = state.tau
    cdef bint averaging = beta.shape[0] > 0
    cdef weight_t nothing = 0
    cdef weight_t *weights = &w[0] if w.shape[0] else &nothing
    cdef weight_t *rest = &u[0] if u.shape[0] else &nothing
    cdef double y, old, new, gradient, step
    cdef Py_ssize_t i
    if not (w.shape[0] == rows.c.d and alpha.shape[0] == norms2.shape[0] == rows.c.m):
        raise ValueError("w, alpha, norms2 and rows do not belong together")
    if averaging and not (u.shape[0] == rows.c.d and beta.shape[0] == rows.c.m):
        raise ValueError("u, beta and rows do not belong together")
    with nogil:
        while presentations < target and position < order.shape[0]:
            i = order[position]
            look_ahead(&rows.c, &order[0], position, order.shape[0])
            look_ahead_at(&alpha[0], &order[0], position, order.shape[0])
            look_ahead_at(&norms2[0], &order[0], position, order.shape[0])
            if averaging:
                look_ahead_at(&beta[0], &order[0], position, order.shape[0])
            position += 1
            presentations += 1
            if averaging:
                tau += 1.0
            old = alpha[i]
            y = rows.c.labels[i]
            gradient = y * row_dot(&rows.c, i, weights) - 1.0 + loss.nu * old
            nonzeros += row_nonzeros(&rows.c, i)
            # On a bound this spares a division that would move nothing.
            if fabs(projected_gradient(loss, old, gradient)) > 1e-12:
                new = best_coordinate(loss, old, gradient, norms2[i], lam_m)
                alpha[i] = new
                if new != old:
                    step = (new - old) * y / lam_m
                    row_axpy(&rows.c, i, <weight_t> step, weights)
                    nonzeros += row_nonzeros(&rows.c, i)
                    updates += 1
                    if averaging:
                        beta[i] -= tau * (new - old)
                        row_axpy(&rows.c, i, <weight_t> (-tau * step), rest)
                        nonzeros += row_nonzeros(&rows.c, i)
    state.presentations = presentations
    state.updates = updates
    state.nonzeros = nonzeros
    state.position = position
    state.tau = tau
