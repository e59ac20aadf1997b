"""The kernels' random numbers on Python integers."""

from __future__ import annotations

from itertools import islice

WORD = (1 << 64) - 1


def rotate_left(x, k):
    """``x`` rotated left by ``k`` of its 64 bits."""
    return (x << k | x >> (64 - k)) & WORD


def splitmix64(state):
    """The endless outputs of splitmix64 from ``state``."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) & WORD
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & WORD
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB & WORD
        yield z ^ (z >> 31)


class Generator:
    """xoshiro256++, its state the first four outputs of splitmix64."""

    def __init__(self, seed):
        self.state = list(islice(splitmix64(seed), 4))

    def next(self):
        """The next 64 bits."""
        a, b, c, d = self.state
        result = (rotate_left((a + d) & WORD, 23) + a) & WORD
        c, d = c ^ a, d ^ b
        self.state = [a ^ d, b ^ c, c ^ (b << 17) & WORD, rotate_left(d, 45)]
        return result

    def below(self, n):
        """A uniform integer in 0 .. n - 1 from the upper 32 bits of one draw, or of more.

        Of the 2**32 draws the 2**32 mod n are refused that would favour some results.
        """
        while True:
            product = (self.next() >> 32) * n
            if product % 2**32 >= 2**32 % n:
                return product >> 32

    def shuffle(self, order):
        """Permute ``order`` in place, from the back."""
        for k in range(len(order) - 1, 0, -1):
            j = self.below(k + 1)
            order[k], order[j] = order[j], order[k]


def shuffled(m, seed):
    """The numbers 0 to m - 1 in the first order that a generator shuffles them to."""
    order = list(range(m))
    Generator(seed).shuffle(order)
    return order
