# Dense SGD, and SGD with scheduled components: svmsgd2, sgd-qn as published and as corrected.
#
#   problem   min lam/2 ||w||^2 + 1/m sum loss(y_i w.x_i), of any loss
#   update    t = 0, 1, ...; the next row x, y;  g = -loss'(y w.x);  B = b/lam diagonal
#     sgd         w <- (1 - 1/(t+t0)) w + g/(lam (t+t0)) y x
#     svmsgd2     w += g/(lam (t+t0)) y x;      every skip steps  w *= 1 - skip/(t+t0)
#     sgd-qn      w += g/(t+t0) y B x;          every skip steps  w_j *= 1 - skip b_j/(t+t0),
#                 and the next row then moves b, which starts at 1:
#                     b_j += 2/r (q_j - b_j),  b_j >= 0.01,  r = 2, 3, ...
#                     q = lam (change of w)/(change of that row's gradient), 0/0 read as 1
#       released    the same with 2 skip/(t + t0 + skip) for 2/r; b is not moved by a row
#                 whose slope its own step does not change
#     corrected   w += g y B x;  b starts at 1/t0;  every skip steps, ahead of the row's own
#                 step, w is saved and w_j *= 1 - skip b_j; the next row, if its g is not
#                 what it is at the saved w, then moves b:
#                     lam/b_j += (steps since the last time) rho_j,  j with x_j != 0:
#                     rho_j = clip(lam - y (change of g) x_j/(change of w_j), lam/10, 100 lam),
#                     101 lam where w_j did not change;  rho_j = lam where x_j = 0
#             Where 1 - skip c < 0.8, (1 - c)^skip stands in for it, as in the code released
#             with the erratum, whose first factor, 1 - skip/t0, is negative for t0 < skip.
#             That of svmsgd2 and sgd-qn never is: it comes at t = skip - 1 at the earliest,
#             where 1 - skip/(t+t0) = (t0 - 1)/(t0 + skip - 1), and t0 >= 1.
#   in closed form   the row's own step changes w_j by g/(t+t0) y b_j x_j / lam, so that with
#             g' after it q_j = g b_j/(g b_j + (t+t0)(g - g')): no old w is kept for it, and
#             b <= 1 holds in rounded arithmetic as in exact.
#   cost      n_i for the inner product, n_i more where g > 0; every skip steps d multiply-adds,
#             which skip = 16/(share of nonzeros) makes a sixteenth of a row's; sgd makes them
#             every step: it is what the schedule is compared with
#   source    Bordes, Bottou and Gallinari, JMLR 10 (2009), figure 2; the released weights are
#             those of their program as kept in Shogun; the correction is their erratum, JMLR 11
#             (2010), in the form of the code released with it.

from libc.math cimport pow
from libc.stdint cimport int32_t, int64_t

import numpy as np

from .loss cimport Loss, best_alpha, loss_of, loss_value
from .normal cimport unpack_row
from .provenance cimport build_record
from .rows cimport (
    CompactRows, Rows, row_axpy, row_dot, row_nonzeros, row_scaled_axpy, weight_t,
)
from .rowwise cimport RowWise, Weights, more_rows, next_row

__build__ = build_record()


cdef class Sgd(RowWise):
    """Steps of dense SGD. ``presentations`` is t of the paper."""

    cdef readonly object w
    cdef readonly double lam, t0
    cdef Loss loss
    cdef Weights _w
    cdef Py_ssize_t i               # the row of the current step, and its label
    cdef double y

    def __init__(self, CompactRows rows, order, double lam, double t0, loss, precision="float64"):
        super().__init__(rows, order)
        self.lam, self.t0, self.loss = lam, t0, loss_of(loss)
        self._w = Weights(rows.c.d, precision)
        self.w = self._w.array

    def advance(self, int64_t target):
        """Take steps until the order ends or t reaches ``target``."""
        with nogil:
            if self._w.single:
                advance_dense(self, <float *> self._w.data, target)
            else:
                advance_dense(self, <double *> self._w.data, target)


cdef class Svmsgd2(Sgd):
    """Steps of svmsgd2, which shrink w in one of ``skip`` steps only."""

    cdef readonly int64_t skip
    cdef public int64_t count  # steps until w is shrunk again

    def __init__(self, CompactRows rows, order, double lam, double t0, int64_t skip, loss,
                 precision="float64"):
        super().__init__(rows, order, lam, t0, loss, precision)
        self.skip = self.count = skip

    def advance(self, int64_t target):
        """Take steps until the order ends or t reaches ``target``."""
        with nogil:
            if self._w.single:
                advance_skipping(self, <float *> self._w.data, target)
            else:
                advance_skipping(self, <double *> self._w.data, target)


