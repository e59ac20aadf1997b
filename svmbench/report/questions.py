"""The questions of a sweep: which label takes least, for each data set, λ and accuracy.

All pairs of labels are compared, and all these questions form one page, so that the leader may be
chosen from the same runs. A sweep without accuracies asks which label ends nearest to the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from svmbench.evidence.page import Answer, judge, verdicts
from svmbench.evidence.questions import Question, unpaired
from svmbench.evidence.steadiness import unsteady
from svmbench.records.groups import Group, heading
from svmbench.records.measures import Asked
from svmbench.records.read import Results, read_results
from svmbench.records.samples import samples, skipped_make_pairs
from svmbench.records.spelling import short
from svmbench.records.statistics import estimate, median
from svmbench.report.pairing import ASSUMED_SHIFT, samples_together, steadier

if TYPE_CHECKING:
    from svmbench.harness.doubts import Doubt
    from svmbench.harness.plan import Cell


def about_leaders(folder: Path) -> tuple[list[Doubt], int]:
    """What is open between each leader and the labels measured, and how many questions."""
    from svmbench.harness.doubts import Doubt  # a report loads no solver and no kernel

    if not (folder / "runs.csv").exists():
        return [], 0
    results = read_results(folder)
    found, asked_about, total = order(results), [], 0
    for asked in _main(results):
        for groups in _places(results):
            if (one := leader(groups, asked)) is None:
                continue
            for other in groups:
                if other is one or not samples(other, asked):
                    continue
                total += 1
                answer = found.undecided.get(_key(one, other, asked))
                if answer is not None and not found.alike(one, other, asked):
                    asked_about.append(
                        Doubt(
                            0,
                            (_cell(one), _cell(other)),
                            answer.more,
                            answer.pairs,
                            _described(one, other, asked),
                            _skippable(one, other, asked),
                        )
                    )
    return asked_about, total


def _skippable(one: Group, other: Group, asked: Asked) -> frozenset[Cell]:
    sides = ((one, other), (other, one))
    return frozenset(_cell(a) for a, b in sides if skipped_make_pairs(a, b, asked))


def _cell(group: Group) -> Cell:
    return group.dataset, group.lam, group.label


#: Data set, whether it is a stand-in, λ, measure, the label that is asked about and the other.
_Key = tuple[str, bool, float, Asked, str, str]


#: Two labels are alike if the interval of their ratio lies within this factor.
ALIKE = 1.05


@dataclass(frozen=True)
class Order:
    """What a report's page shows about the order of its labels."""

    faster: frozenset[_Key]  # the pairs of labels of which the first was shown to take less
    # for pairs of which the first leads without an order being shown: what is known of them
    undecided: dict[_Key, Answer]
    # for pairs of which the first leads and was shown to take less: what the other takes, as a
    # multiple, with the ends of its interval
    ratios: dict[_Key, tuple[float, float, float]]
    caution: str = ""  # what `svmbench.evidence.steadiness.unsteady` says of their times

    def shown(self, one: Group, other: Group, asked: Asked) -> bool:
        """Whether the first group was shown to take less than the second."""
        return _key(one, other, asked) in self.faster

    def alike(self, one: Group, other: Group, asked: Asked) -> bool:
        """Whether the ratio of two groups was shown to lie within `ALIKE`: neither is faster."""
        answer = self.undecided.get(_key(one, other, asked))
        return answer is not None and answer.low >= 1.0 / ALIKE and answer.high <= ALIKE

    def ratio(self, leader: Group, other: Group, asked: Asked) -> tuple[float, float, float]:
        """What another group takes as a multiple of a leader that was shown to take less."""
        return self.ratios[_key(leader, other, asked)]


#: The pages that were judged, each cached as long as its results exist.
_judged: WeakKeyDictionary[Results, Order] = WeakKeyDictionary()


def order(results: Results) -> Order:
    """Judge the questions of a report: its seconds, and its epochs if it has a table of them."""
    if results not in _judged:
        _judged[results] = _order(results)
    return _judged[results]


