# Reader of LIBSVM text: one example a line, `label index:value index:value ...`.
#
#   line   = blank* [label (blank+ index ':' blank* value)*] blank* ['#' anything] [CR] LF
#   index  = ['+'] digits, from 1 or, if asked for, from 0, ascending within the row
#   number = [+-] (digits ['.' digits*] | '.' digits) [(e|E) [+-] digits]      label and value
#
# Of texts with several labels a row (multi-label), the labels are whole numbers:
#
#   line   = [label (',' label)* | blank] (blank+ index ':' blank* value)* ...     rest as above
#   label  = digits
#
# A row that begins with a blank, or at once with a pair, bears no label.
#
# Cost: one pass over the bytes, without the GIL. Digits are taken eight bytes at a time, however
# many of them there are. The text comes in chunks of any size; only whole lines are parsed, and
# 64 bytes that may be read follow each, so that every scan may rely on the newline that ends its
# line and none checks for the end of the chunk. A row of n bytes holds at most n/4 entries: room
# is made once a chunk, never once an entry.
#
# Numbers are correctly rounded. A decimal mantissa up to 2^53 and a power of ten up to
# 10^22 are both exact doubles, so one multiplication or division rounds once (Clinger,
# How to read floating point numbers accurately, PLDI 1990). Mantissas of up to 19 digits are
# multiplied by 128 bits of the power (Lemire, Number parsing at a gigabyte per second, SPE
# 2021), which leaves out only results that are subnormal, infinite or too close to call; these
# and longer ones go to Python's own conversion (Gay's), which knows no locale.

from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.float cimport FLT_MAX, FLT_MIN
from libc.math cimport NAN, fabs, isinf
from libc.stdint cimport (
    INT32_MAX, UINT16_MAX, UINT64_MAX, int8_t, int32_t, int64_t, uint16_t, uint64_t,
)
from libc.string cimport memchr, memcpy

import numpy as np

from svmbench.kernels.room import new_map

from .provenance cimport build_record

__build__ = build_record()

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *s, char **end, void *overflow_exception) except? -1.0

cdef extern from *:
    """
    #include <string.h>
    #if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    #define svmbench_little_endian(x) __builtin_bswap64(x)
    #else
    #define svmbench_little_endian(x) (x)
    #endif
    #define svmbench_high_product(a, b) ((uint64_t) (((unsigned __int128) (a) * (b)) >> 64))

    """
    uint64_t little_endian "svmbench_little_endian" (uint64_t x) noexcept nogil
    uint64_t high_product "svmbench_high_product" (uint64_t a, uint64_t b) noexcept nogil
    int trailing_zeros "__builtin_ctzll" (uint64_t x) noexcept nogil
    int leading_zeros "__builtin_clzll" (uint64_t x) noexcept nogil

cdef enum Kind:
    NO_FAULT
    LABEL               # not a number
    LABEL_OVERFLOW      # beyond the range of a double
    LABEL_LIST          # not whole numbers with commas between
    PAIR                # not index:value
    INDEX_ZERO
    INDEX_ORDER         # not above the one before
    INDEX_LARGE         # above the declared number of features, or above int32
    VALUE
    VALUE_OVERFLOW
    CARRIAGE_RETURN     # inside a line

cdef struct Fault:
    Kind kind
    const char *line        # first byte of the line
    const char *at          # first byte of what is wrong
    int64_t index           # the faulty one, where it is an index
    int64_t previous        # the one before it

cdef struct Store:
    double *labels
    int64_t *label_indptr   # where each row's labels start; NULL where each has one
    int64_t *indptr
    int32_t *indices
    double *values
    Py_ssize_t m, nnz, n_labels
    Py_ssize_t row_room, room, label_room
    int64_t lines
    int64_t zeros           # explicit zeros left out
    int64_t base            # the least index, 1 or 0
    int64_t index_limit     # the largest one
    int64_t max_index
    int digits
    uint64_t digits_bound   # 10^digits: a smaller mantissa has no more digits than that
    bint all_ones
    bint multilabel

cdef const double *POWERS = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]


cdef const uint64_t *TENS = [1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000]

