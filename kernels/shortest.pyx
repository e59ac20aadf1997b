# The shortest decimal text of doubles: the least digits that read back as the same number.
#
# The text is that of Python's repr, at a fifteenth of its cost. Let 1e-4 <= w < 2^53, w = m 2^-s
# with m < 2^53, and 10^k such that w 10^k has 17 digits before its point. Then a = m 10^k is an
# exact integer of at most 120 bits, w 10^k = a 2^-s, and half the distance to the neighbours of w
# is 10^k / 2 in the units of a. A decimal reads back as w if it is nearer than that (a tie does
# if m is even). The multiple of 10^j nearest to a 2^-s is tried for j = 1, 2..., until one
# is too far away. Other numbers are left to Python, and so are powers of two, whose lower
# neighbour is nearer. About three divisions a number.
# Shortest text: Steele and White, How to print floating-point numbers accurately, 1990.

from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.math cimport fabs, frexp, signbit
from libc.stdint cimport uint64_t
from libc.string cimport memcpy, strlen

from .provenance cimport build_record

__build__ = build_record()

cdef extern from "Python.h":
    char *PyOS_double_to_string(double, char, int, int, int *) except NULL
    int Py_DTSF_ADD_DOT_0

cdef extern from *:
    """
    #ifdef __SIZEOF_INT128__
    typedef unsigned __int128 svmbench_wide;
    #define SVMBENCH_WIDE 1
    #else
    typedef uint64_t svmbench_wide; /* too narrow: every number is left to Python */
    #define SVMBENCH_WIDE 0
    #endif
    """
    ctypedef unsigned long long wide "svmbench_wide"
    const int SVMBENCH_WIDE

cdef enum:
    LONGEST = 26  # a sign, 17 digits, a point, "e-308", and what follows a number

cdef uint64_t[20] POWERS  # of ten


cdef void _fill_powers() noexcept:
    cdef int j
    POWERS[0] = 1
    for j in range(1, 20):
        POWERS[j] = POWERS[j - 1] * 10


_fill_powers()


cdef inline wide _power(int k) noexcept nogil:
    return <wide> POWERS[k] if k < 20 else <wide> POWERS[19] * POWERS[k - 19]


cdef inline int _digits(char *out, uint64_t number, int least) noexcept nogil:
    """Write a number with at least so many digits; how many there are."""
    cdef char[20] turned
    cdef int n = 0, i
    while number or n < least:
        turned[n] = <char> (48 + number % 10)
        number //= 10
        n += 1
    for i in range(n):
        out[i] = turned[n - 1 - i]
    return n


cdef inline int _shorten(char *out, double size) noexcept nogil:
    """Write the text of a size; the number of characters, or 0 where it is left to Python."""
    cdef int exponent, s, k = 17, j, n
    cdef uint64_t m, most, unit, kept, found, power
    cdef wide a, rest, half, whole, away
    if not (SVMBENCH_WIDE and 1e-4 <= size < 9007199254740992.0):
        return 0
    m = <uint64_t> (frexp(size, &exponent) * 9007199254740992.0)
    s = 53 - exponent  # size = m 2^-s; 1 <= s <= 66
    if not m & (m - 1):
        return 0
    while k > 1 and size >= <double> POWERS[17 - k]:
        k -= 1
    if size < 0.1:
        k = 18 if size >= 0.01 else 19 if size >= 0.001 else 20
    half = _power(k)
    a = m * half
    half >>= 1
    whole = <wide> 1 << s
    most = <uint64_t> (a >> s)
    rest = a & (whole - 1)
    found = most + <uint64_t> ((rest + rest + (most & 1)) > whole)
    for j in range(1, 17):
        unit = POWERS[j]
        kept = most // unit
        away = (<wide> (most - kept * unit) << s) + rest
        whole = <wide> unit << s
        if away + (kept & 1) > whole - away:  # of two at one distance, the even one
            kept += 1
            away = whole - away
        if away + (m & 1) > half:
            break
        found = kept * unit
    n = 0
    if k < 20:
        power = POWERS[k]
        n = _digits(out, found // power, 1)
        found %= power
    else:
        out[0] = 48
        n = 1
    out[n] = 46
    n += 1
    n += _digits(out + n, found, k)
    while out[n - 1] == 48 and out[n - 2] != 46:
        n -= 1
    return n


def text_of_rows(const double[:, ::1] rows):
    """The numbers of each row as text, each followed by a blank; a line for each row."""
    cdef Py_ssize_t n = rows.shape[0], k = rows.shape[1], i, c, at = 0
    cdef char *out = <char *> PyMem_Malloc(n * (k * LONGEST + 1) + 1)
    cdef char *left
    cdef double number
    cdef int taken
    if out == NULL:
        raise MemoryError
    try:
        for i in range(n):
            for c in range(k):
                number = rows[i, c]
                if signbit(number) and number == number:
                    out[at] = 45
                    at += 1
                if number == 0.0:
                    memcpy(out + at, b"0.0", 3)
                    taken = 3
                else:
                    taken = _shorten(out + at, fabs(number))
                if not taken:
                    left = PyOS_double_to_string(fabs(number), b"r", 0, Py_DTSF_ADD_DOT_0, NULL)
                    taken = <int> strlen(left)
                    memcpy(out + at, left, taken)
                    PyMem_Free(left)
                at += taken
                out[at] = 32
                at += 1
            out[at] = 10
            at += 1
        return PyBytes_FromStringAndSize(out, at)
    finally:
        PyMem_Free(out)
