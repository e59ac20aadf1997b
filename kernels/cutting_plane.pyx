# Cutting planes under the mean hinge loss: passes over rows, exact line search, reduced problem.
#
#   problem   min lam/2 ||w||^2 + 1/m sum max(0, 1 - s_i),   s_i = y_i w.x_i
#   cut       for any set c of rows the mean loss is at least delta - w.g, where
#             delta = |c|/m and g = 1/m sum over c of y_i x_i; equal where c = {s_i < 1}
#   reduced   max D(beta) = beta.delta - 1/2 beta'H beta,  H_jk = g_j.g_k/lam, on the simplex,
#             one of the cuts being 0 >= 0: a lower bound of P*, since
#             alpha = sum beta_j c_j is feasible and w = w(alpha) = 1/lam sum beta_j g_j
#   update    line_search   O(m) expected, no sort
#             maximise  pairwise steps, O(cuts) each
#   source    Joachims, KDD 2006 (cuts, reduced problem); Franc and Sonnenburg, JMLR 10 (2009),
#             sections 3 and 4.1 (line search). Sorting its kinks is replaced by selection.

from libc.stdint cimport int64_t

import numpy as np

from .provenance cimport build_record

__build__ = build_record()


cdef inline double middle(double a, double b, double c) noexcept nogil:
    return max(min(a, b), min(max(a, b), c))


cdef double first_zero(double *kinks, double *rises, Py_ssize_t n, double slope,
                       double curvature) noexcept nogil:
    """Where slope + curvature k + sum of the rises at kinks <= k first is >= 0.

    Quickselect: a pivot's own value tells on which side of it the zero lies, so that
    half of what is left is never looked at again.
    """
    cdef Py_ssize_t low = 0, high = n  # kinks[low:high] are undecided
    cdef Py_ssize_t below, above, j
    cdef double pivot, rise, swapped, rises_below, rises_at
    while low < high:
        pivot = middle(kinks[low], kinks[(low + high) // 2], kinks[high - 1])
        below, above, j = low, high, low
        rises_below = rises_at = 0.0
        while j < above:
            rise = rises[j]
            swapped = kinks[j]
            if swapped < pivot:
                rises_below += rise
                kinks[j], rises[j] = kinks[below], rises[below]
                kinks[below], rises[below] = swapped, rise
                below += 1
                j += 1
            elif swapped > pivot:
                above -= 1
                kinks[j], rises[j] = kinks[above], rises[above]
                kinks[above], rises[above] = swapped, rise
            else:
                rises_at += rise
                j += 1
        if slope + curvature * pivot + rises_below >= 0.0:
            high = below
        elif slope + curvature * pivot + rises_below + rises_at >= 0.0:
            return pivot
        else:
            slope += rises_below + rises_at
            low = above
    return -slope / curvature


def line_search(const double[::1] old, const double[::1] new, double slope, double curvature,
                double[::1] kinks, double[::1] rises):
    """The k >= 0 that minimises the objective on the ray from one point through another."""
    cdef Py_ssize_t m = old.shape[0], n = 0, i
    cdef double e, k, limit, average = 1.0 / max(m, 1)
    if not new.shape[0] == kinks.shape[0] == rises.shape[0] == m:
        raise ValueError("old, new, kinks and rises differ in length")
    if not curvature > 0.0:
        return 0.0
    with nogil:
        for i in range(m):
            e = old[i] - new[i]
            if old[i] < 1.0 or (old[i] == 1.0 and e > 0.0):
                slope += e * average
        limit = -slope / curvature
        if slope < 0.0:
            for i in range(m):
                e = new[i] - old[i]
                if e != 0.0:
                    k = (1.0 - old[i]) / e
                    if 0.0 < k < limit:
                        kinks[n] = k
                        rises[n] = average * (e if e > 0.0 else -e)
                        n += 1
            limit = first_zero(&kinks[0], &rises[0], n, slope, curvature)
    return max(limit, 0.0)


def maximise(const double[:, :] gram, const double[::1] offsets, double[::1] beta,
             double tolerance, int64_t most):
    """Maximise beta.offsets - 1/2 beta'gram beta over the simplex by steps in two coordinates.

    Each step raises the coordinate of the largest gradient at the cost of the one that
    gains most by it. Ends when no point of the simplex can be better by more than the
    tolerance, or rounding hides a step.
    """
    cdef Py_ssize_t n = beta.shape[0], j, k, up, down
    cdef int64_t steps = 0
    cdef double level, slope, curvature, step, gain, best, length
    cdef double[::1] gradient = np.empty(max(n, 1))
    cdef const double *line
    cdef const double *other
    if offsets.shape[0] != n or gram.shape[0] != n or gram.shape[1] != n:
        raise ValueError("gram, offsets and beta do not belong together")
    if n > 1 and gram.strides[1] != sizeof(double):
        raise ValueError("gram's rows are not contiguous")
    with nogil:
        for j in range(n):
            gradient[j] = offsets[j]
            for k in range(n):
                gradient[j] -= gram[j, k] * beta[k]
        while n > 1 and steps < most:
            up = 0
            level = 0.0
            for j in range(n):
                level += gradient[j] * beta[j]
                if gradient[j] > gradient[up]:
                    up = j
            if gradient[up] - level <= tolerance:
                break
            line = &gram[up, 0]
            best = length = 0.0
            down = up
            for j in range(n):
                if beta[j] > 0.0:
                    slope = gradient[up] - gradient[j]
                    curvature = line[up] + gram[j, j] - 2.0 * line[j]
                    step = beta[j]
                    if curvature * step > slope:
                        step = slope / curvature
                    gain = step * (slope - 0.5 * curvature * step)
                    if gain > best:
                        best, length, down = gain, step, j
            if best <= 0.0 or beta[up] + length == beta[up]:
                break
            other = &gram[down, 0]
            beta[up] += length
            beta[down] -= length  # exactly zero where all of it goes
            for j in range(n):
                gradient[j] -= length * (line[j] - other[j])
            steps += 1
    return steps
