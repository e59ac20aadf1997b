"""What further repeats can decide: open bounds, and intervals that are too wide to quote."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from svmbench.bench.bounds import BoundResult, judge_bounds
from svmbench.bench.found import read_found
from svmbench.bench.plan import Plan
from svmbench.bench.targets import LIBLINEAR, Target
from svmbench.bench.versus import PairedRatio, Versus, by_problem, comparisons, most_pairs
from svmbench.harness.doubts import Doubt

#: A number that may be quoted gets more repeats while its interval is wider than this factor,
#: decided or not.
WIDEST = 2.0

#: Pairs from which an interval may have two ends.
BOUNDED_FROM = 8


def open_doubts(plan: Plan, targets: Sequence[Target]) -> list[Doubt]:
    """Those that repeats of the sweeps can decide.

    Parameters
    ----------
    plan : Plan
        Its root contains the results.
    targets : sequence of Target
    """
    found = read_found(plan)
    judged = judge_bounds(found, targets)
    quoted = map(most_pairs, by_problem(comparisons(found, LIBLINEAR)))
    return [*_doubts(plan, judged.results), *_quoted(plan, list(quoted), judged.threshold)]


def open_tasks(plan: Plan, targets: Sequence[Target]) -> dict[str, int]:
    """Further repeats that the measurements beside the sweeps need, by name of the task."""
    return _repeats(plan, judge_bounds(read_found(plan), targets).results)


def _doubts(plan: Plan, results: Sequence[BoundResult]) -> Iterator[Doubt]:
    for one, more in _open(results):
        if one.versus is not None:
            text = f"{one.target.text} ({one.target.aim}): {one.place}"
            yield from _of_versus(plan, one.versus, more, text)


def _quoted(plan: Plan, compared: Sequence[Versus], threshold: float) -> Iterator[Doubt]:
    """Ratios to LIBLINEAR on real data, which may be quoted, with intervals that are too wide."""
    for one in compared:
        more = 0 if one.stand_in else _until_narrow(one.pairs, *one.pairs.interval(threshold))
        if more:
            yield from _of_versus(plan, one, more, f"Width of the interval: {one.place}")


def _of_versus(plan: Plan, one: Versus, more: int | None, text: str) -> Iterator[Doubt]:
    for at, job in enumerate(plan.jobs):
        if (job.name, job.item) == (one.part, one.set):
            yield Doubt(at, one.cells, more, len(one.pairs.logs), text)


def _repeats(plan: Plan, results: Sequence[BoundResult]) -> dict[str, int]:
    wanted: dict[str, int] = {}
    names = {task.name for task in plan.tasks}
    for one, more in _open(results):
        if more and one.part in names:
            wanted[one.part] = max(more, wanted.get(one.part, 0))
    return wanted


def _open(results: Sequence[BoundResult]) -> Iterator[tuple[BoundResult, int | None]]:
    """Bounds that further repeats may decide, or whose numbers they may narrow, and how many."""
    for one in results:
        if one.verdict == "not measured" or one.pairs is None:
            continue
        if one.verdict == "open":
            yield one, one.more
        elif one.target.kind != "ahead":
            more = _until_narrow(one.pairs, one.low, one.high)
            if more:
                yield one, more


def _until_narrow(pairs: PairedRatio, low: float, high: float) -> int:
    """Repeats until an interval is narrow enough: its width falls as their square root."""
    count = len(pairs.logs)
    if low > 0.0 and high < math.inf:
        width = math.log(high / low) / math.log(WIDEST)
        return max(0, math.ceil(count * (width**2 - 1.0)))
    unknown = not count or any(map(math.isinf, (*pairs.logs, *pairs.upper_logs)))
    return 0 if unknown else max(1, BOUNDED_FROM - count)
