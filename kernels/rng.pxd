# xoshiro256++ 1.0 (Blackman and Vigna, 2018), seeded by splitmix64 (Steele, Lea and
# Flood, OOPSLA 2014): 64 good bits in about a nanosecond, and the same sequence on
# every machine, so that a seed names a run.
#
# Bounded integers by Lemire's multiply-and-reject (ACM TOMACS 29, 2019): unbiased,
# a multiplication where the remainder would need a division.

from libc.stdint cimport int32_t, uint32_t, uint64_t

cdef struct Rng:
    uint64_t s[4]


cdef class Generator:
    """A seeded stream of random numbers that kernels draw from."""

    cdef Rng c


cdef inline uint64_t rotate_left(uint64_t x, int k) noexcept nogil:
    return (x << k) | (x >> (64 - k))


cdef inline void rng_seed(Rng *rng, uint64_t seed) noexcept nogil:
    cdef uint64_t z
    cdef int k
    for k in range(4):
        seed += <uint64_t> 0x9E3779B97F4A7C15
        z = seed
        z = (z ^ (z >> 30)) * <uint64_t> 0xBF58476D1CE4E5B9
        z = (z ^ (z >> 27)) * <uint64_t> 0x94D049BB133111EB
        rng.s[k] = z ^ (z >> 31)


cdef inline uint64_t rng_next(Rng *rng) noexcept nogil:
    cdef uint64_t *s = rng.s
    cdef uint64_t result = rotate_left(s[0] + s[3], 23) + s[0]
    cdef uint64_t t = s[1] << 17
    s[2] ^= s[0]
    s[3] ^= s[1]
    s[1] ^= s[2]
    s[0] ^= s[3]
    s[2] ^= t
    s[3] = rotate_left(s[3], 45)
    return result


cdef inline uint32_t rng_below(Rng *rng, uint32_t n) noexcept nogil:
    """A uniform integer in 0 .. n - 1, n >= 1."""
    cdef uint64_t product = (rng_next(rng) >> 32) * n
    cdef uint32_t low = <uint32_t> product
    cdef uint32_t threshold
    if low < n:
        threshold = (<uint32_t> 0 - n) % n
        while low < threshold:
            product = (rng_next(rng) >> 32) * n
            low = <uint32_t> product
    return <uint32_t> (product >> 32)


cdef inline void rng_shuffle(Rng *rng, int32_t *order, Py_ssize_t n) noexcept nogil:
    """Fisher-Yates from the back, on the order as it stands."""
    cdef Py_ssize_t k = n - 1
    cdef Py_ssize_t j
    cdef int32_t swap
    while k > 0:
        j = rng_below(rng, <uint32_t> (k + 1))
        swap = order[k]
        order[k] = order[j]
        order[j] = swap
        k -= 1
