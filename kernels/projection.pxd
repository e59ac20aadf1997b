# Thresholds of the projections on the l1 ball, for kernels that project in every step.
#
# Both return tau >= 0, the root of projection.pyx: the nearest point of ||w||_1 <= radius is
# w_i = soft(y_i, tau), or soft(y_i, tau/h_i) with weights h; tau = 0 says that y lies in the
# ball already. `sizes` and `spans` are room for d entries each; nothing is allocated.

from libc.math cimport fabs

from .rows cimport weight_t


cdef double l1_threshold(const weight_t *y, Py_ssize_t d, double radius,
                         double *sizes) noexcept nogil

cdef double weighted_l1_threshold(const double *y, const double *h, Py_ssize_t d, double radius,
                                  double *sizes, double *spans) noexcept nogil


cdef inline double soft(double y, double tau) noexcept nogil:
    """y moved towards 0 by tau, and no further than 0."""
    cdef double size = fabs(y) - tau
    if size <= 0.0:
        return 0.0
    return size if y > 0.0 else -size
