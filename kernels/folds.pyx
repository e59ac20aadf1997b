# Dual coordinate descent for cross-validation: up to eight folds at once, each in a lane.
#
#   problem   in lane k, for all rows but those of fold k, and a constant C_k = 1/(lam m):
#             max C_k sum c_i q(alpha_i) - 1/2 ||w_k||^2,   w_k = C_k sum c_i alpha_i y_i x_i,
#             over the box of the loss; this is D(alpha)/lam. With a free bias, sum c_i alpha_i y_i
#             = 0 besides
#   update    in each lane, alpha_i <- clip(alpha_i + (1 - s_i - nu alpha_i)/(q_i + nu), box) and
#             w_k += C_k c_i (change of alpha_i) y_i x_i; s_i = y_i w_k.x_i, q_i = C_k c_i ||x_i||^2
#             with the logistic loss, Newton steps come near the maximum
#             with a free bias, w_k has one more weight, of a constant feature: the method of
#             multipliers, as in svmbench/engine/descents.py
#   order     a new random order in each pass, the same in all lanes; zero rows take no part
#   shrinking a row leaves the order when no lane moves it, and in each its gradient is larger than
#             the mean of the projected gradients in the last pass
#   precision steps are taken in single precision. P, D and w(alpha) are computed in double, from
#             alpha alone; only q of the logistic loss is as exact as single precision (`SINGLE`)
#   cost      n_i for the products, n_i more where an alpha_i moves, each times eight lanes: about
#             the time of two or three folds
#   source    Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008; Yu, Huang and Lin, Machine
#             Learning 85 (2011); the lanes are ours

from libc.math cimport INFINITY, fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint64_t
from libc.string cimport memset

import numpy as np

from .eights cimport exp_double, log_double
from .lanes cimport LANES, lanes_axpy, lanes_dot
from .lanesteps cimport Steps, entropies, steps_of, sums_of, take_step
from .loss cimport LOGISTIC, Loss, best_alpha, loss_of
from .provenance cimport build_record
from .rng cimport Rng, rng_seed, rng_shuffle
from .rows cimport CompactRows, Rows, look_ahead, prefetch, row_norm2

__build__ = build_record()

WIDTH = LANES

#: Largest relative error of q(alpha) with the logistic loss: of a sum of two terms that are not
#: negative, logarithms off by less than 2 units in the last place, and six more roundings of
#: numbers of single precision.
SINGLE = 16.0 * 2.0**-24

cdef enum:
    ALPHA_AHEAD = 6


