# Dual coordinate descent on the hinge, as fast as memory lets it be: the champion's dual phase.
#
#   problem   max D(alpha) = 1/m sum alpha_i - lam/2 ||w(alpha)||^2 over 0 <= alpha_i <= 1,
#             w = w(alpha) = 1/(lam m) sum alpha_i y_i x_i kept in step
#   update    alpha_i <- clip(alpha_i - lam m G / ||x_i||^2, 0, 1),   G = y_i w.x_i - 1
#   order     active rows in random blocks of rows that follow each other in memory, four blocks
#             abreast, laid anew each pass (sampling.pyx); in true random order where that is asked
#   records   what a step needs of a row besides its entries stands together in 32 bytes
#   shrinking a row leaves where alpha_i sits on a bound and G points outwards by more than any
#             projected gradient of the last pass; `survey` looks at all rows, and calls back
#             whatever it finds wrong, so that none can stay out
#   cost      n_i for the inner product, n_i more where alpha_i moves
#   source    Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008; order and survey are ours
#
# The loops are compiled once for each storage of the rows: at 12 entries a row it is worth it.

from libc.float cimport DBL_MAX
from libc.math cimport INFINITY
from libc.stdint cimport int8_t, int32_t, int64_t, uint16_t

import numpy as np

from svmbench.kernels.sampling import draw_blocks

from .counters cimport Counters
from .provenance cimport build_record
from .rng cimport Generator
from .rows cimport (
    DENSE_F32, DENSE_F64, I32_F32, I32_F64, I32_ONES, U16_F32, U16_F64, U16_ONES,
    CompactRows, Rows, prefetch, row_nonzeros, sum_squares,
)

__build__ = build_record()

# int8 stands for what is not stored: the columns of dense rows, values that are all one.
ctypedef fused column_t:
    int8_t
    uint16_t
    int32_t

ctypedef fused entry_t:
    int8_t
    float
    double

cdef struct Record:
    int64_t start       # where the row's entries begin
    int32_t n           # how many there are
    float y
    double inverse      # lam m / ||x_i||^2; 0 until the row is met
    double alpha

# Records and rows ahead at which memory is asked for them; cache lines.
cdef enum:
    RECORD_AHEAD = 12
    ROW_AHEAD = 6
    LINE = 64                   # bytes
    LINES = 6                   # of each array, whence the processor goes on by itself


cdef struct Pass:
    double upper, lower         # a row whose gradient lies beyond is shrunk
    double largest, smallest    # extremes of the projected gradient
    double slack                # sum of the rows' shares of P - D, as each was met
    double rise                 # change of the sum of alpha_i
    int64_t updates, nonzeros


cdef inline double dot(const column_t *j, const entry_t *x, Py_ssize_t n,
                       const double *w) noexcept nogil:
    cdef double s0 = 0, s1 = 0, s2 = 0, s3 = 0
    cdef Py_ssize_t k = 0
    while k + 4 <= n:
        if column_t is int8_t:
            s0 += x[k] * w[k]
            s1 += x[k + 1] * w[k + 1]
            s2 += x[k + 2] * w[k + 2]
            s3 += x[k + 3] * w[k + 3]
        elif entry_t is int8_t:
            s0 += w[j[k]]
            s1 += w[j[k + 1]]
            s2 += w[j[k + 2]]
            s3 += w[j[k + 3]]
        else:
            s0 += x[k] * w[j[k]]
            s1 += x[k + 1] * w[j[k + 1]]
            s2 += x[k + 2] * w[j[k + 2]]
            s3 += x[k + 3] * w[j[k + 3]]
        k += 4
    while k < n:
        if column_t is int8_t:
            s0 += x[k] * w[k]
        elif entry_t is int8_t:
            s0 += w[j[k]]
        else:
            s0 += x[k] * w[j[k]]
        k += 1
    return (s0 + s1) + (s2 + s3)


cdef inline void axpy(double c, const column_t *j, const entry_t *x, Py_ssize_t n,
                      double *w) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        if column_t is int8_t:
            w[k] += c * x[k]
        elif entry_t is int8_t:
            w[j[k]] += c
        else:
            w[j[k]] += c * x[k]


