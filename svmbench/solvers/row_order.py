"""Fresh orders of rows: truly random, or in blocks of rows that are neighbours in memory.

A row at random costs the wait for its first bytes, several times the work on its entries where
rows are short. In a random block of contiguous rows one such wait serves all of them. File order
would spare even that, and does not converge. Blocks do, if they are many; if their bounds move
from pass to pass; and if several are read abreast, for neighbours may be alike.
"""

from __future__ import annotations

import numpy as np

from svmbench.data.dataset import Array, Dataset
from svmbench.kernels.rng import Generator
from svmbench.kernels.sampling import draw_blocks
from svmbench.solvers.base import Parameters, parameter

#: What ``blocks`` means, for the parameter that has it among its choices.
BLOCKS = (
    "blocks: a fresh order every pass, of random blocks of contiguous rows, four of them abreast; "
    "a permutation where no more rows are left than fit block_bytes."
)


class BlockParameters(Parameters):
    """Parameters of a method whose order of rows may be ``blocks``; they tell nothing else."""

    block_rows: int = parameter(
        32,
        "Contiguous rows a block, where the order is blocks.",
        source="ours: blocks of 128 and more need up to five times the passes",
        unit="rows",
        ge=1,
    )
    block_bytes: int = parameter(
        2_000_000,
        "Bytes of rows that a processor's caches hold, where the order is blocks: no more rows "
        "than these are truly permuted, which then costs nothing.",
        source="ours",
        unit="bytes",
        ge=0,
    )


class RowOrder:
    """Draws the order of each pass over some rows of a data set.

    Parameters
    ----------
    rng : Generator
    data : Dataset
    rows : ndarray of int32
        All rows that are ever presented, ascending.
    parameters : BlockParameters
    blocks : bool
        Whether in blocks, where the rows of a pass exceed ``block_bytes``; else permutations.
    """

    def __init__(
        self, rng: Generator, data: Dataset, rows: Array, parameters: BlockParameters, blocks: bool
    ) -> None:
        self._rng = rng
        self._rows = rows.copy() if blocks else rows[:0]
        self._block_rows = parameters.block_rows
        most = len(rows)
        if blocks:
            most = int(parameters.block_bytes * data.n_samples / max(data.nbytes, 1))
        self._most_shuffled = most

    def draw(self, order: Array) -> None:
        """Permute ``order``, distinct ones of the rows, in place."""
        if len(order) <= self._most_shuffled:
            self._rng.shuffle(order)
        else:
            draw_blocks(self._rng, order, self._ascending(order), self._block_rows)

    def _ascending(self, order: Array) -> Array:
        """The rows in ``order`` as they follow each other in memory; not ``order`` itself."""
        if len(order) == len(self._rows):
            return self._rows
        there = np.zeros(int(self._rows[-1]) + 1, dtype=bool)
        there[order] = True
        return np.flatnonzero(there).astype(np.int32)
