# Pegasos: projected stochastic subgradient descent on the primal hinge SVM.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i)
#   update    t = 1, 2, ...; A a batch of k rows;  eta = 1/(lam t)
#                 w <- (1 - 1/t) w + eta/k sum_{A} [y_i w.x_i < 1] y_i x_i
#                 w <- min(1, 1/(sqrt(lam) ||w||)) w                  (optional)
#             the margins of all of A are those at the old w
#   scaling   w = sigma v: shrinking and projecting change sigma only. v takes sigma in once
#             it is small; ||w||^2 is kept by recurrence and made exact then.
#   averages  the sum of the iterates is tau v + u: an iterate adds sigma to tau, and what is
#             added to v is taken tau times from u, so that shrinking and projecting leave
#             the sum alone. u takes tau v in when v takes sigma.
#   cost      n_i for the inner product, n_i more at a margin error; n_i more there for the
#             average, and for the projection from the second error of a batch on
#   source    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), figures 1
#             and 2; the permuted orders are from section 7.

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t, uint32_t

from .counters cimport Counters
from .provenance cimport build_record
from .rng cimport Generator, Rng, rng_below, rng_shuffle
from .rows cimport CompactRows, row_axpy, row_dot, row_nonzeros, row_norm2, weight_t

__build__ = build_record()

cdef enum Sampling:
    IID
    WITHOUT_REPLACEMENT
    PERMUTED
    FIXED


cdef class ScaledState(Counters):
    """Counters, and the scalars of w = scale v and of the sum of iterates, tau v + u.

    Attributes
    ----------
    steps : int
        Batches so far, t of the paper.
    scale : float
        Factor of the stored vector v.
    norm2 : float
        ||w||^2, kept by recurrence where the projection is on.
    averaging : bool
        Whether the iterates that steps start from are summed.
    summed : int
        Iterates in the sum.
    tau : float
        Factor of v in the sum.
    position : int
        Rows of the current epoch's order already presented.
    """

    cdef public int64_t steps, summed
    cdef public double scale, norm2, tau
    cdef public bint averaging
    cdef public Py_ssize_t position

    def __init__(self):
        self.scale = 1.0


cdef inline double fold(weight_t *v, Py_ssize_t d, double scale) noexcept nogil:
    """v <- scale v; return the exact ||v||^2."""
    cdef double norm2 = 0
    cdef Py_ssize_t j
    for j in range(d):
        v[j] = <weight_t> (v[j] * scale)
        norm2 += <double> v[j] * v[j]
    return norm2


cdef inline void add_multiple(double c, const weight_t *v, Py_ssize_t d,
                              weight_t *u) noexcept nogil:
    """u += c v."""
    cdef Py_ssize_t j
    for j in range(d):
        u[j] += <weight_t> (c * v[j])


cdef inline void draw(Rng *rng, int32_t *order, Py_ssize_t m, Py_ssize_t batch,
                      int sampling) noexcept nogil:
    """The next batch into order[:batch]."""
    cdef Py_ssize_t j, other
    cdef int32_t swap
    for j in range(batch):
        if sampling == IID:
            order[j] = <int32_t> rng_below(rng, <uint32_t> m)
        else:                       # the first steps of a Fisher-Yates shuffle from the front
            other = j + rng_below(rng, <uint32_t> (m - j))
            swap = order[j]
            order[j] = order[other]
            order[other] = swap


