# Reader of LIBSVM text: one example a line, `label index:value index:value ...`.
#
#   line   = blank* [label (blank+ index ':' value)*] blank* ['#' anything] [CR] LF
#   index  = digits, from 1, ascending within the row
#   number = [+-] (digits ['.' digits*] | '.' digits) [(e|E) [+-] digits]      label and value
#
# Of texts with several labels a row (multi-label), the labels are whole numbers:
#
#   line   = [label (',' label)* | blank] (blank+ index ':' value)* ...     rest as above
#   label  = digits
#
# A row that begins with a blank, or at once with a pair, bears no label.
#
# Cost: one pass over the bytes, about ten instructions a byte, without the GIL. The text
# comes in chunks of any size; only whole lines are parsed, so that every scan may rely
# on the newline that ends its line and none checks for the end of the chunk. A row of n
# bytes holds at most n/4 entries: room is made once a chunk, never once an entry.
#
# Numbers are correctly rounded. A decimal mantissa up to 2^53 and a power of ten up to
# 10^22 are both exact doubles, so one multiplication or division rounds once (Clinger,
# How to read floating point numbers accurately, PLDI 1990); all others go to Python's
# own conversion (Gay's), which knows no locale.

from cpython.mem cimport PyMem_RawFree, PyMem_RawRealloc
from libc.math cimport NAN, isinf
from libc.stdint cimport INT32_MAX, UINT64_MAX, int32_t, int64_t, uint64_t
from libc.string cimport memchr, memcpy

from cython cimport view
import numpy as np

from .provenance cimport build_record

__build__ = build_record()

cdef extern from "Python.h":
    double PyOS_string_to_double(const char *s, char **end, void *overflow_exception) except? -1.0

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
    int64_t previous        # index before the faulty one, 0 in front of the first

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
    int64_t index_limit
    int64_t max_index
    int digits
    uint64_t digits_bound   # 10^digits: a smaller mantissa has no more digits than that
    bint all_ones
    bint multilabel

cdef const double *POWERS = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
]


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


cdef inline bint read_number(const char **position, double *number,
                             uint64_t *mantissa) noexcept nogil:
    # Read a number up to its delimiter; False when it is none. Infinity says overflow.
    # `mantissa` is its digits as an integer, UINT64_MAX where they exceed one.
    cdef const char *start = position[0]
    cdef const char *p = start
    cdef const char *mark
    cdef uint64_t m = 0
    cdef Py_ssize_t n
    cdef int64_t exponent = 0, given = 0
    cdef bint negative, down
    negative = p[0] == 45
    if negative or p[0] == 43:
        p += 1
    mark = p
    while is_digit(p[0]):
        m = m * 10 + <uint64_t> (p[0] - 48)
        p += 1
    n = p - mark
    if p[0] == 46:
        p += 1
        mark = p
        while is_digit(p[0]):
            m = m * 10 + <uint64_t> (p[0] - 48)
            p += 1
        exponent = mark - p
        n += p - mark
    if n == 0:
        return False
    if p[0] == 101 or p[0] == 69:
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
    if n <= 19 and m <= (<uint64_t> 1 << 53) and -22 <= exponent <= 22:
        number[0] = <double> m
        if exponent < 0:
            number[0] /= POWERS[-exponent]
        else:
            number[0] *= POWERS[exponent]
        if negative:
            number[0] = -number[0]
        mantissa[0] = m
    else:
        number[0] = convert(start)
        mantissa[0] = m if n <= 19 else UINT64_MAX
    return True


