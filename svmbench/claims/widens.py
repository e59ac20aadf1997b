"""Claims that a factor between solvers grows with C or λ, from one value of it to another."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from svmbench.claims.compare import barred, factor, skipped_cells
from svmbench.claims.limits import limits, rounded, says_nothing, seconds_needed
from svmbench.claims.measured import MeasuredRow
from svmbench.claims.model import Claim
from svmbench.claims.parts import ClaimCase, ClaimPart
from svmbench.evidence import Question, changing, factor_of, paired
from svmbench.evidence.processes import evidence_of
from svmbench.records.measures import Asked
from svmbench.records.moments import in_order
from svmbench.records.samples import Pairs, states
from svmbench.records.spelling import short
from svmbench.records.states import LIMITED
from svmbench.report.pairing import pairs_in_time

#: Any region: at each end only the pairs are of interest.
_REGION = (1.0, math.inf)


def widens(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part: the factor at the second value is at least `by` times that at the first.

    The factor at each value comes from the pairs of its own problem.
    """
    assert claim.between is not None
    first, last = (f"{claim.sign_along} = {short(end, 3)}" for end in claim.between)
    ends = case.ends or (case, case)
    before, after = (_at_end(claim, end) for end in ends)
    assert before.question is not None
    assert after.question is not None
    what = f"{before.what} at {last} over that at {first}"
    halves = before.rests_on, after.rests_on
    rests_on = (*before.rests_on, *after.rests_on)
    question = changing(before.question, after.question, low=claim.by)
    named = ((first, before), (last, after))
    longer = (*before.barred, *after.barred)
    if reason := "; ".join(f"at {place}, {part.reason}" for place, part in named if part.reason):
        yield ClaimPart(what, rests_on, question, reason=reason, halves=halves)
        return
    if missing := "; ".join(f"at {place}, {part.note}" for place, part in named if part.observed):
        yield ClaimPart(
            what,
            rests_on,
            question,
            observed="open",
            note=missing,
            barred=longer,
            halves=halves,
        )
        return
    yield ClaimPart(
        what,
        rests_on,
        question,
        note="; ".join(_factor_at(place, part) for place, part in named),
        skippable=(*before.skippable, *after.skippable),
        limit=_limit(claim, named, ends),
        barred=longer,
        halves=halves,
    )


def _at_end(claim: Claim, case: ClaimCase) -> ClaimPart:
    """The pairs at one value, with what keeps them from being compared."""
    if claim.solvers:
        return _slowest_over_fastest(claim, case)
    solver, over = claim.labels
    return factor(claim, case, solver, over, _REGION)


def _slowest_over_fastest(claim: Claim, case: ClaimCase) -> ClaimPart:
    """In each repeat, what the slowest solver took against what the fastest took."""
    what, none = "largest / smallest", paired((), (), *_REGION)
    if missing := case.without_runs(claim.solvers):
        return ClaimPart(what, (), none, observed="open", note=missing)
    rows, asked = [case.rows[label] for label in claim.solvers], claim.asked
    rests_on = tuple(place for row in rows for place in row.cells)
    if reason := says_nothing(rows, asked):
        return ClaimPart(what, rests_on, none, reason=reason)
    found = _extremes(rows, asked)
    skippable = {place for row in rows[1:] for place in skipped_cells(rows[0], row, asked)}
    longer = barred(rows, skippable, asked)
    if not found:
        note = f"no repeat has {asked.words} of all of them"
        return ClaimPart(what, rests_on, none, observed="open", note=note, barred=longer)
    if not any(map(math.isfinite, found.a)):
        reason = f"none reaches {asked.at:g} within the limit ({limits(rows)})"
        return ClaimPart(what, rests_on, none, reason=reason)
    question = found.question(*_REGION, exchangeable=False)
    return ClaimPart(what, rests_on, question, skippable=tuple(sorted(skippable)), barred=longer)


def _extremes(rows: Sequence[MeasuredRow], asked: Asked) -> Pairs:
    """The least and the largest value of each repeat that all rows have, run side by side."""
    first, *others = (row.group for row in rows)
    found = [pairs_in_time(first, other, asked) for other in others]
    common = set.intersection(*(set(each.repeats) for each in found))
    repeats = tuple(in_order(common, first, *others))
    values = [_by_repeat(each) for each in found]

    def of_all(repeat: int, sides: tuple[int, int]) -> list[float]:
        return [each[repeat][side] for each in values for side in sides]

    taken = [of_all(repeat, (0, 1)) for repeat in repeats]
    at_least = [of_all(repeat, (2, 3)) for repeat in repeats]
    return Pairs(
        repeats,
        tuple(map(min, taken)),
        tuple(map(max, taken)),
        tuple(map(min, at_least)),
        tuple(map(max, at_least)),
    )


def _by_repeat(found: Pairs) -> dict[int, tuple[float, float, float, float]]:
    sides = zip(found.a, found.b, found.a_least, found.b_least, strict=True)
    return dict(zip(found.repeats, sides, strict=True))


def _factor_at(place: str, part: ClaimPart) -> str:
    assert part.question is not None
    low, high = _medians(part.question)
    sign, log = ("at most ", high) if low == -math.inf else ("at least ", low)
    after = f" ({part.note})" if part.note else ""
    return f"{'' if low == high else sign}{short(factor_of(log), 3)} at {place}{after}"


def _limit(claim: Claim, ends: Sequence[tuple[str, ClaimPart]], cases: Sequence[ClaimCase]) -> str:
    """The longer limits that more repeats do not replace, in words; from the curves if possible."""
    places, needed = [], []
    for (place, part), case in zip(ends, cases, strict=True):
        assert part.question is not None
        low, high = _medians(part.question)
        if low < high:
            places.append(place)
            needed.append(_seconds_of_all(claim, case))
    if not places:
        return ""
    known = [seconds for seconds in needed if seconds is not None]
    if len(known) < len(places):
        return f"longer limits at {' and '.join(places)}"
    shown = [f"{rounded(seconds)} at {place}" for seconds, place in zip(known, places, strict=True)]
    limit = "a limit" if len(places) == 1 else "limits"
    return f"{limit} of about {' and '.join(shown)}, by the curves of what did not finish"


def _seconds_of_all(claim: Claim, case: ClaimCase) -> float | None:
    """The limit with which all solvers would finish, by their curves; None if one does not tell."""
    asked = claim.asked
    if asked.at is None or asked.measure.limit != "limit_seconds":
        return None
    rows = [case.rows[label] for label in claim.solvers or (claim.solver, claim.over) if label]
    late = [row for row in rows if any(end in LIMITED for end in states(row.group).values())]
    needed = [seconds_needed(row, asked.at) for row in late]
    known = [seconds for seconds in needed if seconds is not None]
    return max(known) if known and len(known) == len(needed) else None


def _medians(question: Question) -> tuple[float, float]:
    """Bounds of the median log-ratio; the same if it is known."""
    return evidence_of(question.logs).median, evidence_of(question.uppers).median
