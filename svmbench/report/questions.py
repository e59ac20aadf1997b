"""What a sweep asks of its runs: which label takes least, for each data set, λ and accuracy.

Every two labels are compared, and all these questions make one page, so that which of them leads
may be read off the same runs. A sweep without accuracies asks who ends nearest to the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from svmbench.evidence import Answer, Question, judge, log_ratios, unpaired
from svmbench.records.groups import Group, heading, short
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.samples import samples
from svmbench.records.statistics import median
from svmbench.report.pairing import ASSUMED_SHIFT, samples_together

#: Data set, λ and label: what the repeats of a run have in common.
Cell = tuple[str, float, str]


class SweepQuestion(NamedTuple):
    """Whether one label takes less than another.

    Parameters
    ----------
    description : str
    question : Question
        About the second label's samples over the first's: are they more than 1?
    cells : tuple of Cell
        The cells of which further repeats serve the sweep: empty unless one of the two labels
        leads at this accuracy.
    """

    description: str
    question: Question
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class _Pair:
    place: tuple[str, bool, float, Asked]
    one: str
    other: str


def sweep_questions(results: Results) -> list[SweepQuestion]:
    """All questions of a sweep about seconds, or about the distance from the optimum at the end.

    They depend on the configuration alone, except for ``cells``.
    """
    found = []
    for asked in _main(results):
        for groups in _places(results):
            leader = _leader(groups, asked)
            for one, other in combinations(groups, 2):
                leads = leader is not None and leader in (one, other)
                found.append(
                    SweepQuestion(
                        _described(one, other, asked),
                        _question(one, other, asked),
                        tuple((g.dataset, g.lam, g.label) for g in (one, other)) if leads else (),
                    )
                )
    return found


@dataclass(frozen=True)
class Order:
    """The answers of a report's page.

    Parameters
    ----------
    answers : dict
        By place (data set, whether it is a stand-in, λ, measure) and the two labels.
    """

    answers: dict[_Pair, Answer]

    def clear(self, one: Group, other: Group, asked: Asked) -> bool:
        """Whether the first group was shown to take less than the second."""
        place = (one.dataset, one.stand_in, one.lam, asked)
        if (pair := _Pair(place, one.label, other.label)) in self.answers:
            return self.answers[pair].verdict == "holds"
        return self.answers[_Pair(place, other.label, one.label)].verdict == "does not hold"

    def more(self, one: Group, other: Group, asked: Asked) -> int | None:
        """How many more repeats are expected to show an order; None where they cannot."""
        place = (one.dataset, one.stand_in, one.lam, asked)
        pair = _Pair(place, one.label, other.label)
        if pair not in self.answers:
            pair = _Pair(place, other.label, one.label)
        return self.answers[pair].more


@lru_cache(maxsize=4)
def order(results: Results) -> Order:
    """Judge the questions of a report: its seconds, and its epochs if it has a table of them."""
    pairs, questions = [], []
    for asked in [*_main(results), *_epochs(results)]:
        for groups in _places(results):
            place = (groups[0].dataset, groups[0].stand_in, groups[0].lam, asked)
            for one, other in combinations(groups, 2):
                pairs.append(_Pair(place, one.label, other.label))
                questions.append(_question(one, other, asked))
    return Order(dict(zip(pairs, judge(questions), strict=True)))


def _main(results: Results) -> list[Asked]:
    if not results.thresholds:
        return [Asked("accuracy")]
    return [Asked("seconds", threshold) for threshold in results.thresholds]


def _epochs(results: Results) -> list[Asked]:
    there = "epochs" in results.tables
    return [Asked("epochs", threshold) for threshold in results.thresholds if there]


def _places(results: Results) -> Iterator[list[Group]]:
    """The groups of each data set and λ."""
    for groups in results.groups.values():
        for lam in dict.fromkeys(group.lam for group in groups):
            yield [group for group in groups if group.lam == lam]


def _leader(groups: Sequence[Group], asked: Asked) -> Group | None:
    """The group with the least median; None where no median is finite."""
    medians = {
        at: median(list(found.values()))
        for at, group in enumerate(groups)
        if (found := samples(group, asked))
    }
    finite = {at: middle for at, middle in medians.items() if math.isfinite(middle)}
    return groups[min(finite, key=finite.__getitem__)] if finite else None


def _question(one: Group, other: Group, asked: Asked) -> Question:
    found = samples_together(one, other, asked)
    if found.paired:
        return Question(log_ratios(found.a, found.b), low=1.0)
    return unpaired(found.a, found.b, ASSUMED_SHIFT, low=1.0)


def _described(one: Group, other: Group, asked: Asked) -> str:
    place = f"{heading(one.dataset, one.stand_in)}, λ = {short(one.lam)}"
    return f"{place}: {one.label} against {other.label}, {asked.words}"
