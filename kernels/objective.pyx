# Objective values: svmbench's one definition of P, D and the error count.
#
#   P(w, b)  = lam/2 ||w||^2 + 1/m sum_i loss(y_i (w.x_i + b))     b = 0 where there is no bias
#   w(alpha) = 1/(lam m) sum_i alpha_i y_i x_i
#   D(alpha) = 1/m sum_i q(alpha_i) - lam/2 ||w(alpha)||^2        D(alpha) <= P* <= P(w)
#
# One pass over the rows each, n_i multiply-adds a row, in double whatever the precision of the
# solver; `losses` and `conjugates` give the terms alone. The sums over rows are compensated
# (Neumaier, ZAMM 54, 1974): the certificate P - D is a small difference of two of them.

from libc.math cimport INFINITY, fabs, fma
from libc.stdint cimport int32_t

import numpy as np

from .loss cimport (
    LOGISTIC, Loss, hinge_value, loss_conjugate, loss_of, loss_value, make_loss,
)
from .normal cimport unpack_row
from .provenance cimport build_record
from .rows cimport CompactRows, row_axpy, row_dot

__build__ = build_record()

cdef struct Sum:
    double total
    double lost


cdef inline void add(Sum *s, double x) noexcept nogil:
    cdef double total = s.total + x
    if fabs(s.total) >= fabs(x):
        s.lost += (s.total - total) + x
    else:
        s.lost += (x - total) + s.total
    s.total = total


cdef inline double value(Sum s) noexcept nogil:
    # An overflowed sum is inf; its correction, inf - inf, must not make it nan.
    return s.total + s.lost if fabs(s.total) <= 1.7e308 else s.total


cdef int _check(CompactRows rows, const double[::1] w) except -1:
    if w.shape[0] != rows.c.d:
        raise ValueError(f"w has {w.shape[0]} entries, the rows {rows.c.d} features")
    return 0


def loss_and_errors(CompactRows rows, const double[::1] w, int kind, double gamma=1.0,
                    double bias=0.0):
    """Sum of the losses and number of errors at (w, bias), in one pass."""
    _check(rows, w)
    cdef Loss loss = make_loss(kind, gamma)
    cdef Sum total
    cdef Py_ssize_t i, errors = 0
    cdef double s
    total.total = total.lost = 0.0
    cdef double nothing = 0
    cdef const double *weights = &w[0] if rows.c.d else &nothing
    with nogil:
        for i in range(rows.c.m):
            s = rows.c.labels[i] * (row_dot(&rows.c, i, weights) + bias)
            add(&total, loss_value(loss, s))
            errors += not s > 0.0
    return value(total), errors


def loss_at_most(CompactRows rows, const double[::1] w, int kind, double gamma=1.0,
                 double bias=0.0, weights=None):
    """No less than the sum of c_i loss(s_i), but for a few roundings of the sum itself.

    s_i - 1 (with the logistic loss, s_i) is computed as if in twice the precision. Its rounding is
    at most u |s_i - 1| + (n u)^2 (1 + |b| + sum_j |w_j x_ij|) (Ogita, Rump and Oishi, SIAM J. Sci.
    Comput. 26, 2005, Proposition 5.5), and the losses fall as margins grow. Some five times the
    time of `loss_and_errors`.

    The largest 1 - s_i > 0 that the rounding of a margin in double precision explains is returned,
    too; 0 with the logistic loss.
    """
    _check(rows, w)
    cdef Loss loss = make_loss(kind, gamma)
    cdef double less = 0.0 if kind == LOGISTIC else 1.0
    cdef double unit = 2.0 ** -53, least = 5e-324
    cdef int32_t[::1] columns = np.empty(rows.c.d + 1, dtype=np.int32)
    cdef double[::1] values = np.empty(rows.c.d + 1)
    cdef bint weighted = weights is not None
    cdef const double[::1] c = weights if weighted else values
    if weighted and c.shape[0] != rows.c.m:
        raise ValueError(f"{c.shape[0]} weights for {rows.c.m} rows")
    cdef Sum total
    cdef double term, sum_, size, lost, part, product, off, s, share, short_by = 0.0
    cdef Py_ssize_t i, k, n
    total.total = total.lost = 0.0
    with nogil:
        for i in range(rows.c.m):
            n = unpack_row(&rows.c, i, &columns[0], &values[0])
            sum_, lost, size = bias, 0.0, fabs(bias) + less
            for k in range(n + 1):
                if k < n:
                    product = w[columns[k]] * values[k]
                    lost += fma(w[columns[k]], values[k], -product)
                    size += fabs(product)
                else:
                    product = -less * rows.c.labels[i]
                term = sum_ + product
                part = term - sum_
                lost += (sum_ - (term - part)) + (product - part)
                sum_ = term
            s = rows.c.labels[i] * (sum_ + lost)
            share = (n + 4) * unit
            off = 1.01 * (2.0 * unit * fabs(s) + share * share * size) + (n + 4) * least
            if kind == LOGISTIC:
                term = loss_value(loss, s - off)
            else:
                term = hinge_value(loss, off - s)
                if short_by < off - s <= share * size + off:
                    short_by = off - s
            add(&total, c[i] * term if weighted else term)
    return value(total), short_by