cdef class FoldDescent:
    """Descent on the problems of all lanes, a pass at a time."""

    cdef readonly CompactRows rows
    # alpha (m, LANES), in single precision; w (d, LANES) and bias as of the last call of certify;
    # active: lanes whose alpha passes change
    cdef readonly object alpha, w, bias, C, active
    cdef readonly bint free  # whether the constant is a free bias, by the method of multipliers
    cdef object empty, of_empty             # rows without entries, and their alpha
    cdef object offset, weight              # of the constant, if it is free
    cdef public double constant
    cdef readonly int64_t visits
    cdef Loss loss
    cdef Rng rng
    cdef Py_ssize_t end, lanes
    cdef float enough           # a row that no lane moves leaves if all slopes exceed this
    cdef const int8_t[::1] lane
    cdef int32_t[::1] order
    cdef float[::1] norms2, counts
    cdef float[:, ::1] _alpha, steps
    cdef double[:, ::1] _w
    cdef const double[::1] _row_weights
    cdef bint weighted

    def __init__(self, CompactRows rows, const int8_t[::1] lane, loss, row_weights=None,
                 double constant=0.0, bint free=False, uint64_t seed=0):
        cdef Py_ssize_t i, m = rows.c.m
        if m == 0:
            raise ValueError("no rows")
        if rows.c.indices == NULL:
            raise ValueError("dense rows")
        if lane.shape[0] != m or (row_weights is not None and len(row_weights) != m):
            raise ValueError(f"one lane and one weight for each of {m} rows are needed")
        if free and constant == 0.0:
            raise ValueError("a free bias needs a constant")
        self.rows, self.lane, self.constant, self.free = rows, lane, constant, free
        self.loss = loss_of(loss)
        self._row_weights, self.weighted = row_weights, row_weights is not None
        norms2 = np.empty(m)
        cdef double[::1] squares = norms2
        for i in range(m):
            squares[i] = row_norm2(&rows.c, i)
        empty = (norms2 == 0.0) & (constant == 0.0)
        order = np.flatnonzero(~empty).astype(np.int32)
        if self.weighted:
            norms2 *= row_weights
        self.order, self.end = order, len(order)
        self.empty = np.flatnonzero(empty)
        with np.errstate(over="ignore", under="ignore"):
            self.norms2 = norms2.astype(np.float32)
            self.counts = np.asarray(row_weights if self.weighted else np.empty(0), np.float32)
        self.alpha = np.full((m, LANES), best_alpha(self.loss, 0.0), dtype=np.float32)
        out = np.flatnonzero(np.asarray(lane) >= 0)
        self.alpha[out, np.asarray(lane)[out]] = 0.0
        self._alpha = self.alpha
        self.of_empty = self.alpha[self.empty]
        # The last line is the constant's, and stays 0 where its weight is not part of w.
        whole = np.zeros((rows.c.d + 1, LANES))
        self._w, self.w = whole, whole[:rows.c.d + (constant != 0.0 and not free)]
        self.bias, self.offset = np.zeros(LANES), np.zeros(LANES, dtype=np.float32)
        steps = np.zeros(whole.shape, dtype=np.float32)
        self.steps, self.weight = steps, steps[rows.c.d]
        self.enough, self.lanes = INFINITY, LANES
        self.C, self.active = np.ones(LANES), np.ones(LANES, dtype=bool)
        rng_seed(&self.rng, seed)

    def begin(self, times, C):
        """Take multiples of alpha for active lanes, at another C.

        To be called after `certify`.
        """
        on = self.active
        with np.errstate(over="ignore", under="ignore"):
            self.alpha *= np.where(on, times, 1.0).astype(np.float32)
            whole = np.asarray(self._w)
            whole *= np.where(on, times * C / self.C, 1.0)
        refresh(self)
        if self.free:
            self.shift(self.bias)
        self.alpha[self.empty] = self.of_empty
        self.C[on] = C[on]
        self.restore()

    def restore(self):
        """Visit all rows in the next pass, and leave out none after it."""
        self.end, self.enough, self.lanes = len(self.order), INFINITY, int(self.active.sum())

    def shift(self, bias):
        """Have a free bias begin at these values, shape (LANES,)."""
        self.bias[:] = bias
        self.weight[:] = bias / self.constant
        self.offset[:] = self.weight

    def advance(self):
        """Visit each row once; then move a free bias by what its constant's weight has become.

        The sum of c_i (loss(s_i) - q(alpha_i) + alpha_i s_i) is returned, each as its row was met:
        an estimate of (P - D)/(lam C) from before the pass.
        """
        slack = np.zeros(LANES)
        cdef double[::1] total = slack
        C = np.asarray(self.C, dtype=np.float32)
        on = np.asarray(self.active, dtype=np.float32)
        cdef const float[::1] constants = C, active = on
        if self.end:
            with nogil:
                rng_shuffle(&self.rng, &self.order[0], self.end)
                visit(self, &constants[0], &active[0], &total[0])
        if self.free:
            # The weight is the multiplier and constant C sum c_i alpha_i y_i, by which it grows.
            moved, before = self.active, self.weight.copy()
            self.weight[moved] = (2 * before - self.offset)[moved]
            self.offset[moved] = before[moved]
        return slack

    def certify(self):
        """Compute w(alpha), the sums of which P and D consist, and the scores of rows left out.

        The sums are those of c_i loss(s_i), of c_i q(alpha_i), of c_i alpha_i, of c_i alpha_i^2,
        ||w||^2, and the sums of c_i and of c_i alpha_i y_i. A free bias of a lane that is not
        active remains what it was: its weight is a rounded one.
        """
        sums, scores = np.zeros((7, LANES)), np.zeros(self.rows.c.m)
        cdef double[:, ::1] found = sums
        cdef double[::1] values = scores, C = self.C, shifts
        if self.free:
            on = self.active
            self.bias[on] = self.constant * self.weight[on].astype(np.float64)
            self.offset[:] = self.weight
            balance(self)
        with nogil:
            combine(self, &C[0])
        shifts = self.bias + self.constant * np.asarray(self._w)[self.rows.c.d]
        with nogil:
            add_terms(self, &shifts[0], &found[0, 0], &values[0])
        refresh(self)
        sums[4] = np.einsum("jk,jk->k", self.w, self.w)
        return sums, scores


