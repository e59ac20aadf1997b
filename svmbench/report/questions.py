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
from pathlib import Path

from svmbench.evidence import Answer, Question, judge, log_ratios, unpaired
from svmbench.harness.doubts import Doubt
from svmbench.harness.plan import Cell
from svmbench.records.groups import Group, heading, short
from svmbench.records.measures import Asked
from svmbench.records.read import Results, read_results
from svmbench.records.samples import samples
from svmbench.records.statistics import median
from svmbench.report.pairing import ASSUMED_SHIFT, samples_together


@dataclass(frozen=True)
class LeaderQuestion:
    """Whether the leader of a problem takes less than another label, or the reverse.

    Parameters
    ----------
    leader, other : (str, float, str)
        Their cells: data set, λ and label.
    text : str
        The question in words.
    answer : Answer
        Of the second of the two labels over the first, in the order of the tables.
    """

    leader: Cell
    other: Cell
    text: str
    answer: Answer


@dataclass(frozen=True)
class _Pair:
    place: tuple[str, bool, float, Asked]
    one: str
    other: str


def leader_questions(folder: Path) -> list[LeaderQuestion]:
    """For each data set, λ and accuracy: the label with the least median against each other label.

    Labels of which nothing was measured are left out, such as programs that are not installed.

    Parameters
    ----------
    folder : Path
        Of results; there are no questions before runs.csv has been written.
    """
    if not (folder / "runs.csv").exists():
        return []
    results = read_results(folder)
    answers = order(results)
    found = []
    for asked in _main(results):
        for groups in _places(results):
            leader = _leader(groups, asked)
            for other in groups:
                if leader is None or other is leader or not samples(other, asked):
                    continue
                found.append(
                    LeaderQuestion(
                        _cell(leader),
                        _cell(other),
                        _described(leader, other, asked),
                        answers.of(leader, other, asked),
                    )
                )
    return found


def doubts_of(folder: Path, job: int = 0) -> list[Doubt]:
    """The open questions of a folder, for `svmbench.harness.series.run_series`.

    Parameters
    ----------
    folder : Path
    job : int
        Place of the folder's sweep in the series.
    """
    return [
        Doubt(job, (each.leader, each.other), each.answer.more, each.text)
        for each in leader_questions(folder)
        if each.answer.verdict == "open"
    ]


def _cell(group: Group) -> Cell:
    return group.dataset, group.lam, group.label


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

    def of(self, one: Group, other: Group, asked: Asked) -> Answer:
        """The answer on two groups of a place, whichever of them comes first."""
        place = (one.dataset, one.stand_in, one.lam, asked)
        pair = _Pair(place, one.label, other.label)
        return self.answers.get(pair) or self.answers[_Pair(place, other.label, one.label)]

    def more(self, one: Group, other: Group, asked: Asked) -> int | None:
        """How many more repeats are expected to show an order; None where they cannot."""
        return self.of(one, other, asked).more


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
