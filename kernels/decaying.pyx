# SGD on the primal whose steps decay as a power of t: svmsgd, svmasgd and sgd-sqrt.
#
#   problem   min lam/2 ||w||^2 + 1/m sum loss(y_i (w.x_i + b)), b = 0 or free
#   update    t = 0, 1, ...; the next row i, its margin s at w and b;
#                 eta = eta0 / (1 + decay t)^(quarters/4)
#                 g = -loss'(s); of the hinge [s < 1, or s = 1 where ties count]
#                 w <- (1 - eta lam) w + eta g y_i x_i
#                 b <- b + bias_rate eta g y_i
#                 svmsgd    decay = lam eta0, quarters = 4, ties count
#                 svmasgd   decay = lam eta0, quarters = 3, ties count
#             decay = 0 makes the steps constant; the search for eta0 uses such steps
#   cost      n_i for the inner product, n_i more where g > 0 and again n_i if iterates
#             are summed: w = scale v, the sum is tau v + u (scaled.pxd)
#   source    Bottou, sgd-2.0, programs svmsgd and svmasgd (2011);
#             Kivinen, Smola and Williamson, IEEE Trans. Signal Processing 52 (2004)

from libc.math cimport sqrt
from libc.stdint cimport int64_t

from .loss cimport HINGE, Loss, best_alpha, loss_of, loss_value, make_loss
from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros, weight_t
from .rowwise cimport more_rows, next_row
from .scaled cimport ScaledWeights, take_in, too_small

__build__ = build_record()


cdef class Schedule:
    """Steps eta0 / (1 + decay t)^(quarters/4), t = 0, 1, ..."""

    cdef readonly double eta0, decay
    cdef readonly int quarters

    def __init__(self, double eta0, double decay, int quarters):
        if not 2 <= quarters <= 4:
            raise ValueError(f"steps decay with 2, 3 or 4 quarters, not {quarters}")
        self.eta0, self.decay, self.quarters = eta0, decay, quarters


cdef inline double decayed(double z, int quarters) noexcept nogil:
    """z^(quarters/4): square roots cost a fraction of a general power."""
    cdef double root
    if quarters == 4:
        return z
    root = sqrt(z)
    return root if quarters == 2 else root * sqrt(root)


cdef class DecayingSgd(ScaledWeights):
    """Steps of one row, whose length decays."""

    cdef Loss loss
    cdef readonly Schedule schedule
    cdef readonly double lam, bias_rate
    cdef readonly bint ties

    def __init__(self, CompactRows rows, order, double lam, Schedule schedule not None, bint ties,
                 double bias_rate=0.0, precision="float64", loss=None):
        super().__init__(rows, order, precision)
        self.loss = make_loss(HINGE, 1.0) if loss is None else loss_of(loss)
        self.lam, self.schedule, self.ties, self.bias_rate = lam, schedule, ties, bias_rate

    def advance(self, int64_t target):
        """Take steps until the order ends or the presentations reach ``target``."""
        with nogil:
            if self._v.single:
                take_steps(self, <float *> self._v.data, <float *> self.rest, target)
            else:
                take_steps(self, <double *> self._v.data, <double *> self.rest, target)

    def mean_loss(self):
        """Mean loss of the rows of the order at w and b; nan where w is."""
        if not self.end:
            raise ValueError("there is no row to take the mean over")
        cdef double total
        with nogil:
            if self._v.single:
                total = sum_losses(self, <float *> self._v.data)
            else:
                total = sum_losses(self, <double *> self._v.data)
        return total / self.end


cdef void take_steps(DecayingSgd self, weight_t *v, weight_t *u, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef double lam = self.lam, eta0 = self.schedule.eta0, decay = self.schedule.decay
    cdef int quarters = self.schedule.quarters
    cdef bint free = self.bias_rate != 0
    cdef Loss loss = self.loss
    cdef double y, s, eta, pull, step
    cdef Py_ssize_t i
    while more_rows(self, target):
        i = next_row(self)
        eta = eta0 / decayed(1.0 + decay * self.steps, quarters)
        self.presentations += 1
        self.steps += 1
        y = rows.labels[i]
        s = y * self.scale * row_dot(rows, i, v)
        if free:          # an addition of nothing costs a twentieth of a short row's step
            s += y * self.bias
            self.bias_sum += self.bias
        self.nonzeros += row_nonzeros(rows, i)
        self.tau += self.scale
        self.scale *= 1.0 - eta * lam
        if too_small(v, self.scale):
            take_in(v, u, rows.d, self.scale, self.tau)
            self.scale = 1.0
            self.tau = 0.0
        if loss.kind == HINGE:
            pull = s < 1.0 or (self.ties and s == 1.0)
        else:
            pull = best_alpha(loss, s)
        if pull != 0.0:
            step = pull * eta / self.scale * y
            row_axpy(rows, i, <weight_t> step, v)
            self.nonzeros += row_nonzeros(rows, i)
            if free:
                self.bias += self.bias_rate * pull * eta * y
            self.updates += 1
            if u != NULL:
                row_axpy(rows, i, <weight_t> (-self.tau * step), u)
                self.nonzeros += row_nonzeros(rows, i)


cdef double sum_losses(DecayingSgd self, const weight_t *v) noexcept nogil:
    """The losses of the rows of the order."""
    cdef const Rows *rows = &self.rows.c
    cdef double score, total = 0
    cdef Py_ssize_t i, k
    for k in range(self.end):
        i = self.row_at[k]
        score = self.scale * row_dot(rows, i, v) + self.bias
        total += loss_value(self.loss, rows.labels[i] * score)
    return total
