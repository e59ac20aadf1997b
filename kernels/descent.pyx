# Dual coordinate descent on the hinge, as fast as memory allows: the champion's dual phase.
#
#   problem   max D(alpha) = 1/m sum alpha_i - lam/2 ||w(alpha)||^2 over 0 <= alpha_i <= 1,
#             w = w(alpha) = 1/(lam m) sum alpha_i y_i x_i kept in step
#   update    alpha_i <- clip(alpha_i - lam m G / ||x_i||^2, 0, 1),   G = y_i w.x_i - 1
#   order     active rows in random blocks of rows that are neighbours in memory; four blocks are
#             read in turn, and blocks differ from pass to pass (sampling.pyx). On request, a true
#             random order
#   records   what a step needs of a row besides its entries is stored together: 32 bytes, or 16
#             for a dense row, whose place and length follow from its number
#   gain      of a step: |new - old| |G| / 2. It is m times the rise of D, or at least half of that
#             where the box cuts the step. On request, steps that would gain little are left out,
#             and `revisit` visits rows again whose steps gained much
#   shrinking a row leaves when alpha_i is at a bound and G points outwards by more than any
#             projected gradient of the last pass; `survey` checks all rows, and makes a row that
#             was left out wrongly active again
#   cost      n_i for the inner product, n_i more where alpha_i moves
#   source    Hsieh, Chang, Lin, Keerthi and Sundararajan, ICML 2008; order and survey are ours
#
# The loops are compiled once for each storage of the rows: at 12 entries a row it is worth it.

from libc.float cimport DBL_MAX, FLT_MAX, FLT_MIN
from libc.math cimport INFINITY, copysign, fabs
from libc.stdint cimport int8_t, int32_t, int64_t, uint16_t

import numpy as np

from svmbench.kernels.sampling import draw_blocks
from svmbench.kernels.room import zeros

from .counters cimport Counters
from .pairs cimport axpy_in_pairs, dot_in_pairs
from .provenance cimport build_record
from .rng cimport Generator, rng_shuffle
from .rows cimport (
    DENSE_F32, I32_F32, I32_F64, I32_ONES, U16_F32, U16_F64, U16_ONES,
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

cdef struct DenseRecord:
    int32_t row
    float inverse       # with the sign of y; 0 until the row is met, or where it is too small
    double alpha

# A row as a step needs it, whatever its record.
cdef struct Met:
    int64_t start
    Py_ssize_t n
    double y, inverse
    double *alpha

# The same two, as NumPy knows them.
RECORD = np.dtype([("start", "i8"), ("n", "i4"), ("y", "f4"), ("inverse", "f8"), ("alpha", "f8")])
DENSE_RECORD = np.dtype([("row", "i4"), ("inverse", "f4"), ("alpha", "f8")])

# Records and rows ahead at which memory is asked for them; cache lines.
cdef enum:
    RECORD_AHEAD = 12
    ROW_AHEAD = 6
    LINE = 64                   # bytes
    LINES = 6                   # of each array, whence the processor goes on by itself
    MARGINS = 512               # found at a time in a survey

# What becomes of a record after its visit.
cdef enum:
    STAYS = 0
    LEAVES = 1                  # it is shrunk
    AGAIN = 2                   # it is visited again before the next pass


# What a survey finds of some records.
cdef struct Survey:
    double slack, scaled, alphas, largest, smallest


cdef struct Pass:
    double upper, lower         # a row whose gradient lies beyond is shrunk
    double largest, smallest    # extremes of the projected gradient
    double slack                # sum of the rows' shares of P - D, as each was met
    double rise                 # change of the sum of alpha_i
    double total                # sum of the projected gradients' absolute values
    double least, high          # gains per entry: a step below is left out, one above repeated
    double gain                 # of all steps
    int64_t entries, moved      # of all rows met, and of those that moved
    int64_t updates
    Py_ssize_t again            # records to visit again
    bint varied                 # as that of `Descent`


# What the last entries of a row count beyond fours, and places after its end.
cdef double *COUNTS = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]