cdef void note_digits(Store *s, const char *p, double value) noexcept nogil:
    # Raise the count of digits to that of the number at p, unless a float holds it exactly.
    cdef int count = 0
    if <double> <float> value == value:
        return
    while is_digit(p[0]) or p[0] == 46 or p[0] == 45 or p[0] == 43:
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
    cdef const char *token
    cdef const char *text
    cdef double number
    cdef uint64_t mantissa
    cdef int64_t index
    cdef Py_ssize_t nnz = s.nnz
    fault.kind = NO_FAULT
    while p < end:
        s.lines += 1
        fault.line = p
        while is_blank(p[0]):
            p += 1
        if not ends_token(p[0]):
            if s.multilabel:
                p = fault.line
                if not read_label_list(s, &p):
                    fault.kind = LABEL_LIST
                    fault.at = p
                    return fault
            else:
                fault.at = p
                if not read_number(&p, &number, &mantissa):
                    fault.kind = LABEL
                    return fault
                if isinf(number) or number != number:
                    fault.kind = LABEL_OVERFLOW
                    return fault
                s.labels[s.n_labels] = number
                s.n_labels += 1
            fault.previous = 0
            while True:
                while is_blank(p[0]):
                    p += 1
                if not is_digit(p[0]):
                    break
                token = p
                index = 0
                while is_digit(p[0]):
                    if index <= INT32_MAX:
                        index = index * 10 + (p[0] - 48)
                    p += 1
                if p[0] != 58:
                    p = token
                    break
                fault.at = token
                if index <= fault.previous:
                    fault.kind = INDEX_ORDER if index else INDEX_ZERO
                    return fault
                if index > s.index_limit:
                    fault.kind = INDEX_LARGE
                    return fault
                p += 1
                text = p
                fault.at = p
                if not read_number(&p, &number, &mantissa):
                    fault.kind = VALUE
                    return fault
                if isinf(number) or number != number:
                    fault.kind = VALUE_OVERFLOW
                    return fault
                fault.previous = index
                if number == 0:
                    s.zeros += 1
                    continue
                s.indices[nnz] = <int32_t> (index - 1)
                s.values[nnz] = number
                nnz += 1
                if number != 1:
                    s.all_ones = False
                    if mantissa >= s.digits_bound:
                        note_digits(s, text, number)
            if not ends_token(p[0]):
                fault.kind = PAIR
                fault.at = p
                return fault
            if fault.previous > s.max_index:
                s.max_index = fault.previous
            s.m += 1
            s.indptr[s.m] = nnz
            s.nnz = nnz
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


class ParseError(ValueError):
    """Text that is not LIBSVM text.

    Parameters
    ----------
    line, column : int
        Where, both from 1; columns count bytes.
    message : str
        What is wrong there, and what to do.
    """

    def __init__(self, line, column, message):
        super().__init__(f"{line}:{column}: {message}")
        self.line = line
        self.column = column
        self.message = message


