# The method of multipliers on the hinge: rows, line search and curvature of its Newton steps.
#
#   problem   min P(w, b) = lam/2 ||w||^2 + 1/m sum r_i max(0, 1 - s_i),   s_i = y_i (w.x_i + b),
#             with weights r_i of the rows; b = 0 unless it is free
#   update    with centres c and penalty sigma, w and b minimise the smooth convex function whose
#             gradient is (lam w - u, -u_b),
#                 u = 1/m sum r_i alpha_i y_i x_i,   u_b = 1/m sum r_i alpha_i y_i,
#                 alpha_i = clip(t_i, 0, 1),   t_i = c_i + sigma (1 - s_i),
#             by Newton steps: (lam I + sigma/m sum_J r_i x_i x_i^T) dw = u - lam w, J the rows with
#             0 < t_i < 1, bordered by sum_J r_i x_i for b; and an exact line search; then
#             c <- alpha, and sigma grows
#   certificate  P(w) - D(alpha) = 1/m sum_J r_i ((1 - alpha_i)(1 - s_i)_+ + alpha_i (s_i - 1)_+)
#             + ||lam w - u||^2 / (2 lam): all other rows contribute nothing
#   sleep     a row is skipped while its t_i lies so far outside [0, 1] that the movement of w since
#             then cannot have brought it back: s_i changes by ||x_i|| times the length of that
#             movement at most
#   cost      a step: n_i for each row awake, n_i more where alpha_i changes, n_i^2/2 where i enters
#             or leaves J. Where many full rows do, BLAS adds their outer products in a fifth to a
#             third of the time
#   source    Rockafellar, Math. Oper. Res. 1 (1976) for the method; Yan and Li, Comput. Optim.
#             Appl. 77 (2020) for semismooth Newton steps on this problem; the sleep is ours

from libc.math cimport INFINITY, fabs, sqrt
from libc.stdint cimport int8_t, int32_t, int64_t

import numpy as np

from svmbench.kernels.room import zeros

from .counters cimport Counters
from .normal cimport add_outer_product, unpack_row
from .provenance cimport build_record
from .rows cimport DENSE_F32, CompactRows, Rows, row_axpy, row_dot, row_norm2, row_nonzeros

__build__ = build_record()

# Slope, as a share of that at the start, at which a line search ends; and its most steps.
SEARCHED, SEARCH_STEPS = 1e-3, 40
cdef double searched = SEARCHED
cdef int search_steps = SEARCH_STEPS

# Arrays of numbers that are kept of the rows: alpha, centres, margins, limits of sleep, norms, and
# for a step the changes of margins and t.
NUMBERS = 7


# What adding outer products takes, in ns: per multiply-add of a dense row, and of a sparse one,
# which is scattered; by BLAS per row and d^2, for its calls, and per entry of the matrix. Up to so
# many numbers, or so many rows if these have more, are given to BLAS at a time.
cdef double DENSE_COST = 0.2, SCATTER_COST = 0.7
cdef double BLAS_COST = 0.045, BLAS_ONCE = 30_000.0, BLAS_MATRIX = 3.0
cdef Py_ssize_t BLAS_NUMBERS = 1 << 16, BLAS_LINES = 256


cdef inline double clip(double t) noexcept nogil:
    return 0.0 if t <= 0.0 else 1.0 if t >= 1.0 else t


