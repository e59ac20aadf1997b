# Rows with one more entry at the end of each.
#
#   with_last   copies the entries of a row, n_i of them, and puts the last one behind them

from libc.stdint cimport int64_t
from libc.string cimport memcpy

from .provenance cimport build_record

__build__ = build_record()


def with_last(const int64_t[::1] indptr, const unsigned char[::1] entries,
              const unsigned char[::1] last, unsigned char[::1] out):
    """Copy entries of any type, with the same last one behind those of each row.

    Parameters
    ----------
    indptr : ndarray of int64, shape (m + 1,)
        Where the rows begin, from 0 to n, ascending.
    entries : ndarray of uint8, shape (n b,)
        The n entries as bytes, b each.
    last : ndarray of uint8, shape (b,)
    out : ndarray of uint8, shape ((n + m) b,)

    Raises
    ------
    ValueError
        When the shapes do not belong together.
    """
    cdef Py_ssize_t m = indptr.shape[0] - 1, width = last.shape[0], i, length
    cdef const unsigned char *source = &entries[0] if entries.shape[0] else NULL
    cdef unsigned char *to = &out[0] if out.shape[0] else NULL
    cdef bint fits = m >= 0 and width > 0 and indptr[0] == 0
    fits = fits and indptr[m] * width == entries.shape[0]
    fits = fits and entries.shape[0] + m * width == out.shape[0]
    for i in range(m if fits else 0):
        fits = fits and indptr[i] <= indptr[i + 1]
    if not fits:
        raise ValueError("indptr, entries, last and out do not belong together")
    with nogil:
        for i in range(m):
            length = width * (indptr[i + 1] - indptr[i])
            if length:
                memcpy(to, source, length)
            memcpy(to + length, &last[0], width)
            source += length
            to += length + width