cdef enum:
    PADDING = 64                # bytes behind a line that may be read, whatever they are
    LEAST_EXPONENT = -342       # beyond these 19 digits make zero or infinity
    LARGEST_EXPONENT = 308

# The top 128 bits of every power of five between them, 64 and 64: truncated, but those below
# one that have a divisor of 64 bits are rounded up, so that whole quotients come out whole.
cdef uint64_t[2 * (LARGEST_EXPONENT - LEAST_EXPONENT + 1)] FIVES


def _fill_fives():
    for exponent in range(LEAST_EXPONENT, LARGEST_EXPONENT + 1):
        if exponent < 0:
            divisor = 5**-exponent
            bits = (1 << 127 + divisor.bit_length()) // divisor + (exponent >= -27)
        else:
            power = 5**exponent
            bits = (power << 128) >> power.bit_length()
        FIVES[2 * (exponent - LEAST_EXPONENT)] = bits >> 64
        FIVES[2 * (exponent - LEAST_EXPONENT) + 1] = bits & UINT64_MAX


_fill_fives()


cdef inline bint is_digit(char c) noexcept nogil:
    return <unsigned char> (c - 48) < 10


cdef inline bint is_blank(char c) noexcept nogil:
    return c == 32 or c == 9


cdef inline bint ends_token(char c) noexcept nogil:
    return c == 32 or c == 10 or c == 9 or c == 13 or c == 35  # blank, LF, tab, CR, '#'


cdef double convert(const char *text) noexcept with gil:
    # The text was found to be a number and ends at a delimiter: nothing but a lack of
    # memory can fail, and nan then stands for it.
    cdef char *end = NULL
    try:
        return PyOS_string_to_double(text, &end, NULL)
    except MemoryError:
        return NAN


cdef inline uint64_t eight_bytes(const char *p) noexcept nogil:
    # The first of them lowest, each less 48: of digits their numbers.
    cdef uint64_t bytes_
    memcpy(&bytes_, p, 8)
    return little_endian(bytes_) ^ <uint64_t> 0x3030303030303030


cdef inline int count_digits(uint64_t bytes_) noexcept nogil:
    # How many of eight bytes, less 48 each, come before the first that is no digit: for
    # 10 .. 127 the sum has its top bit set, for 128 .. 255 the byte itself. A carry out of
    # such a byte spoils only those behind it.
    cdef uint64_t others = ((bytes_ + <uint64_t> 0x7676767676767676) | bytes_)
    others &= <uint64_t> 0x8080808080808080
    return trailing_zeros(others) >> 3 if others else 8


cdef inline uint64_t eight_digits(uint64_t bytes_) noexcept nogil:
    # The number that eight digits make: neighbours are joined to two, four, eight digits.
    cdef uint64_t alternate = <uint64_t> 0x000000FF000000FF
    cdef uint64_t odd = 100 + (<uint64_t> 1000000 << 32)
    cdef uint64_t even = 1 + (<uint64_t> 10000 << 32)
    bytes_ = bytes_ * 10 + (bytes_ >> 8)
    return ((bytes_ & alternate) * odd + ((bytes_ >> 16) & alternate) * even) >> 32


cdef inline uint64_t few_digits(uint64_t bytes_, int n) noexcept nogil:
    # The same of the first n of them, 0 <= n < 8: zeros are put in front.
    return eight_digits((bytes_ << (8 * (7 - n))) << 8)


cdef inline Py_ssize_t read_digits(const char **position, uint64_t *number) noexcept nogil:
    # Append the digits at a position to a number, and say how many they are.
    cdef const char *start = position[0]
    cdef const char *p = start
    cdef uint64_t bytes_ = eight_bytes(p)
    cdef int n = count_digits(bytes_)
    while n == 8:
        number[0] = number[0] * 100000000 + eight_digits(bytes_)
        p += 8
        bytes_ = eight_bytes(p)
        n = count_digits(bytes_)
    number[0] = number[0] * TENS[n] + few_digits(bytes_, n)
    position[0] = p + n
    return p + n - start


