"""Methods that take turns until one of them is near enough.

Those of a group take turns, such that their estimated work stays about equal. Once a method ends
short of the tolerance, or its gap has not fallen for a long time, the next group joins; if all come
nearer far too slowly, it takes over.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from svmbench.problem import relative_gap
from svmbench.solvers.pairs import PrimalAndDual, WorkCount, never

#: A method has ended if its own gap, over a multiple of its work until then, has not fallen by this
#: share; after so many pairs in all, or its own steps, and so many since its gap fell.
PROGRESS, FRUITLESS_WORK, FEWEST_PAIRS, FRUITLESS_PAIRS = 1e-3, 4.0, 20, 6

#: Once a method has ended, the others end too if the best gap has not fallen by `PROGRESS` over
#: this multiple of the work of all of them until then.
OUTDONE_WORK = 16.0

#: Methods come nearer far too slowly if they would need more than the first multiple of their work,
#: should the gap fall with the power of the work as over the second. Neither is tuned.
FAR, RECENT = 16.0, 16.0


@dataclass(eq=False)
class Candidate:
    """A method to take turns with others."""

    name: str
    pairs: Iterator[PrimalAndDual]
    # estimated work of its next pair, in stored entries, from that of its pairs so far
    cost: Callable[[float], float] = lambda so_far: 1.0
    least: int = FEWEST_PAIRS  # steps before which it is not ended for lack of progress
    head_start: Callable[[], float] = lambda: 0.0  # work by which it may be ahead of the others
    leads: Callable[[], bool] = never  # whether it comes before the others in any case
    # its steps so far and their work, for a method that does not yield at each step. Without it,
    # each pair is a step, whose work is its cost.
    count: WorkCount | None = None
    work: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._steps = self._steps_then = 0
        self._work_then, self._gap_then = 0.0, math.inf
        self.primal, self.dual = math.inf, 0.0

    def turn(self) -> float:
        """What comes next is the least: its work after the next pair, less its head start.

        Until its work has reached the head start, it comes before those that have none.
        """
        if self.leads():
            return -math.inf
        ahead = self.work - self.head_start()
        return ahead if ahead < 0.0 else ahead + self.cost(self.work)

    def next(self) -> PrimalAndDual | None:
        """Its next pair; None once it has ended."""
        if self._fruitless:
            return None
        pair = next(self.pairs, None)
        if pair is not None and self.count is not None:
            self._steps, self.work = self.count.steps, self.count.entries
        elif pair is not None:
            self._steps, self.work = self._steps + 1, self.work + self.cost(self.work)
        return pair

    def note(self, primal: float, dual: float) -> None:
        """Record P and D of its last pair."""
        self.primal, self.dual = min(self.primal, primal), max(self.dual, dual)
        gap = max(0.0, self.primal - self.dual)
        if gap < (1.0 - PROGRESS) * self._gap_then:
            self._gap_then, self._work_then, self._steps_then = gap, self.work, self._steps

    @property
    def begun(self) -> bool:
        """Whether it has taken as many steps as it may need to begin."""
        return self._steps >= self.least

    @property
    def _fruitless(self) -> bool:
        fruitless = self._steps - self._steps_then
        return (
            self.begun
            and fruitless >= FRUITLESS_PAIRS
            and self.work > FRUITLESS_WORK * self._work_then
        )


class Course:
    """The best relative gap, as work went on."""

    def __init__(self) -> None:
        self._work: list[float] = []
        self._gap: list[float] = []

    def add(self, work: float, gap: float) -> None:
        """Note the gap after so much work in all; inf where there is none yet."""
        if gap < math.inf:
            self._work.append(work)
            self._gap.append(gap)

    def is_far(self, wanted: float) -> bool:
        """Whether the gap falls far too slowly; so it does where there is none."""
        if not self._gap:
            return True
        work, gap = self._work[-1], self._gap[-1]
        if gap <= wanted:
            return False
        then = bisect_left(self._work, work / RECENT)
        fall, spent = math.log(self._gap[then] / gap), math.log(work / self._work[then])
        return math.log(gap / wanted) * spent >= math.log(FAR) * fall


def in_turns(
    groups: Iterator[list[Candidate]],
    due: Callable[[], bool],
    wanted: float = 0.0,
    ample: float = math.inf,
) -> Iterator[tuple[Candidate, PrimalAndDual]]:
    """The pairs of all methods; when one ends, the methods of the next group join.

    - ``ample``: work from which methods end that come nearer far too slowly, and the next group
      takes over; a method that is the only one goes on.
    """
    active = next(groups)
    everyone = list(active)
    gap, most, course = math.inf, math.inf, Course()
    while active:
        work = sum(each.work for each in everyone)
        least, bound = _best(everyone)
        nearest = max(0.0, least - bound)
        course.add(work, relative_gap(least, bound))
        if most < math.inf and nearest < (1.0 - PROGRESS) * gap:
            gap, most = nearest, OUTDONE_WORK * work
        had_ample = len(everyone) > 1 and sum(each.work for each in active) > ample
        slow = had_ample and course.is_far(wanted)
        if (slow or work > most) and all(each.begun for each in active):
            active = next((group for group in groups if group), [])
            everyone += active
            gap, most = nearest, OUTDONE_WORK * work
            continue
        method = min(active, key=Candidate.turn)
        pair = method.next()
        if pair is not None:
            yield method, pair
        elif due():
            return
        else:
            active.remove(method)
            joining = next(groups, [])
            active += joining
            everyone += joining
            gap, most = nearest, OUTDONE_WORK * work


def _best(methods: list[Candidate]) -> tuple[float, float]:
    """The least P and the largest D of these methods."""
    return min(each.primal for each in methods), max(each.dual for each in methods)