def combination(CompactRows rows, const double[::1] alpha):
    """Sum of alpha_i y_i x_i over the rows, shape (d,), float64."""
    if alpha.shape[0] != rows.c.m:
        raise ValueError(f"alpha has {alpha.shape[0]} entries for {rows.c.m} rows")
    cdef double[::1] out = np.zeros(max(rows.c.d, 1))
    cdef Py_ssize_t i
    with nogil:
        for i in range(rows.c.m):
            if alpha[i] != 0.0:
                row_axpy(&rows.c, i, alpha[i] * rows.c.labels[i], &out[0])
    return np.asarray(out)[:rows.c.d]


def exact_combination(CompactRows rows, const double[::1] alpha):
    """The sum of `combination` as if in twice the precision, and what bounds its rounding.

    The sum of each feature is compensated (Ogita, Rump and Oishi, SIAM J. Sci. Comput. 26, 2005,
    Algorithm 4.4). Three to four times the time of `combination`.
    """
    if alpha.shape[0] != rows.c.m:
        raise ValueError(f"alpha has {alpha.shape[0]} entries for {rows.c.m} rows")
    cdef int32_t[::1] columns = np.empty(rows.c.d + 1, dtype=np.int32)
    cdef double[::1] values = np.empty(rows.c.d + 1)
    # The total, what rounding took from it, and the size: next to each other, as all are needed.
    cdef double[:, ::1] sums = np.zeros((max(rows.c.d, 1), 3))
    cdef double *cell
    cdef double c, term, total, part
    cdef Py_ssize_t i, k, n
    with nogil:
        for i in range(rows.c.m):
            if alpha[i] == 0.0:
                continue
            c = alpha[i] * rows.c.labels[i]
            n = unpack_row(&rows.c, i, &columns[0], &values[0])
            for k in range(n):
                cell = &sums[columns[k], 0]
                term = c * values[k]
                total = cell[0] + term
                part = total - cell[0]
                cell[1] += (cell[0] - (total - part)) + (term - part)
                cell[0] = total
                cell[2] += fabs(term)
    found = np.asarray(sums)[:rows.c.d]
    return found[:, 0] + found[:, 1], np.ascontiguousarray(found[:, 2])


def conjugate_sum(const double[::1] alpha, int kind, double gamma=1.0):
    """Sum of q(alpha_i); -inf when an alpha lies outside its box."""
    cdef Loss loss = make_loss(kind, gamma)
    cdef Sum total
    cdef Py_ssize_t i
    cdef bint feasible = True
    total.total = total.lost = 0.0
    with nogil:
        for i in range(alpha.shape[0]):
            feasible = feasible and 0.0 <= alpha[i] <= loss.upper and alpha[i] < INFINITY
            add(&total, loss_conjugate(loss, alpha[i]))
    return value(total) if feasible else -INFINITY


def balance(CompactRows rows, const double[::1] alpha):
    """Sums of alpha_i over the rows of label +1 and over those of label -1.

    With a free bias a feasible alpha has equal sums.
    """
    if alpha.shape[0] != rows.c.m:
        raise ValueError(f"alpha has {alpha.shape[0]} entries for {rows.c.m} rows")
    cdef Sum positive, negative
    cdef Py_ssize_t i
    positive.total = positive.lost = negative.total = negative.lost = 0.0
    with nogil:
        for i in range(rows.c.m):
            if rows.c.labels[i] > 0:
                add(&positive, alpha[i])
            else:
                add(&negative, alpha[i])
    return value(positive), value(negative)


cdef object _of_each(double (*term)(Loss, double) noexcept nogil,
                     const double[::1] numbers, loss):
    cdef Loss of = loss_of(loss)
    cdef double[::1] out = np.empty(numbers.shape[0])
    cdef Py_ssize_t i
    with nogil:
        for i in range(numbers.shape[0]):
            out[i] = term(of, numbers[i])
    return np.asarray(out)


def losses(const double[::1] margins, loss):
    """The loss at each margin, shape (m,)."""
    return _of_each(loss_value, margins, loss)


def conjugates(const double[::1] alpha, loss):
    """The conjugate q at each dual variable, shape (m,)."""
    return _of_each(loss_conjugate, alpha, loss)
