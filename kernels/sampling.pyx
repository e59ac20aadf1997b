# Orders of rows other than a shuffle.
#
#   draw_rows      rows drawn independently, uniformly, with replacement
#   draw_batches   batches of k distinct rows, each independent of the others
#   draw_blocks    shuffled blocks of neighbours, several read in turn
#
# Orders are drawn ahead, for about an epoch at a time, so that one loop over an order serves
# every way of sampling: it costs a draw a row, as it would inside the loop.

import numpy as np

from libc.stdint cimport int32_t, uint32_t

from .provenance cimport build_record
from .rng cimport Generator, Rng, rng_below, rng_shuffle

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
    """Fill ``order`` with batches of k distinct rows, each uniform among all such batches."""
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


cdef enum:
    ABREAST = 4


def draw_blocks(Generator rng, int32_t[::1] order, const int32_t[::1] rows, Py_ssize_t size):
    """Fill ``order`` with ``rows`` in shuffled blocks of ``size`` neighbours, four abreast.

    The blocks are shuffled, and then read four at a time: the first row of each, the second of
    each, and so on. Neighbours are often alike, and a step on a row after one on its like moves
    little; memory serves four ascending streams as it serves one.
    """
    cdef Rng local = rng.c
    cdef bint all_rows = rows is None
    cdef Py_ssize_t n = order.shape[0] if all_rows else rows.shape[0]
    cdef Py_ssize_t filled = 0
    cdef Py_ssize_t missing, abreast, j, k, q, row
    cdef Py_ssize_t first[ABREAST]
    cdef int32_t[::1] blocks
    if order.shape[0] != n or not 1 <= size < 2**31:
        raise ValueError(f"{n} rows in blocks of {size} do not fill an order of {order.shape[0]}")
    if n == 0:
        return
    missing = rng_below(&local, <uint32_t> size)
    blocks = np.arange((n + missing + size - 1) // size, dtype=np.int32)
    with nogil:
        rng_shuffle(&local, &blocks[0], blocks.shape[0])
        k = 0
        while k < blocks.shape[0]:
            abreast = min(ABREAST, blocks.shape[0] - k)
            for q in range(abreast):
                first[q] = blocks[k + q] * size - missing
            for j in range(size):
                for q in range(abreast):
                    row = first[q] + j
                    if 0 <= row < n:
                        order[filled] = <int32_t> row if all_rows else rows[row]
                        filled += 1
            k += abreast
    rng.c = local
