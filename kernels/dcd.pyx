# Dual coordinate descent with shrinking.
#
#   problem   max D(alpha) = 1/m sum q(alpha_i) - lam/2 ||w(alpha)||^2 over the box
#             of the hinge, the squared or the smoothed hinge;
#             w = w(alpha) = 1/(lam m) sum alpha_i y_i x_i is kept in step
#   update    alpha_i <- clip(alpha_i + lam m (1 - s_i - nu alpha_i)/(n_i + nu lam m), box)
#             w += (change of alpha_i) y_i x_i / (lam m),   n_i = ||x_i||^2, s_i = y_i w.x_i
#             zero rows take no part: their alpha_i is argmax q from the start
#   shrinking G = s_i - 1 + nu alpha_i; a row leaves the pass when alpha_i sits on a bound
#             and G points outwards by more than any projected gradient of the last pass
#   cost      n_i for the inner product, n_i more where alpha_i moves
#   source    Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008, algorithms 1-3

from libc.math cimport INFINITY, fabs
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


cdef class ShrinkState(Counters):
    """Counters, and where the pass over the active rows stands.

    Attributes
    ----------
    active : int
        Rows order[:active] take part in passes; the others are shrunk.
    position : int
        Active rows already visited in this pass.
    upper, lower : float
        Shrinking thresholds: the extremes of the projected gradient in the previous pass.
    largest, smallest : float
        Extremes of the projected gradient in this pass so far.
    """

    cdef public Py_ssize_t active, position
    cdef public double upper, lower, largest, smallest

    def __init__(self, Py_ssize_t m):
        self.active = m
        self.upper = INFINITY
        self.lower = -INFINITY
        self.begin_pass()

    def begin_pass(self):
        """Return to the first active row with fresh extremes."""
        self.position = 0
        self.largest = -INFINITY
        self.smallest = INFINITY


def advance_pass(CompactRows rows, weight_t[::1] w, double[::1] alpha, int32_t[::1] order,
                 const double[::1] norms2, ShrinkState state, double lam, int kind,
                 double gamma, bint shrinking, int64_t target):
    """Visit active rows until the pass ends or the presentations reach ``target``.

    Parameters
    ----------
    rows : CompactRows
    w : ndarray of float32 or float64, shape (d,)
        Updated in place, as are ``alpha``, ``order`` (rows that are shrunk move behind the
        active ones) and ``state``.
    alpha : ndarray of float64, shape (m,)
    order : ndarray of int32, shape (m,)
        A permutation of the rows that are not zero, the active ones in front.
    norms2 : ndarray of float64, shape (m,)
        Squared row norms.
    state : ShrinkState
    lam : float
    kind, gamma
        The loss: 0 hinge, 1 squared hinge, 2 smoothed hinge of width gamma.
    shrinking : bool
    target : int
        Number of presentations at which to return.
    """
    cdef Loss loss = make_loss(kind, gamma)
    cdef double lam_m = lam * rows.c.m
    cdef int64_t presentations = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef Py_ssize_t active = state.active
    cdef Py_ssize_t position = state.position
    cdef double upper = state.upper
    cdef double lower = state.lower
    cdef double largest = state.largest
    cdef double smallest = state.smallest
    cdef weight_t nothing = 0
    cdef weight_t *weights = &w[0] if w.shape[0] else &nothing
    cdef double y, old, new, gradient, projected
    cdef Py_ssize_t i
    if w.shape[0] != rows.c.d or order.shape[0] > rows.c.m or not (
        alpha.shape[0] == norms2.shape[0] == rows.c.m
    ):
        raise ValueError("w, alpha, order, norms2 and rows do not belong together")
    with nogil:
        while position < active and presentations < target:
            i = order[position]
            look_ahead(&rows.c, &order[0], position, active)
            look_ahead_at(&alpha[0], &order[0], position, active)
            look_ahead_at(&norms2[0], &order[0], position, active)
            presentations += 1
            old = alpha[i]
            y = rows.c.labels[i]
            gradient = y * row_dot(&rows.c, i, weights) - 1.0 + loss.nu * old
            nonzeros += row_nonzeros(&rows.c, i)
            if shrinking and ((old <= 0.0 and gradient > upper)
                              or (old >= loss.upper and gradient < lower)):
                active -= 1
                order[position] = order[active]
                order[active] = <int32_t> i
                continue
            projected = projected_gradient(loss, old, gradient)
            largest = max(largest, projected)
            smallest = min(smallest, projected)
            position += 1
            if fabs(projected) > 1e-12:
                new = best_coordinate(loss, old, gradient, norms2[i], lam_m)
                alpha[i] = new
                if new != old:
                    row_axpy(&rows.c, i, <weight_t> ((new - old) * y / lam_m), weights)
                    nonzeros += row_nonzeros(&rows.c, i)
                    updates += 1
    state.presentations = presentations
    state.updates = updates
    state.nonzeros = nonzeros
    state.active = active
    state.position = position
    state.largest = largest
    state.smallest = smallest
