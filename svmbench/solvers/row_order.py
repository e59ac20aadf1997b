"""Orders of rows: random permutations, or random blocks of rows that are adjacent in memory.

Access to a random row waits for its first bytes. Where rows are short, this wait takes several
times as long as the work on the entries. A random block of contiguous rows needs one such wait for
all its rows. File order avoids even that wait, but does not converge. Blocks converge if there are
many of them, if their bounds move from pass to pass, and if several blocks are interleaved, because
adjacent rows may be similar.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.kernels.rng import Generator
from svmbench.kernels.sampling import draw_blocks
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter

#: Description of the choice ``blocks``, for the parameters that offer it.
BLOCKS = (
    "blocks: a new order in every pass, of random blocks of contiguous rows, four of them "
    "interleaved; a permutation where the remaining rows fit in block_bytes."
)


class BlockParameters(Parameters):
    """Parameters of a method whose order of rows may be ``blocks``."""

    block_rows: int = parameter(
        32,
        "Contiguous rows per block, where the order is blocks.",
        source="ours: blocks of 128 rows or more need up to five times as many passes",
        unit="rows",
        ge=1,
    )
    block_bytes: int = parameter(
        2_000_000,
        "Bytes of rows that fit in a processor's caches, where the order is blocks: rows that "
        "take no more than this are permuted at random, which then costs nothing.",
        source="ours",
        unit="bytes",
        ge=0,
    )


class RowOrder:
    """Draws the order of each pass over some rows of a data set.

    Parameters
    ----------
    rows : ndarray of int32
        All rows that the method ever processes, ascending.
    blocks : bool
        Whether to draw blocks where the rows of a pass exceed ``block_bytes``; otherwise the
        order is a permutation.
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
        """Permute ``order``, which holds distinct rows, in place."""
        if len(order) <= self._most_shuffled:
            self._rng.shuffle(order)
        else:
            draw_blocks(self._rng, order, self._ascending(order), self._block_rows)

    def _ascending(self, order: Array) -> Array:
        """The rows in ``order``, sorted, in another array than ``order``."""
        if len(order) == len(self._rows):
            return self._rows
        there = np.zeros(int(self._rows[-1]) + 1, dtype=bool)
        there[order] = True
        return np.flatnonzero(there).astype(np.int32)


class RowMethod(Solver):
    """A method whose kernel takes row after row, in an order that is drawn anew as it ends."""

    _kernel: Any

    def _begin(self, problem: Problem, seed: int, rows: int | None = None) -> None:
        self._problem, self._rng = problem, Generator(seed)
        self._order = np.arange(problem.data.n_samples if rows is None else rows, dtype=np.int32)

    def _take(self, kernel: Any, drawn: bool = False) -> None:
        """Go on with this kernel at w = 0; its order is yet to be drawn by default."""
        self.counters = self._kernel = kernel
        self._order = kernel.order
        if not drawn:
            kernel.position = len(self._order)

    def advance(self, steps: int) -> None:
        self._run(self._kernel.presentations + steps)

    def _run(self, target: int) -> None:
        """Take steps until the presentations reach ``target``; without rows they count alone."""
        kernel = self._kernel
        if not len(self._order):
            kernel.presentations = max(target, kernel.presentations)
        while kernel.presentations < target:
            if kernel.position == len(self._order):
                self._next_order()
                kernel.position = 0
            kernel.advance(target)

    @abstractmethod
    def _next_order(self) -> None:
        """Draw the next order into ``_order``."""

    @property
    def w(self) -> FloatArray:
        """The last iterate, or the mean of those that steps started from, if they are summed."""
        kernel = self._kernel
        found: FloatArray = kernel.total / kernel.summed if kernel.summed else kernel.iterate
        return found
