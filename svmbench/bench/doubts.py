"""The open bounds, as questions that further repeats of a sweep can decide."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from svmbench.bench.bounds import BoundResult, judge_bounds
from svmbench.bench.found import read_found
from svmbench.bench.plan import Plan
from svmbench.bench.targets import Target
from svmbench.harness.doubts import Doubt

#: A ratio gets more repeats while its interval is wider than this factor, decided or not.
WIDEST = 2.0


def open_doubts(plan: Plan, targets: Sequence[Target]) -> list[Doubt]:
    """The open bounds of the sweeps, and the ratios whose intervals are too wide to quote.

    Parameters
    ----------
    plan : Plan
        Its root contains the results.
    targets : sequence of Target
    """
    return list(_doubts(plan, judge_bounds(read_found(plan), targets).results))


def _doubts(plan: Plan, results: Sequence[BoundResult]) -> Iterator[Doubt]:
    places = {(job.name, job.item): at for at, job in enumerate(plan.jobs)}
    for one in results:
        about = one.versus
        if about is None or one.verdict == "not measured":
            continue
        more = one.more if one.verdict == "open" else _until_narrow(one)
        if one.verdict == "open" or more:
            pairs = 0 if one.pairs is None else len(one.pairs.logs)
            text = f"{one.target.text} ({one.target.aim}): {one.place}"
            yield Doubt(places[about.part, about.set], about.cells, more, pairs, text)


def _until_narrow(one: BoundResult) -> int:
    """Repeats until a ratio's interval is narrow enough: its width falls as their square root."""
    if one.target.kind != "ratio" or not 0.0 < one.low <= one.high < math.inf:
        return 0
    assert one.pairs is not None
    width = math.log(one.high / one.low) / math.log(WIDEST)
    return max(0, math.ceil(len(one.pairs.logs) * (width**2 - 1.0)))
