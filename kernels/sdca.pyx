# Stochastic dual coordinate ascent, with a lazy mean of its iterates.
#
#   problem   max D(alpha) = 1/m sum q(alpha_i) - lam/2 ||w(alpha)||^2 over the box of the loss;
#             w = w(alpha) = 1/(lam m) sum alpha_i y_i x_i is kept in step
#   update    the next row i:
#                 alpha_i <- clip(alpha_i + lam m (1 - s_i - nu alpha_i)/(n_i + nu lam m), box)
#                 w += (change of alpha_i) y_i x_i / (lam m),  n_i = ||x_i||^2, s_i = y_i w.x_i
#             exact maximisation over alpha_i, or nearly so with the logistic loss: the step of
#             dcd.pyx, without shrinking
#   averages  the sums of the iterates are tau w + u and tau alpha + beta: each iterate adds
#             one to tau, and tau times the gain of w and of alpha_i is subtracted from u and beta_i
#   cost      n_i for the inner product, n_i more where alpha_i moves, and again n_i there
#             if iterates are summed
#   source    Shalev-Shwartz and Zhang, JMLR 14 (2013), procedures SDCA and SDCA-Perm.

from libc.math cimport fabs
from libc.stdint cimport int64_t

import numpy as np

from .loss cimport (
    Loss, best_alpha, best_coordinate, dual_gradient, loss_of, projected_gradient,
)
from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros, weight_t
from .rowwise cimport DualWise, Weights, look_ahead_in, more_rows, next_row

__build__ = build_record()


cdef class Sdca(DualWise):
    """Exact steps over one dual variable at a time."""

    cdef readonly object w
    cdef readonly object u, beta  # the sums of iterates are tau w + u and tau alpha + beta
    cdef readonly double lam, tau
    cdef Loss loss
    cdef Weights _w, _u
    cdef double[::1] _beta
    cdef void *rest                 # u, or NULL while iterates are not summed

    def __init__(self, CompactRows rows, double lam, loss, precision="float64"):
        self.lam, self.loss = lam, loss_of(loss)
        super().__init__(rows, best_alpha(self.loss, 0.0))
        self._w = Weights(rows.c.d, precision)
        self.w = self._w.array
        self.rest = NULL

    def begin_sum(self):
        """Sum the iterates from here on: those that the next steps start from."""
        self._u = Weights(self.rows.c.d, self.w.dtype.name)
        self.u, self.rest = self._u.array, self._u.data
        self.beta = np.zeros(self.rows.c.m)
        self._beta = self.beta
        self.tau = 0.0

    def advance(self, int64_t target):
        """Present rows until the order ends or the presentations reach ``target``."""
        with nogil:
            if self._w.single:
                take_steps(self, <float *> self._w.data, <float *> self.rest, target)
            else:
                take_steps(self, <double *> self._w.data, <double *> self.rest, target)


cdef void take_steps(Sdca self, weight_t *w, weight_t *u, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef const double *norms2 = &self._norms2[0]
    cdef double *alpha = &self._alpha[0]
    cdef double *beta = &self._beta[0] if u != NULL else NULL
    cdef double lam_m = self.lam * rows.m
    cdef Loss loss = self.loss
    cdef double y, old, new, gradient, step
    cdef Py_ssize_t i
    while more_rows(self, target):
        i = next_row(self)
        look_ahead_in(self, alpha)
        look_ahead_in(self, norms2)
        self.presentations += 1
        if u != NULL:
            look_ahead_in(self, beta)
            self.tau += 1.0
        old = alpha[i]
        y = rows.labels[i]
        gradient = dual_gradient(loss, old, y * row_dot(rows, i, w))
        self.nonzeros += row_nonzeros(rows, i)
        # On a bound this spares a division that would move nothing.
        if fabs(projected_gradient(loss, old, gradient)) > 1e-12:
            new = best_coordinate(loss, old, gradient, norms2[i], lam_m)
            alpha[i] = new
            if new != old:
                step = (new - old) * y / lam_m
                row_axpy(rows, i, <weight_t> step, w)
                self.nonzeros += row_nonzeros(rows, i)
                self.updates += 1
                if u != NULL:
                    beta[i] -= self.tau * (new - old)
                    row_axpy(rows, i, <weight_t> (-self.tau * step), u)
                    self.nonzeros += row_nonzeros(rows, i)
