# The margin perceptron with unlearning: an integer lattice for the dual variables.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i)
#   update    0 <= I_i <= N integer, a = sum I_i y_i x_i, b = N lam m; row i, p = y_i a.x_i,
#             n_i = ||x_i||^2
#                 learn    p <= b      and I_i < N:  k = min(N - I_i, floor((b - p)/n_i) + 1)
#                          I_i += k,  a += k y_i x_i
#                 unlearn  p > b + n_i and I_i > 0:  k = min(I_i, floor((p - b)/n_i))
#                          I_i -= k,  a -= k y_i x_i
#             w = a/b, alpha_i = I_i/N; zero rows take no part: I_i = N from the start
#   ends      after finitely many steps: (sum (b + n_i/2) I_i - ||a||^2/2, sum I_i) grows
#             lexicographically. Unlearning at p = b + n_i would cycle, and so could
#             unlearning at a p that rounding has raised: p must exceed b + n_i by one part in 1e12
#   cost      n_i for the inner product, n_i more where I_i moves
#   source    Panagiotakopoulos and Tsampouka, ICML 2010; the steps are reconstructed

from libc.math cimport floor
from libc.stdint cimport int64_t

from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros
from .rowwise cimport DualWise, Weights, look_ahead_in, more_rows, next_row

__build__ = build_record()


cdef class MarginPerceptron(DualWise):
    """Passes of learning and unlearning. ``alpha`` holds the integers I_i."""

    cdef readonly object a  # b w
    cdef readonly double most, threshold  # N, a whole number up to 2**53, and b
    cdef readonly Py_ssize_t changes  # rows of the pass whose I_i moved
    cdef Weights _a

    def __init__(self, CompactRows rows):
        super().__init__(rows, 0.0)
        self._a = Weights(rows.c.d)
        self.a = self._a.array

    def begin(self, double most, double threshold):
        """Start from a = 0 and I = 0, but for zero rows: I_i = N."""
        self.most, self.threshold = most, threshold
        self.a[:] = 0.0
        self.alpha[:] = 0.0
        self.alpha[self.norms2 == 0.0] = most
        self.begin_pass()

    def begin_pass(self):
        """Return to the first row."""
        self.position = self.changes = 0

    def advance(self, int64_t target):
        """Present rows until the pass ends or the presentations reach ``target``."""
        with nogil:
            take_steps(self, <double *> self._a.data, target)


cdef void take_steps(MarginPerceptron self, double *a, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef const double *norms2 = &self._norms2[0]
    cdef double *counts = &self._alpha[0]
    cdef double most = self.most, threshold = self.threshold
    cdef double p, y, move
    cdef Py_ssize_t i
    while more_rows(self, target):
        i = next_row(self)
        look_ahead_in(self, counts)
        look_ahead_in(self, norms2)
        self.presentations += 1
        y = rows.labels[i]
        p = y * row_dot(rows, i, a)
        self.nonzeros += row_nonzeros(rows, i)
        move = 0.0
        if p <= threshold:
            move = min(most - counts[i], floor((threshold - p) / norms2[i]) + 1.0)
        elif p > (threshold + norms2[i]) * (1.0 + 1e-12):
            move = -min(counts[i], floor((p - threshold) / norms2[i]))
        if move != 0.0:
            counts[i] += move
            row_axpy(rows, i, move * y, a)
            self.nonzeros += row_nonzeros(rows, i)
            self.updates += 1
            self.changes += 1
