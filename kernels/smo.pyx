# Sequential minimal optimisation inside a working set of rows.
#
#   problem   max D(alpha) = 1/m sum (alpha_i - nu alpha_i^2/2) - lam/2 ||w(alpha)||^2 over the
#             box of the hinge, the squared or the smoothed hinge, with sum alpha_i y_i = 0
#   update    f_k = y_k (1 - nu alpha_k) - w.x_k;  up: y_k alpha_k may grow, low: may fall
#                 i = argmax f over up
#                 j = argmax (f_i - f_j)^2/a_ij over the rows of low with f_j < f_i
#                 a_ij = ||x_i - x_j||^2/(lam m) + 2 nu
#                 step = (f_i - f_j)/a_ij, cut where alpha_i or alpha_j meets its bound
#                 alpha_i += y_i step,  alpha_j -= y_j step
#             f is kept for the q rows of the set through the matrix of their products; w and
#             all other f are updated once a set, by the caller
#   cost      O(q) a step; the matrix costs q times the entries of the set's rows
#   source    Platt (1999); Fan, Chen and Lin, JMLR 6 (2005), WSS 2;
#             Joachims, Making large-scale SVM learning practical (1999): working sets

from libc.math cimport INFINITY
from libc.stdint cimport int64_t

import numpy as np

from .loss cimport Loss, make_loss
from .provenance cimport build_record
from .rows cimport CompactRows, row_axpy, row_dot, row_nonzeros

__build__ = build_record()

# Least a_ij, as a share of its terms: below, x_i and x_j are the same row but for rounding.
cdef double SAME = 1e-12


def products(CompactRows rows, const int64_t[::1] chosen, double[::1] room):
    """Matrix of x_i.x_j over the chosen rows, shape (q, q), and the entries read for it.

    Parameters
    ----------
    rows : CompactRows
    chosen : ndarray of int64, shape (q,)
        Rows, 0 .. m - 1.
    room : ndarray of float64, shape (d,)
        Zeros, as it is left.
    """
    cdef Py_ssize_t q = chosen.shape[0]
    cdef double[:, ::1] out = np.empty((q, q))
    cdef double nothing = 0
    cdef double *row = &room[0] if rows.c.d else &nothing
    cdef Py_ssize_t a, b, entries = 0
    if room.shape[0] != rows.c.d:
        raise ValueError("rows and room do not belong together")
    for a in range(q):
        if not 0 <= chosen[a] < rows.c.m:
            raise ValueError("a row is chosen that is not there")
    with nogil:
        for a in range(q):
            row_axpy(&rows.c, chosen[a], 1.0, row)
            entries += (a + 3) * row_nonzeros(&rows.c, chosen[a])
            for b in range(a, q):
                out[a, b] = out[b, a] = row_dot(&rows.c, chosen[b], row)
            row_axpy(&rows.c, chosen[a], -1.0, row)
    return np.asarray(out), entries


def solve(const double[:, ::1] matrix, const double[::1] y, double[::1] alpha, double[::1] f,
          double lam_m, int kind, double gamma, double tolerance, int64_t most):
    """Pair steps until no pair of the set violates by more than ``tolerance``.

    Parameters
    ----------
    matrix : ndarray of float64, shape (q, q)
        Products of the rows.
    y : ndarray of float64, shape (q,)
    alpha, f : ndarray of float64, shape (q,)
        Updated in place.
    lam_m : float
        lambda times the number of all rows.
    kind, gamma
        The loss: 0 hinge, 1 squared hinge, 2 smoothed hinge of width gamma.
    tolerance : float
        On max of f over up - min of f over low.
    most : int
        Steps after which to return in any case.

    Returns
    -------
    int
        Pair steps made.
    """
    cdef Loss loss = make_loss(kind, gamma)
    cdef Py_ssize_t q = alpha.shape[0]
    cdef Py_ssize_t i, j, k
    cdef int64_t steps = 0
    cdef double highest, lowest, gain, best, terms, a, least, step, room
    if not (matrix.shape[0] == matrix.shape[1] == q == y.shape[0] == f.shape[0]):
        raise ValueError("matrix, y, alpha and f do not belong together")
    with nogil:
        while steps < most:
            i = j = -1
            highest = -INFINITY
            for k in range(q):
                if f[k] > highest and (alpha[k] < loss.upper if y[k] > 0 else alpha[k] > 0):
                    highest = f[k]
                    i = k
            if i < 0:
                break
            best = 0
            lowest = INFINITY
            for k in range(q):
                if not (alpha[k] > 0 if y[k] > 0 else alpha[k] < loss.upper):
                    continue
                lowest = min(lowest, f[k])
                gain = highest - f[k]
                if gain <= 0:
                    continue
                terms = (matrix[i, i] + matrix[k, k]) / lam_m + 2 * loss.nu
                a = max(terms - 2 * matrix[i, k] / lam_m, SAME * terms)
                gain = gain * gain / a if a > 0 else INFINITY
                if gain > best:
                    best = gain
                    j = k
                    least = a
            if j < 0 or highest - lowest <= tolerance:
                break
            step = (highest - f[j]) / least if least > 0 else INFINITY
            room = loss.upper - alpha[i] if y[i] > 0 else alpha[i]
            step = min(step, room)
            room = alpha[j] if y[j] > 0 else loss.upper - alpha[j]
            step = min(step, room)
            # A step as long as the room ends on the bound exactly: a - a = 0 and, in the box
            # from 0 to 1, a + (1 - a) = 1.
            alpha[i] += y[i] * step
            alpha[j] -= y[j] * step
            for k in range(q):
                f[k] -= step / lam_m * (matrix[i, k] - matrix[j, k])
            f[i] -= loss.nu * step
            f[j] += loss.nu * step
            steps += 1
    return steps