cdef inline double dot(const column_t *j, const entry_t *x, Py_ssize_t n, const double *w,
                       bint varied) noexcept nogil:
    cdef double s0 = 0, s1 = 0, s2 = 0, s3 = 0
    cdef Py_ssize_t k = 0, last
    if column_t is not int8_t and entry_t is float:
        return dot_in_pairs(j, x, n, w)
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
    if column_t is not int8_t and entry_t is int8_t and varied:
        # A branch that cannot be predicted would cost more than up to three places too many.
        last = n - 1
        s0 += COUNTS[k + 3 - n] * w[j[min(k, last)]]
        s0 += COUNTS[k + 4 - n] * w[j[min(k + 1, last)]]
        s0 += COUNTS[k + 5 - n] * w[j[min(k + 2, last)]]
        return (s0 + s1) + (s2 + s3)
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
    if column_t is not int8_t and entry_t is float:
        axpy_in_pairs(c, j, x, n, w)
        return
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


cdef inline Met met(void *records, Py_ssize_t k, Py_ssize_t d, const column_t *_) noexcept nogil:
    """The k-th record; which kind it is, the type of the columns tells."""
    cdef Met row
    cdef DenseRecord *dense
    cdef Record *record
    if column_t is int8_t:
        dense = <DenseRecord *> records + k
        row.start = <int64_t> dense.row * d
        row.n = d
        row.y = copysign(1.0, dense.inverse)
        row.inverse = fabs(dense.inverse)
        row.alpha = &dense.alpha
    else:
        record = <Record *> records + k
        row.start = record.start
        row.n = record.n
        row.y = record.y
        row.inverse = record.inverse
        row.alpha = &record.alpha
    return row


cdef inline double keep_inverse(void *records, Py_ssize_t k, double inverse,
                                const column_t *_) noexcept nogil:
    """Have the k-th record hold an inverse; the value to go on with."""
    cdef DenseRecord *dense
    if column_t is int8_t:
        # The optimum does not depend on it, and a step of a length so little off gains as much.
        dense = <DenseRecord *> records + k
        inverse = min(inverse, <double> FLT_MAX)
        if inverse >= FLT_MIN:
            dense.inverse = copysign(<float> inverse, dense.inverse)
            return fabs(dense.inverse)
    else:
        (<Record *> records + k).inverse = inverse
    return inverse


cdef inline void prefetch_record(const void *records, Py_ssize_t k,
                                 const column_t *_) noexcept nogil:
    if column_t is int8_t:
        prefetch(<const DenseRecord *> records + k)
    else:
        prefetch(<const Record *> records + k)


cdef inline void prefetch_row(int64_t at, Py_ssize_t n, const column_t *columns,
                              const entry_t *entries) noexcept nogil:
    cdef const char *first
    cdef Py_ssize_t k = 0, size
    if column_t is not int8_t:
        first = <const char *> (columns + at)
        size = n * <Py_ssize_t> sizeof(column_t)
        while k < size and k < LINES * LINE:
            prefetch(first + k)
            k += LINE
        # A short row may end on a line of its own.
        prefetch(first + size - 1)
    if entry_t is not int8_t:
        first = <const char *> (entries + at)
        size = n * <Py_ssize_t> sizeof(entry_t)
        k = 0
        while k < size and k < LINES * LINE:
            prefetch(first + k)
            k += LINE


cdef inline void prefetch_entries(void *records, Py_ssize_t at, Py_ssize_t d,
                                  const column_t *columns,
                                  const entry_t *entries) noexcept nogil:
    cdef Met row = met(records, at, d, columns)
    prefetch_row(row.start, row.n, columns, entries)


cdef void begin_pass(Pass *state, double upper, double lower, double least,
                     double high) noexcept nogil:
    state.upper, state.lower, state.least, state.high = upper, lower, least, high
    state.largest, state.smallest = -INFINITY, INFINITY
    state.slack = state.rise = state.total = state.gain = 0.0
    state.entries = state.moved = state.updates = 0
    state.again = 0


