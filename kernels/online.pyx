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
from libc.stdint cimport int64_t

import numpy as np

from .loss cimport loss_value, make_loss
from .projection cimport Threshold, l1_threshold, soft
from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros
from .rowwise cimport RowWise, more_rows, next_row

__build__ = build_record()


cdef class InBall(RowWise):
    """What the methods share: dense weights in the l1 ball, and the sum of iterates."""

    cdef readonly object w
    cdef readonly double lam, radius, eta0
    cdef public int64_t steps
    cdef double[::1] _w, _total
    cdef double *sum_at             # the sum of iterates, or NULL

    def __init__(self, CompactRows rows, order, double lam, double radius, double eta0):
        super().__init__(rows, order)
        self.lam, self.radius, self.eta0 = lam, radius, eta0
        self.w = self._vector()
        self._w = self.w
        self.sum_at = NULL

    def _vector(self):
        """Zeros, shape (d,), with a first entry to point at for d = 0, too."""
        return np.zeros(max(self.rows.c.d, 1))[:self.rows.c.d]

    def begin_sum(self):
        """Sum the iterates from here on: those that the next steps start from."""
        self._total = self._vector()
        self.sum_at = &self._total[0]

    @property
    def total(self):
        """The sum of iterates, shape (d,); a new array."""
        return np.array(self._total)


cdef bint present(InBall self, Py_ssize_t i) noexcept nogil:
    """Count row i, add w to the sum if there is one, and return whether i is in error."""
    cdef const Rows *rows = &self.rows.c
    cdef bint error = rows.labels[i] * row_dot(rows, i, &self._w[0]) < 1.0
    cdef Py_ssize_t j
    if self.sum_at != NULL:
        for j in range(rows.d):
            self.sum_at[j] += self._w[j]
    self.steps += 1
    self.presentations += 1
    self.updates += error
    self.nonzeros += row_nonzeros(rows, i) * (1 + error)
    return error


cdef void descend(InBall self, Py_ssize_t i, bint error, double eta, double *theta) noexcept nogil:
    """theta <- theta - eta g, of row i."""
    cdef const Rows *rows = &self.rows.c
    cdef const double *w = &self._w[0]
    cdef double shrink = eta * self.lam
    cdef Py_ssize_t j
    for j in range(rows.d):
        theta[j] -= shrink * w[j]
    if error:
        row_axpy(rows, i, eta * rows.labels[i], theta)


cdef class Smd(InBall):
    """smd. The steps fall as eta0/sqrt(t)."""

    cdef double[::1] _theta, _sizes

    def __init__(self, CompactRows rows, order, double lam, double radius, double eta0):
        super().__init__(rows, order, lam, radius, eta0)
        self._theta, self._sizes = self._vector(), self._vector()

    def advance(self, int64_t target):
        """Take steps until the order ends or the presentations reach ``target``."""
        cdef double *theta = &self._theta[0]
        cdef Py_ssize_t i, j, d = self.rows.c.d
        cdef Threshold threshold
        cdef bint error
        with nogil:
            while more_rows(self, target):
                i = next_row(self)
                error = present(self, i)
                descend(self, i, error, self.eta0 / sqrt(<double> self.steps), theta)
                threshold = l1_threshold(theta, NULL, d, self.radius, &self._sizes[0], NULL)
                for j in range(d):
                    self._w[j] = soft(theta[j], threshold, 1.0)


cdef class SegPm(InBall):
    """seg-pm. The steps fall as eta0/sqrt(t)."""

    cdef double[::1] _logs

    def __init__(self, CompactRows rows, order, double lam, double radius, double eta0):
        super().__init__(rows, order, lam, radius, eta0)
        self._logs = self._vector()

    def advance(self, int64_t target):
        """Take steps until the order ends or the presentations reach ``target``."""
        cdef double *logs = &self._logs[0]
        cdef double *w = &self._w[0]
        cdef Py_ssize_t i, j, d = self.rows.c.d
        cdef double largest, product, larger, smaller, mass, factor
        cdef bint error
        with nogil:
            while more_rows(self, target):
                i = next_row(self)
                error = present(self, i)
                descend(self, i, error, self.eta0 / sqrt(<double> self.steps), logs)
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
                factor = self.radius / mass
                for j in range(d):
                    w[j] *= factor


cdef class Adagrad(InBall):
    """adagrad. S is 1/(4d) at first."""

    cdef readonly bint rooted
    cdef double[::1] _squares
    cdef double[:, ::1] _room

    def __init__(self, CompactRows rows, order, double lam, double radius, double eta0,
                 bint rooted):
        super().__init__(rows, order, lam, radius, eta0)
        cdef Py_ssize_t d = max(rows.c.d, 1)
        self.rooted = rooted
        self._squares, self._room = np.full(d, 0.25 / d), np.empty((4, d))

    def advance(self, int64_t target):
        """Take steps until the order ends or the presentations reach ``target``."""
        cdef double *w = &self._w[0]
        cdef double *g = &self._room[0, 0]
        cdef double *h = &self._room[1, 0]
        cdef Py_ssize_t i, j, d = self.rows.c.d
        cdef Threshold threshold
        cdef double step
        cdef bint error
        with nogil:
            while more_rows(self, target):
                i = next_row(self)
                error = present(self, i)
                for j in range(d):
                    g[j] = 0.0
                descend(self, i, error, 1.0, g)                # g is minus the subgradient
                step = self.eta0 / sqrt(<double> self.steps) if self.rooted else self.eta0
                for j in range(d):
                    self._squares[j] += g[j] * g[j]
                    h[j] = sqrt(self._squares[j])
                    w[j] += step * g[j] / h[j]
                threshold = l1_threshold(w, h, d, self.radius, &self._room[2, 0],
                                         &self._room[3, 0])
                if threshold.value > 0.0:
                    for j in range(d):
                        w[j] = soft(w[j], threshold, h[j])


def presentation_cost(CompactRows rows, Py_ssize_t i, double[::1] w, double lam, int loss,
                      double gamma):
    """f(w) = lam/2 ||w||^2 + loss(y_i w.x_i) of one row: what online learning charges for it."""
    cdef double norm2 = 0.0
    cdef Py_ssize_t j
    if w.shape[0] != rows.c.d:
        raise ValueError("the vector and the rows do not belong together")
    if not 0 <= i < rows.c.m:
        raise ValueError(f"no row {i} among {rows.c.m}")
    for j in range(w.shape[0]):
        norm2 += w[j] * w[j]
    return (0.5 * lam * norm2
            + loss_value(make_loss(loss, gamma), rows.c.labels[i] * row_dot(&rows.c, i, &w[0])))
