"""The champion, or another row, compared with the fastest of several others."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import pandas as pd

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, Measured, read_found
from svmbench.bench.plan import Plan
from svmbench.claims.measured import MeasuredRow
from svmbench.evidence.page import Answer, judge
from svmbench.evidence.processes import evidence_of
from svmbench.evidence.questions import Question, factor_of
from svmbench.harness.doubts import Doubt
from svmbench.records.groups import heading
from svmbench.records.measures import Asked
from svmbench.records.samples import Pairs, least, measured, samples, without_doubtful
from svmbench.records.spelling import short
from svmbench.records.statistics import median
from svmbench.report.pairing import pairs_in_time
from svmbench.solvers.registry import find_solver

#: The programs of the table of ratios: LIBLINEAR as shipped, and with its limit lifted.
LIBLINEAR = ("liblinear", "linear-svc")


def best_of(rivals: Sequence[MeasuredRow], ours: MeasuredRow, asked: Asked) -> MeasuredRow | None:
    """The row that has, in each repeat, the runs of the rival that took least.

    A repeat that a rival lacks is left out: as long as one has not been run, the best is unknown.
    If none reached an accuracy, the one that had spent least stands for all of them.

    - ``rivals``: of one sweep, data set and λ, with the points of the whole sweep as traces. Those
      without any sample are no rivals.
    """
    slowest = max(measured(ours.group, asked).values(), default=math.inf)
    took = []
    for row in rivals:
        values = without_doubtful(row.group, samples(row.group, asked), slowest)
        if values:
            bounds = least(row.group, asked)
            took.append((row, {repeat: (values[repeat], bounds[repeat]) for repeat in values}))
    if not took:
        return None
    rows = tuple(row for row, _ in took)
    first = rows[0]
    if len(rows) == 1:
        return replace(first, members=rows)
    repeats_of: dict[MeasuredRow, list[int]] = {row: [] for row in rows}
    for repeat in set.intersection(*(set(each) for _, each in took)):
        best, _ = min(took, key=lambda each: each[1][repeat])
        repeats_of[best].append(repeat)
    runs = pd.concat(
        row.group.runs[row.group.runs["repeat"].isin(repeats)]
        for row, repeats in repeats_of.items()
    )
    group = replace(
        first.group,
        label=", ".join(row.group.label for row in rows),
        runs=runs.sort_values("repeat", kind="stable", ignore_index=True),
    )
    return MeasuredRow(first.sweep, group, first.traces, first.regrets, rows)


Standing = Literal[
    "champion ahead", "peer ahead", "open", "no peer reached it", "nobody reached it"
]  # fmt: skip


@dataclass(frozen=True)
class Versus:
    """A row against the fastest of some others, on one problem and by one measure."""

    measured: Measured  # the sweep that they were run in
    row: MeasuredRow
    best: MeasuredRow  # the best of the others in each repeat
    asked: Asked
    # labels of the others in all sweeps of the problem, if there are several
    others: tuple[str, ...] = ()

    @property
    def accuracy(self) -> float:
        assert self.asked.at is not None
        return self.asked.at

    @property
    def place(self) -> str:
        group = self.row.group
        of = heading(group.dataset, group.stand_in)
        return f"{of}, λ = {short(group.lam)}, ε = {short(self.accuracy)}"

    @property
    def among(self) -> tuple[str, ...]:
        return self.others or tuple(row.group.label for row in self.best.members)

    @cached_property
    def _middles(self) -> dict[str, float]:
        return {
            row.group.label: median(list(samples(row.group, self.asked).values()))
            for row in self.best.members
        }

    @property
    def program(self) -> str:
        """The fastest other one in the median; empty if none reached the accuracy."""
        first = min(self._middles, key=lambda label: self._middles[label])
        return first if math.isfinite(self._middles[first]) else ""

    @property
    def theirs(self) -> float:
        """What it took in the median."""
        return min(self._middles.values())

    @property
    def ours(self) -> float:
        """What the row took in the median, +inf if it did not reach the accuracy."""
        return median(self.pairs.a)

    @cached_property
    def pairs(self) -> Pairs:
        """What the row and the best of the others took in runs executed side by side."""
        return pairs_in_time(self.row.group, self.best.group, self.asked)

    @cached_property
    def question(self) -> Question:
        """Whether the row is the faster one."""
        return self.pairs.question(1.0)

    @property
    def informative(self) -> int:
        """Number of pairs in which somebody reached the accuracy."""
        return len(self.question.logs)

    @property
    def estimate(self) -> float:
        """Median ratio, or a lower bound of it if theirs was not reached; nan without pairs."""
        return factor_of(evidence_of(self.question.logs).median) if self.informative else math.nan

    def standing(self, answer: Answer) -> Standing:
        """Who is ahead, by the answer to its question."""
        if not self.informative:
            return "nobody reached it"
        if answer.verdict == "does not hold":
            return "peer ahead"
        if not math.isfinite(min(self.pairs.b)):
            return "no peer reached it"
        return "champion ahead" if answer.verdict == "holds" else "open"


def comparisons(found: Found, rivals: Collection[str] | None = None) -> list[list[Versus]]:
    """The champion against programs on every problem, in each of the sweeps that pose it.

    - ``rivals``: names of solvers; the fastest of their rows counts in every repeat. All
      solvers from outside unless given.
    """
    problems: dict[tuple[str, float, float], list[Versus]] = {}
    for part in found.parts:
        for ours in (row for row in part.rows if row.group.label == champion()):
            lam = ours.group.lam
            theirs = tuple(
                row
                for row in part.rows
                if row.group.lam == lam and _is_rival(row, rivals) and row is not ours
            )
            for accuracy in part.accuracies:
                one = side_by_side(part, ours, theirs, Asked("seconds", accuracy))
                if one is not None:
                    problems.setdefault((part.set, lam, accuracy), []).append(one)
    return list(problems.values())


def side_by_side(
    part: Measured, ours: MeasuredRow, theirs: tuple[MeasuredRow, ...], asked: Asked
) -> Versus | None:
    """One row of a part against others; None without pairs."""
    key = ours, theirs, asked
    if key not in part.compared:
        best = best_of(theirs, ours, asked)
        one = None if best is None else Versus(part, ours, best, asked)
        part.compared[key] = one if one is not None and len(one.pairs) else None
    return part.compared[key]


def _is_rival(row: MeasuredRow, rivals: Collection[str] | None) -> bool:
    solver = row.group.solver
    return find_solver(solver).foreign if rivals is None else solver in rivals


def best_of_theirs(members: Sequence[Versus]) -> Versus:
    """The sweep in which a program does best: each has its own runs of the champion.

    If no program reached the accuracy in any, the one in which they had spent most.
    """
    reached = [one for one in members if math.isfinite(min(one.pairs.b))]
    if reached:
        chosen = min(reached, key=lambda one: one.estimate)
    else:
        chosen = max(members, key=lambda one: (not one.informative, one.estimate))
    among = dict.fromkeys(label for one in members for label in one.among)
    return replace(chosen, others=tuple(among))


#: Comparisons, each with the answer to whether the champion is the faster one there.
Answered = Sequence[tuple[Versus, Answer]]


def answered(found: Found) -> tuple[Answered, Answered, Answered]:
    """The champion compared with the fastest peer, with LIBLINEAR, and both with each case once."""
    fastest = [best_of_theirs(each) for each in comparisons(found)]
    liblinear = [
        max(each, key=lambda one: one.informative) for each in comparisons(found, LIBLINEAR)
    ]
    # Where LIBLINEAR is the fastest peer, both ask the same.
    asked = {(one.place, one.question): one for one in (*fastest, *liblinear)}
    answers = dict(zip(asked, judge([one.question for one in asked.values()]), strict=True))

    def with_answers(compared: Iterable[Versus]) -> Answered:
        return [(one, answers[one.place, one.question]) for one in compared]

    return with_answers(fastest), with_answers(liblinear), with_answers(asked.values())


# ---------------------------------------------------------------- what further repeats decide

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
