# Dual coordinate descent with shrinking.
#
#   problem   max D(alpha) = 1/m sum q(alpha_i) - lam/2 ||w(alpha)||^2 over the box of the loss;
#             w = w(alpha) = 1/(lam m) sum alpha_i y_i x_i is kept in step
#   update    alpha_i <- clip(alpha_i + lam m (1 - s_i - nu alpha_i)/(n_i + nu lam m), box)
#             w += (change of alpha_i) y_i x_i / (lam m),   n_i = ||x_i||^2, s_i = y_i w.x_i
#             a row of weight c_i counts c_i times: n_i becomes c_i n_i, and w moves c_i times as
#             far
#             with the logistic loss, Newton steps on log((1 - alpha_i)/alpha_i) come near the
#             maximum (`best_logistic`)
#             zero rows take no part: their alpha_i is argmax q from the start
#   shrinking G = s_i - 1 + nu alpha_i, or s_i - log((1 - alpha_i)/alpha_i); a row leaves the pass
#             when alpha_i sits on a bound and G points outwards by more than any projected gradient
#             of the last pass
#   gain      of a step: c_i |change| |G| / 2, with a hinge at most m times the rise of D. On
#             request, `revisit` visits rows again whose steps gained much per entry
#   cost      n_i for the inner product, n_i more where alpha_i moves
#   source    Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008, algorithms 1-3; for the
#             logistic loss Yu, Huang and Lin, Machine Learning 85 (2011), whose variables are two a
#             row

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .loss cimport (
    Loss, best_alpha, best_coordinate, dual_gradient, gap_term, loss_of, projected_gradient,
)
from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros, weight_t
from .rowwise cimport DualWise, Weights, look_ahead_in, more_rows, next_row

__build__ = build_record()


cdef class Dcd(DualWise):
    """Passes over the active rows, order[:active]; the others are shrunk."""

    cdef readonly object w  # (shape (d,), or (d + 1,) with a constant)
    # shrinking thresholds, which are the extremes of the projected gradient in the previous pass,
    # and those of this pass so far
    cdef readonly double lam, upper, lower, largest, smallest
    cdef readonly double slack_sum  # of the rows' shares of m (P - D) in this pass, as met
    # Rows whose step gained more per entry than so many times what the last pass gained are visited
    # again; inf, which looks for none, at first.
    cdef public double high_gain
    cdef readonly bint shrinking
    cdef Loss loss
    cdef Weights _w
    cdef const double[::1] _row_weights
    # Of this pass so far; what the last one gained per entry; and its rows to visit again.
    cdef double gains, total, gain
    cdef int64_t entries, met
    cdef int32_t[::1] _again, _round
    cdef Py_ssize_t again

    def __init__(self, CompactRows rows, double lam, loss, bint shrinking=True,
                 precision="float64", row_weights=None, double constant=0.0):
        self.lam, self.loss, self.shrinking = lam, loss_of(loss), shrinking
        super().__init__(rows, best_alpha(self.loss, 0.0), constant)
        self._row_weights = row_weights  # None, too: a view that was never set is not None
        if row_weights is not None:
            self.norms2 *= row_weights
        self._w = Weights(rows.c.d + (constant != 0.0), precision)
        self.w = self._w.array
        self.high_gain = INFINITY
        self._again, self._round = np.empty((2, self._order.shape[0]), dtype=np.int32)
        self.restore()
        self.begin_pass()

    @property
    def active(self):
        """Rows that take part in passes."""
        return self.end

    def restore(self):
        """Make all rows active, and shrink none in the next pass."""
        self.end = self._order.shape[0]
        self.upper, self.lower = INFINITY, -INFINITY

    def tighten(self, double multiple=INFINITY):
        """Shrink, in the next pass, by the extremes of this one."""
        cdef double typical = INFINITY
        if multiple < INFINITY and self.position:
            typical = multiple * self.total / self.position
        self.upper = min(self.largest, typical) if self.largest > 0.0 else INFINITY
        self.lower = max(self.smallest, -typical) if self.smallest < 0.0 else -INFINITY

    def begin_pass(self):
        """Return to the first active row with fresh extremes."""
        self.met = self.entries
        self.gain = self.gains / self.met if self.met else INFINITY
        self._restart()

    cdef void _restart(self) noexcept nogil:
        self.position = self.entries = 0
        self.largest, self.smallest = -INFINITY, INFINITY
        self.gains = self.total = self.slack_sum = 0.0

    def revisit(self):
        """Visit the rows again whose steps gained much in the last pass, as long as each does.

        To be called before the next pass begins. No round of visits begins once all rounds have
        met as many entries as that pass.
        """
        cdef Py_ssize_t end = self.end
        cdef double upper = self.upper, lower = self.lower
        self.upper, self.lower = INFINITY, -INFINITY
        while self.again and self.entries < self.met:
            self._round, self._again = self._again, self._round
            self.row_at, self.position = &self._round[0], 0
            self.end, self.again = self.again, 0
            self.advance(self.presentations + self.end)
        self.again, self.end, self.row_at = 0, end, &self._order[0]
        self.upper, self.lower = upper, lower
        self._restart()

    def advance(self, int64_t target):
        """Visit active rows until the pass ends or the presentations reach ``target``."""
        with nogil:
            if self._w.single:
                take_steps(self, <float *> self._w.data, target)
            else:
                take_steps(self, <double *> self._w.data, target)