cdef void descend(void *records, int32_t *order, Py_ssize_t n, Py_ssize_t d,
                  const column_t *columns, const entry_t *entries, double lam_m, double *w,
                  int8_t *fate, Pass *state) noexcept nogil:
    """Visit the first n records of this order; add to ``state``.

    Afterwards the order begins with those to be visited again. ``fate``, all zeros before, tells
    what becomes of each record.
    """
    cdef double upper = state.upper, lower = state.lower, least = state.least, high = state.high
    cdef double largest = state.largest, smallest = state.smallest
    cdef double slack = 0.0, rise = 0.0, gains = 0.0, total = 0.0
    cdef double gradient, old, new, change, gain
    cdef int64_t updates = 0, met_entries = 0, moved_entries = 0
    cdef Py_ssize_t position, k, again = state.again
    cdef bint varied = state.varied
    cdef Met row
    cdef const column_t *j
    cdef const entry_t *x
    for position in range(n):
        if position + RECORD_AHEAD < n:
            prefetch_record(records, order[position + RECORD_AHEAD], columns)
            if position + ROW_AHEAD < n:
                prefetch_entries(records, order[position + ROW_AHEAD], d, columns, entries)
        k = order[position]
        row = met(records, k, d, columns)
        j = columns + row.start
        x = entries + row.start
        old = row.alpha[0]
        if row.inverse == 0.0:
            row.inverse = keep_inverse(records, k, inverse_norm2(j, x, row.n, lam_m), columns)
        gradient = row.y * dot(j, x, row.n, w, varied) - 1.0
        met_entries += row.n
        if old <= 0.0:
            if gradient >= 0.0:
                if gradient > upper:
                    fate[k] = LEAVES
                largest = max(largest, 0.0)
                smallest = min(smallest, 0.0)
                continue
        elif old >= 1.0:
            if gradient <= 0.0:
                if gradient < lower:
                    fate[k] = LEAVES
                largest = max(largest, 0.0)
                smallest = min(smallest, 0.0)
                continue
        largest = max(largest, gradient)
        smallest = min(smallest, gradient)
        total += fabs(gradient)
        slack += old * gradient if gradient > 0.0 else (old - 1.0) * gradient
        new = min(max(old - gradient * row.inverse, 0.0), 1.0)
        change = new - old
        if change == 0.0:
            continue
        gain = -0.5 * change * gradient
        if least > 0.0 and gain < least * row.n:
            continue
        row.alpha[0] = new
        rise += change
        gains += gain
        if gain > high * row.n:
            # Of the order, what comes before this position is not needed any more.
            fate[k] = AGAIN
            order[again] = <int32_t> k
            again += 1
        axpy(change * row.y / lam_m, j, x, row.n, w)
        moved_entries += row.n
        updates += 1
    state.largest = largest
    state.smallest = smallest
    state.slack += slack
    state.rise += rise
    state.total += total
    state.gain += gains
    state.again = again
    state.entries += met_entries
    state.updates += updates
    state.moved += moved_entries


cdef void margins(void *records, Py_ssize_t begin, Py_ssize_t end, Py_ssize_t d,
                  const column_t *columns, const entry_t *entries, const double *w, bint varied,
                  double *out) noexcept nogil:
    cdef Py_ssize_t k
    cdef Met row
    for k in range(begin, end):
        row = met(records, k, d, columns)
        out[k - begin] = row.y * dot(columns + row.start, entries + row.start, row.n, w, varied)