cdef void visit(FoldDescent self, const float *C, const float *active,
                double *estimates) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef float *w = &self.steps[0, 0]
    cdef float *of_constant = w + LANES * rows.d
    cdef float *alphas = &self._alpha[0, 0]
    cdef int32_t *order = &self.order[0]
    cdef float constant = <float> self.constant
    cdef Steps steps = steps_of(C, active, <float> self.loss.nu, <float> self.loss.upper,
                                self.enough, self.loss.kind == LOGISTIC)
    cdef float s[LANES]
    cdef float change[LANES]
    cdef double slopes[LANES]
    cdef double total = 0.0
    cdef float y, count = 1.0
    cdef Py_ssize_t position = 0, visits = 0, i
    cdef int lane, moved
    while position < self.end:
        i = order[position]
        look_ahead(rows, order, position, self.end)
        if position + ALPHA_AHEAD < self.end:
            prefetch(alphas + LANES * <Py_ssize_t> order[position + ALPHA_AHEAD])
            prefetch(&self.norms2[order[position + ALPHA_AHEAD]])
        y = rows.labels[i]
        if self.weighted:
            count = self.counts[i]
        lanes_dot(rows, i, w, s)
        for lane in range(LANES):
            s[lane] = y * (s[lane] + constant * of_constant[lane])
        moved = take_step(&steps, s, count, self.norms2[i] + count * constant * constant,
                          self.lane[i], alphas + LANES * i, change)
        visits += 1
        position += 1
        if moved == 1:
            for lane in range(LANES):
                change[lane] *= count * y
            lanes_axpy(rows, i, change, w)
            for lane in range(LANES):
                of_constant[lane] += constant * change[lane]
        elif moved == 2:
            position -= 1
            self.end -= 1
            order[position] = order[self.end]
            order[self.end] = <int32_t> i
    sums_of(&steps, estimates, slopes)
    for lane in range(LANES):
        total += slopes[lane]
    self.visits += visits
    self.enough = <float> (total / (visits * self.lanes)) if visits else INFINITY


cdef void combine(FoldDescent self, const double *C) noexcept nogil:
    """w = C sum c_i alpha_i y_i x_i in all lanes."""
    cdef const Rows *rows = &self.rows.c
    cdef double *w = &self._w[0, 0]
    cdef double *of_constant = w + LANES * rows.d
    cdef const float *alpha = &self._alpha[0, 0]
    cdef double factors[LANES]
    cdef double factor, total
    cdef bint in_w = self.constant != 0.0 and not self.free
    cdef Py_ssize_t i, j
    cdef int lane
    memset(w, 0, self._w.shape[0] * LANES * sizeof(double))
    for i in range(rows.m):
        factor = rows.labels[i]
        if self.weighted:
            factor *= self._row_weights[i]
        total = 0.0
        for lane in range(LANES):
            factors[lane] = factor * alpha[lane]
            total += alpha[lane]
        alpha += LANES
        if total == 0.0:
            continue
        lanes_axpy(rows, i, factors, w)
        if in_w:
            for lane in range(LANES):
                of_constant[lane] += self.constant * factors[lane]
    for j in range(self._w.shape[0]):
        for lane in range(LANES):
            w[LANES * j + lane] *= C[lane]


