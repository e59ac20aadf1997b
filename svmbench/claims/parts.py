"""The elements of a claim's verdict: cases, and the parts that must hold in each case.

A claim is about some **cases**, each one problem of the runs: a sweep, a data set and λ. In each
case it consists of **parts**, one comparison each; a case holds if all its parts do. A
part is decided either by a question that `svmbench.evidence` answers or, if nothing is left to
chance, by observation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Literal

from svmbench.claims.measured import MeasuredRow, SweepCell
from svmbench.claims.model import GROUNDS, Claim
from svmbench.evidence.across import MIN_DATA_SETS, Across
from svmbench.evidence.forecast import FEWEST
from svmbench.evidence.page import Answer
from svmbench.evidence.questions import Question
from svmbench.records.spelling import counted, short

#: Seeds with which counts are observed, unless they are the same with two.
SEEDS = 3

#: Pairs of repeats whose median log-ratio is a case's part in the value of its data set, in a
#: statistical claim. A median of three is not moved by one disturbed run.
PAIRS_A_SET = 3

ClaimVerdict = Literal[
    "holds", "holds in k of n", "does not hold", "open", "not shown there", "not testable"
]

#: Verdicts of cases and of their parts, starting with the least favourable.
CASE_VERDICTS: tuple[ClaimVerdict, ...] = ("does not hold", "open", "holds", "not testable")


@dataclass(frozen=True)
class ClaimCase:
    """One problem that a claim is about, with the rows of the solvers it names."""

    # sweep (if there are several), data set and λ, in words, and whether the set is a stand-in
    place: str
    dataset: str  # name of the data set; if one case spans several, what they have in common
    stand_in: bool
    rows: dict[str, MeasuredRow]  # by label
    absent: tuple[str, ...] = ()  # labels that have no runs here, although they should
    # by label, the rows along λ or m, ascending; only for claims about growth
    series: dict[str, tuple[MeasuredRow, ...]] = field(default_factory=dict)
    # the problems at the two values of λ or C that a claim about a change names
    ends: tuple[ClaimCase, ClaimCase] | None = None

    def without_runs(self, labels: Sequence[str]) -> str:
        """Which of some labels have no runs here, in words; empty if all have runs."""
        missing = [label for label in labels if label not in self.rows]
        return f"no runs of {', '.join(missing)}" if missing else ""

    @property
    def all_rows(self) -> tuple[MeasuredRow, ...]:
        of_ends = (row for end in self.ends or () for row in end.all_rows)
        return (*self.rows.values(), *chain.from_iterable(self.series.values()), *of_ends)


@dataclass(frozen=True)
class ClaimPart:
    """One comparison that a case's verdict rests on.

    Its question decides it unless `observed` or `reason` does. It is asked even then, because the
    number of questions that a case asks must not depend on what was measured in it.
    """

    what: str  # what is compared, such as ``svmperf / sgd-m``
    rests_on: tuple[SweepCell, ...] = ()  # the cells of sweeps whose further repeats would help
    question: Question | None = None
    observed: ClaimVerdict | None = None  # its verdict, if no chance is involved
    reason: str = ""  # why it cannot be tested
    note: str = ""  # additional remarks, such as the published number
    exponent: bool = False  # whether the question is about an exponent instead of a factor
    by_factor: bool = True  # whether to show the estimate; otherwise `note` has the numbers
    # those of the cells it rests on whose repeats make pairs even if they are skipped for their
    # time limit
    skippable: tuple[SweepCell, ...] = ()
    seeds: int = 0  # seeds it was observed with, if no chance is involved
    lacks: int = 0  # repeats that it is to have, whatever they show
    limited: bool = False  # whether longer limits may decide what more repeats cannot
    barred: bool = False  # whether it can have no more repeats, which would meet their time limits


@dataclass(frozen=True)
class PartResult:
    part: ClaimPart
    verdict: ClaimVerdict
    text: str  # the numbers, in a line
    answer: Answer | None = None  # the answer to its question
    # seconds that a repeat of each cell it rests on takes
    seconds: Mapping[SweepCell, float] = field(default_factory=dict, compare=False)

    @property
    def pairs(self) -> int:
        """Informative pairs of repeats, or seeds, that its verdict rests on."""
        return self.part.seeds if self.answer is None else self.answer.pairs

    @property
    def more(self) -> int | None:
        """Further pairs that it needs; None if it can have none or more are unlikely to help."""
        if self.part.barred:
            return None
        if self.part.lacks or self.answer is None:
            return self.part.lacks
        return self.answer.more

    @property
    def is_guess(self) -> bool:
        """Whether there are too few pairs to say how many more it needs."""
        return self.answer is not None and not self.part.lacks and self.pairs < FEWEST

    @property
    def cells_of(self) -> list[tuple[SweepCell, ...]]:
        """The cells that it rests on: those whose runs are paired with each other together."""
        question, found = self.part.question, dict[object, list[SweepCell]]()
        change = question is not None and question.before is not None
        for cell in self.part.rests_on:
            sweep, _, lam, _ = cell
            found.setdefault((sweep, lam if change else None), []).append(cell)
        return list(map(tuple, found.values()))


@dataclass(frozen=True)
class CaseResult:
    place: str
    dataset: str
    stand_in: bool
    verdict: ClaimVerdict
    parts: tuple[PartResult, ...]

    @property
    def text(self) -> str:
        return "; ".join(part.text for part in self.parts)


@dataclass(frozen=True)
class ClaimResult:
    claim: Claim
    verdict: ClaimVerdict
    summary: str  # in how many cases it holds, in a line; the numbers of a single case
    cases: tuple[CaseResult, ...] = ()
    remedy: str = ""  # what it would take to decide it; empty for a decided claim
    across: Across | None = None  # the signed ranks over data sets, for a statistical claim
    may_change: bool = True  # whether the cases that are open may still change the verdict
    was_run: bool = True  # whether any run of it has ended

    @property
    def outcome(self) -> str:
        """Its verdict; ``not run`` for one that is open because nothing has run."""
        return self.verdict if self.was_run or self.verdict != "open" else "not run"

    @property
    def held_to(self) -> str:
        """The margins of its claim, such as ``b / a at least 1.4; in all cases``."""
        if self.claim.kind == "untestable":
            return ""
        decided = f"in {self.claim.cases} cases"
        if self.claim.cases == "any":
            decided = "in at least one case"
        if self.claim.across is not None:
            decided = f"decided by signed ranks over at least {MIN_DATA_SETS} data sets"
        return f"{MARGINS[self.claim.kind](self.claim)}; {decided}"

    @property
    def open_parts(self) -> list[PartResult]:
        """The parts that more repeats may decide, if that may change the verdict.

        A statistical claim, and one about counts, is to have a fixed number of repeats; only more
        data sets, or nothing, would decide it beyond that. A statistical claim on too few data sets
        is to have none.
        """
        if self.across is not None and data_sets(self.cases) < MIN_DATA_SETS:
            return []
        parts = [part for case in self.cases for part in case.parts if part.part.lacks]
        return parts + (self._undecided if self.may_change else [])

    @property
    def spare_parts(self) -> list[PartResult]:
        """The parts that more repeats may decide without changing the verdict.

        They change in how many cases the claim holds.
        """
        return [] if self.may_change else self._undecided

    @property
    def _undecided(self) -> list[PartResult]:
        if self.across is not None:
            return []
        return [
            part
            for case in self.cases
            if case.verdict == "open"
            for part in case.parts
            if part.verdict == "open" and not part.part.lacks
        ]

    @property
    def verdict_words(self) -> str:
        """The verdict with its numbers: ``holds in 2 of 5 (1 open)``."""
        tested = [case for case in self.cases if case.verdict != "not testable"]
        undecided = sum(case.verdict == "open" for case in tested)
        if self.verdict == "holds in k of n":
            held = sum(case.verdict == "holds" for case in tested)
            still = f" ({undecided} open)" if undecided else ""
            return f"holds in {held} of {len(tested)}{still}"
        if self.verdict == "does not hold" and self.across is not None:
            return f"does not hold{' (no difference shown)' * (self.across.verdict == 'open')}"
        if self.verdict == "does not hold" and undecided:
            against = sum(case.verdict == "does not hold" for case in tested)
            return f"does not hold in {against} of {len(tested)} ({undecided} open)"
        return self.outcome

    @property
    def stand_ins(self) -> int:
        return sum(case.stand_in for case in self.cases if case.verdict != "not testable")

    @property
    def basis(self) -> list[str]:
        """What the verdict rests on, in words; real data alone are no reason for doubt."""
        tested = sum(case.verdict != "not testable" for case in self.cases)
        data = "real data"
        if self.stand_ins:
            some = f"{self.stand_ins} of {tested} cases on " if self.stand_ins < tested else ""
            data = f"{some}stand-ins"
        voted = {
            part.part.seeds
            for case in self.cases
            for part in case.parts
            if part.part.question is None and part.verdict in ("holds", "does not hold")
        } - {0}
        votes = [f"a vote of {counted(min(voted), 'seed')}"] if voted else []
        weaker = [GROUNDS[each] for each in self.claim.rests_on]
        return [data] * bool(tested) + votes + weaker

    @property
    def firm(self) -> bool:
        """Whether it rests on real data and the paper's own settings."""
        tested = [case for case in self.cases if case.verdict != "not testable"] or self.cases
        real = bool(tested) and not any(case.stand_in for case in tested)
        return real and not self.claim.rests_on


