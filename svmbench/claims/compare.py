"""Claims that compare solvers by a measure: their ratio is in a region, or they are in order."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from svmbench.claims.limits import limits, says_nothing, unreached
from svmbench.claims.measured import MeasuredRow, SweepCell
from svmbench.claims.model import Claim
from svmbench.claims.parts import PAIRS_A_SET, ClaimCase, ClaimPart
from svmbench.evidence.processes import evidence_of
from svmbench.evidence.questions import Question, changing, factor_of, paired
from svmbench.records.measures import Asked
from svmbench.records.moments import in_order
from svmbench.records.samples import Pairs, skipped_make_pairs
from svmbench.records.spelling import short
from svmbench.report.pairing import pairs_in_time, steadier


def ratios(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part for each ratio of the claim: it lies in the region."""
    if claim.between is not None:
        yield widened(claim, case)
    elif claim.spread:
        yield spread(claim, case, claim.region)
    else:
        note = f"published {short(claim.published, 3)}" if claim.published != 1.0 else ""
        for below, above in claim.ratios_of:
            yield factor(claim, case, below, above, claim.region, note)


def factor(
    claim: Claim,
    case: ClaimCase,
    below: str,
    above: str,
    region: tuple[float, float],
    note: str = "",
) -> ClaimPart:
    """The part that asks whether above / below lies in the region."""
    what = f"{above} / {below}"
    if missing := case.without_runs((below, above)):
        none = paired((), (), *region)
        lacks = _lacks(claim, none, ())
        return ClaimPart(what, (), none, observed="open", note=missing, lacks=lacks)
    first, second = case.rows[below], case.rows[above]
    asked = claim.asked
    rests_on = (*first.cells, *second.cells)
    if reason := says_nothing((first, second), asked):
        return ClaimPart(what, rests_on, paired((), (), *region), reason=reason)
    groups = first.group, second.group
    found = pairs_in_time(*groups, steadier(groups, asked))
    question = found.question(*region)
    if found and (reason := unreached((first, second), found, asked)):
        return ClaimPart(what, rests_on, question, reason=reason)
    skippable = skipped_cells(first, second, asked)
    part = ClaimPart(
        what,
        rests_on,
        question,
        skippable=skippable,
        lacks=_lacks(claim, question, (first, second)),
        barred=barred((first, second), skippable),
    )
    if not found:
        return replace(part, observed="open", note=_without_pairs(first, second, asked))
    said = filter(None, [_reached(found, first, second), note])
    return replace(part, note="; ".join(said), limited=limits_hide(found, region))


def spread(claim: Claim, case: ClaimCase, region: tuple[float, float]) -> ClaimPart:
    """The part that asks about the largest measure of a repeat over the smallest."""
    what, none, asked = "largest / smallest", paired((), (), *region), claim.asked
    if missing := case.without_runs(claim.spread):
        return ClaimPart(what, (), none, observed="open", note=missing)
    rows = [case.rows[label] for label in claim.spread]
    rests_on = tuple(cell for row in rows for cell in row.cells)
    if reason := says_nothing(rows, asked):
        return ClaimPart(what, rests_on, none, reason=reason)
    found = _extremes(rows, asked)
    skippable = {cell for row in rows[1:] for cell in skipped_cells(rows[0], row, asked)}
    longer = barred(rows, skippable)
    if not found:
        note = f"no repeat has {asked.words} of all of them"
        return ClaimPart(what, rests_on, none, observed="open", note=note, barred=longer)
    if not any(map(math.isfinite, found.a)):
        reason = f"none reaches {asked.at:g} within the limit ({limits(rows)})"
        return ClaimPart(what, rests_on, none, reason=reason)
    question = found.question(*region, exchangeable=False)
    return ClaimPart(what, rests_on, question, skippable=tuple(sorted(skippable)), barred=longer)


def _extremes(rows: Sequence[MeasuredRow], asked: Asked) -> Pairs:
    """The least and the largest value of each repeat that all rows have, run side by side."""
    first, *others = (row.group for row in rows)
    found = [pairs_in_time(first, other, asked) for other in others]
    common = set.intersection(*(set(each.repeats) for each in found))
    repeats = tuple(in_order(common, first, *others))

    def of_all(*sides: str) -> list[list[float]]:
        values = [
            dict(zip(each.repeats, getattr(each, side), strict=True))
            for each in found
            for side in sides
        ]
        return [[of[repeat] for of in values] for repeat in repeats]

    taken, at_least = of_all("a", "b"), of_all("a_least", "b_least")
    return Pairs(
        repeats,
        tuple(map(min, taken)), tuple(map(max, taken)),
        tuple(map(min, at_least)), tuple(map(max, at_least)),
    )  # fmt: skip