cdef inline bint scale(uint64_t mantissa, int64_t exponent, double *number) noexcept nogil:
    # mantissa x 10^exponent, correctly rounded; False where that is left to others.
    cdef uint64_t w, high, low, top, bits
    cdef int64_t power
    cdef int zeros, shift
    if mantissa <= (<uint64_t> 1 << 53) and -22 <= exponent <= 22:
        number[0] = <double> mantissa
        if exponent < 0:
            number[0] /= POWERS[-exponent]
        else:
            number[0] *= POWERS[exponent]
        return True
    if mantissa == 0:
        number[0] = 0
        return True
    if exponent < LEAST_EXPONENT or exponent > LARGEST_EXPONENT:
        return False
    # The top 128 bits of mantissa x 5^exponent. 64 bits of the power do, unless the bits
    # behind those that are kept could still be carried over by the rest of it.
    zeros = leading_zeros(mantissa)
    w = mantissa << zeros
    high = high_product(w, FIVES[2 * (exponent - LEAST_EXPONENT)])
    low = w * FIVES[2 * (exponent - LEAST_EXPONENT)]
    if high & 0x1FF == 0x1FF:
        top = high_product(w, FIVES[2 * (exponent - LEAST_EXPONENT) + 1])
        low += top
        high += low < top
        if low == UINT64_MAX:
            return False
    # 54 bits, the last one to round by; 217706 / 2^16 is log2(10) closely enough.
    shift = 9 + <int> (high >> 63)
    bits = high >> shift
    power = ((217706 * exponent) >> 16) + 63 + (shift - 9) - zeros + 1023
    if power <= 0:
        return False
    # Half-way between two doubles, which only these powers can reach: to the even one.
    if low <= 1 and -4 <= exponent <= 23 and bits & 3 == 1 and bits << shift == high:
        bits -= 1
    bits = (bits + (bits & 1)) >> 1
    if bits >> 53:
        bits >>= 1
        power += 1
    if power >= 2047:
        return False
    bits = (bits & ((<uint64_t> 1 << 52) - 1)) | (<uint64_t> power << 52)
    memcpy(number, &bits, 8)
    return True


cdef inline bint read_number(const char **position, double *number,
                             uint64_t *mantissa) noexcept nogil:
    # Read a number up to its delimiter; False when it is none. Infinity says overflow.
    # `mantissa` is its digits as an integer, UINT64_MAX where they may exceed one.
    cdef const char *start = position[0]
    cdef const char *p = start
    cdef uint64_t m = 0
    cdef Py_ssize_t n, leading, fraction = 0
    cdef int64_t exponent, given = 0
    cdef bint down, negative = p[0] == 45
    p += negative or p[0] == 43
    n = read_digits(&p, &m)
    leading = 0 if m or n > 19 else n  # of more digits m may be zero for having wrapped around
    if p[0] == 46:
        p += 1
        fraction = read_digits(&p, &m)
        n += fraction
    if n == 0:
        return False
    exponent = -fraction
    if not ends_token(p[0]):
        if p[0] != 101 and p[0] != 69:
            return False
        p += 1
        down = p[0] == 45
        if down or p[0] == 43:
            p += 1
        if not is_digit(p[0]):
            return False
        while is_digit(p[0]):
            if given < 1_000_000_000:
                given = given * 10 + (p[0] - 48)
            p += 1
        exponent += -given if down else given
        if not ends_token(p[0]):
            return False
    position[0] = p
    if n - leading <= 19:
        mantissa[0] = m
        if scale(m, exponent, number):
            if negative:
                number[0] = -number[0]
            return True
    else:
        mantissa[0] = UINT64_MAX
    number[0] = convert(start)
    return True


cdef inline const char *read_index(const char *p, int64_t *index) noexcept nogil:
    # Read a whole number, any beyond int32 as one just beyond it; where it ends is returned.
    cdef uint64_t bytes_
    cdef int n
    p += p[0] == 43
    bytes_ = eight_bytes(p)
    n = count_digits(bytes_)
    if n < 8:
        index[0] = <int64_t> few_digits(bytes_, n)
        return p + n
    index[0] = 0
    while is_digit(p[0]):
        if index[0] <= INT32_MAX:
            index[0] = index[0] * 10 + (p[0] - 48)
        p += 1
    return p


