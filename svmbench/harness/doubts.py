"""Which repeats to run for open questions: those first that are cheapest to decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from svmbench.harness.options import RepeatsOf
from svmbench.harness.plan import Cell
from svmbench.harness.sweeps import OpenSweep

#: Before it is asked again, a question gets this share of the pairs that it is expected to need.
BATCH = 0.5

#: A question that more pairs are not expected to decide is given up only once it has so many
#: informative pairs. The scatter of fewer says too little.
FEWEST = 5


def worth(more: int | None, pairs: int) -> int | None:
    """Further pairs worth running, from few pairs on up to `FEWEST` at least; None if none are."""
    return FEWEST - pairs if more is None and 0 < pairs < FEWEST else more


@dataclass(frozen=True)
class Doubt:
    """An open question, and what it takes to decide it."""

    sweep: int  # index of the sweep in the series that the question is about
    # the cells it is about, each a data set's label, a lambda and a solver's label. One more pair
    # takes one more repeat of each, in one block.
    cells: tuple[Cell, ...]
    # further pairs expected until it is decided; None if more are not expected to decide it
    more: int | None
    pairs: int  # informative pairs so far
    text: str = ""  # the question in words
    # those of its cells that, once they are out of time, make pairs although their repeats are
    # skipped. The limit that they met is far beyond the times of the other cells.
    skippable: frozenset[Cell] = frozenset()
    # whether it is worth time only when no other question is left, because its answer changes no
    # verdict
    later: bool = False
    # what it helps to decide. A goal is reached when all questions that have it are answered, so
    # that it costs as much as all of them. A question without goals is a goal by itself.
    goals: frozenset[str] = frozenset()
    # whether the cheapest way to a verdict includes it. The others come after those, and before
    # those that change no verdict.
    needed: bool = True

    @property
    def key(self) -> tuple[int, frozenset[Cell]]:
        """What stays the same when the question is asked again."""
        return self.sweep, frozenset(self.cells)

    @property
    def worth(self) -> int | None:
        """Further pairs worth running; None if none are."""
        return worth(self.more, self.pairs)

    @property
    def turn(self) -> tuple[bool, bool]:
        """Questions with the least turn get time first."""
        return self.later, not self.needed


@dataclass(frozen=True)
class Open:
    """An open question with its price."""

    doubt: Doubt
    # expected until it is decided; None if further repeats cannot decide it, or none can be run
    seconds: float | None
    # what is missing: time; repeats, if its cells have as many as they may have; or information, if
    # more pairs cannot decide it or cannot be had
    lacks: Literal["time", "repeats", "information"]


@dataclass(frozen=True)
class Batch:
    """Repeats to run before the questions are asked again."""

    sweep: int
    repeats_of: dict[Cell, list[int]]  # each begins as the longest of them does
    served: tuple[Doubt, ...]  # the questions they are run for
    seconds: float  # that they are expected to take

    def turns(self) -> list[RepeatsOf]:
        """What each repeat consists of, in their order."""
        return [
            {cell: [number] for cell, numbers in self.repeats_of.items() if number in numbers}
            for number in max(self.repeats_of.values(), key=len)
        ]


def priced(doubt: Doubt, open_sweeps: Mapping[int, OpenSweep]) -> Open:
    """The question with the seconds it is expected to take, or the reason why there are none."""
    if doubt.worth is None:
        return Open(doubt, None, "information")
    open_sweep = open_sweeps.get(doubt.sweep)
    if open_sweep is None:
        return Open(doubt, None, "time")
    skipped = set(filter(open_sweep.is_out_of_time, doubt.cells))
    if skipped and not (skipped <= doubt.skippable and skipped < set(doubt.cells)):
        # Repeats of its other cells alone show nothing new.
        return Open(doubt, None, "information")
    if not open_sweep.free_repeats(doubt.cells):
        return Open(doubt, None, "repeats")
    return Open(doubt, doubt.worth * sum(map(open_sweep.seconds, doubt.cells)), "time")


def batches(
    questions: Sequence[Open], open_sweeps: Mapping[int, OpenSweep], time_for_all: bool
) -> Iterator[Batch]:
    """Repeats for priced questions, those first whose goal takes the least time.

    A question that shares cells with an earlier one can be served by the same blocks, which saves
    the repeats of these cells. This is done if its other cells take no longer than that question
    does, and always if there is time for all questions.
    """
    prices = _goal_prices(questions, open_sweeps)

    def order(each: Open) -> tuple[float, float]:
        own = each.seconds or 0.0
        return min((prices[goal] for goal in each.doubt.goals), default=own), own

    waiting = sorted(questions, key=order)
    while waiting:
        first, *others = waiting
        open_sweep = open_sweeps[first.doubt.sweep]
        cells, served, waiting = set(first.doubt.cells), [first.doubt], []
        for other in others:
            doubt = other.doubt
            together = cells.union(doubt.cells)
            beside = _pairs(doubt) * sum(map(open_sweep.seconds, together - cells))
            if (
                doubt.sweep == first.doubt.sweep
                and cells.intersection(doubt.cells)
                and (time_for_all or beside <= (first.seconds or 0.0))
                and open_sweep.free_repeats(together)
            ):
                cells = together
                served.append(doubt)
            else:
                waiting.append(other)
        free = open_sweep.free_repeats(cells)[: _count(first.doubt)]
        wanted: dict[Cell, list[int]] = {}
        for doubt in served:
            for cell in doubt.cells:
                wanted[cell] = max(wanted.get(cell, []), free[: _count(doubt)], key=len)
        seconds = sum(open_sweep.seconds(cell) * len(numbers) for cell, numbers in wanted.items())
        yield Batch(first.doubt.sweep, wanted, tuple(served), seconds)


def _goal_prices(
    questions: Sequence[Open], open_sweeps: Mapping[int, OpenSweep]
) -> dict[str, float]:
    """Seconds that each goal takes: each cell as many repeats as one of its questions needs."""
    costs: dict[str, dict[tuple[int, Cell], float]] = {}
    for question in questions:
        doubt = question.doubt
        for goal in doubt.goals:
            of_goal = costs.setdefault(goal, {})
            for cell in doubt.cells:
                at, cost = (doubt.sweep, cell), open_sweeps[doubt.sweep].seconds(cell)
                of_goal[at] = max(of_goal.get(at, 0.0), _pairs(doubt) * cost)
    return {goal: sum(of_goal.values()) for goal, of_goal in costs.items()}


def _pairs(doubt: Doubt) -> int:
    return max(1, doubt.worth or 0)


def _count(doubt: Doubt) -> int:
    """Pairs of a question to run before it is asked again."""
    return math.ceil(BATCH * _pairs(doubt))
