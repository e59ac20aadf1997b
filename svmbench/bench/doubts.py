"""What further repeats can decide: open bounds, and intervals that are too wide to quote."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from svmbench.bench.bounds import BoundResult, judge_bounds
from svmbench.bench.found import read_found
from svmbench.bench.plan import Plan
from svmbench.bench.stated_bounds import LIBLINEAR, StatedBound
from svmbench.bench.versus import Versus, by_problem, comparisons, most_pairs
from svmbench.claims.judge import KnownParts
from svmbench.claims.measured import SweepCell
from svmbench.evidence.questions import Question
from svmbench.harness.doubts import Doubt

#: A number that may be quoted gets more repeats while its interval is wider than this factor,
#: decided or not.
WIDEST = 2.0

#: Pairs from which an interval may have two ends.
BOUNDED_FROM = 8


def open_doubts(
    plan: Plan, bounds: Sequence[StatedBound], known: KnownParts | None = None
) -> list[Doubt]:
    """Those that repeats of the sweeps can decide."""
    found = read_found(plan)
    judged = judge_bounds(found, bounds, known)
    quoted = map(most_pairs, by_problem(comparisons(found, LIBLINEAR)))
    return [*of_bounds(plan, judged.results), *of_quoted(plan, list(quoted), judged.threshold)]


def of_bounds(plan: Plan, results: Sequence[BoundResult]) -> Iterator[Doubt]:
    """Open bounds on sweeps, and those with intervals that are too wide."""
    for one, more in _open(results):
        assert one.part is not None
        part, text = one.part.part, f"{one.bound.text} ({one.bound.aim}): {one.place}"
        yield from _doubt(plan, part.rests_on, more, one.part.pairs, text, part.skippable)


def of_quoted(plan: Plan, compared: Sequence[Versus], threshold: float) -> Iterator[Doubt]:
    """Ratios to LIBLINEAR on real data, which may be quoted, with intervals that are too wide."""
    for one in compared:
        more = 0 if one.stand_in else _until_narrow(one.question, *one.interval(threshold))
        if more:
            cells = (*one.row.cells, *one.best.cells)
            text = f"Width of the interval: {one.place}"
            yield from _doubt(plan, cells, more, one.informative, text)


def _doubt(
    plan: Plan,
    cells: Sequence[SweepCell],
    more: int | None,
    pairs: int,
    text: str,
    skippable: Sequence[SweepCell] = (),
) -> Iterator[Doubt]:
    """The question for the sweep that the cells belong to."""
    sweep, dataset, *_ = cells[0]
    plain, skipped = tuple(cell[1:] for cell in cells), frozenset(cell[1:] for cell in skippable)
    for at, planned in enumerate(plan.sweeps):
        if (planned.name, planned.item) == (sweep, dataset):
            yield Doubt(at, plain, more, pairs, text, skipped)


def _open(results: Sequence[BoundResult]) -> Iterator[tuple[BoundResult, int | None]]:
    """Bounds that further repeats may decide, or whose numbers they may narrow, and how many."""
    for one in results:
        if one.part is None or one.part.answer is None or one.part.part.question is None:
            continue
        if one.verdict == "open":
            yield one, one.part.more
        elif not one.bound.everywhere:
            more = _until_narrow(one.part.part.question, one.low, one.high)
            if more:
                yield one, more


def _until_narrow(question: Question, low: float, high: float) -> int:
    """Repeats until an interval is narrow enough: its width falls as their square root."""
    count = len(question.logs)
    if low > 0.0 and high < math.inf:
        width = (math.log(high) - math.log(low)) / math.log(WIDEST)
        return max(0, math.ceil(count * (width**2 - 1.0)))
    unknown = not count or any(map(math.isinf, (*question.logs, *question.uppers)))
    return 0 if unknown else max(1, BOUNDED_FROM - count)
