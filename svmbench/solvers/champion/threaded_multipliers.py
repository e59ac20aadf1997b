"""The method of multipliers on parts of the rows, each with a thread of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.multipliers import NUMBERS, SEARCH_STEPS, SEARCHED, Multipliers
from svmbench.kernels.rows import CompactRows

#: Stored entries for each thread below which threads would wait for one another longer than work.
ENTRIES_A_THREAD = 250_000

#: Rows whose slopes two threads find no faster than one: half of them at 3.3 ns each take the 19 us
#: that it takes to hand work to another thread (both measured on generated rows).
FEW_MOVING = 12_000


def threads_for(entries: int, threads: int, d: int = 0) -> int:
    """How many threads are worth it: to add their matrices must not take longer than their rows."""
    return max(1, min(threads, entries // max(ENTRIES_A_THREAD, d * d)))


class ThreadedMultipliers:
    """`Multipliers` whose sums over rows are those of ranges of rows, one for each thread.

    They are added in the order of the ranges: the same number of threads gives the same bits.
    """

    def __init__(self, rows: CompactRows, lam: float, threads: int, alone: bool = False) -> None:
        self.rows, self.lam, self.m = rows, lam, rows.m
        self._places = _ranges(rows, threads)
        self._pool = ThreadPoolExecutor(max(1, threads - 1))
        # Arrays of all rows may lie in larger pages than those of a part, and need no joining.
        room = [np.empty(rows.m) for _ in range(NUMBERS)]
        self.alpha: FloatArray = room[0]

        def part(place: slice) -> Multipliers:
            own = [numbers[place] for numbers in room]
            return Multipliers(rows.between(place.start, place.stop), lam, True, rows.m, own)

        self._parts: Sequence[Multipliers] = (
            [part(place) for place in self._places] if alone else self._all(part, self._places)
        )
        self.pull: FloatArray = np.zeros_like(self._parts[0].pull)
        self.curvature: FloatArray = np.zeros_like(self._parts[0].curvature)

    def begin(self, w: FloatArray, centre: FloatArray, penalty: float) -> None:
        """Take up the method at w with these centres, as `Multipliers.begin`."""
        centres = [centre[place] if len(centre) else centre for place in self._places]
        self._all(lambda part, own: part.begin(w, own, penalty), self._parts, centres)
        self._add_up()

    def recentre(self, penalty: float) -> None:
        """Make alpha the centres, and this the penalty."""
        self._all(lambda part: part.recentre(penalty), self._parts)
        self._add_up()

    def move(self, step: FloatArray) -> float:
        """Go along a step as far as the smooth function falls; return the share of it."""
        length = self._search(step, self._all(lambda part: _look(part, step), self._parts))
        self._all(lambda part: part.go(length, step), self._parts)
        self._add_up()
        return length

    def _search(self, step: FloatArray, found: list[tuple[float, float]]) -> float:
        """Where along the step the function has its minimum, as the kernel searches for it."""
        start = float((self.lam * self.w - self.pull) @ step)
        square = self.lam * float(step @ step)
        low, high, x = 0.0, 1.0, 1.0
        few = sum(part.moving for part in self._parts) <= FEW_MOVING
        for _ in range(SEARCH_STEPS):
            slope = start + x * square + sum(slope for slope, _ in found)
            rise = square + sum(rise for _, rise in found)
            if abs(slope) <= SEARCHED * abs(start) or (x == 1.0 and slope <= 0.0):
                break
            if slope > 0.0:
                high = x
            else:
                low = x
            x = x - slope / rise if rise > 0.0 else 0.5 * (low + high)
            if not low < x < high:
                x = 0.5 * (low + high)
            found = self._slopes(x, few)
        return x

    def _slopes(self, x: float, few: bool) -> list[tuple[float, float]]:
        """Each part's share of the slope at x and of its rise; few rows are not handed over."""
        if few:
            return [part.slope(x) for part in self._parts]
        return self._all(lambda part: part.slope(x), self._parts)

    def _add_up(self) -> None:
        parts = self._parts
        _add_into(self.pull, [part.pull for part in parts])
        _add_into(self.curvature, [part.curvature for part in parts])
        self.alpha_sum = sum(part.alpha_sum for part in parts)
        self.slack_sum = sum(part.slack_sum for part in parts)

    def _all(self, work: Callable[..., Any], *each: Iterable[Any]) -> list[Any]:
        """Do the same with every part, the last one in this thread; none goes on after an error."""
        *others, mine = zip(*each, strict=True)
        tasks: list[Future[Any]] = []
        try:
            for given in others:
                tasks.append(self._pool.submit(work, *given))
            last = work(*mine)
            return [*(task.result() for task in tasks), last]
        except BaseException:
            wait(tasks)
            raise

    @property
    def w(self) -> FloatArray:
        """The weights, which all parts have alike. Read only."""
        w: FloatArray = self._parts[0].w
        return w

    @property
    def penalty(self) -> float:
        return float(self._parts[0].penalty)

    @property
    def presentations(self) -> int:
        """Rows looked at, by all threads."""
        return sum(part.presentations for part in self._parts)

    @property
    def updates(self) -> int:
        """Steps so far."""
        return int(self._parts[0].updates)

    @property
    def nonzeros(self) -> int:
        """Entries read or written, by all threads."""
        return sum(part.nonzeros for part in self._parts)


def _look(part: Multipliers, step: FloatArray) -> tuple[float, float]:
    """Have a part look at a step; its share of the slope at the step's end, and of its rise."""
    part.look(step)
    found: tuple[float, float] = part.slope(1.0)
    return found


def _add_into(total: FloatArray, each: Sequence[FloatArray]) -> None:
    """Have ``total`` be the sum of these in their order; a new array would take longer."""
    total[...] = each[0]
    for addend in each[1:]:
        total += addend


def _ranges(rows: CompactRows, number: int) -> list[slice]:
    """Ranges of rows with about equally many entries."""
    m = rows.m
    if rows.indptr is None:
        bounds = np.linspace(0, m, number + 1).astype(np.int64)
    else:
        bounds = np.searchsorted(rows.indptr, np.linspace(0, rows.indptr[m], number + 1))
        bounds[0], bounds[-1] = 0, m
    return [slice(begin, end) for begin, end in pairwise(bounds.tolist())]
