# What this machine can do at best: the speeds that bound every epoch of every solver.
#
#   stream_sum    reads an array once, in order            8 bytes a word
#   gather_sum    sum of table[index[k]]                   what x_i . w does once a nonzero
#   gather_add    table[index[k]] += c                     what w += c x_i does once a nonzero
#
# Each probe does its work `rounds` times and nothing else; the caller holds the clock. The
# words that are read are integers, whose sum may be taken in any order: the compiler then uses
# vectors, and memory is what is measured. Gathered sums run in four chains, as those of
# row_dot do, so that no load waits for an addition. The level of the memory is that of the
# table: index is to be much the smaller of the two where it can be, and is read in order.

from libc.stdint cimport uint32_t, uint64_t

from .provenance cimport build_record

__build__ = build_record()


def stream_sum(const uint64_t[::1] words, Py_ssize_t rounds=1):
    """Sum of all words modulo 2^64; of further rounds, thrice the sum before added to each."""
    cdef uint64_t s0, s1, s2, s3
    cdef uint64_t total = 0
    cdef Py_ssize_t n = words.shape[0]
    cdef Py_ssize_t k, _
    with nogil:
        for _ in range(rounds):
            s0 = s1 = s2 = s3 = 0
            k = 0
            while k + 4 <= n:
                s0 += words[k]
                s1 += words[k + 1]
                s2 += words[k + 2]
                s3 += words[k + 3]
                k += 4
            while k < n:
                s0 += words[k]
                k += 1
            # The weight makes every round needed, so that none is left out.
            total = total * <uint64_t> 3 + (s0 + s1 + s2 + s3)
    return total


def gather_sum(const uint32_t[::1] index, const double[::1] table, Py_ssize_t rounds=1):
    """Sum of table[index[k]] over all k and all rounds.

    Raises
    ------
    IndexError
        When an index is not one of the table's.
    """
    cdef double s0 = 0, s1 = 0, s2 = 0, s3 = 0
    cdef Py_ssize_t n = index.shape[0]
    cdef Py_ssize_t k, _
    _check(index, table.shape[0])
    with nogil:
        for _ in range(rounds):
            k = 0
            while k + 4 <= n:
                s0 += table[index[k]]
                s1 += table[index[k + 1]]
                s2 += table[index[k + 2]]
                s3 += table[index[k + 3]]
                k += 4
            while k < n:
                s0 += table[index[k]]
                k += 1
    return (s0 + s1) + (s2 + s3)


def gather_add(const uint32_t[::1] index, double[::1] table, double c, Py_ssize_t rounds=1):
    """Add c to table[index[k]] for every k, ``rounds`` times; errors as `gather_sum`."""
    cdef Py_ssize_t n = index.shape[0]
    cdef Py_ssize_t k, _
    _check(index, table.shape[0])
    with nogil:
        for _ in range(rounds):
            for k in range(n):
                table[index[k]] += c


cdef _check(const uint32_t[::1] index, Py_ssize_t size):
    cdef uint32_t largest = 0
    cdef Py_ssize_t k
    for k in range(index.shape[0]):
        largest = max(largest, index[k])
    if index.shape[0] and largest >= size:
        raise IndexError(f"index {largest} is not below {size}")
