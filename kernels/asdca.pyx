# Accelerated mini-batch stochastic dual coordinate ascent.
#
#   problem   min lam/2 ||w||^2 + 1/m sum loss(y_i w.x_i), smoothed hinge of width gamma;
#             dual variables 0 <= alpha_i <= 1, z = w(alpha) = 1/(lam m) sum alpha_i y_i x_i
#   update    u = (1 - theta) x + theta z; x, the output, is 0 at the start;
#             for each of the k distinct rows i of the batch, all with the same u:
#                 alpha_i <- (1 - theta) alpha_i + theta clip((1 - y_i u.x_i)/gamma, 0, 1)
#             z is kept in step;  x <- (1 - theta) x + theta z
#   cost      n_i for the inner product, n_i more where alpha_i moves, and 4 d a batch: x, u
#             and z are dense combinations of each other
#   source    Shalev-Shwartz and Zhang, NIPS 2013, figure 1

from libc.stdint cimport int64_t

import numpy as np

from .loss cimport SMOOTHED_HINGE, Loss, best_alpha, make_loss
from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros, weight_t
from .rowwise cimport RowWise, Weights, look_ahead_in, more_rows, next_row

__build__ = build_record()


cdef class Asdca(RowWise):
    """Steps of k rows. A batch may be left half-way; x stays what it was until the batch ends."""

    cdef readonly object w, z, u, alpha  # the output x, w(alpha) and (1 - theta) x + theta z
    cdef readonly object total  # sum of the x that steps start from; None until begin_sum
    cdef readonly double lam, gamma, theta
    cdef readonly Py_ssize_t batch
    cdef readonly int64_t summed
    cdef Weights _x, _z, _u
    cdef double[::1] _alpha, _total
    cdef double *sum_at             # total, or NULL while x is not summed

    def __init__(self, CompactRows rows, order, Py_ssize_t batch, double lam, double gamma,
                 double theta, precision="float64"):
        super().__init__(rows, order)
        if batch < 1 or self.end % batch != 0:
            raise ValueError(f"an order of {self.end} rows does not hold batches of {batch}")
        self.batch, self.lam, self.gamma, self.theta = batch, lam, gamma, theta
        self._x, self._z, self._u = (Weights(rows.c.d, precision) for _ in range(3))
        self.w, self.z, self.u = self._x.array, self._z.array, self._u.array
        self.alpha = np.zeros(rows.c.m)
        self._alpha = self.alpha
        self.sum_at = NULL

    def begin_sum(self):
        """Sum x from here on, as each step starts from it."""
        self.total = np.zeros(self.rows.c.d)
        self._total = self.total
        self.sum_at = &self._total[0]
        self.summed = 0

    def advance(self, int64_t target):
        """Present rows until the order ends or the presentations reach ``target``."""
        with nogil:
            if self._x.single:
                take_steps(self, <float *> self._x.data, <float *> self._z.data,
                           <float *> self._u.data, target)
            else:
                take_steps(self, <double *> self._x.data, <double *> self._z.data,
                           <double *> self._u.data, target)


cdef void take_steps(Asdca self, weight_t *x, weight_t *z, weight_t *u,
                     int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef Loss loss = make_loss(SMOOTHED_HINGE, self.gamma)
    cdef double lam_m = self.lam * rows.m, theta = self.theta
    cdef double *alpha = &self._alpha[0]
    cdef double *total = self.sum_at
    cdef double y, old, new, mixed
    cdef Py_ssize_t i, j
    while more_rows(self, target):
        if total != NULL and self.position % self.batch == 0:
            self.summed += 1
            for j in range(rows.d):
                total[j] += x[j]
        i = next_row(self)
        look_ahead_in(self, alpha)
        self.presentations += 1
        y = rows.labels[i]
        old = alpha[i]
        # In this form rounding cannot leave [0, 1].
        new = old + theta * (best_alpha(loss, y * row_dot(rows, i, u)) - old)
        self.nonzeros += row_nonzeros(rows, i)
        if new != old:
            alpha[i] = new
            row_axpy(rows, i, <weight_t> ((new - old) * y / lam_m), z)
            self.nonzeros += row_nonzeros(rows, i)
            self.updates += 1
        if self.position % self.batch == 0:
            for j in range(rows.d):
                mixed = (1.0 - theta) * x[j] + theta * z[j]
                x[j] = <weight_t> mixed
                u[j] = <weight_t> ((1.0 - theta) * mixed + theta * z[j])