cdef inline double inverse_norm2(const column_t *j, const entry_t *x, Py_ssize_t n,
                                 double lam_m) noexcept nogil:
    # Of a row that moves nothing it is as good as infinite: its alpha goes to 1 at once.
    cdef double norm2
    if entry_t is int8_t:
        norm2 = n
    else:
        norm2 = sum_squares(x, n)
    return min(lam_m / norm2, DBL_MAX) if norm2 > 0.0 else DBL_MAX


cdef inline void prefetch_entries(const Record *record, const column_t *columns,
                                  const entry_t *entries) noexcept nogil:
    cdef const char *first
    cdef Py_ssize_t k = 0, size
    if column_t is not int8_t:
        first = <const char *> (columns + record.start)
        size = record.n * <Py_ssize_t> sizeof(column_t)
        while k < size and k < LINES * LINE:
            prefetch(first + k)
            k += LINE
    if entry_t is not int8_t:
        first = <const char *> (entries + record.start)
        size = record.n * <Py_ssize_t> sizeof(entry_t)
        k = 0
        while k < size and k < LINES * LINE:
            prefetch(first + k)
            k += LINE


cdef void descend(Record *records, const int32_t *order, Py_ssize_t n, const column_t *columns,
                  const entry_t *entries, double lam_m, double *w, int8_t *leaves,
                  Pass *state) noexcept nogil:
    """One pass over the records in this order; ``leaves`` marks those to be shrunk."""
    cdef double upper = state.upper, lower = state.lower
    cdef double largest = -INFINITY, smallest = INFINITY, slack = 0.0, rise = 0.0
    cdef double gradient, old, new
    cdef int64_t updates = 0, nonzeros = 0
    cdef Py_ssize_t position
    cdef Record *record
    cdef const column_t *j
    cdef const entry_t *x
    for position in range(n):
        if position + RECORD_AHEAD < n:
            prefetch(&records[order[position + RECORD_AHEAD]])
            if position + ROW_AHEAD < n:
                prefetch_entries(&records[order[position + ROW_AHEAD]], columns, entries)
        record = &records[order[position]]
        j = columns + record.start
        x = entries + record.start
        old = record.alpha
        if record.inverse == 0.0:
            record.inverse = inverse_norm2(j, x, record.n, lam_m)
        gradient = record.y * dot(j, x, record.n, w) - 1.0
        nonzeros += record.n
        leaves[order[position]] = 0
        if old <= 0.0:
            if gradient >= 0.0:
                leaves[order[position]] = gradient > upper
                largest = max(largest, 0.0)
                smallest = min(smallest, 0.0)
                continue
        elif old >= 1.0:
            if gradient <= 0.0:
                leaves[order[position]] = gradient < lower
                largest = max(largest, 0.0)
                smallest = min(smallest, 0.0)
                continue
        largest = max(largest, gradient)
        smallest = min(smallest, gradient)
        slack += old * gradient if gradient > 0.0 else (old - 1.0) * gradient
        new = min(max(old - gradient * record.inverse, 0.0), 1.0)
        if new != old:
            record.alpha = new
            rise += new - old
            axpy((new - old) * record.y / lam_m, j, x, record.n, w)
            nonzeros += record.n
            updates += 1
    state.largest = largest
    state.smallest = smallest
    state.slack = slack
    state.rise = rise
    state.updates += updates
    state.nonzeros += nonzeros


cdef void margins(const Record *records, Py_ssize_t n, const column_t *columns,
                  const entry_t *entries, const double *w, double *out) noexcept nogil:
    cdef Py_ssize_t k
    for k in range(n):
        out[k] = records[k].y * dot(columns + records[k].start, entries + records[k].start,
                                    records[k].n, w)