cdef struct Entry:
    const char *end         # of it, or of one blank behind it; NULL where there is no entry
    int64_t index
    double value
    uint64_t mantissa       # as of read_number
    Kind fault              # of the value


cdef inline const char *behind_colon(const char *p) noexcept nogil:
    # Where the value begins.
    p += 1
    while is_blank(p[0]):
        p += 1
    return p


cdef inline Entry read_odd_entry(const char *p) noexcept nogil:
    # Read index:value, whose value may be none. No entry without an index and a colon.
    cdef Entry entry
    cdef uint64_t bytes_, m = 0
    cdef const char *value
    cdef const char *digits
    cdef int whole, fraction = 0
    entry.end = NULL
    entry.fault = NO_FAULT
    if not is_digit(p[p[0] == 43]):
        return entry
    value = read_index(p, &entry.index)
    if value[0] != 58:
        return entry
    # Most values have few digits, and no sign and no exponent.
    digits = value + 1
    if is_digit(digits[0]):
        m = digits[0] - 48
        if digits[1] == 46:
            bytes_ = eight_bytes(digits + 2)
            fraction = count_digits(bytes_)
            if 0 < fraction < 8 and ends_token(digits[2 + fraction]):
                entry.mantissa = m * TENS[fraction] + few_digits(bytes_, fraction)
                entry.value = <double> entry.mantissa / POWERS[fraction]
                entry.end = digits + 2 + fraction
                return entry
        elif ends_token(digits[1]):
            entry.mantissa = m
            entry.value = <double> m
            entry.end = digits + 1
            return entry
        else:
            bytes_ = eight_bytes(digits)
            whole = count_digits(bytes_)
            if whole < 8 and ends_token(digits[whole]):
                entry.mantissa = few_digits(bytes_, whole)
                entry.value = <double> entry.mantissa
                entry.end = digits + whole
                return entry
    value = behind_colon(value)
    if not read_number(&value, &entry.value, &entry.mantissa):
        entry.fault = VALUE
    elif isinf(entry.value) or entry.value != entry.value:
        entry.fault = VALUE_OVERFLOW
    entry.end = value
    return entry


cdef void note_digits(Store *s, const char *p, double value) noexcept nogil:
    # Raise the count of digits to that of the value of the entry at p, unless a float holds it
    # exactly.
    cdef int count = 0
    cdef int64_t index
    if <double> <float> value == value:
        return
    p = behind_colon(read_index(p, &index))
    p += p[0] == 45 or p[0] == 43
    while is_digit(p[0]) or p[0] == 46:
        if is_digit(p[0]) and (count > 0 or p[0] != 48) and count < INT32_MAX:
            count += 1
        p += 1
    if count <= s.digits:
        return
    s.digits = count
    s.digits_bound = 1
    for _ in range(count):
        if s.digits_bound > UINT64_MAX // 10:
            s.digits_bound = UINT64_MAX
            break
        s.digits_bound *= 10


cdef inline bint begins_pair(const char *p) noexcept nogil:
    while is_digit(p[0]):
        p += 1
    return p[0] == 58


cdef bint read_label_list(Store *s, const char **position) noexcept nogil:
    # Append the labels of a row, if any, up to their delimiter; False when they are none.
    # The position of what is wrong is left behind.
    cdef const char *p = position[0]
    cdef const char *label
    cdef int64_t number
    s.label_indptr[s.m + 1] = s.n_labels
    if is_blank(p[0]) or begins_pair(p):
        return True
    while True:
        label = p
        number = 0
        while is_digit(p[0]) and number <= INT32_MAX:
            number = number * 10 + (p[0] - 48)
            p += 1
        if p == label or number > INT32_MAX or not (p[0] == 44 or ends_token(p[0])):
            position[0] = label
            return False
        s.labels[s.n_labels] = <double> number
        s.n_labels += 1
        if p[0] != 44:
            break
        p += 1
    s.label_indptr[s.m + 1] = s.n_labels
    position[0] = p
    return True


