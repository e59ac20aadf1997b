# First-order methods of online convex optimisation on dense weights in the l1 ball.
#
#   problem   min over ||w||_1 <= z of lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i)
#   update    t = 1, 2, ...; the next row i;  g = lam w - [y_i w.x_i < 1] y_i x_i
#     smd         theta <- theta - eta0/sqrt(t) g;   w = Pi(theta)
#     seg-pm      L <- L - eta0/sqrt(t) g;           w_j = z sinh(L_j) / sum_k cosh(L_k)
#                 that is, two positive weights exp(+-L_j) a feature, normalised together; with
#                 M = max |L| they are exp(|L_j| - M) and exp(-2M)/exp(|L_j| - M), none too large
#     adagrad     S <- S + g^2, h = sqrt(S);  w = argmin over the ball of
#                                                    sum_j h_j (w_j - (w_j - eta g_j/h_j))^2
#   cost      n_i for the inner product, n_i more at a margin error, and d: some ten passes
#             over the weights for the projections, an exponential a feature for seg-pm
#   source    Hazan, Introduction to Online Convex Optimization (2016), chapter 5; Kivinen and
#             Warmuth, Inform. and Comput. 132 (1997); Duchi, Hazan and Singer, JMLR 12 (2011);
#             as Chor, On Pegasos and first order optimizers (2020), applies them.
#
# Double precision only: sums of small terms in theta, L and S are what the methods are.

from libc.math cimport exp, fabs, sqrt
from libc.stdint cimport int32_t, int64_t

from .loss cimport loss_value, make_loss
from .projection cimport Threshold, l1_threshold, soft, weighted_l1_threshold
from .provenance cimport build_record
from .rows cimport CompactRows, look_ahead, row_axpy, row_dot, row_nonzeros
from .scaled cimport ScaledState

__build__ = build_record()


cdef inline bint present(CompactRows rows, Py_ssize_t i, double *w, double *total,
                         Py_ssize_t d, ScaledState state) noexcept nogil:
    """Count row i, add w to the sum unless that is NULL, and tell whether i is in error."""
    cdef bint error = rows.c.labels[i] * row_dot(&rows.c, i, w) < 1.0
    cdef Py_ssize_t j
    if total != NULL:
        for j in range(d):
            total[j] += w[j]
    state.steps += 1
    state.presentations += 1
    state.updates += error
    state.nonzeros += row_nonzeros(&rows.c, i) * (1 + error)
    return error


cdef inline void descend(CompactRows rows, Py_ssize_t i, bint error, double eta, double lam,
                         const double *w, double *theta, Py_ssize_t d) noexcept nogil:
    """theta <- theta - eta g."""
    cdef Py_ssize_t j
    for j in range(d):
        theta[j] -= eta * lam * w[j]
    if error:
        row_axpy(&rows.c, i, eta * rows.c.labels[i], theta)


def _require(CompactRows rows, *vectors):
    for vector in vectors:
        if vector.shape[0] != rows.c.d:
            raise ValueError("the vectors and the rows do not belong together")


def advance_smd(CompactRows rows, double[::1] theta, double[::1] w, double[::1] u,
                double[::1] sizes, const int32_t[::1] order, ScaledState state, double lam,
                double radius, double eta0, int64_t target):
    """Take steps of smd until the order ends or the presentations reach ``target``.

    Parameters
    ----------
    rows : CompactRows
    theta, w : ndarray of float64, shape (d,)
        Updated in place, as are ``u`` and ``state``.
    u : ndarray of float64, shape (d,) or (0,)
        The iterate each step starts from is added to it.
    sizes : ndarray of float64, shape (d,)
        Room for the projection.
    order : ndarray of int32
        Rows to present, from state.position on.
    state : ScaledState
    lam, radius, eta0 : float
    target : int
    """
    _require(rows, theta, w, sizes, *([u] if u.shape[0] else []))
    cdef double *total = &u[0] if u.shape[0] else NULL
    cdef Py_ssize_t i, j, d = w.shape[0]
    cdef Threshold threshold
    cdef bint error
    with nogil:
        while state.presentations < target and state.position < order.shape[0]:
            i = order[state.position]
            look_ahead(&rows.c, &order[0], state.position, order.shape[0])
            state.position += 1
            error = present(rows, i, &w[0], total, d, state)
            descend(rows, i, error, eta0 / sqrt(<double> state.steps), lam, &w[0], &theta[0], d)
            threshold = l1_threshold(&theta[0], d, radius, &sizes[0])
            for j in range(d):
                w[j] = soft(theta[j], threshold, 1.0)