cdef class Descent(Counters):
    """Dual variables, weights and the records of the rows that are active.

    Parameters
    ----------
    rows : CompactRows
    lam : float

    Attributes
    ----------
    w : ndarray of float64, shape (d,)
        The weights. Read only.
    m, active : int
        Rows that have entries; those of them that take part in passes.
    upper, lower : float
        Shrinking thresholds of the next pass.
    largest, smallest : float
        Extremes of the projected gradient in the last pass, or over all rows in a survey.
    alpha_sum : float
        Sum of alpha_i over all rows.
    slack_sum : float
        After a survey m (P - D); after a pass the part of it that is its rows', each as it was met.
    """

    cdef readonly CompactRows rows
    cdef readonly object w
    cdef readonly double lam, slack_sum, alpha_sum, largest, smallest
    cdef public double upper, lower
    cdef readonly Py_ssize_t active, m
    cdef double[::1] _w, _alpha, _margin
    cdef int32_t[::1] _row, _order, _places
    cdef int8_t[::1] _leaves
    cdef object _buffer
    cdef Record[::1] _records

    def __init__(self, CompactRows rows, double lam):
        cdef Py_ssize_t m = rows.c.m, i, k = 0
        self.rows, self.lam = rows, lam
        self.w = np.zeros(max(rows.c.d, 1))
        self._w = self.w
        self._alpha, self._margin = np.zeros(m), np.empty(m)
        self._row, self._order = np.empty(m, dtype=np.int32), np.empty(m, dtype=np.int32)
        self._places = np.arange(m, dtype=np.int32)
        self._leaves = np.zeros(m, dtype=np.int8)
        self._buffer = np.zeros(max(m, 1), dtype=np.dtype(
            [("start", "i8"), ("n", "i4"), ("y", "f4"), ("inverse", "f8"), ("alpha", "f8")]))
        self._records = self._buffer
        with nogil:
            for i in range(m):
                # A row without entries moves nothing; its alpha is 1 from the start.
                if row_nonzeros(&rows.c, i) == 0:
                    self._alpha[i] = 1.0
                    continue
                self._put(k, i)
                k += 1
        self.m = self.active = k
        self.upper, self.lower = INFINITY, -INFINITY
        self.alpha_sum = m - k

    cdef void _put(self, Py_ssize_t k, Py_ssize_t i) noexcept nogil:
        cdef const Rows *rows = &self.rows.c
        cdef Record *record = &self._records[k]
        record.start = i * rows.d if rows.storage >= DENSE_F32 else rows.indptr[i]
        record.n = <int32_t> row_nonzeros(rows, i)
        record.y = rows.labels[i]
        record.inverse = 0.0
        record.alpha = self._alpha[i]
        self._row[k] = <int32_t> i

    @property
    def alpha(self):
        """The dual variables, shape (m,); a new array."""
        self._keep()
        return np.array(self._alpha)

    def descend(self, Generator rng, Py_ssize_t block_rows, bint shrinking):
        """One pass over the active rows.

        Parameters
        ----------
        rng : Generator
        block_rows : int
            Rows in a block; 1 for true random order.
        shrinking : bool
            Whether rows beyond the thresholds become inactive.
        """
        cdef const Rows *rows = &self.rows.c
        cdef Pass state
        cdef double lam_m = self.lam * rows.m
        cdef Record *records = &self._records[0]
        cdef const int32_t *order
        cdef double *w = &self._w[0]
        cdef int8_t *leaves
        if not self.active:
            self.slack_sum = 0.0
            return
        order, leaves = &self._order[0], &self._leaves[0]
        state.upper, state.lower = self.upper, self.lower
        state.largest = state.smallest = state.slack = state.rise = 0.0
        state.updates = state.nonzeros = 0
        if block_rows > 1:
            draw_blocks(rng, self._order[:self.active], self._places[:self.active], block_rows)
        else:
            self._order[:self.active] = self._places[:self.active]
            rng.shuffle(self._order[:self.active])
        with nogil:
            if rows.storage == U16_ONES:
                descend(records, order, self.active, <const uint16_t *> rows.indices,
                        <const int8_t *> NULL, lam_m, w, leaves, &state)
            elif rows.storage == U16_F32:
                descend(records, order, self.active, <const uint16_t *> rows.indices,
                        <const float *> rows.values, lam_m, w, leaves, &state)
            elif rows.storage == U16_F64:
                descend(records, order, self.active, <const uint16_t *> rows.indices,
                        <const double *> rows.values, lam_m, w, leaves, &state)
            elif rows.storage == I32_ONES:
                descend(records, order, self.active, <const int32_t *> rows.indices,
                        <const int8_t *> NULL, lam_m, w, leaves, &state)
            elif rows.storage == I32_F32:
                descend(records, order, self.active, <const int32_t *> rows.indices,
                        <const float *> rows.values, lam_m, w, leaves, &state)
            elif rows.storage == I32_F64:
                descend(records, order, self.active, <const int32_t *> rows.indices,
                        <const double *> rows.values, lam_m, w, leaves, &state)
            elif rows.storage == DENSE_F32:
                descend(records, order, self.active, <const int8_t *> NULL,
                        <const float *> rows.values, lam_m, w, leaves, &state)
            elif rows.storage == DENSE_F64:
                descend(records, order, self.active, <const int8_t *> NULL,
                        <const double *> rows.values, lam_m, w, leaves, &state)
        self.presentations += self.active
        self.updates += state.updates
        self.nonzeros += state.nonzeros
        self.largest, self.smallest, self.slack_sum = state.largest, state.smallest, state.slack
        self.alpha_sum += state.rise
        if shrinking:
            with nogil:
                self._shrink()
        self.upper = self.largest if self.largest > 0.0 else INFINITY
        self.lower = self.smallest if self.smallest < 0.0 else -INFINITY

    cdef void _shrink(self) noexcept nogil:
        """Drop the marked records, the others keep their order."""
        cdef Py_ssize_t k, n = 0
        for k in range(self.active):
            if self._leaves[k]:
                self._alpha[self._row[k]] = self._records[k].alpha
                continue
            if n != k:
                self._records[n] = self._records[k]
                self._row[n] = self._row[k]
            n += 1
        self.active = n

    cdef void _keep(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.active):
            self._alpha[self._row[k]] = self._records[k].alpha

    cdef void _all(self) noexcept nogil:
        cdef Py_ssize_t i, k = 0
        self._keep()
        for i in range(self.rows.c.m):
            if row_nonzeros(&self.rows.c, i) > 0:
                self._put(k, i)
                k += 1
        self.active = k

    def restore(self):
        """Make all rows active."""
        with nogil:
            if self.active < self.m:
                self._all()

    def survey(self, bint shrinking):
        """Find P - D over all rows, and make active all but those that shrinking would leave out.

        Afterwards slack_sum, largest and smallest are those of all rows, alpha_sum is exact.
        """
        cdef const Rows *rows = &self.rows.c
        cdef Record *records = &self._records[0]
        cdef double *w = &self._w[0]
        cdef double *out
        cdef double gradient, alpha, largest = -INFINITY, smallest = INFINITY
        cdef double slack = 0.0, alphas = rows.m - self.m
        cdef Py_ssize_t k
        if not self.m:
            self.slack_sum, self.alpha_sum = 0.0, alphas
            return
        out = &self._margin[0]
        with nogil:
            if self.active < self.m:
                self._all()
            if rows.storage == U16_ONES:
                margins(records, self.m, <const uint16_t *> rows.indices, <const int8_t *> NULL,
                        w, out)
            elif rows.storage == U16_F32:
                margins(records, self.m, <const uint16_t *> rows.indices,
                        <const float *> rows.values, w, out)
            elif rows.storage == U16_F64:
                margins(records, self.m, <const uint16_t *> rows.indices,
                        <const double *> rows.values, w, out)
            elif rows.storage == I32_ONES:
                margins(records, self.m, <const int32_t *> rows.indices, <const int8_t *> NULL,
                        w, out)
            elif rows.storage == I32_F32:
                margins(records, self.m, <const int32_t *> rows.indices,
                        <const float *> rows.values, w, out)
            elif rows.storage == I32_F64:
                margins(records, self.m, <const int32_t *> rows.indices,
                        <const double *> rows.values, w, out)
            elif rows.storage == DENSE_F32:
                margins(records, self.m, <const int8_t *> NULL, <const float *> rows.values,
                        w, out)
            else:
                margins(records, self.m, <const int8_t *> NULL, <const double *> rows.values,
                        w, out)
            for k in range(self.m):
                gradient = out[k] - 1.0
                alpha = records[k].alpha
                alphas += alpha
                slack += alpha * gradient if gradient > 0.0 else (alpha - 1.0) * gradient
                self._leaves[k] = ((alpha <= 0.0 and gradient > self.upper)
                                   or (alpha >= 1.0 and gradient < self.lower))
                if (alpha <= 0.0 and gradient >= 0.0) or (alpha >= 1.0 and gradient <= 0.0):
                    gradient = 0.0
                largest = max(largest, gradient)
                smallest = min(smallest, gradient)
            if shrinking:
                self._shrink()
        self.presentations += self.m
        self.nonzeros += rows.m * rows.d if rows.indptr == NULL else rows.indptr[rows.m]
        self.slack_sum, self.alpha_sum = slack, alphas
        self.largest, self.smallest = largest, smallest