cdef inline void shrink(Dcd self, Py_ssize_t i) noexcept nogil:
    """Exchange row i, the last one taken, for the last active row, and leave it out."""
    self.position -= 1
    self.end -= 1
    self.row_at[self.position] = self.row_at[self.end]
    self.row_at[self.end] = <int32_t> i


cdef void take_steps(Dcd self, weight_t *w, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef const double *norms2 = &self._norms2[0]
    cdef bint weighted = self._row_weights is not None
    cdef const double *row_weights = &self._row_weights[0] if weighted else NULL
    cdef double *alpha = &self._alpha[0]
    cdef double lam_m = self.lam * rows.m
    cdef Loss loss = self.loss
    cdef bint shrinking = self.shrinking, greedy = self.high_gain < INFINITY
    # As members they would be read again after every store to alpha and w.
    cdef double upper = self.upper, lower = self.lower
    cdef double largest = self.largest, smallest = self.smallest
    cdef double y, old, new, margin, gradient, projected, step
    cdef double constant = self.constant
    cdef weight_t *of_constant = w + rows.d
    cdef Py_ssize_t i
    while more_rows(self, target):
        i = next_row(self)
        look_ahead_in(self, alpha)
        look_ahead_in(self, norms2)
        self.presentations += 1
        old = alpha[i]
        y = rows.labels[i]
        margin = y * row_dot(rows, i, w)
        if constant != 0.0:
            margin += y * constant * of_constant[0]
        gradient = dual_gradient(loss, old, margin)
        self.nonzeros += row_nonzeros(rows, i)
        if shrinking and ((old <= 0.0 and gradient > upper)
                          or (old >= loss.upper and gradient < lower)):
            shrink(self, i)
            continue
        projected = projected_gradient(loss, old, gradient)
        largest = max(largest, projected)
        smallest = min(smallest, projected)
        new = old
        if fabs(projected) > 1e-12:
            new = best_coordinate(loss, old, gradient, norms2[i], lam_m)
            alpha[i] = new
            if new != old:
                step = (new - old) * y / lam_m
                if weighted:
                    step *= row_weights[i]
                row_axpy(rows, i, <weight_t> step, w)
                if constant != 0.0:
                    of_constant[0] += <weight_t> (step * constant)
                self.nonzeros += row_nonzeros(rows, i)
                self.updates += 1
        if greedy:
            note(self, i, margin, projected, old, (old - new) * gradient)
    self.largest, self.smallest = largest, smallest


cdef void note(Dcd self, Py_ssize_t i, double margin, double projected, double old,
               double twice) noexcept nogil:
    """Take a visit into account, and have it repeated if it gained much: half of ``twice``."""
    cdef double count = self._row_weights[i] if self._row_weights is not None else 1.0
    cdef double gain = 0.5 * count * twice
    # Visits of a row that has the constant alone have to count, too, to come to an end.
    cdef Py_ssize_t entries = max(1, row_nonzeros(&self.rows.c, i))
    self.entries += entries
    self.slack_sum += count * gap_term(self.loss, margin, old)
    self.total += fabs(projected)
    self.gains += gain
    if gain > self.high_gain * self.gain * entries:
        self._again[self.again] = <int32_t> i
        self.again += 1