cdef class Multipliers(Counters):
    """Iterate of the method of multipliers, and what its next step needs of the rows.

    A thread may have only some of the ``whole`` problem's rows: ``pull`` is then their share of u,
    and parts are moved together, by `look`, `slope` and `go`. ``room`` may give it `NUMBERS` arrays
    for the rows' numbers, alpha in the first. With a free bias, steps have an entry for it, the
    last. All arrays are to be read only.
    """

    cdef readonly CompactRows rows
    # u, the upper triangle of sum_J r_i x_i x_i^T, and with a bias sum_J r_i x_i
    cdef readonly object w, pull, alpha, curvature, border
    # sigma; sums of r_i alpha_i and of the shares of the certificate; u_b; and sum_J r_i
    cdef readonly double lam, penalty, alpha_sum, slack_sum, bias, bias_pull, corner
    cdef readonly Py_ssize_t moving     # rows whose alpha a step changes
    cdef double path
    cdef double[::1] _w, _u, _a, _c, _s, _norm, _limit, _change, _t, _values, _border
    cdef const double[::1] _counts
    cdef double[:, ::1] _gram
    cdef int8_t[::1] _exact, _in
    cdef int32_t[::1] _awake, _columns, _changed
    cdef Py_ssize_t _n_awake, _n_changed
    cdef double _whole, _norm_of_step, _norm_of_move, _many
    cdef bint _sleep, _free, _counted
    cdef object _block, _product            # for BLAS; None until it is used

    def __init__(self, CompactRows rows, double lam, bint sleep=True, Py_ssize_t whole=0,
                 room=None, counts=None, bint free=False):
        cdef Py_ssize_t m = rows.c.m, d = rows.c.d, i
        self.rows, self.lam, self._sleep = rows, lam, sleep
        self._free, self._counted = free, counts is not None
        self._counts = np.ones(1) if counts is None else counts
        if self._counted and self._counts.shape[0] != m:
            raise ValueError("rows and counts do not belong together")
        self._whole = whole if whole > 0 else m
        self.w, self.pull, self.border = [np.zeros(max(d, 1)) for _ in range(3)]
        *found, self._exact, self._in, self._awake, self._changed, curvature = zeros([
            *([(m, np.float64)] * (NUMBERS if room is None else 0)),
            (m, np.int8), (m, np.int8), (m, np.int32), (m, np.int32),
            (max(d, 1) * max(d, 1), np.float64),
        ])
        room = found if room is None else room
        if len(room) != NUMBERS or any([numbers.shape != (m,) for numbers in room]):
            raise ValueError("rows and room do not belong together")
        self.alpha = room[0]
        self.curvature = curvature.reshape(max(d, 1), max(d, 1))
        self._w, self._u, self._a, self._gram = self.w, self.pull, self.alpha, self.curvature
        self._border = self.border
        self._c, self._s, self._limit = room[1], room[2], room[3]
        self._norm, self._change, self._t = room[4], room[5], room[6]
        self._columns, self._values = np.empty(d + 1, dtype=np.int32), np.empty(d + 1)
        cdef double squares = 0.0
        with nogil:
            for i in range(m):
                self._a[i] = 0.0
                self._norm[i] = sqrt(row_norm2(&rows.c, i) + free)
                squares += <double> row_nonzeros(&rows.c, i) * row_nonzeros(&rows.c, i)
        self._many = enough_for_blas(&rows.c, squares / max(m, 1))
        self.nonzeros += self.rows.nnz

    @property
    def m(self):
        """Number of rows."""
        return self.rows.c.m

    def begin(self, const double[::1] w, const double[::1] centre, double penalty,
              double bias=0.0):
        """Take up the method at ``w`` and b with these centres: a pass over all rows."""
        cdef const Rows *rows = &self.rows.c
        cdef Py_ssize_t i
        cdef bint given = centre.shape[0] > 0
        if w.shape[0] != rows.d or (given and centre.shape[0] != rows.m):
            raise ValueError("w, centres and rows do not belong together")
        self._w[:] = w
        self._u[:] = 0.0
        self._gram[:, :] = 0.0
        self._border[:] = 0.0
        self.penalty, self.bias = penalty, bias
        self.path = self.alpha_sum = self.bias_pull = self.corner = 0.0
        self._n_awake = rows.m
        with nogil:
            for i in range(rows.m):
                self._s[i] = rows.labels[i] * (row_dot(rows, i, &self._w[0]) + bias)
                self._c[i] = centre[i] if given else clip(0.5 + penalty * (1.0 - self._s[i]))
                self._a[i] = 0.0
                self._in[i] = 0
                self._awake[i] = <int32_t> i
            self._respond()
        self._add_changed()
        self.presentations += rows.m
        self.nonzeros += self.rows.nnz

    def recentre(self, double penalty):
        """Make alpha the centres, and ``penalty`` the penalty."""
        cdef Py_ssize_t i
        self.penalty = penalty
        with nogil:
            for i in range(self._c.shape[0]):
                self._c[i] = self._a[i]
            # Of those asleep alpha stays at its bound, and t is farther outside than it was.
            self._respond()
        self._add_changed()

    def move(self, const double[::1] step):
        """Go along ``step``, as far as the smooth function falls but not beyond its end."""
        cdef double length
        self.look(step)
        with nogil:
            length = self._search(&step[0])
        self.go(length, step)
        return length

    def look(self, const double[::1] step):
        """Find the rows that a step could concern, and those whose alpha it changes."""
        if step.shape[0] != self.rows.c.d + self._free:
            raise ValueError("step and rows do not belong together")
        cdef double norm = 0.0
        cdef Py_ssize_t j
        with nogil:
            for j in range(self.rows.c.d):
                norm += step[j] * step[j]
            self._norm_of_step = sqrt(norm)
            if self._free:
                norm += step[self.rows.c.d] * step[self.rows.c.d]
            self._norm_of_move = sqrt(norm)
            self._wake(&step[0])
            self._find_moving()

    def slope(self, double x):
        """What these rows add to the slope at x along the step that was looked at."""
        cdef double slope = 0.0, rise = 0.0
        with nogil:
            self._add_slope(x, &slope, &rise)
        return slope, rise

    def go(self, double length, const double[::1] step):
        """Go this share of the step that was looked at."""
        if step.shape[0] != self.rows.c.d + self._free:
            raise ValueError("step and rows do not belong together")
        cdef Py_ssize_t j, k, i
        with nogil:
            for j in range(self.rows.c.d):
                self._w[j] += length * step[j]
            if self._free:
                self.bias += length * step[self.rows.c.d]
            self.path += length * self._norm_of_move
            for k in range(self._n_awake):
                i = self._awake[k]
                self._s[i] += length * self._change[k]
            self._respond()
        self._add_changed()
        self.updates += 1

    cdef void _wake(self, const double *step) noexcept nogil:
        """Find the rows that this step could concern, and the change it makes in their margins."""
        cdef const Rows *rows = &self.rows.c
        cdef double reach = self.path + self._norm_of_move
        cdef double shift = step[rows.d] if self._free else 0.0
        cdef Py_ssize_t i, n = 0
        cdef int64_t read = 0
        for i in range(rows.m):
            if self._limit[i] > reach:
                self._exact[i] = 0
                continue
            if not self._exact[i]:
                self._s[i] = rows.labels[i] * (row_dot(rows, i, &self._w[0]) + self.bias)
                read += row_nonzeros(rows, i)
            self._awake[n] = <int32_t> i
            self._change[n] = rows.labels[i] * (row_dot(rows, i, step) + shift)
            read += row_nonzeros(rows, i)
            n += 1
        self._n_awake = n
        self.presentations += n
        self.nonzeros += read

    cdef void _find_moving(self) noexcept nogil:
        """Put the rows first whose alpha is another at the step's end; others keep theirs."""
        cdef Py_ssize_t k, i, n = 0
        cdef double sigma = self.penalty, t
        for k in range(self._n_awake):
            i = self._awake[k]
            t = self._c[i] + sigma * (1.0 - self._s[i])
            if clip(t - sigma * self._change[k]) != self._a[i]:
                self._t[n] = t
                # The place is free: n <= k.
                self._values_swap(n, k)
                n += 1
        self.moving = n

    cdef void _add_slope(self, double x, double *slope, double *rise) noexcept nogil:
        """Add these rows' share of the slope at x along the step, and of its rise."""
        cdef Py_ssize_t k, i
        cdef double sigma = self.penalty, m = self._whole, ds, t, counted
        for k in range(self.moving):
            i = self._awake[k]
            ds = self._change[k]
            t = self._t[k] - x * sigma * ds
            counted = self._counts[i] * ds if self._counted else ds
            slope[0] -= (clip(t) - self._a[i]) * counted / m
            if 0.0 < t < 1.0:
                rise[0] += sigma * ds * counted / m

    cdef double _search(self, const double *step) noexcept nogil:
        """Where along the step, in (0, 1], the smooth function has its minimum.

        Its slope there is piecewise linear and rising: Newton's method on it, kept in a bracket.
        """
        cdef Py_ssize_t j, _
        cdef double norm = self._norm_of_step
        cdef double base = 0.0, low = 0.0, high = 1.0, x = 1.0
        cdef double start, slope, rise
        for j in range(self._w.shape[0]):
            base += (self.lam * self._w[j] - self._u[j]) * step[j]
        if self._free:
            base -= self.bias_pull * step[self.rows.c.d]
        start = base
        for _ in range(search_steps):
            slope = base + x * self.lam * norm * norm
            rise = self.lam * norm * norm
            self._add_slope(x, &slope, &rise)
            if fabs(slope) <= searched * fabs(start) or (x == 1.0 and slope <= 0.0):
                break
            if slope > 0.0:
                high = x
            else:
                low = x
            x -= slope / rise
            if not low < x < high:
                x = 0.5 * (low + high)
        return x

    cdef void _values_swap(self, Py_ssize_t n, Py_ssize_t k) noexcept nogil:
        cdef int32_t i = self._awake[n]
        cdef double change = self._change[n]
        self._awake[n], self._change[n] = self._awake[k], self._change[k]
        self._awake[k], self._change[k] = i, change

    cdef void _respond(self) noexcept nogil:
        """Bring alpha, u, J and the certificate of the rows that are awake up to their margins.

        Where BLAS may add their outer products, rows that have entered or left J are listed.
        """
        cdef const Rows *rows = &self.rows.c
        cdef double sigma = self.penalty
        cdef double t, new, s, slack, more, count = 1.0, total = 0.0
        cdef Py_ssize_t k, i, n = 0
        cdef bint within, listed = self._many < rows.m
        for k in range(self._n_awake):
            i = self._awake[k]
            s = self._s[i]
            t = self._c[i] + sigma * (1.0 - s)
            new = clip(t)
            if self._counted:
                count = self._counts[i]
            if new != self._a[i]:
                more = count * (new - self._a[i])
                row_axpy(rows, i, more * rows.labels[i] / self._whole, &self._u[0])
                self.bias_pull += more * rows.labels[i] / self._whole
                self.alpha_sum += more
                self.nonzeros += row_nonzeros(rows, i)
                self._a[i] = new
            within = 0.0 < t < 1.0
            if within != self._in[i]:
                self._in[i] = within
                if self._free:
                    row_axpy(rows, i, count if within else -count, &self._border[0])
                    self.corner += count if within else -count
                if listed:
                    self._changed[n] = <int32_t> i
                    n += 1
                else:
                    self._add_changed_row(i)
            self._exact[i] = 1
            if within or not self._sleep:
                total += count * ((1.0 - new) * max(0.0, 1.0 - s) + new * max(0.0, s - 1.0))
                self._limit[i] = -INFINITY
            else:
                slack = (max(-t, t - 1.0)) / sigma
                self._limit[i] = (self.path + slack / self._norm[i] if self._norm[i] > 0.0
                                  else INFINITY)
        self.slack_sum = total
        self._n_changed = n

    cdef object _add_changed(self):
        """Bring the curvature up to J, by BLAS where the rows that are listed are many."""
        cdef Py_ssize_t k
        if self._n_changed > self._many:
            changed = np.asarray(self._changed[:self._n_changed])
            within = np.asarray(self._in)[changed] != 0
            self._add_products(changed[within], np.add)
            self._add_products(changed[~within], np.subtract)
            return
        with nogil:
            for k in range(self._n_changed):
                self._add_changed_row(self._changed[k])

    cdef void _add_changed_row(self, Py_ssize_t i) noexcept nogil:
        """Add the outer product of a row that has entered J, or subtract that of one that left."""
        cdef double count = self._counts[i] if self._counted else 1.0
        add_outer_product(&self.rows.c, i, count if self._in[i] else -count, &self._columns[0],
                          &self._values[0], &self._gram[0, 0])

    cdef object _add_products(self, int32_t[::1] chosen, object operation):
        """Add or subtract these rows' outer products by BLAS."""
        cdef Py_ssize_t d = self._w.shape[0], first, n
        n = min(self.rows.c.m, max(BLAS_LINES, BLAS_NUMBERS // d))
        if self._block is None:
            # Memory that is new each time would take as long as the products.
            self._block, self._product = np.zeros((n, d)), np.empty((d, d))
        for first in range(0, chosen.shape[0], n):
            part = chosen[first:first + n]
            block = self._block[:part.shape[0]]
            self._unpack(part, block)
            if self._counted:
                block *= np.sqrt(np.asarray(self._counts)[part])[:, None]
            np.matmul(block.T, block, out=self._product)
            operation(self.curvature, self._product, out=self.curvature)

    cdef void _unpack(self, const int32_t[::1] chosen, double[:, ::1] out) noexcept nogil:
        """Write these rows into lines of their own."""
        cdef Py_ssize_t line, k, n
        if self.rows.c.storage < DENSE_F32:
            out[:, :] = 0.0
        for line in range(chosen.shape[0]):
            n = unpack_row(&self.rows.c, chosen[line], &self._columns[0], &self._values[0])
            for k in range(n):
                out[line, self._columns[k]] = self._values[k]


cdef double enough_for_blas(const Rows *rows, double square) noexcept nogil:
    """How many rows have to enter or leave J for BLAS to add them in less time."""
    cdef double d2 = <double> rows.d * rows.d
    cdef double each = 0.5 * square * (DENSE_COST if rows.storage >= DENSE_F32 else SCATTER_COST)
    if each <= BLAS_COST * d2:
        return INFINITY
    return (BLAS_ONCE + BLAS_MATRIX * d2) / (each - BLAS_COST * d2)
