# Stochastic subgradient steps with the projection on the l1 ball: pegasos and sgd-sqrt.
#
#   problem   min over ||w||_1 <= z of lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i)
#   update    t = 1, 2, ...; A the next k rows;  eta = eta0/t or eta0/sqrt(t)
#                 w <- Pi((1 - lam eta) w + eta/k sum_{i in A} [y_i w.x_i < 1] y_i x_i)
#             all margins are those at the old w; Pi is the projection (projection.pyx)
#   cost      n_i for the inner product and n_i more at a margin error, which also costs some ten
#             passes over the d weights for the projection. Without an error w only shrinks
#             (unless lam eta > 2), in O(1): w = scale v, and the sum of iterates is tau v + u
#             (scaled.pxd). u is double in both precisions, since a projection moves every entry.
#   source    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), figure 2,
#             with another ball than theirs; Zinkevich, ICML 2003.

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .projection cimport Threshold, l1_threshold, soft
from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros, weight_t
from .rowwise cimport more_rows, next_row
from .scaled cimport ScaledWeights, too_small

__build__ = build_record()


cdef class ProjectedSubgradient(ScaledWeights):
    """Projected steps of k rows; the last batch of an order holds the rows that are left."""

    cdef readonly double lam, radius, eta0
    cdef readonly bint rooted
    cdef readonly Py_ssize_t batch
    cdef double[::1] _margins, _sizes

    def __init__(self, CompactRows rows, order, double lam, double radius, double eta0,
                 bint rooted, Py_ssize_t batch=1, precision="float64"):
        super().__init__(rows, order, precision)
        if batch < 1:
            raise ValueError(f"a batch has at least one row, not {batch}")
        self.sum_precision = "float64"
        self.lam, self.radius, self.eta0 = lam, radius, eta0
        self.rooted, self.batch = rooted, batch
        self._margins, self._sizes = np.empty(batch), np.empty(max(rows.c.d, 1))

    def advance(self, int64_t target):
        """Take steps until the order ends or the presentations reach ``target``.

        A batch is not split.
        """
        with nogil:
            if self._v.single:
                take_steps(self, <float *> self._v.data, target)
            else:
                take_steps(self, <double *> self._v.data, target)


cdef void take_steps(ProjectedSubgradient self, weight_t *v, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef const int32_t *order
    cdef double *margins = &self._margins[0]
    cdef double *u = <double *> self.rest
    cdef double eta, shrink, step, new
    cdef Threshold threshold
    cdef Py_ssize_t i, j, k
    cdef bint moved
    while more_rows(self, target):
        order = self.row_at + self.position
        self.steps += 1
        k = min(self.batch, self.end - self.position)
        for j in range(k):
            i = next_row(self)
            margins[j] = rows.labels[i] * self.scale * row_dot(rows, i, v)
            self.nonzeros += row_nonzeros(rows, i)
        self.tau += self.scale
        eta = self.eta0 / (sqrt(<double> self.steps) if self.rooted else <double> self.steps)
        shrink = 1.0 - self.lam * eta
        self.scale *= shrink
        if too_small(v, self.scale):          # as where steps turn w round, lam eta > 1
            for j in range(rows.d):
                if u != NULL:
                    u[j] += self.tau * v[j]
                v[j] = <weight_t> (v[j] * self.scale)
            self.scale = 1.0
            self.tau = 0.0
        moved = shrink < -1.0
        for j in range(k):
            if not margins[j] < 1.0:
                continue
            i = order[j]
            step = eta / (self.scale * k) * rows.labels[i]
            row_axpy(rows, i, <weight_t> step, v)
            self.nonzeros += row_nonzeros(rows, i)
            if u != NULL:
                row_axpy(rows, i, -self.tau * step, u)
                self.nonzeros += row_nonzeros(rows, i)
            self.updates += 1
            moved = True
        self.presentations += k
        if not moved:
            continue
        threshold = l1_threshold(v, rows.d, self.radius / self.scale, &self._sizes[0])
        if threshold.value > 0.0:
            for j in range(rows.d):
                new = <weight_t> soft(v[j], threshold, 1.0)
                if u != NULL:
                    u[j] += self.tau * (v[j] - new)
                v[j] = <weight_t> new