cdef Fault parse_lines(Store *s, const char *p, const char *end) noexcept nogil:
    # Append the rows of whole lines; the byte before `end` is a newline.
    cdef Fault fault
    cdef Entry entry
    cdef const char *token
    cdef const char *start
    cdef double number
    cdef uint64_t mantissa
    cdef int64_t previous, base = s.base
    cdef int32_t *indices = s.indices
    cdef double *values = s.values
    cdef Py_ssize_t nnz = s.nnz
    cdef bint all_ones = s.all_ones
    fault.kind = NO_FAULT
    fault.line = fault.at = p
    fault.index = fault.previous = 0
    while p < end:
        s.lines += 1
        fault.line = p
        while is_blank(p[0]):
            p += 1
        if not ends_token(p[0]):
            if s.multilabel:
                token = fault.line
                if not read_label_list(s, &token):
                    fault.kind = LABEL_LIST
                    fault.at = token
                    return fault
            else:
                token = fault.at = p
                if not read_number(&token, &number, &mantissa):
                    fault.kind = LABEL
                    return fault
                if isinf(number) or number != number:
                    fault.kind = LABEL_OVERFLOW
                    return fault
                s.labels[s.n_labels] = number
                s.n_labels += 1
            p = token
            previous = base - 1
            while True:
                while is_blank(p[0]):
                    p += 1
                entry = read_odd_entry(p)
                if entry.end == NULL:
                    break
                if entry.index <= previous or entry.index > s.index_limit:
                    fault.kind = (
                        INDEX_LARGE if entry.index > previous
                        else INDEX_ORDER if entry.index >= base else INDEX_ZERO
                    )
                    fault.at = p
                    fault.index = entry.index
                    fault.previous = previous
                    return fault
                if entry.fault != NO_FAULT:
                    fault.kind = entry.fault
                    fault.at = behind_colon(read_index(p, &previous))
                    return fault
                start = p
                p = entry.end
                previous = entry.index
                if entry.value == 0:
                    s.zeros += 1
                    continue
                indices[nnz] = <int32_t> (entry.index - base)
                values[nnz] = entry.value
                nnz += 1
                all_ones &= entry.value == 1
                if entry.mantissa >= s.digits_bound:
                    note_digits(s, start, entry.value)
            if not ends_token(p[0]):
                fault.kind = PAIR
                fault.at = p
                return fault
            if previous - base >= s.max_index:
                s.max_index = previous - base + 1
            s.m += 1
            s.indptr[s.m] = nnz
            s.nnz = nnz
            s.all_ones = all_ones
        if p[0] == 35:
            p = <const char *> memchr(p, 10, end - p)
        elif p[0] == 13:
            if p[1] != 10:
                fault.kind = CARRIAGE_RETURN
                fault.at = p
                return fault
            p += 1
        p += 1
    return fault


ctypedef fused index_t:
    uint16_t
    int32_t

ctypedef fused value_t:
    float
    double


cdef void judge_values(const Store *s, bint *exact, bint *fits) noexcept nogil:
    # Whether a float holds all values, and whether it holds all to its full precision.
    cdef const double *values = s.values
    cdef Py_ssize_t k
    cdef int other = 0, bad = 0
    cdef double size
    for k in range(s.nnz):
        size = fabs(<double> <float> values[k])
        if size != fabs(values[k]):
            other = 1
            if not FLT_MIN <= size <= FLT_MAX:
                bad = 1
    exact[0] = not other
    fits[0] = not bad


cdef bint labels_fit(const Store *s) noexcept nogil:
    # Whether int8 holds all labels.
    cdef Py_ssize_t i
    for i in range(s.n_labels):
        if not -128 <= s.labels[i] <= 127 or <double> <int8_t> s.labels[i] != s.labels[i]:
            return False
    return True


cdef void narrow_indices(const Store *s, index_t *out) noexcept nogil:
    cdef const int32_t *indices = s.indices
    cdef Py_ssize_t k
    for k in range(s.nnz):
        out[k] = <index_t> indices[k]


cdef void narrow_values(const Store *s, value_t *out) noexcept nogil:
    cdef const double *values = s.values
    cdef Py_ssize_t k
    for k in range(s.nnz):
        out[k] = <value_t> values[k]


