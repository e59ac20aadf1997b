"""Orders of rows in random blocks of neighbours, as lists."""

from __future__ import annotations

from itertools import zip_longest

from twins.rng import Generator

ABREAST = 4


def in_blocks(rng, rows, size):
    """The list ``rows`` in shuffled blocks, the first of which lacks a random number of rows.

    Four blocks at a time give their first rows, then their second ones, and so on. A block that
    lacks rows at its front gives nothing until the others have given as many.
    """
    if not rows:
        return []
    missing = rng.below(size)
    padded = [None] * missing + rows
    blocks = [padded[k : k + size] for k in range(0, len(padded), size)]
    order = list(range(len(blocks)))
    Generator.shuffle(rng, order)
    presented = []
    for k in range(0, len(order), ABREAST):
        for ranks in zip_longest(*(blocks[b] for b in order[k : k + ABREAST])):
            presented += [row for row in ranks if row is not None]
    return presented


def generator_of_blocks(size):
    """A class like `Generator`, whose shuffles are orders in blocks."""

    class InBlocks(Generator):
        def shuffle(self, order):
            order[:] = in_blocks(self, sorted(order), size)

    return InBlocks
