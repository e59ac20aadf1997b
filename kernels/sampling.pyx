# Orders in which rows are presented, where a shuffle is not what is wanted.
#
#   draw_rows      rows drawn independently, uniformly, with replacement
#   draw_batches   batches of k distinct rows, each independent of the others
#
# Orders are drawn ahead, in blocks of about an epoch, so that one loop over an order serves
# every way of sampling: it costs a draw a row, as it would inside the loop.

from libc.stdint cimport int32_t, uint32_t

from .provenance cimport build_record
from .rng cimport Generator, Rng, rng_below

__build__ = build_record()


def draw_rows(Generator rng, int32_t[::1] order, Py_ssize_t m):
    """Fill ``order`` with independent uniform integers in 0 .. m - 1."""
    cdef Rng local = rng.c          # kept in registers, which a pointer into rng is not
    cdef Py_ssize_t j
    if not 1 <= m < 2**31:
        raise ValueError(f"no rows to draw among {m}")
    with nogil:
        for j in range(order.shape[0]):
            order[j] = <int32_t> rng_below(&local, <uint32_t> m)
    rng.c = local


def draw_batches(Generator rng, int32_t[::1] order, int32_t[::1] permutation, Py_ssize_t k):
    """Fill ``order`` with batches of k distinct rows, each uniform among all such batches.

    Parameters
    ----------
    rng : Generator
    order : ndarray of int32
        Its length is a multiple of k.
    permutation : ndarray of int32, shape (m,)
        Any order of the rows; permuted in place, by the first k steps of a shuffle from
        the front for each batch.
    k : int
        From 1 to m.
    """
    cdef Rng local = rng.c
    cdef Py_ssize_t m = permutation.shape[0]
    cdef Py_ssize_t first = 0
    cdef Py_ssize_t j, other
    cdef int32_t row
    if not 1 <= k <= m or order.shape[0] % k != 0:
        raise ValueError(f"no batches of {k} rows of {m} fill an order of {order.shape[0]}")
    with nogil:
        while first < order.shape[0]:
            for j in range(k):
                other = j + rng_below(&local, <uint32_t> (m - j))
                row = permutation[other]
                permutation[other] = permutation[j]
                permutation[j] = row
                order[first + j] = row
            first += k
    rng.c = local
