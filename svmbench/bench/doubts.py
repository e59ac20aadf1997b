"""What further repeats can decide: who is ahead, and intervals that are too wide to quote."""

from __future__ import annotations

import math
from collections.abc import Iterator

from svmbench.bench.found import read_found
from svmbench.bench.plan import Plan
from svmbench.bench.versus import Versus, answered
from svmbench.evidence.questions import Question
from svmbench.harness.doubts import Doubt

#: A number that may be quoted gets more repeats while its interval is wider than this factor,
#: decided or not.
WIDEST = 2.0

#: Pairs from which an interval may have two ends.
BOUNDED_FROM = 8


def open_doubts(plan: Plan) -> list[Doubt]:
    """Those that repeats of the sweeps can decide."""
    found: list[Doubt] = []
    _, _, asked = answered(read_found(plan))
    for one, answer in asked:
        more: int | None = answer.more
        if answer.verdict != "open":
            more = (
                0
                if one.row.group.stand_in
                else _until_narrow(one.question, answer.low, answer.high)
            )
        if more != 0:
            found += _doubt(plan, one, more)
    return found


def _doubt(plan: Plan, one: Versus, more: int | None) -> Iterator[Doubt]:
    """The question for the sweep that a comparison belongs to."""
    cells = (*one.row.cells, *one.best.cells)
    sweep, dataset, *_ = cells[0]
    for at, planned in enumerate(plan.sweeps):
        if (planned.name, planned.item) == (sweep, dataset):
            plain = tuple(cell[1:] for cell in cells)
            yield Doubt(at, plain, more, one.informative, one.place, frozenset())


def _until_narrow(question: Question, low: float, high: float) -> int:
    """Repeats until an interval is narrow enough: its width falls as their square root."""
    count = len(question.logs)
    if low > 0.0 and high < math.inf:
        width = (math.log(high) - math.log(low)) / math.log(WIDEST)
        return max(0, math.ceil(count * (width**2 - 1.0)))
    unknown = not count or any(map(math.isinf, (*question.logs, *question.uppers)))
    return 0 if unknown else max(1, BOUNDED_FROM - count)
