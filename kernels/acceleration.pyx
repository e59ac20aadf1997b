# Acceleration of dual coordinate descent: the best step in a plane, after passes over the rows.
#
#   problem   max D(alpha) = 1/m sum (alpha_i - nu alpha_i^2/2) - lam/2 ||w(alpha)||^2 over
#             0 <= alpha_i <= upper
#   plane     delta, what the passes have moved, and p, the whole step before, both over the free
#             rows 0 < alpha_i < upper alone; w_delta = w(delta) and w_p = w(p) are kept as vectors
#   update    (a, b) maximise D(alpha + a delta + b p), which takes six inner products;
#             alpha <- clip(alpha + a delta + b p), p <- (1 + a) delta + b p
#             D falls only where rows are clipped; alpha then stays, and p <- 0
#   cost      n_i for each vector and row at a bound that has a share in it; some 15 d besides
#   source    ours, after the locally optimal conjugate gradients of Knyazev, SIAM J. Sci. Comput.
#             2001, whose plane they share; delta stands for the gradient

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .counters cimport Counters
from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_nonzeros

__build__ = build_record()

# Below this share of the product of the diagonal, the determinant of the plane's system is
# rounding: the two directions are one.
cdef double ROUNDING = 1e-10

# Relative rounding of a sum; and how much longer than its rounding error a direction has to be:
# when rows leave a direction, nothing else may remain of it.
cdef double EPSILON = 2.3e-16, CLEAR = 1e6


cdef struct Plane:
    double first, second        # gradient of D
    double a, b, ab             # entries of minus its Hessian


