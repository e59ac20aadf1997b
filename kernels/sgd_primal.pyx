# SGD for the primal L1-SVM in its perceptron form: sgd-s and sgd-m.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i),     step 1/(lam t)
#   update    with a = lam t w, row i presented l times in succession:
#                 p     = y_i a.x_i - lam t
#                 kappa = clip(floor(((l - 1) lam - p) / max(||x_i||^2, lam)) + 1, 0, l)
#                 a += kappa y_i x_i,   M += kappa,   t += l
#             for l = 1: kappa = 1 exactly where p <= 0, a margin error (ties count)
#   cost      n_i for the inner product, n_i more where kappa > 0; shrinking is free
#   source    Panagiotakopoulos and Tsampouka, ECML-PKDD 2013 (arXiv 1304.6383),
#             sections 2 and 3. The closed form of kappa is the number of plus-steps
#             among l single presentations in a row.

from libc.math cimport floor
from libc.stdint cimport int64_t

import numpy as np

from .provenance cimport build_record
from .rows cimport CompactRows, Rows, row_axpy, row_dot, row_nonzeros, weight_t
from .rowwise cimport RowWise, Weights, more_rows, next_row

__build__ = build_record()


cdef class Perceptron(RowWise):
    """Passes over rows, each of which is presented once or several times in succession.

    ``presentations`` is t of the paper and ``updates`` its M, the number of margin errors.
    """

    cdef readonly object a  # lam t w
    cdef readonly double lam
    cdef readonly double loss_sum  # of the hinge losses of the pass, each as its row was presented
    cdef readonly int64_t multiplicity  # times each row of the pass is presented in succession
    cdef Weights _a
    cdef double[::1] _norms2

    def __init__(self, CompactRows rows, order, double lam, precision="float64"):
        super().__init__(rows, order)
        self.lam = lam
        self._a = Weights(rows.c.d, precision)
        self.a = self._a.array
        self._norms2 = None             # until a pass needs them
        self.begin_pass(1)

    @property
    def w(self):
        """The weights a / (lam t), shape (d,), float64; zero before the first presentation."""
        return self.a.astype(np.float64) / (self.lam * max(self.presentations, 1))

    def begin_pass(self, int64_t multiplicity):
        """Return to the start of the order, for a pass of that multiplicity."""
        if multiplicity < 1:
            raise ValueError(f"rows are presented once at least, not {multiplicity} times")
        if multiplicity > 1 and self._norms2 is None:
            self._norms2 = self.rows.norms2()
        self.multiplicity = multiplicity
        self.position = 0
        self.loss_sum = 0.0

    def advance(self, int64_t target):
        """Present rows until the order ends or t reaches ``target``.

        The presentations of one row in succession are not split.
        """
        with nogil:
            if self._a.single:
                take_steps(self, <float *> self._a.data, target)
            else:
                take_steps(self, <double *> self._a.data, target)


cdef void take_steps(Perceptron self, weight_t *a, int64_t target) noexcept nogil:
    cdef const Rows *rows = &self.rows.c
    cdef double lam = self.lam
    cdef int64_t ell = self.multiplicity
    cdef double p, threshold, y, kappa
    cdef Py_ssize_t i
    while more_rows(self, target):
        i = next_row(self)
        y = rows.labels[i]
        threshold = lam * self.presentations
        p = y * row_dot(rows, i, a) - threshold
        self.nonzeros += row_nonzeros(rows, i)
        if p <= 0.0:
            self.loss_sum += -p / threshold if self.presentations > 0 else 1.0
        kappa = 1.0 if p <= 0.0 else 0.0
        if ell > 1:
            kappa = floor(((ell - 1) * lam - p) / max(self._norms2[i], lam)) + 1.0
            kappa = max(0.0, min(kappa, <double> ell))
        if kappa > 0.0:
            row_axpy(rows, i, <weight_t> (kappa * y), a)
            self.nonzeros += row_nonzeros(rows, i)
            self.updates += <int64_t> kappa
        self.presentations += ell
