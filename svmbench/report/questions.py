"""The questions that a sweep asks until they are decided: which solver is the fastest.

For each data set, λ and accuracy every two labels are compared: is one of them faster, by however
little? All these questions are judged as one page. Those that count, and have repeats made for
them, are about the leader, which is the label with the least median: the measurements choose it,
so that the page has to hold the questions of every possible leader.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from svmbench.evidence import Answer, Question, judge, paired
from svmbench.harness.plan import Cell
from svmbench.harness.series import Doubt
from svmbench.records.groups import Group, short
from svmbench.records.measures import Asked
from svmbench.records.read import Results, read_results
from svmbench.records.samples import samples
from svmbench.records.statistics import median


@dataclass(frozen=True)
class LeaderQuestion:
    """Whether the leader on a problem, to an accuracy, is faster than another label.

    Parameters
    ----------
    leader, other : (str, float, str)
        The two cells.
    accuracy : float
    answer : Answer
        About the ratio of the other's seconds to the leader's, or of the leader's to the other's:
        it is decided unless its verdict is open.
    """

    leader: Cell
    other: Cell
    accuracy: float
    answer: Answer

    @property
    def is_open(self) -> bool:
        """Whether neither has been shown to be the faster one."""
        return self.answer.verdict == "open"

    @property
    def text(self) -> str:
        """The question in words."""
        dataset, lam, label = self.leader
        return (
            f"{dataset}, λ = {short(lam)}, to {short(self.accuracy)}: {label} against "
            f"{self.other[2]}"
        )


def leader_questions(results: Results) -> list[LeaderQuestion]:
    """The leader of each data set, λ and accuracy against each of the others.

    Labels of which nothing was measured are left out, such as programs that are not installed.

    Parameters
    ----------
    results : Results
    """
    races = [
        _Race(members, accuracy)
        for members in _problems(results)
        for accuracy in results.thresholds
    ]
    answers = iter(judge([question for race in races for question in race.questions()]))
    found = []
    for race in races:
        for one, other in race.pairs():
            answer = next(answers)
            if race.leader in (one, other):
                rival = other if race.leader is one else one
                cells = _cell(race.leader), _cell(rival)
                found.append(LeaderQuestion(*cells, race.accuracy, answer))
    return found


def questions_of(folder: Path) -> list[LeaderQuestion]:
    """The same of a results folder; none where no run has been made."""
    return leader_questions(read_results(folder)) if (folder / "runs.csv").exists() else []


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
        for each in questions_of(folder)
        if each.is_open
    ]


def _problems(results: Results) -> list[list[Group]]:
    """The rows of the tables by data set and λ."""
    found: dict[tuple[str, bool, float], list[Group]] = {}
    for groups in results.groups.values():
        for group in groups:
            found.setdefault((group.dataset, group.stand_in, group.lam), []).append(group)
    return list(found.values())


class _Race:
    """The labels on a problem, by their seconds to an accuracy."""

    def __init__(self, groups: Sequence[Group], accuracy: float) -> None:
        self.accuracy = accuracy
        self._samples = {
            group.label: samples(group, Asked("seconds", accuracy)) for group in groups
        }
        self._groups = [group for group in groups if self._samples[group.label]]

    @property
    def leader(self) -> Group:
        """The label with the least median, the first one of several."""
        return min(self._groups, key=lambda group: median([*self._samples[group.label].values()]))

    def pairs(self) -> list[tuple[Group, Group]]:
        """Every two labels."""
        return list(combinations(self._groups, 2))

    def questions(self) -> list[Question]:
        """Of every two labels, whether the first is faster than the second."""
        return [self._question(one, other) for one, other in self.pairs()]

    def _question(self, one: Group, other: Group) -> Question:
        a, b = self._samples[one.label], self._samples[other.label]
        both = [repeat for repeat in a if repeat in b]
        return paired([a[repeat] for repeat in both], [b[repeat] for repeat in both], low=1.0)


def _cell(group: Group) -> Cell:
    return group.dataset, group.lam, group.label