def data_sets(cases: Sequence[CaseResult]) -> int:
    return len({case.dataset for case in cases if case.verdict != "not testable"})


def combine(verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict:
    """The verdict of a case from those of its parts: all that can be tested must hold."""
    return next((verdict for verdict in CASE_VERDICTS if verdict in verdicts), "open")


# ---------------------------------------------------------------- what a claim is held to


def _ratio(claim: Claim) -> str:
    place = f" on {claim.over_dataset}" if claim.over_dataset else ""
    if claim.spread:
        what = f"the largest of {', '.join(claim.spread)} / the smallest"
    else:
        what = ", ".join(f"{above}{place} / {below}" for below, above in claim.ratios_of)
    low, high = claim.region
    ends = f"at least {_number(low)}" if high == math.inf else f"{_number(low)} to {_number(high)}"
    words = f"{claim.asked.words}: {what} {ends}"
    if claim.of_change and claim.between is not None:
        first, last = (f"{claim.sign_along} = {_number(end)}" for end in claim.between)
        words += f" times as much at {last} as at {first}"
    return words


def _order(claim: Claim) -> str:
    tie = f", ties up to a factor of {_number(claim.tie)}" if claim.tie > 1.0 else ""
    return f"{claim.asked.words}: {' ≤ '.join(claim.solvers)}{tie}"


def _reaches(claim: Claim) -> str:
    bounds = _bounds(claim)
    if bounds:
        return f"{claim.asked.words}: {bounds}"
    return f"{claim.asked.words} reached in most runs"


def _fails(claim: Claim) -> str:
    if claim.how != "limit":
        return f"weights {'not ' * (claim.how == 'not-finite')}finite in most runs"
    return f"{claim.asked.words} not reached within the limits in most runs"


def _grows(claim: Claim) -> str:
    over = ""
    if claim.between is not None:
        first, last = map(_number, claim.between)
        over = f" over {claim.points} abscissae from {first} to {last} {claim.along}"
    return f"{claim.asked.words}: exponent {_bounds(claim)}{over}"


def _path(claim: Claim) -> str:
    if claim.ratios:
        ends = _number(claim.ratios[0][0]), _number(claim.ratios[-1][0])
        published = " to ".join(dict.fromkeys(ends))
        return (
            f"within a factor of {_number(claim.within or 1.0)} of the published ratios at "
            f"{published} {claim.along}"
        )
    assert claim.between is not None
    first, last = map(_number, claim.between)
    abscissae = f"{claim.points} abscissae from {first} to {last} {claim.along}"
    return f"{_ratio(claim)} at {abscissae}"


def _bounds(claim: Claim) -> str:
    words = {"≥": "at least", "≤": "at most"}
    return " and ".join(f"{words[sign]} {_number(bound)}" for sign, bound in claim.bounds)


def _number(value: float) -> str:
    return short(value, 5)


#: The words of each kind.
MARGINS: Mapping[str, Callable[[Claim], str]] = {
    "ratio": _ratio,
    "order": _order,
    "reaches": _reaches,
    "fails": _fails,
    "grows": _grows,
    "path": _path,
}