cdef class SgdQn(Svmsgd2):
    """Steps of sgd-qn as published."""

    cdef readonly object b  # lam B
    cdef public bint due  # whether the next row moves b
    cdef public bint released  # whether ratios have the weights of the released program
    cdef public double r  # 2/r is the weight of the next ratio; inf keeps b as it is
    cdef Weights _b, _room          # room for a row's entries of b, and for the row
    cdef int32_t[::1] _columns
    cdef double[::1] _values

    def __init__(self, CompactRows rows, order, double lam, double t0, int64_t skip, loss,
                 precision="float64"):
        super().__init__(rows, order, lam, t0, skip, loss, precision)
        self._b, self._room = Weights(rows.c.d, precision), Weights(rows.c.d, precision)
        self._columns, self._values = np.empty(rows.c.d + 1, np.int32), np.empty(rows.c.d + 1)
        self.b = self._b.array
        self.b[:] = 1.0
        self.r = 2.0

    def advance(self, int64_t target):
        """Take steps until the order ends or t reaches ``target``."""
        with nogil:
            if self._w.single:
                advance_published(self, <float *> self._w.data, <float *> self._b.data, target)
            else:
                advance_published(self, <double *> self._w.data, <double *> self._b.data, target)


cdef class SgdQnCorrected(SgdQn):
    """Steps of sgd-qn as corrected; its steps need no t0 but for b at the start, and no r."""

    cdef public int64_t moved  # t at which b was last moved
    cdef Weights _saved             # the w of the last time w was shrunk

    def __init__(self, CompactRows rows, order, double lam, double t0, int64_t skip, loss,
                 precision="float64"):
        super().__init__(rows, order, lam, t0, skip, loss, precision)
        self._saved = Weights(rows.c.d, precision)
        self.b[:] = 1.0 / t0

    def advance(self, int64_t target):
        """Take steps until the order ends or t reaches ``target``."""
        with nogil:
            if self._w.single:
                advance_corrected(self, <float *> self._w.data, <float *> self._b.data, target)
            else:
                advance_corrected(self, <double *> self._w.data, <double *> self._b.data, target)


cdef inline double pull_at(Sgd self, const weight_t *w) noexcept nogil:
    """Minus the loss's slope on the row by these weights; its nonzeros are counted."""
    cdef const Rows *rows = &self.rows.c
    self.nonzeros += row_nonzeros(rows, self.i)
    return best_alpha(self.loss, self.y * row_dot(rows, self.i, w))


cdef inline double present(Sgd self, const weight_t *w) noexcept nogil:
    """Go to the next row of the order and return its pull."""
    self.i = next_row(self)
    self.y = self.rows.c.labels[self.i]
    return pull_at(self, w)


cdef inline void count_update(Sgd self) noexcept nogil:
    self.nonzeros += row_nonzeros(&self.rows.c, self.i)
    self.updates += 1


cdef inline bint comes_round(Svmsgd2 self) noexcept nogil:
    """Whether this step, of every skip steps, is the one that shrinks w."""
    self.count -= 1
    if self.count > 0:
        return False
    self.count = self.skip
    return True


cdef inline double shrinkage(double rate, int64_t skip) noexcept nogil:
    """What is left of a weight after skip steps of that rate."""
    cdef double left = 1.0 - skip * rate
    return left if left >= 0.8 else pow(1.0 - rate, skip)


cdef inline void scale(weight_t *w, Py_ssize_t d, weight_t factor) noexcept nogil:
    cdef Py_ssize_t j
    for j in range(d):
        w[j] = w[j] * factor


