# SGD for the primal L1-SVM in its perceptron form: sgd-s and sgd-m.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i),     step 1/(lam t)
#   update    with a = lam t w, row i presented l times running:
#                 p     = y_i a.x_i - lam t
#                 kappa = clip(floor(((l - 1) lam - p) / max(||x_i||^2, lam)) + 1, 0, l)
#                 a += kappa y_i x_i,   M += kappa,   t += l
#             for l = 1: kappa = 1 exactly where p <= 0, a margin error (ties count)
#   cost      n_i for the inner product, n_i more where kappa > 0; shrinking is free
#   source    Panagiotakopoulos and Tsampouka, ECML-PKDD 2013 (arXiv 1304.6383),
#             sections 2 and 3. The closed form of kappa is the number of plus-steps
#             among l single presentations in a row.

from libc.math cimport floor
from libc.stdint cimport int32_t, int64_t

from .counters cimport Counters
from .provenance cimport build_record
from .rows cimport CompactRows, look_ahead, row_axpy, row_dot, row_nonzeros, weight_t

__build__ = build_record()


cdef class PassState(Counters):
    """Where a run of presentations stands.

    ``Counters.presentations`` is t of the paper and ``Counters.updates`` its M, the
    number of margin errors.

    Attributes
    ----------
    position : int
        Rows of the current pass already presented.
    multiplicity : int
        Times each row of the current pass is presented in a row.
    loss_sum : float
        Sum, over the rows of the current pass, of the hinge loss each had when it was presented.
    """

    cdef public Py_ssize_t position, multiplicity
    cdef public double loss_sum

    def __init__(self):
        self.multiplicity = 1


def advance_pass(CompactRows rows, weight_t[::1] a, const int32_t[::1] order,
                 const double[::1] norms2, PassState state, double lam, int64_t target):
    """Present rows of the current pass until it ends or t reaches ``target``.

    Parameters
    ----------
    rows : CompactRows
    a : ndarray of float32 or float64, shape (d,)
        lam t w, updated in place.
    order : ndarray of int32, shape (m,)
        The pass's order of rows.
    norms2 : ndarray of float64, shape (m,) or (0,)
        Squared row norms; read only where the multiplicity exceeds one.
    state : PassState
        Updated in place.
    lam : float
    target : int
        Number of presentations t at which to return; a row's l presentations are not split.
    """
    cdef int64_t t = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef Py_ssize_t position = state.position
    cdef Py_ssize_t m = rows.c.m
    cdef int64_t ell = state.multiplicity
    cdef double loss_sum = state.loss_sum
    cdef weight_t nothing = 0
    cdef weight_t *weights = &a[0] if a.shape[0] else &nothing
    cdef double p, threshold, y, kappa
    cdef Py_ssize_t i
    if order.shape[0] != m or a.shape[0] != rows.c.d:
        raise ValueError("order, a and rows do not belong together")
    if ell > 1 and norms2.shape[0] != m:
        raise ValueError("a pass of repeated presentations needs the squared norms")
    with nogil:
        while position < m and t < target:
            i = order[position]
            look_ahead(&rows.c, &order[0], position, m)
            y = rows.c.labels[i]
            threshold = lam * t
            p = y * row_dot(&rows.c, i, weights) - threshold
            nonzeros += row_nonzeros(&rows.c, i)
            if p <= 0.0:
                loss_sum += -p / threshold if t > 0 else 1.0
            kappa = 1.0 if p <= 0.0 else 0.0
            if ell > 1:
                kappa = floor(((ell - 1) * lam - p) / max(norms2[i], lam)) + 1.0
                kappa = max(0.0, min(kappa, <double> ell))
            if kappa > 0.0:
                row_axpy(&rows.c, i, <weight_t> (kappa * y), weights)
                nonzeros += row_nonzeros(&rows.c, i)
                updates += <int64_t> kappa
            t += ell
            position += 1
    state.presentations = t
    state.updates = updates
    state.nonzeros = nonzeros
    state.position = position
    state.loss_sum = loss_sum
