# The margin perceptron with unlearning: an integer lattice for the dual variables.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i)
#   update    0 <= I_i <= N integer, a = sum I_i y_i x_i, b = N lam m; row i, p = y_i a.x_i,
#             n_i = ||x_i||^2
#                 learn    p <= b      and I_i < N:  k = min(N - I_i, floor((b - p)/n_i) + 1)
#                          I_i += k,  a += k y_i x_i
#                 unlearn  p > b + n_i and I_i > 0:  k = min(I_i, floor((p - b)/n_i))
#                          I_i -= k,  a -= k y_i x_i
#             w = a/b, alpha_i = I_i/N; zero rows take no part: I_i = N from the start
#   ends      after finitely many steps: (sum (b + n_i/2) I_i - ||a||^2/2, sum I_i) grows
#             lexicographically. Unlearning from p = b + n_i on would cycle, and so would
#             rounding; it has to be passed by one part in 1e12
#   cost      n_i for the inner product, n_i more where I_i moves
#   source    Panagiotakopoulos and Tsampouka, ICML 2010; the steps are reconstructed

from libc.math cimport floor
from libc.stdint cimport int32_t, int64_t

from .counters cimport Counters
from .provenance cimport build_record
from .rows cimport CompactRows, look_ahead, look_ahead_at, row_axpy, row_dot, row_nonzeros

__build__ = build_record()


cdef class LatticeState(Counters):
    """Counters, and where a pass stands.

    Attributes
    ----------
    position : int
        Rows of the pass already presented.
    changes : int
        Rows of the pass whose I_i moved.
    loss_sum : float
        Sum of the hinge losses that the rows of the pass had when they were presented.
    """

    cdef public Py_ssize_t position, changes
    cdef public double loss_sum

    def begin_pass(self):
        """Return to the first row."""
        self.position = 0
        self.changes = 0
        self.loss_sum = 0.0


def advance_pass(CompactRows rows, double[::1] a, double[::1] counts, const int32_t[::1] order,
                 const double[::1] norms2, LatticeState state, double most, double threshold,
                 int64_t target):
    """Present rows until the pass ends or the presentations reach ``target``.

    Parameters
    ----------
    rows : CompactRows
    a : ndarray of float64, shape (d,)
        Updated in place, as are ``counts`` and ``state``.
    counts : ndarray of float64, shape (m,)
        The integers I_i.
    order : ndarray of int32
        A permutation of the rows that are not zero.
    norms2 : ndarray of float64, shape (m,)
        Squared row norms.
    state : LatticeState
    most : float
        N, an integer up to 2**53.
    threshold : float
        b.
    target : int
        Number of presentations at which to return.
    """
    cdef int64_t presentations = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef Py_ssize_t position = state.position
    cdef Py_ssize_t changes = state.changes
    cdef double loss_sum = state.loss_sum
    cdef double nothing = 0
    cdef double *weights = &a[0] if a.shape[0] else &nothing
    cdef double p, y, move
    cdef Py_ssize_t i
    if a.shape[0] != rows.c.d or order.shape[0] > rows.c.m or not (
        counts.shape[0] == norms2.shape[0] == rows.c.m
    ):
        raise ValueError("a, counts, order, norms2 and rows do not belong together")
    with nogil:
        while position < order.shape[0] and presentations < target:
            i = order[position]
            look_ahead(&rows.c, &order[0], position, order.shape[0])
            look_ahead_at(&counts[0], &order[0], position, order.shape[0])
            look_ahead_at(&norms2[0], &order[0], position, order.shape[0])
            position += 1
            presentations += 1
            y = rows.c.labels[i]
            p = y * row_dot(&rows.c, i, weights)
            nonzeros += row_nonzeros(&rows.c, i)
            move = 0.0
            if p <= threshold:
                loss_sum += 1.0 - p / threshold
                move = min(most - counts[i], floor((threshold - p) / norms2[i]) + 1.0)
            elif p > (threshold + norms2[i]) * (1.0 + 1e-12):
                move = -min(counts[i], floor((p - threshold) / norms2[i]))
            if move != 0.0:
                counts[i] += move
                row_axpy(&rows.c, i, move * y, weights)
                nonzeros += row_nonzeros(&rows.c, i)
                updates += 1
                changes += 1
    state.presentations = presentations
    state.updates = updates
    state.nonzeros = nonzeros
    state.position = position
    state.changes = changes
    state.loss_sum = loss_sum
