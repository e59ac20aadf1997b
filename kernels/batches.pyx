# Subgradient steps on batches of rows: pegasos, also in the l1 ball, sgd-sqrt there, and the
# methods with a free bias.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i (w.x_i + b)), b = 0 or free; w may be
#             confined to ||w||_1 <= z
#   update    t = 1, 2, ...; A the next k rows, all margins those at the old w and b
#                 w <- (1 - eta pull) w + eta/n sum_{i in A} [margin_i < 1] y_i x_i
#                 w <- min(1, 1/(sqrt(lam) ||w||)) w, or the nearest point of the ball (optional)
#                 b <- b + eta/n sum_A [the same] y_i                                (if free)
#             eta = 1/(first + growth (t - 1)), or eta0/sqrt(t); n = k, or 1 where losses are summed
#   cost      n_i for the inner product, n_i more at a margin error and again there if iterates are
#             summed: w = scale v, the sum is tau v + u (scaled.pxd), u in double precision. With
#             the l2 projection every error of a batch but the first costs another inner product;
#             with the ball an error costs some ten passes over the d weights (projection.pyx)
#   source    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), figure 2;
#             Zinkevich, ICML 2003; Garrido, Stochastic gradient descent for SVM (2021), section 1
#
# pegasos.pyx has steps of one row: a loop over batches of one row was a quarter slower.

from libc.math cimport INFINITY, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .projection cimport Threshold, l1_threshold, soft
from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros, row_norm2, weight_t
from .rowwise cimport more_rows, next_row
from .scaled cimport ScaledWeights, too_small

__build__ = build_record()


cdef class Batches(ScaledWeights):
    """Steps of k rows; the last batch of an order holds the rows that are left."""

    cdef readonly double pull, row_pull     # w shrinks by eta (pull + k row_pull)
    cdef public double first                # 1/eta of the first step
    cdef readonly double growth, radius
    cdef readonly bint rooted, summed_losses, ties, free
    cdef readonly double ball               # lam of the l2 ball ||w|| <= 1/sqrt(lam); 0 for none
    cdef readonly Py_ssize_t batch
    cdef double[::1] _margins, _sizes

    def __init__(self, CompactRows rows, order, Py_ssize_t batch, double first, double growth, *,
                 double pull=0.0, double row_pull=0.0, bint rooted=False, double ball=0.0,
                 double radius=INFINITY, bint free=False, precision="float64"):
        super().__init__(rows, order, precision)
        if batch < 1:
            raise ValueError(f"a batch has at least one row, not {batch}")
        self.sum_precision = "float64"
        self.batch, self.first, self.growth, self.pull, self.row_pull = (
            batch, first, growth, pull, row_pull)
        self.rooted, self.ball, self.radius = rooted, ball, radius
        self.free = self.summed_losses = self.ties = free
        self._margins, self._sizes = np.empty(batch), np.empty(max(rows.c.d, 1))

    def advance(self, int64_t target):
        """Take steps until the order ends or presentations reach ``target``; batches stay whole."""
        with nogil:
            if self._v.single:
                take_steps(self, <float *> self._v.data, target)
            else:
                take_steps(self, <double *> self._v.data, target)


cdef void take_steps(Batches self, weight_t *v, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef const int32_t *order
    cdef double *margins = &self._margins[0]
    cdef double *u = <double *> self.rest
    cdef double y, eta, shrink, step, inner, new
    cdef int64_t push
    cdef Threshold threshold
    cdef Py_ssize_t i, j, k
    cdef bint moved
    # The compiler cannot keep fields of an object in registers across the writes to weights.
    cdef double scale = self.scale, tau = self.tau, norm2 = self.norm2, bias = self.bias
    cdef int64_t steps = self.steps, updates = 0, nonzeros = 0
    while more_rows(self, target):
        order = self.row_at + self.position
        k = min(self.batch, self.end - self.position)
        for j in range(k):
            i = next_row(self)
            margins[j] = rows.labels[i] * (scale * row_dot(rows, i, v) + bias)
            nonzeros += row_nonzeros(rows, i)
        eta = (1.0 / (self.first * sqrt(steps + 1.0)) if self.rooted
               else 1.0 / (self.first + self.growth * steps))
        steps += 1
        tau += scale
        shrink = 1.0 - eta * (self.pull + k * self.row_pull)
        scale *= shrink
        norm2 *= shrink * shrink
        # At t = 1 of pegasos all of w goes; a step too long turns w round, and may let it grow.
        if too_small(v, scale) or scale > 100.0:
            norm2 = 0.0
            for j in range(rows.d):
                if u != NULL:
                    u[j] += tau * v[j]
                v[j] = <weight_t> (v[j] * scale)
                norm2 += <double> v[j] * v[j]
            scale, tau = 1.0, 0.0
        eta = eta if self.summed_losses else eta / k
        moved, push = shrink < -1.0, 0
        for j in range(k):
            if not (margins[j] < 1.0 or (self.ties and margins[j] == 1.0)):
                continue
            i, y = order[j], rows.labels[order[j]]
            if self.ball > 0.0:
                inner = shrink * margins[j]
                if moved:                      # w is no longer the old one, shrunk
                    inner = y * scale * row_dot(rows, i, v)
                    nonzeros += row_nonzeros(rows, i)
                norm2 += 2.0 * eta * inner + eta * eta * row_norm2(rows, i)
            step = eta / scale * y
            row_axpy(rows, i, <weight_t> step, v)
            nonzeros += row_nonzeros(rows, i)
            if u != NULL:
                row_axpy(rows, i, -tau * step, u)
                nonzeros += row_nonzeros(rows, i)
            push += rows.labels[i]
            updates += 1
            moved = True
        if self.free:
            bias += eta * push
        if moved and self.ball > 0.0 and norm2 * self.ball > 1.0:
            scale /= sqrt(norm2 * self.ball)
            norm2 = 1.0 / self.ball
        if moved and self.radius < INFINITY:
            threshold = l1_threshold(v, NULL, rows.d, self.radius / scale,
                                     &self._sizes[0], NULL)
            for j in range(rows.d if threshold.value > 0.0 else 0):
                new = <weight_t> soft(v[j], threshold, 1.0)
                if u != NULL:
                    u[j] += tau * (v[j] - new)
                v[j] = <weight_t> new
        self.presentations += k
    self.scale, self.tau, self.norm2, self.bias, self.steps = scale, tau, norm2, bias, steps
    self.updates += updates
    self.nonzeros += nonzeros
