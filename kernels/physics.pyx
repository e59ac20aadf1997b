# What this machine can do at best: the speed of memory, which bounds every pass of every solver.
#
#   stream_sum    reads an array once, in order            8 bytes a word
#
# The probe does its work `rounds` times and nothing else; the caller holds the clock. The words
# that are read are integers, whose sum may be taken in any order: the compiler then uses vectors,
# and memory is what is measured.

from libc.stdint cimport uint64_t

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
