# Online limited-memory BFGS: SGD through an inverse Hessian of low rank.
#
#   problem   min lam/2 ||w||^2 + 1/m sum loss(y_i w.x_i), for a loss with a continuous
#             slope: squared or smoothed hinge
#   update    t = 0, 1, ...; the next row x, y;  G(w) = lam w + loss'(y w.x) y x:
#                 p = -H G(w), H by the two-loop recursion over the last pairs (sigma, psi),
#                     its middle the mean of sigma.psi/psi.psi over them, 1e-4 without any
#                 sigma = gain (t0/lam)/(t0 + t) p;  w_new = w + sigma
#                 psi = G(w_new) - G(w) + t0 sigma, of the same row
#             The last term keeps sigma.psi > 0, and makes t0 the least curvature H knows of.
#             A pair with sigma = 0 is not kept.
#   in closed form   psi = (lam + t0) sigma + (change of loss') y x
#   cost      4 d multiply-adds a pair and step, some 6 d more, and n_i four times
#   source    Schraudolph, Yu and Guenter, AISTATS 2007, as reimplemented for Bordes, Bottou
#             and Gallinari, JMLR 10 (2009), section 6; the gain is reconstructed

from libc.stdint cimport int64_t

import numpy as np

from .loss cimport Loss, best_alpha, loss_of
from .provenance cimport build_record
from .rows cimport (
    CompactRows, Rows, dense_axpy, dense_dot, row_axpy, row_dot, row_nonzeros, weight_t,
)
from .rowwise cimport RowWise, Weights, more_rows, next_row

__build__ = build_record()


cdef class Olbfgs(RowWise):
    """Steps of one row, and the ring of pairs. ``presentations`` is t."""

    cdef readonly object w, sigmas, psis  # psis and sigmas: the pairs, shape (rank, d)
    cdef readonly double lam, t0
    cdef public double gain
    cdef readonly Py_ssize_t rank, pairs
    cdef readonly Py_ssize_t head  # slot of the next pair; where all are taken, of the oldest
    cdef Loss loss
    cdef Weights _w, _direction, _sigmas, _psis
    # Of each pair 1/(sigma.psi) and sigma.psi/psi.psi, and a number that the recursion keeps.
    cdef double[::1] _inverse, _ratio, _product

    def __init__(self, CompactRows rows, order, double lam, double t0, double gain, loss,
                 Py_ssize_t rank, precision="float64"):
        super().__init__(rows, order)
        if rank < 1:
            raise ValueError(f"one pair at least is kept, not {rank}")
        self.lam, self.t0, self.gain, self.loss = lam, t0, gain, loss_of(loss)
        self.rank = rank
        self._w, self._direction = Weights(rows.c.d, precision), Weights(rows.c.d, precision)
        self._sigmas = Weights(rank * rows.c.d, precision)
        self._psis = Weights(rank * rows.c.d, precision)
        self.w = self._w.array
        self.sigmas = self._sigmas.array.reshape(rank, rows.c.d)
        self.psis = self._psis.array.reshape(rank, rows.c.d)
        self._inverse, self._ratio, self._product = (np.zeros(rank) for _ in range(3))

    def advance(self, int64_t target):
        """Take steps until the order ends or t reaches ``target``."""
        with nogil:
            if self._w.single:
                take_steps(self, <float *> self._w.data, <float *> self._direction.data, target)
            else:
                take_steps(self, <double *> self._w.data, <double *> self._direction.data, target)


cdef inline weight_t *pair_at(Olbfgs self, Weights pairs, Py_ssize_t slot,
                              const weight_t *_) noexcept nogil:
    return <weight_t *> pairs.data + slot * self.rows.c.d


cdef void multiply(Olbfgs self, weight_t *direction) noexcept nogil:
    """direction <- H direction, by the two-loop recursion."""
    cdef Py_ssize_t d = self.rows.c.d
    cdef double middle = 0.0 if self.pairs else 1e-4
    cdef double product
    cdef Py_ssize_t j, k, slot
    for k in range(self.pairs):                              # from the newest
        slot = (self.head + self.rank - 1 - k) % self.rank
        product = self._inverse[slot] * dense_dot(
            pair_at(self, self._sigmas, slot, direction), d, direction)
        self._product[slot] = product
        dense_axpy(<weight_t> -product, pair_at(self, self._psis, slot, direction),
                   d, <const weight_t *> NULL, direction)
        middle += self._ratio[slot] / self.pairs
    for j in range(d):
        direction[j] = <weight_t> (direction[j] * middle)
    for k in range(self.pairs):                              # from the oldest
        slot = (self.head + self.rank - self.pairs + k) % self.rank
        product = self._product[slot] - self._inverse[slot] * dense_dot(
            pair_at(self, self._psis, slot, direction), d, direction)
        dense_axpy(<weight_t> product, pair_at(self, self._sigmas, slot, direction),
                   d, <const weight_t *> NULL, direction)


cdef void keep_pair(Olbfgs self, Py_ssize_t i, double push, const weight_t *step) noexcept nogil:
    """Keep the pair of a step at row i, ``push`` being y times the change of loss'."""
    cdef const Rows *rows = &self.rows.c
    cdef weight_t *sigma = pair_at(self, self._sigmas, self.head, step)
    cdef weight_t *psi = pair_at(self, self._psis, self.head, step)
    cdef double product, squared, added = self.lam + self.t0
    cdef Py_ssize_t j
    for j in range(rows.d):
        sigma[j] = step[j]
        psi[j] = <weight_t> (added * step[j])
    row_axpy(rows, i, <weight_t> push, psi)
    product = dense_dot(sigma, rows.d, psi)
    squared = dense_dot(psi, rows.d, psi)
    # A pair so small that its products vanish tells nothing; the oldest one is lost all the same.
    if product > 0.0 and squared > 0.0:
        self._inverse[self.head] = 1.0 / product
        self._ratio[self.head] = product / squared
        self.head = (self.head + 1) % self.rank
        self.pairs = min(self.pairs + 1, self.rank)
    elif self.pairs == self.rank:
        self.pairs -= 1


cdef void take_steps(Olbfgs self, weight_t *w, weight_t *direction,
                     int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef double lam = self.lam, t0 = self.t0
    cdef double y, pull, change, factor
    cdef Py_ssize_t i, j
    cdef bint moved
    while more_rows(self, target):
        i = next_row(self)
        y = rows.labels[i]
        pull = best_alpha(self.loss, y * row_dot(rows, i, w))
        for j in range(rows.d):
            direction[j] = <weight_t> (lam * w[j])
        row_axpy(rows, i, <weight_t> (-pull * y), direction)
        self.nonzeros += 2 * row_nonzeros(rows, i)
        if pull != 0.0:
            self.updates += 1
        multiply(self, direction)
        factor = -self.gain * (t0 / lam) / (t0 + self.presentations)
        moved = False
        for j in range(rows.d):
            direction[j] = <weight_t> (factor * direction[j])
            moved = moved or direction[j] != 0
            w[j] += direction[j]
        if moved:
            change = best_alpha(self.loss, y * row_dot(rows, i, w)) - pull
            keep_pair(self, i, -change * y, direction)
            self.nonzeros += 2 * row_nonzeros(rows, i)
        self.presentations += 1
