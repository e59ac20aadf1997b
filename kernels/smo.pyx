# Sequential minimal optimisation inside a working set of rows.
#
#   problem   max D(alpha) = 1/m sum (alpha_i - nu alpha_i^2/2) - lam/2 ||w(alpha)||^2 over the
#             box of the hinge, the squared or the smoothed hinge, with sum alpha_i y_i = 0
#   update    f_k = y_k (1 - nu alpha_k) - w.x_k;  up: y_k alpha_k may grow, low: may fall
#                 i = argmax f over up
#                 j = argmax (f_i - f_j)^2/a_ij over the rows of low with f_j < f_i
#                 a_ij = ||x_i - x_j||^2/(lam m) + 2 nu
#                 step = (f_i - f_j)/a_ij, cut where alpha_i or alpha_j meets its bound
#                 alpha_i += y_i step,  alpha_j -= y_j step
#             f is kept for the q rows of the set through the matrix of their products; w and
#             all other f are updated once a set, by the caller
#   cost      O(q) a step; the matrix costs q times the entries of the set's rows
#   source    Platt (1999); Fan, Chen and Lin, JMLR 6 (2005), WSS 2;
#             Joachims, Making large-scale SVM learning practical (1999): working sets

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

import numpy as np

from .counters cimport Counters
from .loss cimport Loss, loss_of
from .provenance cimport build_record
from .rows cimport CompactRows, row_axpy, row_dot, row_nonzeros

__build__ = build_record()

# Least a_ij, as a share of its terms: below, x_i and x_j are the same row but for rounding.
cdef double SAME = 1e-12


cdef class WorkingSet(Counters):
    """A set of q rows, whose dual variables are solved for while all others stay as they are."""

    cdef readonly CompactRows rows
    cdef readonly double lam
    cdef readonly object chosen, matrix, alpha, f  # of the q rows, and their products
    cdef Loss loss
    cdef double[:, ::1] _matrix
    cdef double[::1] _y, _alpha, _f, _room          # room for a row; zeros between calls

    def __init__(self, CompactRows rows, double lam, loss):
        self.rows, self.lam, self.loss = rows, lam, loss_of(loss)
        self._room = np.zeros(max(rows.c.d, 1))

    def choose(self, const int64_t[::1] chosen, const double[::1] alpha, const double[::1] f):
        """Take these rows for the set, and find their products."""
        cdef Py_ssize_t q = chosen.shape[0], k
        if not alpha.shape[0] == f.shape[0] == self.rows.c.m:
            raise ValueError("alpha, f and rows do not belong together")
        for k in range(q):
            if not 0 <= chosen[k] < self.rows.c.m:
                raise ValueError("a row is chosen that is not there")
        self.chosen = np.array(chosen)
        self.alpha, self.f = np.asarray(alpha)[self.chosen], np.asarray(f)[self.chosen]
        self.matrix = np.empty((q, q))
        self._alpha, self._f, self._matrix = self.alpha, self.f, self.matrix
        self._y = self.rows.labels[self.chosen].astype(np.float64)
        with nogil:
            self._multiply(chosen)
        self.presentations += q

    cdef void _multiply(self, const int64_t[::1] chosen) noexcept nogil:
        cdef double *row = &self._room[0]
        cdef Py_ssize_t a, b
        for a in range(chosen.shape[0]):
            row_axpy(&self.rows.c, chosen[a], 1.0, row)
            self.nonzeros += (a + 3) * row_nonzeros(&self.rows.c, chosen[a])
            for b in range(a, chosen.shape[0]):
                self._matrix[a, b] = self._matrix[b, a] = row_dot(&self.rows.c, chosen[b], row)
            row_axpy(&self.rows.c, chosen[a], -1.0, row)

    def advance(self, double tolerance, int64_t most):
        """Pair steps until no pair of the set violates by more than ``tolerance``."""
        cdef double lam_m = self.lam * self.rows.c.m
        cdef Loss loss = self.loss
        cdef double[:, ::1] matrix = self._matrix
        cdef double[::1] y = self._y, alpha = self._alpha, f = self._f
        cdef Py_ssize_t q = alpha.shape[0]
        cdef Py_ssize_t i, j, k
        cdef int64_t steps = 0
        cdef double highest, lowest, gain, best, terms, a, least, step, room
        with nogil:
            while steps < most:
                i = j = -1
                highest = -INFINITY
                for k in range(q):
                    if f[k] > highest and (alpha[k] < loss.upper if y[k] > 0 else alpha[k] > 0):
                        highest = f[k]
                        i = k
                if i < 0:
                    break
                best = 0
                lowest = INFINITY
                for k in range(q):
                    if not (alpha[k] > 0 if y[k] > 0 else alpha[k] < loss.upper):
                        continue
                    lowest = min(lowest, f[k])
                    gain = highest - f[k]
                    if gain <= 0:
                        continue
                    terms = (matrix[i, i] + matrix[k, k]) / lam_m + 2 * loss.nu
                    a = max(terms - 2 * matrix[i, k] / lam_m, SAME * terms)
                    gain = gain * gain / a if a > 0 else INFINITY
                    if gain > best:
                        best = gain
                        j = k
                        least = a
                if j < 0 or highest - lowest <= tolerance:
                    break
                step = (highest - f[j]) / least if least > 0 else INFINITY
                room = loss.upper - alpha[i] if y[i] > 0 else alpha[i]
                step = min(step, room)
                room = alpha[j] if y[j] > 0 else loss.upper - alpha[j]
                step = min(step, room)
                # A step as long as the room ends on the bound exactly: a - a = 0 and, in the box
                # from 0 to 1, a + (1 - a) = 1.
                alpha[i] += y[i] * step
                alpha[j] -= y[j] * step
                for k in range(q):
                    f[k] -= step / lam_m * (matrix[i, k] - matrix[j, k])
                f[i] -= loss.nu * step
                f[j] += loss.nu * step
                steps += 1
        return steps