cdef class Acceleration(Counters):
    """Two directions, and the best step in their plane.

    Parameters
    ----------
    rows : CompactRows
    lam : float
    nu, upper : float
        Curvature of the loss, and the upper bound of the dual variables.

    Attributes
    ----------
    refused : int
        Steps that would have lowered D because rows were clipped.
    change : float
        Change of the sum of alpha_i in the last step.
    """

    cdef readonly CompactRows rows
    cdef readonly double lam, nu, upper, change
    cdef readonly int64_t refused
    cdef double _delta_error, _step_error   # of w_delta and w_p, as lengths
    cdef double[::1] _before, _step, _w_before, _w_delta, _w_step
    cdef int32_t[::1] _moving

    def __init__(self, CompactRows rows, double lam, double nu=0.0, double upper=1.0):
        cdef Py_ssize_t m = rows.c.m, d = max(rows.c.d, 1)
        self.rows, self.lam, self.nu, self.upper = rows, lam, nu, upper
        self._before, self._step = np.zeros(m), np.zeros(m)
        self._w_before, self._w_delta, self._w_step = np.zeros(d), np.zeros(d), np.zeros(d)
        self._moving = np.empty(0, dtype=np.int32)

    def begin(self, const int32_t[::1] moving, const double[::1] alpha, const double[::1] w):
        """Remember where passes begin.

        Parameters
        ----------
        moving : ndarray of int32
            The rows that they may move, among them all that are free.
        alpha : ndarray of float64, shape (m,)
        w : ndarray of float64, shape (d,)
            w(alpha).
        """
        cdef Py_ssize_t k, i
        for k in range(self._moving.shape[0]):
            # Passes that no step followed may have taken a row to a bound.
            i = self._moving[k]
            if self._step[i] != 0.0 and not self._free(alpha[i]):
                self._move(i, -self._step[i], self._w_step)
                self._step[i] = 0.0
        self._moving = np.array(moving)
        self._w_before[:w.shape[0]] = w
        for k in range(moving.shape[0]):
            self._before[moving[k]] = alpha[moving[k]]

    def step(self, double[::1] alpha, double[::1] w):
        """Move alpha and w to the best point of the plane, or not at all.

        Parameters
        ----------
        alpha : ndarray of float64, shape (m,)
        w : ndarray of float64, shape (d,)
            w(alpha), kept so.
        """
        cdef Plane plane
        cdef double a, b
        self.change = 0.0
        with nogil:
            self._leave_bounds(alpha, w, &plane)
            solve(&plane, &a, &b)
            self._take(alpha, w, a, b)

    cdef inline bint _free(self, double alpha) noexcept nogil:
        return 0.0 < alpha < self.upper

    cdef void _move(self, Py_ssize_t i, double change, double[::1] w) noexcept nogil:
        """Add to w(alpha) what a change of alpha_i adds."""
        cdef const Rows *rows = &self.rows.c
        row_axpy(rows, i, change * rows.labels[i] / (self.lam * rows.m), &w[0])
        self.nonzeros += row_nonzeros(rows, i)

    cdef void _leave_bounds(self, double[::1] alpha, double[::1] w, Plane *plane) noexcept nogil:
        """Restrict both directions to the free rows, and find D in their plane."""
        cdef double m = self.rows.c.m, delta, step, alphas = 0.0, w_delta, w_step
        cdef double first = 0.0, second = 0.0, a = 0.0, b = 0.0, ab = 0.0
        cdef double w_first = 0.0, w_second = 0.0, w_a = 0.0, w_b = 0.0, w_ab = 0.0
        cdef Py_ssize_t k, i
        self._delta_error = 0.0
        for k in range(w.shape[0]):
            self._w_delta[k] = w[k] - self._w_before[k]
            self._delta_error += w[k] * w[k] + self._w_before[k] * self._w_before[k]
            w_b += self._w_step[k] * self._w_step[k]
        self._delta_error = EPSILON * sqrt(self._delta_error)
        self._step_error += EPSILON * sqrt(w_b)
        w_b = 0.0
        for k in range(self._moving.shape[0]):
            i = self._moving[k]
            delta, step = alpha[i] - self._before[i], self._step[i]
            if self._free(alpha[i]):
                alphas = 1.0 - self.nu * alpha[i]
                first += alphas * delta
                second += alphas * step
                a += delta * delta
                b += step * step
                ab += delta * step
                continue
            if delta != 0.0:
                self._move(i, -delta, self._w_delta)
            if step != 0.0:
                self._move(i, -step, self._w_step)
                self._step[i] = 0.0
        for k in range(w.shape[0]):
            w_delta, w_step = self._w_delta[k], self._w_step[k]
            w_first += w[k] * w_delta
            w_second += w[k] * w_step
            w_a += w_delta * w_delta
            w_b += w_step * w_step
            w_ab += w_delta * w_step
        if sqrt(w_a) <= CLEAR * self._delta_error:
            first = w_first = a = w_a = ab = w_ab = 0.0
        if sqrt(w_b) <= CLEAR * self._step_error:
            second = w_second = b = w_b = ab = w_ab = 0.0
            self._forget_step(w.shape[0])
        plane.first = first / m - self.lam * w_first
        plane.second = second / m - self.lam * w_second
        plane.a = self.nu * a / m + self.lam * w_a
        plane.b = self.nu * b / m + self.lam * w_b
        plane.ab = self.nu * ab / m + self.lam * w_ab

    cdef void _forget_step(self, Py_ssize_t d) noexcept nogil:
        """Begin again with delta as the only direction."""
        cdef Py_ssize_t k
        for k in range(self._moving.shape[0]):
            self._step[self._moving[k]] = 0.0
        for k in range(d):
            self._w_step[k] = 0.0
        self._step_error = 0.0

    cdef void _take(self, double[::1] alpha, double[::1] w, double a, double b) noexcept nogil:
        cdef double old, delta, whole, new, rise = 0.0, change = 0.0, square = 0.0, w_old
        cdef Py_ssize_t k, i
        self._step_error = fabs(1.0 + a) * self._delta_error + fabs(b) * self._step_error
        for k in range(w.shape[0]):
            w_old = w[k]
            w[k] = w_old + a * self._w_delta[k] + b * self._w_step[k]
            self._w_step[k] = (1.0 + a) * self._w_delta[k] + b * self._w_step[k]
            self._w_before[k] = w_old
        for k in range(self._moving.shape[0]):
            i = self._moving[k]
            old = alpha[i]
            if not self._free(old):
                self._before[i] = old
                continue
            delta = old - self._before[i]
            whole = (1.0 + a) * delta + b * self._step[i]
            new = old + (whole - delta)
            self._step[i] = whole
            if not self._free(new):
                self._move(i, -whole, self._w_step)
                self._step[i] = 0.0
                self._move(i, (0.0 if new <= 0.0 else self.upper) - new, w)
                new = 0.0 if new <= 0.0 else self.upper
            self._before[i] = old
            alpha[i] = new
            change += new - old
            rise += (new - old) * (1.0 - 0.5 * self.nu * (new + old))
        for k in range(w.shape[0]):
            square += (w[k] - self._w_before[k]) * (w[k] + self._w_before[k])
        if rise / self.rows.c.m - 0.5 * self.lam * square >= 0.0:
            self.change = change
            return
        self.refused += 1
        for k in range(self._moving.shape[0]):
            i = self._moving[k]
            alpha[i] = self._before[i]
        for k in range(w.shape[0]):
            w[k] = self._w_before[k]
        self._forget_step(w.shape[0])


cdef void solve(const Plane *plane, double *a, double *b) noexcept nogil:
    """The maximum in the plane; along the first direction alone where the second adds none."""
    cdef double determinant = plane.a * plane.b - plane.ab * plane.ab
    a[0] = b[0] = 0.0
    if determinant > ROUNDING * plane.a * plane.b:
        a[0] = (plane.b * plane.first - plane.ab * plane.second) / determinant
        b[0] = (plane.a * plane.second - plane.ab * plane.first) / determinant
    elif plane.a > 0.0:
        a[0] = plane.first / plane.a