cdef void scatter(const Store *s, value_t *out) noexcept nogil:
    # Dense rows of max_index entries, into zeros.
    cdef Py_ssize_t i, k
    for i in range(s.m):
        for k in range(s.indptr[i], s.indptr[i + 1]):
            out[i * s.max_index + s.indices[k]] = <value_t> s.values[k]


cdef const char *last_line(const char *p, const char *end) noexcept nogil:
    # Where the last newline between two places ends its line; p without one.
    while end > p and (end - 1)[0] != 10:
        end -= 1
    return end


class ParseError(ValueError):
    """Text that is not LIBSVM text."""

    def __init__(self, line, column, message):
        super().__init__(f"{line}:{column}: {message}")
        self.line = line
        self.column = column
        self.message = message


cdef class Parser:
    """Parser of LIBSVM text that comes in chunks."""

    cdef Store s
    cdef char *carry            # the last line of the chunks so far, still without its end
    cdef Py_ssize_t carried, carry_room
    cdef bint closed
    cdef object room            # the map that the next arrays are in, and what is taken of it
    cdef Py_ssize_t taken

    def __cinit__(self, int64_t n_features=0, bint multilabel=False, bint zero_based=False):
        if not 0 <= n_features <= INT32_MAX:
            raise ValueError(f"the number of features must lie in 0 .. {INT32_MAX}")
        self.s.base = not zero_based
        self.s.index_limit = (n_features if n_features else INT32_MAX) - zero_based
        self.s.multilabel = multilabel
        self._forget()

    def __dealloc__(self):
        PyMem_RawFree(self.s.labels)
        PyMem_RawFree(self.s.label_indptr)
        PyMem_RawFree(self.s.indptr)
        PyMem_RawFree(self.s.indices)
        PyMem_RawFree(self.s.values)
        PyMem_RawFree(self.carry)

    @property
    def lines(self):
        return self.s.lines

    def feed(self, const unsigned char[::1] chunk):
        """Parse the lines that ``chunk`` completes; keep the start of the next one."""
        self._check_open()
        cdef Py_ssize_t n = chunk.shape[0]
        if n == 0:
            return
        cdef const char *p = <const char *> &chunk[0]
        cdef const char *end = p + n
        cdef const char *first = <const char *> memchr(p, 10, n)
        if first == NULL:
            self._keep(p, n)
            return
        if self.carried:
            self._keep(p, first + 1 - p)
            self._parse_carry()
            p = first + 1
        # The last lines are parsed from a copy, behind which so many bytes may be read.
        cdef const char *last = last_line(p, end)
        cdef const char *safe = last_line(p, end - PADDING) if end - p > PADDING else p
        self._parse(p, safe)
        self._keep(safe, last - safe)
        self._parse_carry()
        self._keep(last, end - last)

    def take(self, int single_digits=0):
        """Hand out the rows of the text, which ends here; the next chunk begins another one.

        Values that a float32 does not hold exactly may be rounded to one if none has more than
        ``single_digits`` digits, and none leaves its normal range.

        These are returned: the labels, int8 if they fit; where each row's labels start, or None
        where each has one; indptr; the indices, uint16 if they fit, or None for dense rows; the
        values, (m, max_index) where rows take fewer bytes dense, or None where all are one; whether
        none was rounded; the largest index, counted from 1; and how many zeros were left out. The
        arrays lie in a map with those of other texts, which the system has back when all go.
        """
        self._check_open()
        if self.carried:
            self._keep(b"\n", 1)
            self._parse_carry()
        self._make_room(0)
        cdef Store *s = &self.s
        s.indptr[0] = 0
        if s.multilabel:
            s.label_indptr[0] = 0
        cdef Py_ssize_t m = s.m, nnz = s.nnz
        cdef bint exact, fits, whole
        with nogil:
            judge_values(s, &exact, &fits)
            whole = labels_fit(s)
        exact = s.all_ones or exact
        single = exact or (fits and s.digits <= single_digits)
        value_dtype = np.dtype(np.float32 if single else np.float64)
        index_dtype = np.dtype(np.uint16 if s.max_index <= UINT16_MAX + 1 else np.int32)
        entry = index_dtype.itemsize + (0 if s.all_ones else value_dtype.itemsize)
        dense = (
            not s.all_ones
            and m * s.max_index * value_dtype.itemsize < (m + 1) * 8 + nnz * entry
        )
        if dense:
            arrays = [(m + 1, np.int64), (0, index_dtype), (m * s.max_index, value_dtype)]
        else:
            arrays = [(m + 1, np.int64), (nnz, index_dtype),
                      (0 if s.all_ones else nnz, value_dtype)]
        label_dtype = np.int8 if whole else np.float64
        label_arrays = [(s.n_labels, label_dtype), (m + 1 if s.multilabel else 0, np.int64)]
        labels, label_indptr, indptr, indices, values = self._rooms(label_arrays + arrays)
        labels[:] = np.asarray(<double[:s.n_labels]> s.labels) if s.n_labels else ()
        _copy(label_indptr, s.label_indptr)
        _copy(indptr, s.indptr)
        cdef void *columns = _address(indices)
        cdef void *numbers = _address(values)
        cdef bint narrow = index_dtype.itemsize == 2, short = value_dtype.itemsize == 4
        cdef bint scattered = dense, ones = s.all_ones
        with nogil:
            if scattered:
                if short:
                    scatter[float](s, <float *> numbers)
                else:
                    scatter[double](s, <double *> numbers)
            else:
                if narrow:
                    narrow_indices[uint16_t](s, <uint16_t *> columns)
                else:
                    narrow_indices[int32_t](s, <int32_t *> columns)
                if ones:
                    pass
                elif short:
                    narrow_values[float](s, <float *> numbers)
                else:
                    narrow_values[double](s, <double *> numbers)
        part = (
            labels,
            label_indptr if s.multilabel else None,
            indptr,
            None if dense else indices,
            values.reshape(m, s.max_index) if dense else None if s.all_ones else values,
            bool(exact or not single),
            s.max_index,
            s.zeros,
        )
        self._forget()
        return part

    cdef void _forget(self) noexcept:
        cdef Store *s = &self.s
        s.m = s.nnz = s.n_labels = 0
        s.lines = s.zeros = s.max_index = 0
        s.digits = 0
        s.digits_bound = 1
        s.all_ones = True

    cdef int _check_open(self) except -1:
        if self.closed:
            raise ValueError("this parser has failed; a new text needs a new one")
        return 0

    cdef int _make_room(self, Py_ssize_t n) except -1:
        # Room for what n bytes of text can hold; capacities grow by half at least.
        cdef Store *s = &self.s
        if s.m + n // 2 + 1 > s.row_room or s.indptr == NULL:
            s.row_room = s.m + s.m // 2 + n // 2 + 1
            _resize(<void **> &s.indptr, (s.row_room + 1) * sizeof(int64_t))
            if s.multilabel:
                _resize(<void **> &s.label_indptr, (s.row_room + 1) * sizeof(int64_t))
        if s.n_labels + n // 2 + 1 > s.label_room or s.labels == NULL:
            s.label_room = s.n_labels + s.n_labels // 2 + n // 2 + 1
            _resize(<void **> &s.labels, s.label_room * sizeof(double))
        if s.nnz + n // 4 + 1 > s.room or s.values == NULL:
            s.room = s.nnz + s.nnz // 2 + n // 4 + 1
            _resize(<void **> &s.indices, s.room * sizeof(int32_t))
            _resize(<void **> &s.values, s.room * sizeof(double))
        return 0

    cdef list _rooms(self, list wanted):
        # Arrays of zeros, of so many numbers of a type each.
        starts, size = [], 0
        for n, dtype in wanted:
            starts.append(size)
            size += -(-n * np.dtype(dtype).itemsize // 64) * 64
        if self.room is None or self.taken + size > len(self.room):
            self.room, self.taken = new_map(max(size, _MAP_SIZE)), 0
        cdef Py_ssize_t first = self.taken
        self.taken += size
        return [
            np.frombuffer(self.room, dtype, n, first + start) if n else np.empty(0, dtype)
            for (n, dtype), start in zip(wanted, starts)
        ]

    cdef int _keep(self, const char *p, Py_ssize_t n) except -1:
        if self.carried + n + PADDING > self.carry_room:
            self.carry_room = 2 * (self.carried + n + PADDING)
            _resize(<void **> &self.carry, self.carry_room)
        if n:
            memcpy(self.carry + self.carried, p, n)
        self.carried += n
        return 0

    cdef int _parse_carry(self) except -1:
        cdef Py_ssize_t n = self.carried
        self.carried = 0
        return self._parse(self.carry, self.carry + n)

    cdef int _parse(self, const char *p, const char *end) except -1:
        cdef Fault fault
        self._make_room(end - p)
        with nogil:
            fault = parse_lines(&self.s, p, end)
        if fault.kind != NO_FAULT:
            self.closed = True
            message = _explain(fault, self.s.index_limit, self.s.base)
            raise ParseError(self.s.lines, fault.at - fault.line + 1, message)
        return 0


cdef int _resize(void **buffer, Py_ssize_t size) except -1:
    cdef void *grown = PyMem_RawRealloc(buffer[0], size)
    if grown == NULL:
        raise MemoryError(f"no room for {size} bytes of rows")
    buffer[0] = grown
    return 0


# The arrays of some MB of text share a map of this size.
_MAP_SIZE = 4 << 20


cdef void *_address(array) except? NULL:
    cdef unsigned char[::1] view
    if array.size == 0:
        return NULL
    view = array.view(np.uint8)
    return &view[0]


cdef int _copy(array, const void *source) except -1:
    if array.size:
        memcpy(_address(array), source, array.nbytes)
    return 0


cdef str _token(const char *p):
    # What stands at p, quoted, for a message: up to a delimiter, at most 40 bytes.
    cdef Py_ssize_t n = 0
    while n < 40 and not ends_token(p[n]):
        n += 1
    text = p[:n].decode("ascii", "backslashreplace")
    return f"'{text}'" if n < 40 else f"'{text}...'"


cdef str _explain(Fault fault, int64_t limit, int64_t base):
    cdef Kind kind = fault.kind
    token = _token(fault.at)
    word = token.strip("'").lower()
    number = word.lstrip("+-")
    what = "label" if kind in (LABEL, LABEL_OVERFLOW) else "value"
    if kind == CARRIAGE_RETURN:
        return "a carriage return inside a line; end lines with LF or CRLF"
    if kind in (LABEL_OVERFLOW, VALUE_OVERFLOW):
        return f"{what} {token} is too large for a double; scale the data"
    if kind in (LABEL, VALUE) and number in ("nan", "inf", "infinity"):
        return f"{what} {token} is not finite; replace it with a number or drop the row"
    if kind == LABEL_LIST:
        return f"label {token} is not a whole number; write a row's labels as 3,17,44"
    if kind == LABEL:
        if ":" in word:
            return f"{token} stands where a label should; begin each row with its label"
        if "," in word:
            return f"label {token} names several classes; give each row one label"
        return f"label {token} is not a number; begin each row with its label"
    if kind == VALUE:
        if token == "''" or ":" in token:
            return "an index without a value; write index:value"
        return f"value {token} is not a number; write index:value, decimal"
    if kind == INDEX_ZERO:
        return "index 0; if indices count from 0, say so: --zero-based, or zero_based: true in YAML"
    index = token.strip("'").partition(":")[0]
    if kind == INDEX_ORDER:
        if fault.index == fault.previous:
            return f"index {index} stands twice in its row; keep one of them"
        return f"index {index} after {fault.previous}; sort each row by index"
    if kind == INDEX_LARGE:
        width = limit + 1 - base
        if width < INT32_MAX:
            return f"index {index} in data of {width} features; correct the one or the other"
        return f"index {index} is too large; {limit} is the largest allowed"
    if word.startswith("qid:"):
        return "'qid:' belongs to ranking data; remove it to train a classifier"
    return f"{token} is not index:value; separate pairs by blanks, indices counted from {base}"