def advance_seg(CompactRows rows, double[::1] logs, double[::1] w, double[::1] u,
                const int32_t[::1] order, ScaledState state, double lam, double radius,
                double eta0, int64_t target):
    """Take steps of seg-pm until the order ends or the presentations reach ``target``.

    Parameters
    ----------
    rows, w, u, order, state, lam, radius, eta0, target
        As in `advance_smd`.
    logs : ndarray of float64, shape (d,)
        L, updated in place.
    """
    _require(rows, logs, w, *([u] if u.shape[0] else []))
    cdef double *total = &u[0] if u.shape[0] else NULL
    cdef Py_ssize_t i, j, d = w.shape[0]
    cdef double largest, product, larger, smaller, mass
    cdef bint error
    with nogil:
        while state.presentations < target and state.position < order.shape[0]:
            i = order[state.position]
            look_ahead(&rows.c, &order[0], state.position, order.shape[0])
            state.position += 1
            error = present(rows, i, &w[0], total, d, state)
            descend(rows, i, error, eta0 / sqrt(<double> state.steps), lam, &w[0], &logs[0], d)
            largest = 0.0
            for j in range(d):
                largest = max(largest, fabs(logs[j]))
            product = exp(-2.0 * largest)
            mass = 0.0
            for j in range(d):
                larger = exp(fabs(logs[j]) - largest)
                # A product rounded to nothing is that of weights far below the largest.
                smaller = product / larger if product > 0.0 else 0.0
                mass += larger + smaller
                w[j] = (larger - smaller if logs[j] > 0.0
                        else smaller - larger if logs[j] < 0.0 else 0.0)
            for j in range(d):
                w[j] *= radius / mass


def advance_adagrad(CompactRows rows, double[::1] squares, double[::1] w, double[::1] u,
                    double[:, ::1] room, const int32_t[::1] order, ScaledState state, double lam,
                    double radius, double eta, bint rooted, int64_t target):
    """Take steps of adagrad until the order ends or the presentations reach ``target``.

    Parameters
    ----------
    rows, w, u, order, state, lam, radius, target
        As in `advance_smd`.
    squares : ndarray of float64, shape (d,)
        S, positive; updated in place.
    room : ndarray of float64, shape (4, d)
    eta : float
    rooted : bool
        Whether steps are eta/sqrt(t) rather than eta.
    """
    _require(rows, squares, w, room[0], *([u] if u.shape[0] else []))
    cdef double *total = &u[0] if u.shape[0] else NULL
    cdef double *g = &room[0, 0]
    cdef double *h = &room[1, 0]
    cdef Py_ssize_t i, j, d = w.shape[0]
    cdef Threshold threshold
    cdef double step
    cdef bint error
    if room.shape[0] != 4:
        raise ValueError("room for four vectors is needed")
    with nogil:
        while state.presentations < target and state.position < order.shape[0]:
            i = order[state.position]
            look_ahead(&rows.c, &order[0], state.position, order.shape[0])
            state.position += 1
            error = present(rows, i, &w[0], total, d, state)
            for j in range(d):
                g[j] = 0.0
            descend(rows, i, error, 1.0, lam, &w[0], g, d)      # g is minus the subgradient
            step = eta / sqrt(<double> state.steps) if rooted else eta
            for j in range(d):
                squares[j] += g[j] * g[j]
                h[j] = sqrt(squares[j])
                w[j] += step * g[j] / h[j]
            threshold = weighted_l1_threshold(&w[0], h, d, radius, &room[2, 0], &room[3, 0])
            if threshold.value > 0.0:
                for j in range(d):
                    w[j] = soft(w[j], threshold, h[j])


def subgradient(CompactRows rows, double[::1] w, double[::1] g, double lam):
    """g <- lam w - 1/m sum [y_i w.x_i < 1] y_i x_i; return the rows in error and their entries.

    Parameters
    ----------
    rows : CompactRows
    w, g : ndarray of float64, shape (d,)
    lam : float

    Returns
    -------
    errors, nonzeros : int
    """
    _require(rows, w, g)
    cdef Py_ssize_t i, j, d = w.shape[0]
    cdef int64_t errors = 0, nonzeros = 0
    with nogil:
        for j in range(d):
            g[j] = 0.0
        for i in range(rows.c.m):
            if rows.c.labels[i] * row_dot(&rows.c, i, &w[0]) < 1.0:
                row_axpy(&rows.c, i, <double> -rows.c.labels[i], &g[0])
                nonzeros += row_nonzeros(&rows.c, i)
                errors += 1
        for j in range(d):
            g[j] = lam * w[j] + g[j] / rows.c.m
    return errors, nonzeros


def presentation_cost(CompactRows rows, Py_ssize_t i, double[::1] w, double lam, int loss,
                      double gamma):
    """f(w) = lam/2 ||w||^2 + loss(y_i w.x_i) of one row: what online learning charges for it.

    Parameters
    ----------
    rows : CompactRows
    i : int
        Row, from 0.
    w : ndarray of float64, shape (d,)
    lam : float
    loss : int
        Its code, as `svmbench.problem.Loss.code` has it.
    gamma : float
    """
    cdef double norm2 = 0.0
    cdef Py_ssize_t j
    _require(rows, w)
    if not 0 <= i < rows.c.m:
        raise ValueError(f"no row {i} among {rows.c.m}")
    for j in range(w.shape[0]):
        norm2 += w[j] * w[j]
    return (0.5 * lam * norm2
            + loss_value(make_loss(loss, gamma), rows.c.labels[i] * row_dot(&rows.c, i, &w[0])))