def _order(results: Results) -> Order:
    asked_of = [*_main(results), *_epochs(results)]
    page = list(_comparisons(results, asked_of))
    questions = [question_of(one, other, asked) for one, other, asked, _ in page]
    faster: set[_Key] = set()
    leading: list[int] = []
    answered = zip(page, verdicts(questions), strict=True)
    for at, ((one, other, asked, leads), verdict) in enumerate(answered):
        if verdict == "holds":
            faster.add(_key(one, other, asked))
        elif verdict == "does not hold":
            faster.add(_key(other, one, asked))
        if leads:
            leading.append(at)
    answers: dict[_Key, Answer] = {}
    ratios: dict[_Key, tuple[float, float, float]] = {}
    for at, answer in zip(leading, judge(questions, only=leading), strict=True):
        one, other, asked, _ = page[at]
        if answer.verdict == "open":
            answers[_key(one, other, asked)] = answers[_key(other, one, asked)] = answer
            continue
        ratio = answer.estimate, answer.low, answer.high
        ratios[_key(one, other, asked)] = ratio
        low, high = (1.0 / end if end else math.inf for end in (answer.high, answer.low))
        least = answer.estimate_high  # of the other way round, where limits ended runs
        ratios[_key(other, one, asked)] = 1.0 / least if least else math.inf, low, high
    timed = [
        each
        for each, (_, _, asked, _) in zip(questions, page, strict=True)
        if asked.measure.per_machine
    ]
    return Order(frozenset(faster), answers, ratios, unsteady(timed))


def _key(one: Group, other: Group, asked: Asked) -> _Key:
    return (one.dataset, one.stand_in, one.lam, asked, one.label, other.label)


def _comparisons(
    results: Results, measures: Sequence[Asked]
) -> Iterator[tuple[Group, Group, Asked, bool]]:
    """All pairs of labels of a place, and whether one of the two leads there."""
    for asked in measures:
        for groups in _places(results):
            first = leader(groups, asked)
            for one, other in combinations(groups, 2):
                yield one, other, asked, first is not None and first in (one, other)


def _main(results: Results) -> list[Asked]:
    if not results.accuracies:
        return [Asked("accuracy")]
    return [Asked("seconds", accuracy) for accuracy in results.accuracies]


def _epochs(results: Results) -> list[Asked]:
    there = "epochs" in results.tables
    return [Asked("epochs", accuracy) for accuracy in results.accuracies if there]


def _places(results: Results) -> Iterator[list[Group]]:
    for groups in results.groups.values():
        for lam in dict.fromkeys(group.lam for group in groups):
            yield [group for group in groups if group.lam == lam]


def leader(groups: Sequence[Group], asked: Asked) -> Group | None:
    """The group with the best median; None if no median is finite."""
    asked = ranked_by(groups, asked)
    medians = {at: _middle(group, asked) for at, group in enumerate(groups)}
    finite = {at: middle for at, middle in medians.items() if math.isfinite(middle)}
    best = max if asked.measure.more_is_better else min
    return groups[best(finite, key=finite.__getitem__)] if finite else None


def ranked_by(groups: Sequence[Group], asked: Asked) -> Asked:
    """The measure whose medians rank some groups: `steadier` of those that have one."""
    ranked = [one for one in groups if math.isfinite(_middle(one, asked))]
    return steadier(ranked, asked) if ranked else asked


def best_of(places: Sequence[tuple[Asked, Sequence[Group]]]) -> list[set[Group]]:
    """Of each place the groups that are bold: the best median, and those that may be as good.

    These were not shown to be worse, and their intervals meet that of the best.

    Where none is shown to be worse, none is bold. The questions of all places are one page.
    """
    compared = [
        (at, asked, first, other)
        for at, (asked, groups) in enumerate(places)
        if (first := leader(groups, asked)) is not None
        for other in groups
        if other is not first
    ]
    questions = [
        question_of(other, first, asked)
        if asked.measure.more_is_better
        else question_of(first, other, asked)
        for _, asked, first, other in compared
    ]
    kept: list[set[Group]] = [set() for _ in places]
    decided = set()
    for (at, asked, first, other), verdict in zip(compared, verdicts(questions), strict=True):
        kept[at].add(first)
        reached = [*map(math.isfinite, samples(other, asked).values())]
        if verdict == "holds" or (len(reached) > 1 and not any(reached)):
            decided.add(at)
        elif math.isfinite(_middle(other, asked)) and _meet(first, other, asked):
            kept[at].add(other)
    return [groups if at in decided else set() for at, groups in enumerate(kept)]


def _meet(one: Group, other: Group, asked: Asked) -> bool:
    """Whether the intervals of two medians have something in common."""
    a, b = (estimate(samples(group, asked).values()) for group in (one, other))
    return a.low <= b.high and b.low <= a.high


def _middle(group: Group, asked: Asked) -> float:
    found = samples(group, asked)
    return median(list(found.values())) if found else math.nan


def question_of(one: Group, other: Group, asked: Asked) -> Question:
    """Whether the second group's values are larger."""
    found, paired = samples_together(one, other, steadier((one, other), asked))
    if paired:
        return found.question(1.0)
    return unpaired(found.a, found.b, ASSUMED_SHIFT, low=1.0)


def _described(one: Group, other: Group, asked: Asked) -> str:
    place = f"{heading(one.dataset, one.stand_in)}, λ = {short(one.lam)}"
    return f"{place}: {one.label} against {other.label}, {asked.words}"