cdef class Parser:
    """Parser of LIBSVM text that comes in chunks.

    Parameters
    ----------
    n_features : int
        The largest index that is allowed; 0 where it is not known.
    multilabel : bool
        Whether a row bears any number of labels, with commas between them, or none.

    Attributes
    ----------
    lines : int
        Lines parsed so far, blank ones and comments included.
    max_index : int
        The largest index met, counted from 1; 0 before the first.
    zeros : int
        Explicit zeros met, and left out.
    significant_digits : int
        The most digits, from the first that is not zero to the last one written, of any
        value that a float32 does not hold exactly; 0 where it holds them all.
    all_ones : bool
        Whether every value that was kept is one.
    label_indptr : ndarray of int64, shape (m + 1,), or None
        Once finished, where each row's labels start; None where each row has one.
    """

    cdef Store s
    cdef readonly object label_indptr
    cdef char *carry            # the last line of the chunks so far, still without its end
    cdef Py_ssize_t carried, carry_room
    cdef bint closed

    def __cinit__(self, int64_t n_features=0, bint multilabel=False):
        if not 0 <= n_features <= INT32_MAX:
            raise ValueError(f"the number of features must lie in 0 .. {INT32_MAX}")
        self.s.index_limit = n_features if n_features else INT32_MAX
        self.s.digits_bound = 1
        self.s.all_ones = True
        self.s.multilabel = multilabel

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

    @property
    def max_index(self):
        return self.s.max_index

    @property
    def zeros(self):
        return self.s.zeros

    @property
    def significant_digits(self):
        return self.s.digits

    @property
    def all_ones(self):
        return bool(self.s.all_ones)

    def feed(self, const unsigned char[::1] chunk):
        """Parse the lines that ``chunk`` completes; keep the start of the next one.

        Parameters
        ----------
        chunk : bytes-like
            The next bytes of the text, best some MB.

        Raises
        ------
        ParseError
            At the first thing that is not LIBSVM text; the parser then takes no more.
        """
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
        cdef const char *last = end
        while last > p and (last - 1)[0] != 10:
            last -= 1
        self._parse(p, last)
        self._keep(last, end - last)

    def finish(self):
        """Parse the last line if no newline ended it, and hand out the rows.

        Returns
        -------
        labels : ndarray of float64, shape (m,)
            As they stand in the text; of multi-label text those of all rows, in a row.
        indptr : ndarray of int64, shape (m + 1,)
        indices : ndarray of int32, shape (nnz,)
            Columns from 0, ascending within a row.
        values : ndarray of float64, shape (nnz,)
            No zeros among them.

        Raises
        ------
        ParseError
            When the last line is not LIBSVM text.
        """
        self._check_open()
        if self.carried:
            self._keep(b"\n", 1)
            self._parse_carry()
        self._make_room(0)
        self.closed = True
        cdef Store *s = &self.s
        s.indptr[0] = 0
        if s.multilabel:
            s.label_indptr[0] = 0
            self.label_indptr = _release(
                <void **> &s.label_indptr, s.m + 1, sizeof(int64_t), "q", np.int64
            )
        arrays = (
            _release(<void **> &s.labels, s.n_labels, sizeof(double), "d", np.float64),
            _release(<void **> &s.indptr, s.m + 1, sizeof(int64_t), "q", np.int64),
            _release(<void **> &s.indices, s.nnz, sizeof(int32_t), "i", np.int32),
            _release(<void **> &s.values, s.nnz, sizeof(double), "d", np.float64),
        )
        return arrays

    cdef int _check_open(self) except -1:
        if self.closed:
            raise ValueError("this parser has finished or failed; a new text needs a new one")
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

    cdef int _keep(self, const char *p, Py_ssize_t n) except -1:
        if self.carried + n > self.carry_room:
            self.carry_room = 2 * (self.carried + n)
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
            message = _explain(fault, self.s.index_limit)
            raise ParseError(self.s.lines, fault.at - fault.line + 1, message)
        return 0


cdef int _resize(void **buffer, Py_ssize_t size) except -1:
    cdef void *grown = PyMem_RawRealloc(buffer[0], size)
    if grown == NULL:
        raise MemoryError(f"no room for {size} bytes of rows")
    buffer[0] = grown
    return 0


cdef object _release(void **buffer, Py_ssize_t n, Py_ssize_t itemsize, str code, dtype):
    # A NumPy array that takes the buffer over, shrunk to its contents; nothing is copied.
    if n == 0:
        return np.empty(0, dtype)
    _resize(buffer, n * itemsize)
    cdef view.array array = view.array(
        shape=(n,), itemsize=itemsize, format=code, mode="c", allocate_buffer=False
    )
    array.data = <char *> buffer[0]
    array.callback_free_data = PyMem_RawFree
    buffer[0] = NULL
    return np.asarray(array)


cdef str _token(const char *p):
    # What stands at p, quoted, for a message: up to a delimiter, at most 40 bytes.
    cdef Py_ssize_t n = 0
    while n < 40 and not ends_token(p[n]):
        n += 1
    text = p[:n].decode("ascii", "backslashreplace")
    return f"'{text}'" if n < 40 else f"'{text}...'"


cdef str _explain(Fault fault, int64_t limit):
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
        if token == "''":
            return "an index without a value; write index:value with no blank between"
        return f"value {token} is not a number; write index:value, decimal"
    if kind == INDEX_ZERO:
        return "index 0; indices start at 1: add 1 to all of them"
    index = token.strip("'").partition(":")[0]
    if kind == INDEX_ORDER:
        if int(index) == fault.previous:
            return f"index {index} stands twice in its row; keep one of them"
        return f"index {index} after {fault.previous}; sort each row by index"
    if kind == INDEX_LARGE:
        if limit < INT32_MAX:
            return f"index {index} in data of {limit} features; correct the one or the other"
        return f"index {index} is too large; {INT32_MAX} is the largest allowed"
    if word.startswith("qid:"):
        return "'qid:' belongs to ranking data; remove it to train a classifier"
    return f"{token} is not index:value; separate pairs by blanks, indices counted from 1"
