# The Python side of the kernels' random numbers.

from .provenance cimport build_record

__build__ = build_record()


cdef class Generator:
    """xoshiro256++ seeded by splitmix64, by any integer from 0 to 2**64 - 1."""

    def __cinit__(self, uint64_t seed):
        rng_seed(&self.c, seed)

    def next(self):
        """Return the next 64 random bits as an integer."""
        return rng_next(&self.c)

    def below(self, uint32_t n):
        """Return a uniform integer in 0 .. n - 1."""
        if n == 0:
            raise ValueError("no integer lies below 0")
        return rng_below(&self.c, n)

    def shuffle(self, int32_t[::1] order):
        """Permute ``order`` in place, uniformly (Fisher-Yates)."""
        if order.shape[0] > 1:
            with nogil:
                rng_shuffle(&self.c, &order[0], order.shape[0])