cdef class Descent(Counters):
    """Dual variables, weights and the records of the rows that are active.

    The same rows, random numbers and calls give the same bits.
    """

    cdef readonly CompactRows rows
    cdef readonly object w
    # slack_sum: after a survey m (P - D); after a pass its rows' part, each as it was met.
    # scaled_slack_sum: the rows' part of m (P(c w) - D) in the last survey, c its scale
    cdef readonly double lam, slack_sum, scaled_slack_sum, alpha_sum
    # extremes and mean size of the projected gradient in the last pass; extremes also of a survey
    cdef readonly double largest, smallest, typical
    cdef public double upper, lower  # shrinking thresholds of the next pass
    # Steps that gain less per entry than the first times what the last pass gained are left out;
    # rows whose step gained more than the second times this are visited again. 0 and inf at first.
    cdef public double least_gain, high_gain
    cdef readonly Py_ssize_t active, m  # rows that have entries, and those that passes visit
    cdef double[::1] _w, _alpha
    cdef int32_t[::1] _row, _order          # _row is empty where the records tell
    cdef int8_t[::1] _fate
    cdef object _buffer
    cdef Record[::1] _sparse                # one of the two, the other has none
    cdef DenseRecord[::1] _dense
    cdef bint _is_dense
    # Whether the lengths of rows, modulo four, mostly differ from those before.
    cdef bint _varied
    # What the last pass gained per entry, its entries, and how many records, at the beginning of
    # the order, are to be visited again.
    cdef double _gain
    cdef int64_t _entries
    cdef Py_ssize_t _again
    cdef double _scale

    def __init__(self, CompactRows rows, double lam):
        cdef Py_ssize_t m = rows.c.m, i, k = 0, n, before = 0, others = 0
        self.rows, self.lam = rows, lam
        self.w = np.zeros(max(rows.c.d, 1))
        self._w = self.w
        self._is_dense = rows.c.storage >= DENSE_F32
        dtype = DENSE_RECORD if self._is_dense else RECORD
        self._buffer, self._alpha, self._order, self._row, self._fate = zeros([
            (max(m, 1), dtype), (m, np.float64), (m, np.int32),
            (0 if self._is_dense else m, np.int32), (m, np.int8),
        ])
        if self._is_dense:
            self._dense = self._buffer
        else:
            self._sparse = self._buffer
        with nogil:
            for i in range(m):
                n = row_nonzeros(&rows.c, i)
                # A row without entries moves nothing; its alpha is 1 from the start.
                if n == 0:
                    self._alpha[i] = 1.0
                    continue
                self._put(k, i)
                k += 1
                others += (n ^ before) & 3 != 0
                before = n
        self._varied = 2 * others > k
        self.m = self.active = k
        self.upper, self.lower = INFINITY, -INFINITY
        self.least_gain, self.high_gain = 0.0, INFINITY
        self.alpha_sum = m - k

    cdef void _put(self, Py_ssize_t k, Py_ssize_t i) noexcept nogil:
        cdef const Rows *rows = &self.rows.c
        if self._is_dense:
            self._dense[k].row = <int32_t> i
            self._dense[k].inverse = copysign(<float> 0.0, rows.labels[i])
            self._dense[k].alpha = self._alpha[i]
            return
        self._sparse[k].start = rows.indptr[i]
        self._sparse[k].n = <int32_t> row_nonzeros(rows, i)
        self._sparse[k].y = rows.labels[i]
        self._sparse[k].inverse = 0.0
        self._sparse[k].alpha = self._alpha[i]
        self._row[k] = <int32_t> i

    cdef inline void *_records(self) noexcept nogil:
        return <void *> &self._dense[0] if self._is_dense else <void *> &self._sparse[0]

    cdef inline Py_ssize_t _row_of(self, Py_ssize_t k) noexcept nogil:
        return self._dense[k].row if self._is_dense else self._row[k]

    cdef inline double _alpha_of(self, Py_ssize_t k) noexcept nogil:
        return self._dense[k].alpha if self._is_dense else self._sparse[k].alpha

    @property
    def alpha(self):
        """The dual variables, shape (m,); a new array."""
        self._keep()
        return np.array(self._alpha)

    @property
    def active_rows(self):
        """Numbers of the active rows, ascending, as int32; a new array."""
        cdef int32_t[::1] numbers = np.empty(self.active, dtype=np.int32)
        cdef Py_ssize_t k
        if not self._is_dense:
            return np.array(self._row[:self.active])
        with nogil:
            for k in range(self.active):
                numbers[k] = self._dense[k].row
        return numbers.base

    def kept_alpha(self):
        """The dual variables, shape (m,); the kernel's own array, up to date till the next pass."""
        with nogil:
            self._keep()
        return np.asarray(self._alpha)

    def take_alpha(self, double change):
        """Take over what was written to `kept_alpha`; ``w`` has been changed to w(alpha)."""
        cdef Py_ssize_t k
        with nogil:
            for k in range(self.active):
                if self._is_dense:
                    self._dense[k].alpha = self._alpha[self._dense[k].row]
                else:
                    self._sparse[k].alpha = self._alpha[self._row[k]]
        self.alpha_sum += change

    def sample(self, Py_ssize_t stride):
        """Margins and dual variables of every ``stride``-th active row, as two arrays."""
        cdef Py_ssize_t n = (self.active + stride - 1) // stride, k
        cdef double[::1] found = np.empty(n), alphas = np.empty(n)
        with nogil:
            for k in range(n):
                act(self, k * stride, k * stride + 1, NULL, &found[k])
                alphas[k] = self._alpha_of(k * stride)
                self.nonzeros += (self.rows.c.d if self._is_dense
                                  else self._sparse[k * stride].n)
        self.presentations += n
        return found.base, alphas.base

    def descend(self, Generator rng, Py_ssize_t block_rows, bint shrinking):
        """One pass over the active rows."""
        cdef Pass state
        cdef Py_ssize_t k
        if not self.active:
            self.slack_sum = 0.0
            return
        if block_rows > 1:
            draw_blocks(rng, self._order[:self.active], None, block_rows)
        self._fate[:self.active] = STAYS
        self._begin(&state)
        with nogil:
            if block_rows <= 1:
                for k in range(self.active):
                    self._order[k] = <int32_t> k
                rng_shuffle(&rng.c, &self._order[0], self.active)
            act(self, 0, self.active, &state, NULL)
        self._take(&state, self.active)
        self._gain, self._entries = state.gain / state.entries, state.entries
        self.largest, self.smallest, self.slack_sum = state.largest, state.smallest, state.slack
        self.typical = state.total / self.active
        if shrinking:
            with nogil:
                self._shrink()
        self.upper = self.largest if self.largest > 0.0 else INFINITY
        self.lower = self.smallest if self.smallest < 0.0 else -INFINITY

    cdef void _begin(self, Pass *state) noexcept nogil:
        # Before the first pass there is nothing to compare a gain with.
        begin_pass(state, self.upper, self.lower, self.least_gain * self._gain,
                   self.high_gain * self._gain if self._entries else INFINITY)
        state.varied = self._varied

    cdef void _take(self, Pass *state, Py_ssize_t n) noexcept nogil:
        """Take over what n visits have changed and cost."""
        self._again = state.again
        self.alpha_sum += state.rise
        self.presentations += n
        self.updates += state.updates
        self.nonzeros += state.entries + state.moved

    def revisit(self):
        """Visit again the rows whose steps gained much in the last pass, as long as each does.

        Rows that resemble each other need this: the step of one undoes most of the step of the
        other, so that passes move them slowly. No round of visits begins once all rounds have met
        as many entries as that pass.
        """
        cdef Pass state
        cdef int64_t entries = 0
        cdef Py_ssize_t n
        with nogil:
            while self._again and entries < self._entries:
                self._begin(&state)
                n = self._again
                act(self, 0, n, &state, NULL)
                self._take(&state, n)
                entries += state.entries
        self._again = 0

    cdef void _shrink(self) noexcept nogil:
        """Drop the records that leave; the others keep their order."""
        cdef Py_ssize_t k, n = 0
        self._again = 0
        for k in range(self.active):
            if self._fate[k] == LEAVES:
                self._alpha[self._row_of(k)] = self._alpha_of(k)
                continue
            if self._fate[k] == AGAIN:
                self._order[self._again] = <int32_t> n
                self._again += 1
            if n != k and self._is_dense:
                self._dense[n] = self._dense[k]
            elif n != k:
                self._sparse[n] = self._sparse[k]
                self._row[n] = self._row[k]
            n += 1
        self.active = n

    cdef void _keep(self) noexcept nogil:
        cdef Py_ssize_t k
        for k in range(self.active):
            self._alpha[self._row_of(k)] = self._alpha_of(k)

    cdef void _all(self) noexcept nogil:
        cdef Py_ssize_t i, k = 0
        self._keep()
        self._again = 0
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

    def survey(self, bint shrinking, double scale=1.0):
        """Find P - D over all rows, and make active all but those that shrinking would leave out.

        Afterwards slack_sum, largest and smallest are those of all rows, alpha_sum is exact, and
        scaled_slack_sum is the rows' part of m (P(scale w) - D).
        """
        cdef const Rows *rows = &self.rows.c
        cdef Survey found
        if not self.m:
            self.slack_sum, self.scaled_slack_sum, self.alpha_sum = 0.0, 0.0, rows.m
            return
        self._scale = scale
        with nogil:
            if self.active < self.m:
                self._all()
        with nogil:
            self._look(&found)
        self._again = 0
        if shrinking:
            with nogil:
                self._shrink()
        self.presentations += self.m
        self.nonzeros += rows.m * rows.d if rows.indptr == NULL else rows.indptr[rows.m]
        self.slack_sum, self.scaled_slack_sum = found.slack, found.scaled
        self.alpha_sum = rows.m - self.m + found.alphas
        self.largest, self.smallest = found.largest, found.smallest

    cdef void _look(self, Survey *found) noexcept nogil:
        """Survey all records, all being active."""
        cdef double out[MARGINS]
        cdef double gradient, alpha, scaled
        cdef double largest = -INFINITY, smallest = INFINITY
        cdef double slack = 0.0, scaled_slack = 0.0, alphas = 0.0
        cdef Py_ssize_t k, last, begin = 0
        while begin < self.m:
            last = min(self.m, begin + MARGINS)
            act(self, begin, last, NULL, out)
            for k in range(begin, last):
                gradient = out[k - begin] - 1.0
                alpha = self._alpha_of(k)
                alphas += alpha
                slack += alpha * gradient if gradient > 0.0 else (alpha - 1.0) * gradient
                scaled = self._scale * out[k - begin] - 1.0
                scaled_slack += alpha * scaled if scaled > 0.0 else (alpha - 1.0) * scaled
                self._fate[k] = LEAVES if (
                    (alpha <= 0.0 and gradient > self.upper)
                    or (alpha >= 1.0 and gradient < self.lower)) else STAYS
                if (alpha <= 0.0 and gradient >= 0.0) or (alpha >= 1.0 and gradient <= 0.0):
                    gradient = 0.0
                largest = max(largest, gradient)
                smallest = min(smallest, gradient)
            begin = last
        found.slack, found.scaled, found.alphas = slack, scaled_slack, alphas
        found.largest, found.smallest = largest, smallest