cdef void balance(FoldDescent self):
    """Scale alpha of the label with the larger sum of c_i alpha_i down, in active lanes."""
    cdef double sums[2][LANES]
    cdef float factors[2][LANES]
    cdef double count = 1.0, smaller
    cdef float *alpha = &self._alpha[0, 0]
    cdef Py_ssize_t i
    cdef int lane, side
    for lane in range(LANES):
        sums[0][lane] = sums[1][lane] = 0.0
    for i in range(self.rows.c.m):
        side = self.rows.c.labels[i] > 0
        if self.weighted:
            count = self._row_weights[i]
        for lane in range(LANES):
            sums[side][lane] += count * alpha[LANES * i + lane]
    for lane in range(LANES):
        smaller = min(sums[0][lane], sums[1][lane])
        for side in range(2):
            factors[side][lane] = 1
            if self.active[lane] and sums[side][lane] > 0.0:
                factors[side][lane] = <float> (smaller / sums[side][lane])
    for i in range(self.rows.c.m):
        side = self.rows.c.labels[i] > 0
        for lane in range(LANES):
            alpha[LANES * i + lane] *= factors[side][lane]


cdef void refresh(FoldDescent self):
    """Give the steps' weights what `certify` found, without what they have drifted."""
    lines = len(self.w)
    np.asarray(self.steps)[:lines] = np.asarray(self._w)[:lines]


cdef inline void softplus(const double *s, double *loss) noexcept nogil:
    """log(1 + exp(-s)) in all lanes.

    What rounding takes from 1 + exp(-|s|), its logarithm lacks, to first order: without it, the
    loss at a large margin would be 0 or a multiple of 2^-52.
    """
    cdef int lane
    cdef double lost[LANES]
    for lane in range(LANES):
        loss[lane] = -fabs(s[lane])
    exp_double(loss)
    for lane in range(LANES):
        lost[lane] = loss[lane]
        loss[lane] += 1.0
        lost[lane] = (lost[lane] - (loss[lane] - 1.0)) / loss[lane]
    log_double(loss)
    for lane in range(LANES):
        loss[lane] += lost[lane] + max(-s[lane], 0.0)


cdef void add_terms(FoldDescent self, const double *shifts, double *sums,
                    double *scores) noexcept nogil:
    """What `certify` sums over the rows, ||w||^2 apart."""
    cdef const Rows *rows = &self.rows.c
    cdef const double *w = &self._w[0, 0]
    cdef const float *alphas = &self._alpha[0, 0]
    cdef double nu = self.loss.nu
    cdef double s[LANES]
    cdef double loss[LANES]
    cdef double conjugate[LANES]
    cdef double losses[LANES]
    cdef double conjugates[LANES]
    cdef double linear[LANES]
    cdef double squares[LANES]
    cdef double counts[LANES]
    cdef double signed[LANES]
    cdef double within[LANES]
    cdef double y, alpha, count = 1.0
    cdef bint logistic = self.loss.kind == LOGISTIC
    cdef Py_ssize_t i
    cdef int lane, out
    for lane in range(LANES):
        losses[lane] = conjugates[lane] = linear[lane] = squares[lane] = counts[lane] = 0.0
        signed[lane] = 0.0
    for i in range(rows.m):
        lanes_dot(rows, i, w, s)
        for lane in range(LANES):
            s[lane] += shifts[lane]
        y, out = rows.labels[i], self.lane[i]
        if self.weighted:
            count = self._row_weights[i]
        for lane in range(LANES):
            within[lane] = count
        if out >= 0:
            within[out] = 0.0
            scores[i] = s[out]
        for lane in range(LANES):
            s[lane] *= y
        if logistic:
            softplus(s, loss)
            entropies(alphas, conjugate)
        else:
            for lane in range(LANES):
                loss[lane] = max(1.0 - s[lane], 0.0)
                if nu != 0.0:
                    loss[lane] *= 0.5 * loss[lane]
                alpha = alphas[lane]
                conjugate[lane] = alpha - 0.5 * nu * (alpha * alpha)
        for lane in range(LANES):
            alpha = alphas[lane]
            losses[lane] += within[lane] * loss[lane]
            conjugates[lane] += within[lane] * conjugate[lane]
            linear[lane] += within[lane] * alpha
            squares[lane] += within[lane] * (alpha * alpha)
            counts[lane] += within[lane]
            signed[lane] += y * within[lane] * alpha
        alphas += LANES
    for lane in range(LANES):
        sums[lane] = losses[lane]
        sums[LANES + lane] = conjugates[lane]
        sums[2 * LANES + lane] = linear[lane]
        sums[3 * LANES + lane] = squares[lane]
        sums[5 * LANES + lane] = counts[lane]
        sums[6 * LANES + lane] = signed[lane]