def widened(claim: Claim, case: ClaimCase) -> ClaimPart:
    """The part that asks whether a ratio at the second value is in the region of that at the first.

    The ratio at each value comes from the pairs of its own problem.
    """
    assert claim.between is not None
    ends = {
        f"{claim.sign_along} = {short(value, 3)}": _at(claim, end)
        for value, end in zip(claim.between, case.ends or (case, case), strict=True)
    }
    (first, before), (last, after) = ends.items()
    assert before.question is not None
    assert after.question is not None
    part = ClaimPart(
        f"{before.what} at {last} over that at {first}",
        (*before.rests_on, *after.rests_on),
        changing(before.question, after.question, *claim.region),
    )
    if reason := "; ".join(
        f"at {place}, {end.reason}" for place, end in ends.items() if end.reason
    ):
        return replace(part, reason=reason)
    part = replace(part, barred=before.barred or after.barred)
    if missing := "; ".join(
        f"at {place}, {end.note}" for place, end in ends.items() if end.observed
    ):
        return replace(part, observed="open", note=missing)
    return replace(
        part,
        note="; ".join(_factor_at(place, end) for place, end in ends.items()),
        skippable=(*before.skippable, *after.skippable),
        limited=any(operator.lt(*_medians(end.question)) for end in ends.values()),
    )


def _at(claim: Claim, case: ClaimCase) -> ClaimPart:
    """The pairs at one value; any region does for them."""
    if claim.spread:
        return spread(claim, case, (1.0, math.inf))
    ((below, above),) = claim.ratios_of
    return factor(claim, case, below, above, (1.0, math.inf))


def _factor_at(place: str, part: ClaimPart) -> str:
    low, high = _medians(part.question)
    sign, log = ("at most ", high) if low == -math.inf else ("at least ", low)
    after = f" ({part.note})" if part.note else ""
    return f"{'' if low == high else sign}{short(factor_of(log), 3)} at {place}{after}"


def _medians(question: Question | None) -> tuple[float, float]:
    """Bounds of the median log-ratio; the same if it is known."""
    assert question is not None
    return evidence_of(question.logs).median, evidence_of(question.uppers).median


def skipped_cells(first: MeasuredRow, second: MeasuredRow, asked: Asked) -> tuple[SweepCell, ...]:
    """The cells whose repeats make pairs even if they are skipped for their time limit."""
    return tuple(
        cell
        for one, other in ((first, second), (second, first))
        if skipped_make_pairs(one.group, other.group, asked)
        for cell in one.cells
    )


def barred(rows: Sequence[MeasuredRow], skippable: Collection[SweepCell]) -> bool:
    """Whether no further repeats can be had, because they would be skipped for a time limit."""
    late = [row for row in rows if _is_out_of_time(row)]
    return len(late) == len(rows) or any(not set(row.cells) <= set(skippable) for row in late)


def _is_out_of_time(row: MeasuredRow) -> bool:
    """Whether further repeats are skipped because one of them met the time limit."""
    return "skipped" in (ends := set(row.group.ends.values())) and "converged" not in ends


def _lacks(claim: Claim, question: Question, rows: Sequence[MeasuredRow]) -> int:
    """Pairs that a case still needs for the value of its data set; 0 if it can have no more."""
    if claim.across is None or any("skipped" in row.group.ends.values() for row in rows):
        return 0
    return max(0, PAIRS_A_SET - len(question.logs))


def limits_hide(found: Pairs, region: tuple[float, float]) -> bool:
    """Whether longer limits than any run had would show on which side of the region pairs lie."""
    low, high = region
    needed = longest = 0.0
    for a, b, a_least, b_least in zip(found.a, found.b, found.a_least, found.b_least, strict=True):
        if math.isfinite(a) and b_least < b:
            wanted, had = (low if math.isinf(high) else high) * a, b_least
        elif math.isfinite(b) and a_least < a:
            wanted, had = b / (low if low > 0.0 else high), a_least
        else:
            continue
        needed = max(needed, wanted if wanted > had else 0.0)
        longest = max(longest, had)
    return needed > longest


def _reached(found: Pairs, below: MeasuredRow, above: MeasuredRow) -> str:
    """Who did not reach the accuracy, or has no finite value, in how many of the runs."""
    said = []
    for row, values in ((below, found.a), (above, found.b)):
        ends = row.group.ends
        run = [
            math.isfinite(value)
            for repeat, value in zip(found.repeats, values, strict=True)
            if math.isfinite(value) or ends[repeat] != "skipped"
        ]
        skipped = len(found) - len(run)
        if skipped or not all(run):
            after = f", {skipped} skipped" if skipped else ""
            said.append(f"{row.group.label} in {sum(run)} of {len(run)}{after}")
    return "; ".join(said)


def _without_pairs(first: MeasuredRow, second: MeasuredRow, asked: Asked) -> str:
    ends = [
        f"{row.group.label}: {', '.join(dict.fromkeys(row.group.ends.values()))}"
        for row in (first, second)
    ]
    return f"no pair of repeats has {asked.words} ({'; '.join(ends)})"
