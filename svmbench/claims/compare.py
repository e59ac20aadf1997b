"""Claims that compare solvers by a measure: their ratio is in a region, or they are in order."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from svmbench.claims.measured import MeasuredRow, SweepCell
from svmbench.claims.model import Claim
from svmbench.claims.parts import PAIRS_A_SET, ClaimCase, ClaimPart
from svmbench.evidence.processes import evidence_of
from svmbench.evidence.questions import Question, changing, factor_of, paired
from svmbench.records.measures import Asked
from svmbench.records.moments import in_order
from svmbench.records.samples import Pairs, skipped_make_pairs
from svmbench.records.spelling import short
from svmbench.records.states import LIMITED, in_words
from svmbench.report.pairing import pairs_in_time, steadier


def ratios(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part for each ratio of the claim: it lies in the region."""
    if claim.between is not None:
        yield widened(claim, case)
        return
    note = f"published {short(claim.published, 3)}" if claim.published != 1.0 else ""
    for labels in _ratios_of(claim):
        yield _compared(claim, case, labels, claim.region, note)


def _ratios_of(claim: Claim) -> Sequence[tuple[str, ...]]:
    return [claim.spread] if claim.spread else claim.ratios_of


def _compared(
    claim: Claim,
    case: ClaimCase,
    labels: Sequence[str],
    region: tuple[float, float],
    note: str = "",
) -> ClaimPart:
    """The part that asks whether a ratio lies in the region: above / below, or largest / smallest.

    - ``labels``: the solvers below and above; all of a spread.
    """
    what = "largest / smallest" if claim.spread else f"{labels[1]} / {labels[0]}"
    asked, none = claim.asked, paired((), (), *region)
    if missing := case.without_runs(labels):
        lacks = _lacks(claim, none, ())
        return ClaimPart(what, (), none, observed="open", note=missing, lacks=lacks)
    rows = [case.rows[label] for label in labels]
    first, *others = rows
    rests_on = tuple(cell for row in rows for cell in row.cells)
    if reason := says_nothing(rows, asked):
        return ClaimPart(what, rests_on, none, reason=reason)
    groups = [row.group for row in rows]
    if claim.spread:
        found = _extremes(rows, asked)
    else:
        found = pairs_in_time(groups[0], groups[1], steadier(groups, asked))
    question = found.question(*region, exchangeable=not claim.spread)
    if found and (reason := unreached(rows, found, asked)):
        return ClaimPart(what, rests_on, question, reason=reason)
    skipped = (cell for row in others for cell in skipped_cells(first, row, asked))
    skippable = tuple(dict.fromkeys(skipped))
    part = ClaimPart(
        what,
        rests_on,
        question,
        skippable=skippable,
        lacks=_lacks(claim, question, rows),
        barred=barred(rows, skippable),
    )
    if not found:
        return replace(part, observed="open", note=_without_pairs(rows, asked))
    if claim.spread:
        return part
    said = filter(None, [_reached(found, *rows), note])
    return replace(part, note="; ".join(said), limited=limits_hide(found, region))


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

    The ratio at each value comes from the pairs of its own problem; any region does for them.
    """
    assert claim.between is not None
    (labels,) = _ratios_of(claim)
    ends = {
        f"{claim.sign_along} = {short(value, 3)}": _compared(claim, end, labels, (1.0, math.inf))
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


def _without_pairs(rows: Sequence[MeasuredRow], asked: Asked) -> str:
    ends = [
        f"{row.group.label}: {', '.join(dict.fromkeys(row.group.ends.values()))}" for row in rows
    ]
    return f"no pair of repeats has {asked.words} ({'; '.join(ends)})"


# ---------------------------------------------------------------- limits


def says_nothing(rows: Iterable[MeasuredRow], asked: Asked) -> str:
    """Why an accuracy says nothing about one of these rows; empty if it does."""
    if any(met_at_start(row, asked) for row in rows):
        return f"says nothing: w = 0 has the accuracy {asked.at:g} before the first step"
    return ""


def met_at_start(row: MeasuredRow, asked: Asked) -> bool:
    """Whether w = 0 already has the accuracy.

    The trace's first point is the objective before the first step: P(0) = 1 for the hinge, whose
    accuracy is (1 - P*)/P*.
    """
    if asked.at is None or row.traces.empty:
        return False
    points = row.points
    starts = points.loc[points["epochs"] == 0, "accuracy"].dropna()
    return bool(len(starts)) and bool((starts <= asked.at).all())


def unreached(rows: Sequence[MeasuredRow], found: Pairs, asked: Asked) -> str:
    """Why solvers cannot be compared if none has reached the accuracy; else empty."""
    if asked.at is None:
        return ""
    if any(map(math.isfinite, (*found.a, *found.b))):
        return ""
    who = "neither" if len(rows) == 2 else "none"
    return f"{who} reaches {asked.at:g} within the limit ({limits(rows)})"


def limits(rows: Iterable[MeasuredRow]) -> str:
    """What ended the repeats, in words: a limit with its size, or a state."""
    ends: dict[str, None] = {}
    for row in rows:
        runs = row.group.runs
        for state in dict.fromkeys(row.group.ends.values()):
            if state in LIMITED:
                ends[f"{_largest([limit_met(row)])} s"] = None
            elif state == "max_steps":
                ends[f"{_largest(runs['max_epochs'])} epochs"] = None
            elif state != "converged":
                ends[in_words(state)] = None
    return ", ".join(ends) or "its own rule"


def limit_met(row: MeasuredRow) -> float:
    """The largest time limit in seconds: of the runs that met theirs, else of all runs.

    A limit relative to the fastest run is known only of runs that were made. Of skipped runs only
    the sweep's own limit is known, which is longer.
    """
    runs = row.group.runs
    met = runs.loc[runs["state"] == "time_limit", "limit_seconds"]
    return float((runs["limit_seconds"] if met.empty else met).max())


def _largest(values: Iterable[float]) -> str:
    known = [value for value in values if not math.isnan(value)]
    return f"{max(known):g}" if known else "its"
