# Thresholds of the projections on the l1 ball, for kernels that project in every step.
#
# It returns tau >= 0, the root of projection.pyx, as the sum of two numbers: the nearest point
# of ||w||_1 <= radius is w_i = soft(y_i, tau, h_i), with weights h of 1 where NULL; a value of 0
# says that y lies in the ball already. `sizes`, and `spans` with weights, are room for d entries.

from libc.math cimport fabs

from .rows cimport weight_t

cdef struct Threshold:
    double value
    double rest     # what rounding has taken from the value; mostly left at 0


cdef Threshold l1_threshold(const weight_t *y, const double *h, Py_ssize_t d, double radius,
                            double *sizes, double *spans) noexcept nogil


cdef inline double soft(double y, Threshold tau, double h) noexcept nogil:
    """y moved towards 0 by tau/h, and no further than 0."""
    cdef double size = fabs(y) - tau.value / h
    if tau.rest != 0.0:
        size -= tau.rest / h
    if size <= 0.0:
        return 0.0
    return size if y > 0.0 else -size
