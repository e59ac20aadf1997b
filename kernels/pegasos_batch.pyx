# Mini-batch Pegasos: as pegasos.pyx, with the mean of the subgradients of several rows.
#
#   update    t = 1, 2, ...; A the next k rows;  eta = 1/(lam t)
#                 w <- (1 - 1/t) w + eta/k sum_{i in A} [y_i w.x_i < 1] y_i x_i
#                 w <- min(1, 1/(sqrt(lam) ||w||)) w                  (optional)
#             all margins are those at the old w
#   cost      n_i for the inner product, n_i more at a margin error, and again n_i there if
#             iterates are summed; with the projection, every margin error of a batch but
#             the first costs another inner product, for the products x_i.x_j in ||w||^2
#   source    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011), figure 2.
#
# It is a module of its own so that the compiler inlines the inner product of pegasos.pyx:
# a loop over batches of one row was a quarter slower than the plain loop.

from libc.math cimport sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros, row_norm2, weight_t
from .rowwise cimport more_rows, next_row
from .scaled cimport ScaledWeights, take_in, too_small

__build__ = build_record()


cdef class PegasosBatch(ScaledWeights):
    """Steps of k rows; the last batch of an order holds the rows that are left."""

    cdef readonly double lam
    cdef readonly bint project
    cdef readonly Py_ssize_t batch
    cdef double[::1] _margins

    def __init__(self, CompactRows rows, order, double lam, bint project, Py_ssize_t batch,
                 precision="float64"):
        super().__init__(rows, order, precision)
        if batch < 1:
            raise ValueError(f"a batch has at least one row, not {batch}")
        self.lam, self.project, self.batch = lam, project, batch
        self._margins = np.empty(batch)

    def advance(self, int64_t target):
        """Take steps until the order ends or the presentations reach ``target``.

        A batch is not split.
        """
        with nogil:
            if self._v.single:
                take_steps(self, <float *> self._v.data, <float *> self.rest, target)
            else:
                take_steps(self, <double *> self._v.data, <double *> self.rest, target)


cdef void take_steps(PegasosBatch self, weight_t *v, weight_t *u, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef const int32_t *order
    cdef double *margins = &self._margins[0]
    cdef double lam = self.lam
    cdef double y, eta, shrink, step, inner
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
        shrink = 1.0 - 1.0 / self.steps
        self.scale *= shrink
        self.norm2 *= shrink * shrink
        if too_small(v, self.scale):          # t = 1 comes here too: w = 0
            self.norm2 = take_in(v, u, rows.d, self.scale, self.tau)
            self.scale = 1.0
            self.tau = 0.0
        eta = 1.0 / (lam * self.steps * k)
        moved = False
        for j in range(k):
            if not margins[j] < 1.0:
                continue
            i = order[j]
            y = rows.labels[i]
            if self.project:
                inner = shrink * margins[j]
                if moved:                      # w is no longer the old one, shrunk
                    inner = y * self.scale * row_dot(rows, i, v)
                    self.nonzeros += row_nonzeros(rows, i)
                self.norm2 += 2.0 * eta * inner + eta * eta * row_norm2(rows, i)
            step = eta / self.scale * y
            row_axpy(rows, i, <weight_t> step, v)
            self.nonzeros += row_nonzeros(rows, i)
            if u != NULL:
                row_axpy(rows, i, <weight_t> (-self.tau * step), u)
                self.nonzeros += row_nonzeros(rows, i)
            self.updates += 1
            moved = True
        if moved and self.project and self.norm2 * lam > 1.0:
            self.scale /= sqrt(self.norm2 * lam)
            self.norm2 = 1.0 / lam
        self.presentations += k
