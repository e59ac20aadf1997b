"""Claims that compare solvers by a measure: faster, order, largest, ratio, alike and differ."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from svmbench.claims.limits import limit_met, says_nothing, seconds_needed, unreached
from svmbench.claims.measured import MeasuredRow, SweepCell
from svmbench.claims.model import Claim
from svmbench.claims.parts import PAIRS_A_SET, ClaimCase, ClaimPart, LongerLimit
from svmbench.evidence import Question, paired
from svmbench.records.measures import Asked
from svmbench.records.samples import Pairs, skipped_make_pairs, states
from svmbench.records.spelling import short
from svmbench.report.pairing import pairs_in_time


def faster(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part: over / solver is at least `by`."""
    solver, over = claim.labels
    yield factor(claim, case, solver, over, (claim.by, math.inf))


def order(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part for each two neighbours in the list, up to the factor of a tie."""
    for first, second in pairwise(claim.solvers):
        yield factor(claim, case, first, second, (1.0 / claim.tie, math.inf))


def largest(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part for each solver after the first: the first has at least as much as it."""
    for other in claim.solvers[1:]:
        yield factor(claim, case, other, claim.solvers[0], (1.0, math.inf))


def ratio(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part: solver / over lies within a factor of the published ratio."""
    assert claim.published is not None
    solver, over = claim.labels
    region = (claim.published / claim.within, claim.published * claim.within)
    note = f"published {short(claim.published, 3)}"
    yield factor(claim, case, over, solver, region, note)


def alike(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part for each solver after the first: it and the first are within a factor."""
    region = (1.0 / claim.within, claim.within)
    for other in claim.solvers[1:]:
        note = f"alike within a factor of {short(claim.within, 3)}"
        yield factor(claim, case, claim.solvers[0], other, region, note)


def differ(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part: solver and over are apart by more than a factor, whichever is larger.

    Its question is whether they are within the factor, and its verdict the opposite of the answer.
    """
    solver, over = claim.labels
    note = f"to be apart by more than a factor of {short(claim.by, 3)}"
    region = (1.0 / claim.by, claim.by)
    yield replace(factor(claim, case, solver, over, region, note), denied=True)


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
    found = pairs_in_time(first.group, second.group, asked)
    question = found.question(*region)
    if found and (reason := unreached({below: first, above: second}, found, asked)):
        return ClaimPart(what, rests_on, question, reason=reason)
    skippable = skipped_cells(first, second, asked)
    part = ClaimPart(
        what,
        rests_on,
        question,
        skippable=skippable,
        lacks=_lacks(claim, question, (first, second)),
        barred=barred((first, second), skippable, asked),
    )
    if not found:
        return replace(part, observed="open", note=_without_pairs(first, second, asked))
    said = filter(None, [_reached(found, first, second), note])
    limit = limit_to_have(found, region, (first, second), asked)
    return replace(part, note="; ".join(said), limit=limit)


def skipped_cells(first: MeasuredRow, second: MeasuredRow, asked: Asked) -> tuple[SweepCell, ...]:
    """The cells whose repeats make pairs even if they are skipped for their time limit."""
    return tuple(
        cell
        for one, other in ((first, second), (second, first))
        if skipped_make_pairs(one.group, other.group, asked)
        for cell in one.cells
    )


def barred(
    rows: Sequence[MeasuredRow], skippable: Collection[SweepCell], asked: Asked
) -> tuple[LongerLimit, ...]:
    """The longer time limits without which no further repeats can be had; none if they can."""
    late = [row for row in rows if _is_out_of_time(row)]
    lost = [row for row in late if not set(row.cells) <= set(skippable)]
    if not lost and len(late) < len(rows):
        return ()
    return tuple(
        LongerLimit(
            row.group.label,
            row.cells,
            limit_met(row),
            None if asked.at is None else seconds_needed(row, asked.at),
        )
        for row in lost or late
    )


def _is_out_of_time(row: MeasuredRow) -> bool:
    """Whether further repeats are skipped because one of them met the time limit."""
    return "skipped" in (ends := set(states(row.group).values())) and "converged" not in ends


def _lacks(claim: Claim, question: Question, rows: Sequence[MeasuredRow]) -> int:
    """Pairs that a case still needs before it counts in the value of its data set.

    0 where the repeats of a solver are skipped, because no more pairs can be had.
    """
    if claim.across is None or any("skipped" in states(row.group).values() for row in rows):
        return 0
    return max(0, PAIRS_A_SET - len(question.logs))


def deciding_limit(found: Pairs, region: tuple[float, float], asked: Asked) -> str:
    """The limit after which every pair is known to be inside or outside the region, in words.

    Empty if a longer limit would make no further pair known, or if some run had as much and did not
    reach the accuracy.
    """
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
    if needed <= longest:
        return ""
    return f"a limit of about {short(needed, 2)} {asked.measure.words}"


def limit_to_have(
    found: Pairs, region: tuple[float, float], rows: Sequence[MeasuredRow], asked: Asked
) -> str:
    """The deciding limit; it says so if it is one of time and another limit ended the runs."""
    words = deciding_limit(found, region, asked)
    ends = {state for row in rows for state in states(row.group).values()}
    if not words or asked.measure.limit != "limit_seconds" or "max_steps" not in ends:
        return words
    return f"{words.replace('a limit', 'runs', 1)}, which end earlier by their limit of epochs"


def _reached(found: Pairs, below: MeasuredRow, above: MeasuredRow) -> str:
    """Who did not reach the accuracy, or has no finite value, in how many of the runs."""
    said = []
    for row, values in ((below, found.a), (above, found.b)):
        ends = states(row.group)
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
        f"{row.group.label}: {', '.join(dict.fromkeys(states(row.group).values()))}"
        for row in (first, second)
    ]
    return f"no pair of repeats has {asked.words} ({'; '.join(ends)})"
