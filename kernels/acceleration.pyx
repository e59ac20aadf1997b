# Acceleration of dual coordinate descent: the best step in a plane, after passes over the rows.
#
#   problem   max D(alpha) = 1/m sum c_i (alpha_i - nu alpha_i^2/2) - lam/2 ||w(alpha)||^2 over
#             0 <= alpha_i <= upper, w(alpha) = 1/(lam m) sum c_i alpha_i y_i x_i
#   plane     delta, what the passes have moved, and p, the whole step before, both over the free
#             rows 0 < alpha_i < upper alone; w_delta = w(delta) and w_p = w(p) are kept as vectors
#   update    (a, b) maximise D(alpha + a delta + b p), which takes six inner products;
#             alpha <- clip(alpha + a delta + b p), p <- (1 + a) delta + b p
#             D falls only where rows are clipped; alpha then stays, and p <- 0
#   cost      n_i for each vector and row at a bound that has a share in it; besides, some 15
#             numbers per feature and 10 per row are read or written
#   source    ours, after the locally optimal conjugate gradients of Knyazev, SIAM J. Sci. Comput.
#             2001, whose plane they share; delta stands for the gradient

from libc.math cimport fabs, sqrt
from libc.stdint cimport int32_t

import numpy as np

from svmbench.kernels.room import zeros

from .counters cimport Counters
from .provenance cimport build_record
from .rows cimport CompactRows, Rows, dense_dot, row_axpy, row_nonzeros

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


# Inner products of w, w_delta and w_p.
cdef struct Products:
    double first, second, a, b, ab


