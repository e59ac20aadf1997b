# Pegasos: projected stochastic subgradient descent on the primal hinge SVM.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - y_i w.x_i)
#   update    t = 1, 2, ...; i uniform;  eta = 1/(lam t)
#                 w <- (1 - 1/t) w + [y_i w.x_i < 1] eta y_i x_i      (margin at the old w)
#                 w <- min(1, 1/(sqrt(lam) ||w||)) w                  (optional)
#   cost      n_i for the inner product, n_i more at a margin error: w = scale * v, and
#             ||w||^2 is kept by recurrence, so that neither shrinking nor projecting
#             touches the other features
#   source    Shalev-Shwartz, Singer, Srebro and Cotter, Math. Prog. B 127 (2011),
#             figure 1.

from libc.math cimport sqrt
from libc.stdint cimport int64_t

from .counters cimport Counters
from .provenance cimport build_record
from .rng cimport Generator, rng_below
from .rows cimport CompactRows, row_axpy, row_dot, row_nonzeros, row_norm2, weight_t

__build__ = build_record()


cdef class ScaledState(Counters):
    """Counters, and the scalars of w = scale * v.

    Attributes
    ----------
    scale : float
        Factor of the stored vector v.
    norm2 : float
        ||w||^2, kept by recurrence where the projection is on.
    """

    cdef public double scale, norm2

    def __init__(self):
        self.scale = 1.0


cdef inline double fold(weight_t *v, Py_ssize_t d, double scale) noexcept nogil:
    """v <- scale v; return the exact ||v||^2."""
    cdef double norm2 = 0
    cdef Py_ssize_t j
    for j in range(d):
        v[j] = <weight_t> (v[j] * scale)
        norm2 += <double> v[j] * v[j]
    return norm2


def advance(CompactRows rows, weight_t[::1] v, Generator rng, ScaledState state, double lam,
            bint project, int64_t target):
    """Take steps until t reaches ``target``.

    Parameters
    ----------
    rows : CompactRows
        At least one row.
    v : ndarray of float32 or float64, shape (d,)
        Updated in place, as is ``state``; w = state.scale * v.
    rng : Generator
        Draws the rows, independently and uniformly.
    state : ScaledState
    lam : float
    project : bool
        Whether each step ends with the projection on the ball of radius 1/sqrt(lam).
    target : int
        Number of presentations t at which to return.
    """
    cdef int64_t t = state.presentations
    cdef int64_t updates = state.updates
    cdef int64_t nonzeros = state.nonzeros
    cdef double scale = state.scale
    cdef double norm2 = state.norm2
    cdef double smallest = 1e-2 if weight_t is float else 1e-5
    cdef weight_t nothing = 0
    cdef weight_t *weights = &v[0] if v.shape[0] else &nothing
    cdef double s, eta, shrink
    cdef Py_ssize_t i
    if v.shape[0] != rows.c.d or rows.c.m == 0:
        raise ValueError("v and rows do not belong together")
    with nogil:
        while t < target:
            t += 1
            i = rng_below(&rng.c, <unsigned int> rows.c.m)
            s = rows.c.labels[i] * scale * row_dot(&rows.c, i, weights)
            nonzeros += row_nonzeros(&rows.c, i)
            shrink = 1.0 - 1.0 / t
            scale *= shrink
            norm2 *= shrink * shrink
            if scale < smallest:                   # t = 1 comes here too: w = 0
                norm2 = fold(weights, rows.c.d, scale)
                scale = 1.0
            if s < 1.0:
                eta = 1.0 / (lam * t)
                row_axpy(&rows.c, i, <weight_t> (eta / scale * rows.c.labels[i]), weights)
                nonzeros += row_nonzeros(&rows.c, i)
                updates += 1
                if project:
                    norm2 += 2.0 * eta * shrink * s + eta * eta * row_norm2(&rows.c, i)
                    if norm2 * lam > 1.0:
                        scale /= sqrt(norm2 * lam)
                        norm2 = 1.0 / lam
    state.presentations = t
    state.updates = updates
    state.nonzeros = nonzeros
    state.scale = scale
    state.norm2 = norm2
