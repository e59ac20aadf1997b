# Pegasos: projected stochastic subgradient descent on the primal hinge SVM.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i)
#   update    t = 1, 2, ...; the next row i;  eta = 1/(lam t)
#                 w <- (1 - 1/t) w + [y_i w.x_i < 1] eta y_i x_i      (margin at the old w)
#                 w <- min(1, 1/(sqrt(lam) ||w||)) w                  (optional)
#   cost      n_i for the inner product, n_i more at a margin error and again n_i if iterates
#             are summed: w = scale v, the sum is tau v + u (scaled.pxd), and ||w||^2 is kept
#             by recurrence, so that neither shrinking nor projecting touches other features.
#             v takes a small scale in, unless that is switched off: every projected step with a
#             margin error divides the scale by up to ||x_i||/(t sqrt(lam)), so that it underflows
#             after some ||x_i||/sqrt(lam) such steps if that is several hundred
#   source    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011),
#             figure 1. Batches of rows are in batches.pyx.

from libc.math cimport sqrt
from libc.stdint cimport int64_t

from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros, row_norm2, weight_t
from .rowwise cimport more_rows, next_row
from .scaled cimport ScaledWeights, take_in, too_small

__build__ = build_record()


cdef class Pegasos(ScaledWeights):
    """Steps of one row."""

    cdef readonly double lam
    cdef readonly bint project, rescale

    def __init__(self, CompactRows rows, order, double lam, bint project=False,
                 precision="float64", bint rescale=True):
        super().__init__(rows, order, precision)
        self.lam, self.project, self.rescale = lam, project, rescale

    def advance(self, int64_t target):
        """Take steps until the order ends or t reaches ``target``."""
        with nogil:
            if self._v.single:
                take_steps(self, <float *> self._v.data, <float *> self.rest, target)
            else:
                take_steps(self, <double *> self._v.data, <double *> self.rest, target)


cdef void take_steps(Pegasos self, weight_t *v, weight_t *u, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    # As members they would be read again after every store to v, which may be of their type.
    cdef double lam = self.lam, scale = self.scale, tau = self.tau, norm2 = self.norm2
    cdef double s, eta, shrink, step
    cdef Py_ssize_t i
    while more_rows(self, target):
        i = next_row(self)
        self.presentations += 1
        self.steps += 1
        s = rows.labels[i] * scale * row_dot(rows, i, v)
        self.nonzeros += row_nonzeros(rows, i)
        tau += scale
        shrink = 1.0 - 1.0 / self.steps
        scale *= shrink
        norm2 *= shrink * shrink
        # At t = 1, scale is 0 and w = 0.
        if self.steps == 1 or (self.rescale and too_small(v, scale)):
            norm2 = take_in(v, u, rows.d, scale, tau)
            scale = 1.0
            tau = 0.0
        if s < 1.0:
            eta = 1.0 / (lam * self.steps)
            step = eta / scale * rows.labels[i]
            row_axpy(rows, i, <weight_t> step, v)
            self.nonzeros += row_nonzeros(rows, i)
            self.updates += 1
            if u != NULL:
                row_axpy(rows, i, <weight_t> (-tau * step), u)
                self.nonzeros += row_nonzeros(rows, i)
            if self.project:
                norm2 += 2.0 * eta * shrink * s + eta * eta * row_norm2(rows, i)
                if norm2 * lam > 1.0:
                    scale /= sqrt(norm2 * lam)
                    norm2 = 1.0 / lam
    self.scale, self.tau, self.norm2 = scale, tau, norm2