cdef class Acceleration(Counters):
    """Two directions, and the best step in their plane."""

    cdef readonly CompactRows rows
    cdef readonly double lam, nu, upper, constant
    cdef readonly double change, rise  # changes of the sum of alpha_i and of D in the last step
    cdef double _delta_error, _step_error   # of w_delta and w_p, as lengths
    cdef double[::1] _before, _step, _w_before, _w_delta, _w_step
    cdef const double[::1] _row_weights
    cdef const double *_counts      # NULL for 1 each
    cdef int32_t[::1] _moving       # after a step only those of them that are free
    cdef Py_ssize_t _count          # how many these are

    def __init__(self, CompactRows rows, double lam, double nu=0.0, double upper=1.0,
                 row_weights=None, double constant=0.0):
        cdef Py_ssize_t m = rows.c.m, d = max(rows.c.d + (constant != 0.0), 1)
        self.rows, self.lam, self.nu, self.upper = rows, lam, nu, upper
        self.constant = constant
        self._before, self._step = zeros([(m, np.float64), (m, np.float64)])
        self._w_before, self._w_delta, self._w_step = np.zeros(d), np.zeros(d), np.zeros(d)
        self._row_weights = row_weights
        self._counts = NULL if row_weights is None else &self._row_weights[0]
        self._moving = np.empty(0, dtype=np.int32)
        self._count = 0

    def begin(self, const int32_t[::1] moving, const double[::1] alpha, const double[::1] w):
        """Remember where passes begin."""
        cdef Py_ssize_t k, i
        for k in range(self._count):
            # Passes that no step followed may have taken a row to a bound.
            i = self._moving[k]
            if self._step[i] != 0.0 and not self._free(alpha[i]):
                self._move(i, -self._step[i], self._w_step)
                self._step[i] = 0.0
        self._moving = np.array(moving)
        self._count = moving.shape[0]
        self._w_before[:w.shape[0]] = w
        for k in range(moving.shape[0]):
            self._before[moving[k]] = alpha[moving[k]]

    def shift(self, double amount):
        """Take note that the last weight has been moved by so much, with alpha as it was."""
        self._w_before[self._w_before.shape[0] - 1] += amount

    def step(self, double[::1] alpha, double[::1] w):
        """Move alpha and w to the best point of the plane, or not at all."""
        cdef Plane plane
        cdef double a, b
        self.change = self.rise = 0.0
        with nogil:
            self._leave_bounds(alpha, w, &plane)
            solve(&plane, &a, &b)
            self._take(alpha, w, a, b)

    cdef inline double _weight(self, Py_ssize_t i) noexcept nogil:
        return 1.0 if self._counts == NULL else self._counts[i]

    cdef inline bint _free(self, double alpha) noexcept nogil:
        return 0.0 < alpha < self.upper

    cdef void _move(self, Py_ssize_t i, double change, double[::1] w) noexcept nogil:
        """Add to w(alpha) what a change of alpha_i adds."""
        cdef const Rows *rows = &self.rows.c
        cdef double step = self._weight(i) * change * rows.labels[i] / (self.lam * rows.m)
        row_axpy(rows, i, step, &w[0])
        if self.constant != 0.0:
            w[rows.d] += step * self.constant
        self.nonzeros += row_nonzeros(rows, i)

    cdef void _leave_bounds(self, double[::1] alpha, double[::1] w, Plane *plane) noexcept nogil:
        """Restrict both directions to the free rows, and find D in their plane."""
        cdef double m = self.rows.c.m, delta, step, c, slope
        cdef double first = 0.0, second = 0.0, a = 0.0, b = 0.0, ab = 0.0
        cdef Products w_sums
        cdef Py_ssize_t k, i, d = w.shape[0], free = 0
        for k in range(d):
            self._w_delta[k] = w[k] - self._w_before[k]
        self._delta_error = EPSILON * sqrt(norm2(w) + norm2(self._w_before))
        self._step_error += EPSILON * sqrt(norm2(self._w_step))
        for k in range(self._count):
            i = self._moving[k]
            delta, step = alpha[i] - self._before[i], self._step[i]
            if self._free(alpha[i]):
                self._moving[free] = i
                free += 1
                c = self._weight(i)
                slope = c * (1.0 - self.nu * alpha[i])
                first += slope * delta
                second += slope * step
                a += c * delta * delta
                b += c * step * step
                ab += c * delta * step
                continue
            if delta != 0.0:
                self._move(i, -delta, self._w_delta)
            if step != 0.0:
                self._move(i, -step, self._w_step)
                self._step[i] = 0.0
        self._count = free
        w_sums.first = dense_dot(&w[0], d, &self._w_delta[0])
        w_sums.second = dense_dot(&w[0], d, &self._w_step[0])
        w_sums.a, w_sums.b = norm2(self._w_delta), norm2(self._w_step)
        w_sums.ab = dense_dot(&self._w_delta[0], d, &self._w_step[0])
        if sqrt(w_sums.a) <= CLEAR * self._delta_error:
            first = w_sums.first = a = w_sums.a = ab = w_sums.ab = 0.0
        if sqrt(w_sums.b) <= CLEAR * self._step_error:
            second = w_sums.second = b = w_sums.b = ab = w_sums.ab = 0.0
            self._forget_step(d)
        plane.first = first / m - self.lam * w_sums.first
        plane.second = second / m - self.lam * w_sums.second
        plane.a = self.nu * a / m + self.lam * w_sums.a
        plane.b = self.nu * b / m + self.lam * w_sums.b
        plane.ab = self.nu * ab / m + self.lam * w_sums.ab

    cdef void _forget_step(self, Py_ssize_t d) noexcept nogil:
        """Begin again with delta as the only direction."""
        cdef Py_ssize_t k
        for k in range(self._count):
            self._step[self._moving[k]] = 0.0
        for k in range(d):
            self._w_step[k] = 0.0
        self._step_error = 0.0

    cdef void _take(self, double[::1] alpha, double[::1] w, double a, double b) noexcept nogil:
        cdef double old, delta, whole, new, rise = 0.0, change = 0.0
        cdef Py_ssize_t k, i, d = w.shape[0]
        self._step_error = fabs(1.0 + a) * self._delta_error + fabs(b) * self._step_error
        move(a, b, &self._w_delta[0], d, &w[0], &self._w_before[0], &self._w_step[0])
        for k in range(self._count):
            i = self._moving[k]
            old = alpha[i]
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
            rise += self._weight(i) * (new - old) * (1.0 - 0.5 * self.nu * (new + old))
        for k in range(d):      # the passes' move is not needed any more
            self._w_delta[k] = w[k] - self._w_before[k]
        rise = rise / self.rows.c.m - 0.5 * self.lam * (
            dense_dot(&self._w_delta[0], d, &w[0])
            + dense_dot(&self._w_delta[0], d, &self._w_before[0]))
        if rise >= 0.0:
            self.change, self.rise = change, rise
            return
        for k in range(self._count):
            i = self._moving[k]
            alpha[i] = self._before[i]
        for k in range(d):
            w[k] = self._w_before[k]
        self._forget_step(d)


cdef inline double norm2(double[::1] w) noexcept nogil:
    return dense_dot(&w[0], w.shape[0], &w[0])


cdef void solve(const Plane *plane, double *a, double *b) noexcept nogil:
    """The maximum in the plane; along the first direction alone where the second adds none."""
    cdef double determinant = plane.a * plane.b - plane.ab * plane.ab
    a[0] = b[0] = 0.0
    if determinant > ROUNDING * plane.a * plane.b:
        a[0] = (plane.b * plane.first - plane.ab * plane.second) / determinant
        b[0] = (plane.a * plane.second - plane.ab * plane.first) / determinant
    elif plane.a > 0.0:
        a[0] = plane.first / plane.a


cdef void move(double a, double b, const double *delta, Py_ssize_t d, double *w, double *before,
               double *step) noexcept nogil:
    """Move w in the plane; the whole step is the next w_p."""
    cdef Py_ssize_t k
    cdef double old
    for k in range(d):
        old = w[k]
        w[k] = old + a * delta[k] + b * step[k]
        step[k] = (1.0 + a) * delta[k] + b * step[k]
        before[k] = old