def advance(CompactRows rows, weight_t[::1] v, weight_t[::1] u, int32_t[::1] order,
            double[::1] margins, Generator rng, ScaledState state, double lam, bint project,
            int sampling, int64_t target):
    """Take steps until the presentations reach ``target``.

    Parameters
    ----------
    rows : CompactRows
        At least one row.
    v : ndarray of float32 or float64, shape (d,)
        Updated in place, as is ``state``; w = state.scale * v.
    u : ndarray of float32 or float64, shape (d,) or (0,)
        state.tau * v + u is the sum of the iterates; read only where state.averaging is set.
    order : ndarray of int32, shape (m,), or (k,) with sampling 0
        Sampling 0: where batches are put. 1: a permutation, of which a batch is the front.
        2, 3: the epoch's order.
    margins : ndarray of float64, shape (k,)
        Room for the margins of a batch; k, at most m, is the size of one. With sampling 2
        and 3 the last batch of an epoch holds the rows that are left.
    rng : Generator
    state : ScaledState
    lam : float
    project : bool
        Whether each step ends with the projection on the ball of radius 1/sqrt(lam).
    sampling : int
        0: rows drawn independently, uniformly. 1: batches of distinct rows drawn
        independently, uniformly. 2: an order shuffled at the start of each epoch. 3: the
        order as it is, again and again.
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
    cdef bint averaging = state.averaging
    cdef Py_ssize_t position = state.position
    cdef Py_ssize_t m = rows.c.m
    cdef Py_ssize_t d = rows.c.d
    cdef Py_ssize_t k = margins.shape[0]
    cdef double smallest = 1e-2 if weight_t is float else 1e-5
    cdef weight_t nothing = 0
    cdef weight_t *weights = &v[0] if v.shape[0] else &nothing
    cdef weight_t *total = &u[0] if u.shape[0] else &nothing
    cdef int32_t *batch = NULL
    cdef double s, eta, shrink, inner, y
    cdef bint moved
    cdef Py_ssize_t i, j, n
    if v.shape[0] != d or m == 0 or not 1 <= k <= m or (averaging and u.shape[0] != d):
        raise ValueError("v, u, margins and rows do not belong together")
    if order.shape[0] != (k if sampling == IID else m):
        raise ValueError("order, margins and rows do not belong together")
    with nogil:
        while presentations < target:
            t += 1
            n = k
            if sampling <= WITHOUT_REPLACEMENT:
                batch = &order[0]
                draw(&rng.c, batch, m, n, sampling)
            else:
                if position == m:
                    position = 0
                if position == 0 and sampling == PERMUTED:
                    rng_shuffle(&rng.c, &order[0], m)
                batch = &order[position]
                n = min(k, m - position)
                position += n
            presentations += n
            for j in range(n):
                i = batch[j]
                margins[j] = rows.c.labels[i] * scale * row_dot(&rows.c, i, weights)
                nonzeros += row_nonzeros(&rows.c, i)
            if averaging:
                tau += scale
                state.summed += 1
            shrink = 1.0 - 1.0 / t
            scale *= shrink
            norm2 *= shrink * shrink
            if scale < smallest:                   # t = 1 comes here too: w = 0
                if averaging:
                    add_multiple(tau, weights, d, total)
                    tau = 0.0
                norm2 = fold(weights, d, scale)
                scale = 1.0
            moved = False
            for j in range(n):
                s = margins[j]
                if s < 1.0:
                    i = batch[j]
                    y = rows.c.labels[i]
                    eta = 1.0 / (lam * t * n)
                    if project:
                        inner = shrink * s
                        if moved:                  # w is no longer the old one, shrunk
                            inner = y * scale * row_dot(&rows.c, i, weights)
                            nonzeros += row_nonzeros(&rows.c, i)
                        norm2 += 2.0 * eta * inner + eta * eta * row_norm2(&rows.c, i)
                    row_axpy(&rows.c, i, <weight_t> (eta / scale * y), weights)
                    nonzeros += row_nonzeros(&rows.c, i)
                    if averaging:
                        row_axpy(&rows.c, i, <weight_t> (-tau * eta / scale * y), total)
                        nonzeros += row_nonzeros(&rows.c, i)
                    moved = True
                    updates += 1
            if project and norm2 * lam > 1.0:
                scale /= sqrt(norm2 * lam)
                norm2 = 1.0 / lam
    state.steps = t
    state.presentations = presentations
    state.updates = updates
    state.nonzeros = nonzeros
    state.scale = scale
    state.norm2 = norm2
    state.tau = tau
    state.position = position
