# SGD, mini-batch and full subgradient steps on the hinge SVM with an unregularised bias.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i (w.x_i + b))
#   update    t = 0, 1, ...; S the next k rows; gamma = 1/(mu0 + increment t)
#                 w <- w - gamma (pull w - sum_S [y_i (w.x_i + b) <= 1] y_i x_i)
#                 b <- b + gamma sum_S [the same] y_i
#             all margins are those at the old w and b; pull = row_pull k + step_pull. The source
#             sums the losses, so that its lambda is m times lam:
#                 row_pull = lam, step_pull = 0      the share of the regulariser that k rows have
#                 row_pull = 0, step_pull = m lam    as printed: all of it in every step
#   cost      n_i for the inner product, n_i more at a margin error: w = scale v (scaled.pxd)
#   source    Garrido, Stochastic gradient descent for SVM (2021), section 1

from libc.math cimport fabs
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros, weight_t
from .rowwise cimport more_rows, next_row
from .scaled cimport ScaledWeights, take_in, too_small

__build__ = build_record()


cdef class SgdWithBias(ScaledWeights):
    """Steps of k rows; the last batch of an order holds the rows that are left."""

    cdef readonly Py_ssize_t batch
    cdef public double mu0
    cdef readonly double increment, row_pull, step_pull
    cdef double[::1] _margins

    def __init__(self, CompactRows rows, order, Py_ssize_t batch, double mu0, double increment,
                 double row_pull, double step_pull, precision="float64"):
        super().__init__(rows, order, precision)
        if batch < 1:
            raise ValueError(f"a batch has at least one row, not {batch}")
        self.batch, self.mu0, self.increment = batch, mu0, increment
        self.row_pull, self.step_pull = row_pull, step_pull
        self._margins = np.empty(batch)

    def advance(self, int64_t target):
        """Take steps until the order ends or the presentations reach ``target``.

        A batch is not split.
        """
        with nogil:
            if self._v.single:
                take_steps(self, <float *> self._v.data, target)
            else:
                take_steps(self, <double *> self._v.data, target)


cdef void take_steps(SgdWithBias self, weight_t *v, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef const int32_t *order
    cdef double *margins = &self._margins[0]
    cdef double gamma, size
    cdef int64_t push
    cdef Py_ssize_t i, j, k
    while more_rows(self, target):
        order = self.row_at + self.position
        k = min(self.batch, self.end - self.position)
        for j in range(k):
            i = next_row(self)
            margins[j] = rows.labels[i] * (self.scale * row_dot(rows, i, v) + self.bias)
            self.nonzeros += row_nonzeros(rows, i)
        gamma = 1.0 / (self.mu0 + self.increment * self.steps)
        self.steps += 1
        self.scale *= 1.0 - gamma * (self.row_pull * k + self.step_pull)
        # A step too long turns w round, and may make it grow without bound.
        size = fabs(self.scale)
        if too_small(v, size) or size > 100.0:
            take_in(v, <weight_t *> NULL, rows.d, self.scale, 0.0)
            self.scale = 1.0
        push = 0
        for j in range(k):
            if not margins[j] <= 1.0:
                continue
            i = order[j]
            row_axpy(rows, i, <weight_t> (gamma / self.scale * rows.labels[i]), v)
            self.nonzeros += row_nonzeros(rows, i)
            push += rows.labels[i]
            self.updates += 1
        self.bias += gamma * push
        self.presentations += k
