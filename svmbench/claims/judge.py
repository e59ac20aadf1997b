"""Judges the claims of a page together: their questions, then parts, cases and claims.

All questions of all claims go to `svmbench.evidence.judge` at once, so that its level holds for
the page as a whole, however often it is judged and whenever repeats are added. Those of statistical
claims are judged apart, because they only describe a claim that signed ranks decide.

A case **holds** if all its parts that can be tested do, and **does not hold** if one contradicts
it; `decide` derives the verdict of a claim from those of its cases. A claim is open when there
are no runs of it. Cases that cannot be tested are listed separately. Signed ranks decide a
statistical claim, once each of its cases has the pairs that its value rests on; with too few data
sets for them it cannot be tested, whatever its cases say.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from statistics import median

from svmbench.claims.cases import brought_together, cases_not_run, cases_of
from svmbench.claims.compare import ratios
from svmbench.claims.curves import grows, path
from svmbench.claims.measured import MeasuredRow, SweepCell
from svmbench.claims.model import Claim
from svmbench.claims.parts import (
    PAIRS_A_SET,
    CaseResult,
    ClaimCase,
    ClaimPart,
    ClaimResult,
    ClaimVerdict,
    PartResult,
    combine,
    data_sets,
)
from svmbench.claims.places import Slot
from svmbench.claims.reach import fails, reaches
from svmbench.evidence.across import MIN_DATA_SETS, Across, across
from svmbench.evidence.growth import exponent as exponent_of
from svmbench.evidence.page import Answer, judge
from svmbench.evidence.questions import Question
from svmbench.harness.crew import START
from svmbench.records.spelling import counted, duration
from svmbench.report.numbers import format_value


def decide(quantifier: str, verdicts: Sequence[ClaimVerdict]) -> ClaimVerdict:
    counted = Counter[str](verdicts)
    holding, against, undecided = (
        counted[verdict] for verdict in ("holds", "does not hold", "open")
    )
    n = holding + against + undecided
    if n == 0:
        return "not testable"
    if quantifier == "all":
        if against:
            return "holds in k of n" if holding else "does not hold"
        return "open" if undecided else "holds"
    if quantifier == "most":
        if 2 * holding > n:
            return "holds"
        return "does not hold" if 2 * against >= n else "open"
    if holding:
        return "holds"
    return "open" if undecided else "does not hold"


def may_change(quantifier: str, verdicts: Sequence[ClaimVerdict]) -> bool:
    """Whether the verdict of a claim may change when its open cases are decided."""
    now = decide(quantifier, verdicts)
    ends: tuple[ClaimVerdict, ...] = ("holds", "does not hold")
    return any(
        decide(quantifier, [end if each == "open" else each for each in verdicts]) != now
        for end in ends
    )


#: Why a stand-in says nothing about a claim, by the claim and the stand-in's label.
Unlike = Callable[[Claim, str], str]

#: The parts of a case, by kind.
PARTS: Mapping[str, Callable[[Claim, ClaimCase], Iterator[ClaimPart]]] = {
    "ratio": ratios,
    "order": ratios,
    "reaches": reaches,
    "fails": fails,
    "grows": grows,
    "path": path,
}


#: The cases of a claim, each with its parts, not yet judged.
_Drafted = Sequence[tuple[ClaimCase, tuple[ClaimPart, ...]]]


class KnownParts:
    """The parts of cases that were judged before, for pages that are judged again and again.

    A case whose rows are the same objects has the same parts. Those that one judgement of the page
    does not use are forgotten at the next one.
    """

    def __init__(self) -> None:
        self._before: dict[object, tuple[object, tuple[ClaimPart, ...]]] = {}
        self._now: dict[object, tuple[object, tuple[ClaimPart, ...]]] = {}

    def begin(self) -> None:
        self._before, self._now = self._now, {}

    def of(self, claim: Claim, asked: Claim, case: ClaimCase) -> tuple[ClaimPart, ...]:
        rows = case.all_rows
        key = (id(claim), case.place, case.absent, tuple(case.rows), tuple(map(id, rows)))
        if key in self._before:
            self._now[key] = self._before[key]
        if key not in self._now:
            # The rows are kept as well: another object must not get the identity of one of them.
            self._now[key] = ((claim, rows), tuple(PARTS[claim.kind](asked, case)))
        return self._now[key][1]


def judge_claims(
    items: Sequence[tuple[Sequence[Claim], Sequence[MeasuredRow]]],
    slots: Sequence[Sequence[Slot]] = (),
    known: KnownParts | None = None,
    unlike: Sequence[Unlike] = (),
) -> list[list[ClaimResult]]:
    """The results of the claims of each item, judged together.

    - ``slots``: for every item the cells of its sweeps. Those that were not run are then open, and
      count among the questions.
    - ``unlike``: for every item, why a stand-in says nothing about a claim, by the claim and the
      label of the data set; empty if it does.
    """
    known = known or KnownParts()
    known.begin()
    planned = slots or [()] * len(items)
    likeness = unlike or [lambda _claim, _dataset: ""] * len(items)
    drafts = [
        [(claim, _drafted(claim, rows, cases, known, differs)) for claim in claims]
        for (claims, rows), cases, differs in zip(items, planned, likeness, strict=True)
    ]
    # Signed ranks decide a statistical claim. What is asked in its cases only describes it, so
    # that these questions do not raise the evidence which the others of the page need.
    answers = {}
    for ranked in (False, True):
        questions = [
            part.question
            for drawn in drafts
            for claim, cases in drawn
            for _, parts in (cases if (claim.across is not None) == ranked else ())
            for part in parts
            if part.question is not None
        ]
        answers[ranked] = iter(judge(questions))
    return [
        [_result(claim, cases, answers[claim.across is not None]) for claim, cases in drawn]
        for drawn in drafts
    ]


def _drafted(
    claim: Claim,
    rows: Sequence[MeasuredRow],
    slots: Sequence[Slot],
    known: KnownParts,
    unlike: Unlike,
) -> _Drafted:
    """The cases of a claim with their parts."""
    if claim.kind == "untestable":
        return ()
    several = len({row.sweep for row in rows} | {slot["sweep"] for slot in slots}) > 1
    asked, chosen = claim, list(rows)
    if claim.over_dataset is not None:
        asked, chosen = brought_together(claim, rows)
    cases = cases_of(asked, chosen, several)
    if claim.over_dataset is None:
        cases += cases_not_run(claim, rows, slots, several)
    return [(case, _parts(claim, asked, case, known, unlike)) for case in cases]


def _parts(
    claim: Claim, asked: Claim, case: ClaimCase, known: KnownParts, unlike: Unlike
) -> tuple[ClaimPart, ...]:
    """The parts of a case; one that only says so where its rows do not allow to test it."""
    sets = dict.fromkeys(row.group.dataset for row in case.all_rows if row.group.stand_in)
    if not sets and case.stand_in:  # other solvers have shown it
        sets = {case.dataset: None}
    if why := next(filter(None, (unlike(claim, label) for label in sets)), ""):
        return (ClaimPart("not like the set", reason=why),)
    least = claim.least_rows.get(case.dataset)
    if least is None:
        return known.of(claim, asked, case)
    m = max((int(row.group.runs["m"].iloc[0]) for row in case.all_rows), default=least)
    if m >= least:
        return known.of(claim, asked, case)
    return (ClaimPart("rows", reason=f"{m:,}, and the paper makes the claim on {least:,}"),)


def _result(claim: Claim, drafted: _Drafted, answers: Iterator[Answer]) -> ClaimResult:
    """The verdict of a claim from the answers to its questions, which are taken in their order."""
    if claim.kind == "untestable":
        return ClaimResult(claim, "not testable", claim.why or "")
    if not drafted:
        why = "there are no runs of it"
        return ClaimResult(claim, "open", why, remedy=_MISSING, was_run=False)
    cases = tuple(_case(case, parts, answers) for case, parts in drafted)
    verdict = decide(claim.cases, [case.verdict for case in cases])
    changes = may_change(claim.cases, [case.verdict for case in cases])
    summary, ranks = "", None
    if claim.across is not None:
        values = over_data_sets(claim, cases)
        ranks = across([value for value in values.values() if not math.isnan(value)])
        published = _published(claim)
        verdict = _by_ranks(ranks, cases, any(map(math.isnan, values.values())), published)
        summary = f"{_statistically(ranks, published)}; "
    return ClaimResult(
        claim,
        verdict,
        summary + _summary(cases),
        cases,
        _remedy(cases, ranks) if verdict == "open" else "",
        ranks,
        changes,
        was_run=any(case.all_rows for case, _ in drafted),
    )


def _by_ranks(
    ranks: Across, cases: Sequence[CaseResult], hidden: bool, published: Across | None
) -> ClaimVerdict:
    """The verdict of a statistical claim: what the test says, once every data set has its value.

    A claim that one method is "statistically" ahead does not hold if the test shows no difference,
    and is not shown there if it shows none in the paper's own numbers either.
    """
    enough = data_sets(cases) >= MIN_DATA_SETS
    if enough and (hidden or any(part.part.lacks for case in cases for part in case.parts)):
        return "open"
    enough = enough and ranks.data_sets >= MIN_DATA_SETS
    if enough and ranks.verdict != "open":
        return "holds" if ranks.verdict == "above" else "does not hold"
    if published is not None and published.verdict != "above":
        return "not shown there"
    return "does not hold" if enough else "not testable"


def _published(claim: Claim) -> Across | None:
    """The signed ranks of the published ratios; None if there are too few."""
    known = [math.log(ratio) - math.log(claim.by) for ratio in claim.quoted.values()]
    return across(known) if len(known) >= MIN_DATA_SETS else None


def over_data_sets(claim: Claim, cases: Sequence[CaseResult]) -> dict[str, float]:
    """The value of each data set for signed ranks: the median over its cases of their log-ratios.

    The log-ratio of a case is the median of its first pairs, `PAIRS_A_SET` of them, and is taken
    relative to `by`. Later pairs do not count: other claims may have asked for them because of
    what the first ones showed, and a p-value does not allow for that. The value is nan if limits
    hide its sign.
    """
    values: dict[str, list[float]] = {}
    for case in cases:
        for part in case.parts:
            if part.answer is not None and part.part.question is not None and part.pairs:
                log = _first(part.part.question, math.log(claim.by))
                values.setdefault(case.dataset, []).append(log)
    return {name: _middle(logs) for name, logs in values.items()}


def _first(question: Question, boundary: float) -> float:
    """Median of the first log-ratios relative to a boundary; nan if its sign is not known.

    A run that a limit ended leaves bounds of a log-ratio. They count only if they lie on one side
    of the boundary, and then with the bound that is nearer to it.
    """
    lower, upper = _middle(question.logs[:PAIRS_A_SET]), _middle(question.uppers[:PAIRS_A_SET])
    if lower == upper or lower > boundary:
        return lower - boundary
    return upper - boundary if upper < boundary else math.nan


def _middle(values: Sequence[float]) -> float:
    """Median; nan if one of the values is, or if it is between minus and plus infinity."""
    return math.nan if any(map(math.isnan, values)) else median(values)


def _statistically(ranks: Across, published: Across | None) -> str:
    sets = counted(ranks.data_sets, "data set")
    theirs = ""
    if published is not None:
        shown = "show it" if published.verdict == "above" else "do not show it either"
        theirs = f"; the paper's own numbers {shown} (p = {published.p_value:.2g})"
    if ranks.data_sets < MIN_DATA_SETS:
        return f"{sets}, too few for a statement over data sets (at least {MIN_DATA_SETS}){theirs}"
    said = f"over {sets} p = {ranks.p_value:.2g} (signed ranks)"
    if ranks.verdict != "open":
        return said
    return f"{said}: no difference is shown{theirs}"


def _case(case: ClaimCase, parts: Sequence[ClaimPart], answers: Iterator[Answer]) -> CaseResult:
    seconds = {key: each for row in case.all_rows for key, each in row.seconds.items()}
    found = tuple(_part(part, answers, seconds) for part in parts)
    verdict = combine([part.verdict for part in found])
    return CaseResult(case.place, case.dataset, case.stand_in, verdict, found)


def _part(
    part: ClaimPart, answers: Iterator[Answer], seconds: Mapping[SweepCell, float]
) -> PartResult:
    answer = None if part.question is None else next(answers)
    if answer is None or part.observed is not None or part.reason:
        verdict: ClaimVerdict = part.observed or "not testable"
        text = f"{part.what}: {part.note or part.reason}"
        return PartResult(part, verdict, text, seconds=seconds)
    note = f", {part.note}" if part.note else ""
    if part.by_factor:
        text = f"{part.what} {estimate(answer, exponent=part.exponent)}{note}"
    else:
        text = f"{part.what}: {part.note}"
    return PartResult(part, answer.verdict, text, answer, seconds)


def estimate(answer: Answer, *, exponent: bool = False) -> str:
    """The factor of an answer, or its exponent, with a sign and its interval: ``= 2 [1.5, 3]``.

    A factor of which only a bound is known has the sign ``≥`` or ``≤``. A factor without any bound
    is "not known". A change of a factor has none if limits ended runs on both sides.
    """
    if answer.estimate == 0.0 and answer.estimate_high == math.inf:
        return "not known"
    sign = "="
    if answer.estimate < answer.estimate_high:
        sign = "≥" if answer.estimate > 0 else "≤"
    if sign == "≤":
        answer = replace(answer, estimate=answer.estimate_high)
    value, low, high = (
        exponent_of(answer) if exponent else (answer.estimate, answer.low, answer.high)
    )
    shown = [format_value(each, low, high) for each in (value, low, high)]
    return f"{sign} {shown[0]} [{shown[1]}, {shown[2]}]"


# ---------------------------------------------------------------- words


def _summary(cases: Sequence[CaseResult]) -> str:
    """In how many cases; the numbers of a single one."""
    counts = Counter[str](case.verdict for case in cases)
    said = ", ".join(
        f"{counts[what]} {words}"
        for what, words in (
            ("holds", "hold"),
            ("does not hold", "do not hold"),
            ("open", "open"),
            ("not testable", "not testable"),
        )
        if counts[what]
    )
    words = f"{said} of {len(cases)}" if len(cases) > 1 else cases[0].text
    return f"{words}{_origin(cases)}"


def _origin(cases: Sequence[CaseResult]) -> str:
    stand_ins = sum(case.stand_in for case in cases)
    if not stand_ins:
        return ""
    if stand_ins == len(cases):
        return " (stand-ins only)"
    return f" ({stand_ins} of {len(cases)} on stand-ins)"


#: What it would take to decide a claim of which nothing has run.
_MISSING = "It would take runs that are still missing."


def _remedy(cases: Sequence[CaseResult], ranks: Across | None) -> str:
    """What it would take to decide an open claim."""
    if ranks is not None:
        return _across(cases)
    undecided = [case for case in cases if case.verdict == "open"]
    parts = [part for case in undecided for part in case.parts if part.verdict == "open"]
    said = [_repeats(parts)] if any(part.more for part in parts) else []
    if any(part.answer is None and not part.part.lacks for part in parts):
        said.append("runs that are still missing")
    stuck = [part for part in parts if part.more is None]
    limited = [part for part in stuck if part.part.barred or part.part.limited]
    said += ["longer limits"] * bool(limited)
    where = f" in {len(undecided)} of {len(cases)} cases" if len(cases) > 1 else ""
    takes = f"It would take {', and '.join(said)}{where}." if said else ""
    if len(stuck) == len(limited):
        return takes
    some = "some estimates lie" if said else "the estimate lies"
    unlikely = f"more repeats are unlikely to decide it: {some} too close to what is claimed."
    return f"{takes} Elsewhere, {unlikely}" if takes else unlikely[0].upper() + unlikely[1:]


def _across(cases: Sequence[CaseResult]) -> str:
    lacking = [part for case in cases for part in case.parts if part.part.lacks]
    said = [_repeats(lacking)] if any(part.answer is not None for part in lacking) else []
    if any(part.answer is None for part in lacking):
        said.append("runs that are still missing")
    return f"It would take {', and '.join(said) or 'longer limits'}."


def _repeats(parts: Sequence[PartResult]) -> str:
    """How many more repeats, and how long they take."""
    if any(part.more and part.is_guess for part in parts):
        return "more repeats"
    more = max(part.more or 0 for part in parts)
    seconds = _expected_seconds(parts)
    words = f"about {counted(more, 'more repeat')}"
    if not seconds > 0:
        return words
    return f"{words} ({'less than a second' if seconds < 1 else f'about {duration(seconds)}'})"


def _expected_seconds(parts: Sequence[PartResult]) -> float:
    """Seconds until some parts are expected to be decided, with the start of their runs.

    Parts that rest on the same cell share its repeats. nan if the time of a repeat is unknown.
    """
    repeats: dict[SweepCell, int] = {}
    seconds: dict[SweepCell, float] = {}
    for part in parts:
        for cell in part.part.rests_on:
            repeats[cell] = max(part.more or 0, repeats.get(cell, 0))
            seconds[cell] = START + part.seconds.get(cell, math.nan)
    return sum(repeats[cell] * seconds[cell] for cell in repeats)