cdef void advance_dense(Sgd self, weight_t *w, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef double lam = self.lam, t0 = self.t0, pull
    while more_rows(self, target):
        pull = present(self, w)
        scale(w, rows.d, <weight_t> (1.0 - 1.0 / (self.presentations + t0)))
        if pull != 0.0:
            row_axpy(rows, self.i, <weight_t> (pull / (self.presentations + t0) / lam * self.y), w)
            count_update(self)
        self.presentations += 1


cdef void advance_skipping(Svmsgd2 self, weight_t *w, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef double lam = self.lam, t0 = self.t0, pull
    while more_rows(self, target):
        pull = present(self, w)
        if pull != 0.0:
            row_axpy(rows, self.i, <weight_t> (pull / (self.presentations + t0) / lam * self.y), w)
            count_update(self)
        if comes_round(self):
            scale(w, rows.d, <weight_t> shrinkage(1.0 / (self.presentations + t0), self.skip))
        self.presentations += 1


cdef void advance_published(SgdQn self, weight_t *w, weight_t *b, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef double lam = self.lam, t0 = self.t0, pull, bend
    cdef Py_ssize_t j
    while more_rows(self, target):
        pull = present(self, w)
        if pull != 0.0:
            row_scaled_axpy(rows, self.i,
                            <weight_t> (pull / (self.presentations + t0) / lam * self.y), b, w)
            count_update(self)
        if self.due:
            self.due = False
            bend = 0.0
            if pull != 0.0:
                bend = pull - pull_at(self, w)
                # The loss is convex: below 0 by rounding only.
                bend = max(0.0, bend) * (self.presentations + t0)
                self.nonzeros += row_nonzeros(rows, self.i)
            if bend > 0.0 or not self.released:
                move_published(self, pull, bend, share_of(self), b)
            self.r += 1.0
        if comes_round(self):
            self.due = True
            for j in range(rows.d):
                w[j] *= <weight_t> shrinkage(b[j] / (self.presentations + t0), self.skip)
        self.presentations += 1


cdef void advance_corrected(SgdQnCorrected self, weight_t *w, weight_t *b,
                            int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef weight_t *saved = <weight_t *> self._saved.data
    cdef double lam = self.lam, pull, change
    cdef Py_ssize_t j
    while more_rows(self, target):
        pull = present(self, w)
        self.presentations += 1
        if self.due:
            self.due = False
            change = pull - pull_at(self, saved)
            if change != 0.0:
                move_corrected(self, self.y * change, w, b)
                self.nonzeros += row_nonzeros(rows, self.i)
                self.moved = self.presentations
        if comes_round(self):
            self.due = True
            for j in range(rows.d):
                saved[j] = w[j]
                w[j] *= <weight_t> shrinkage(b[j], self.skip)
        if pull != 0.0:
            row_scaled_axpy(rows, self.i, <weight_t> (pull / lam * self.y), b, w)
            count_update(self)


cdef inline void replace_entries(SgdQn self, Py_ssize_t n, const weight_t *room,
                                 weight_t *b) noexcept nogil:
    """b_j <- the row's number in room, for the n columns j that were unpacked."""
    cdef Py_ssize_t k
    for k in range(n):
        b[self._columns[k]] = room[k]


cdef inline double share_of(SgdQn self) noexcept nogil:
    """The weight of the next ratio."""
    if self.released:
        return 2.0 * self.skip / (self.presentations + self.t0 + self.skip)
    return 2.0 / self.r


cdef void move_published(SgdQn self, double pull, double bend, double share,
                         weight_t *b) noexcept nogil:
    """b <- b + share (q - b) with a floor; bend is (t+t0)(g - g') of the row's own step."""
    cdef const Rows *rows = &self.rows.c
    cdef weight_t *room = <weight_t *> self._room.data
    cdef double gain
    cdef Py_ssize_t j, k, n = 0
    if bend > 0.0:
        n = unpack_row(rows, self.i, &self._columns[0], &self._values[0])
        for k in range(n):
            gain = b[self._columns[k]]
            if self._values[k] != 0.0:
                gain += share * (pull * gain / (pull * gain + bend) - gain)
            else:
                gain += share * (1.0 - gain)
            room[k] = <weight_t> max(gain, 1e-2)
    for j in range(rows.d):
        gain = b[j]
        b[j] = <weight_t> (gain + share * (1.0 - gain))
    replace_entries(self, n, room, b)


cdef void move_corrected(SgdQnCorrected self, double change, const weight_t *w,
                         weight_t *b) noexcept nogil:
    """lam/b += steps rho; change is that of y g from the saved weights to w."""
    cdef const Rows *rows = &self.rows.c
    cdef const weight_t *old = <const weight_t *> self._saved.data
    cdef weight_t *room = <weight_t *> self._room.data
    cdef int64_t steps = self.presentations - self.moved
    cdef double lam = self.lam
    cdef double x, apart, ratio
    cdef Py_ssize_t j, k, n = unpack_row(rows, self.i, &self._columns[0], &self._values[0])
    for k in range(n):
        j, x = self._columns[k], self._values[k]
        apart = <double> w[j] - old[j]
        ratio = 1.0                             # rho over lam
        if x != 0.0:
            ratio = 101.0
            if apart != 0.0:
                ratio = 1.0 - change * x / apart / lam
                ratio = max(0.1, min(ratio, 100.0))
        room[k] = <weight_t> (b[j] / (1.0 + steps * ratio * b[j]))
    for j in range(rows.d):
        b[j] = <weight_t> (b[j] / (1.0 + steps * b[j]))
    replace_entries(self, n, room, b)


def mean_loss(CompactRows rows, const weight_t[::1] w, const int32_t[::1] order, loss):
    """Mean loss of the rows in ``order``."""
    cdef Loss kind = loss_of(loss)
    cdef weight_t nothing = 0
    cdef const weight_t *weights = &w[0] if w.shape[0] else &nothing
    cdef double total = 0.0
    cdef Py_ssize_t k
    if w.shape[0] != rows.c.d:
        raise ValueError("w and rows do not belong together")
    with nogil:
        for k in range(order.shape[0]):
            total += loss_value(kind, rows.c.labels[order[k]] * row_dot(&rows.c, order[k], weights))
    return total / order.shape[0]