cdef void act(Descent self, Py_ssize_t begin, Py_ssize_t end, Pass *state,
              double *out) noexcept nogil:
    """Visit records of the order, or find margins y_i w.x_i of records, if ``state`` is NULL."""
    cdef const Rows *rows = &self.rows.c
    cdef const uint16_t *u16 = <const uint16_t *> rows.indices
    cdef const int32_t *i32 = <const int32_t *> rows.indices
    cdef const float *f32 = <const float *> rows.values
    cdef const double *f64 = <const double *> rows.values
    if rows.storage == U16_ONES:
        act_on(self, u16, <const int8_t *> NULL, begin, end, state, out)
    elif rows.storage == U16_F32:
        act_on(self, u16, f32, begin, end, state, out)
    elif rows.storage == U16_F64:
        act_on(self, u16, f64, begin, end, state, out)
    elif rows.storage == I32_ONES:
        act_on(self, i32, <const int8_t *> NULL, begin, end, state, out)
    elif rows.storage == I32_F32:
        act_on(self, i32, f32, begin, end, state, out)
    elif rows.storage == I32_F64:
        act_on(self, i32, f64, begin, end, state, out)
    elif rows.storage == DENSE_F32:
        act_on(self, <const int8_t *> NULL, f32, begin, end, state, out)
    else:
        act_on(self, <const int8_t *> NULL, f64, begin, end, state, out)


cdef void act_on(Descent self, const column_t *columns, const entry_t *entries, Py_ssize_t begin,
                 Py_ssize_t end, Pass *state, double *out) noexcept nogil:
    cdef Py_ssize_t d = self.rows.c.d
    cdef double *w = &self._w[0]
    if state != NULL:
        descend(self._records(), &self._order[0], end, d, columns, entries,
                self.lam * self.rows.c.m, w, &self._fate[0], state)
    else:
        margins(self._records(), begin, end, d, columns, entries, w, self._varied, out)
