"""Claims along the path: one solver's curve lies below another's over a range."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from svmbench.claims.curves import RunCurve, curve, height
from svmbench.claims.measured import MeasuredRow
from svmbench.claims.model import Claim
from svmbench.claims.parts import ClaimCase, ClaimPart
from svmbench.evidence.questions import paired
from svmbench.records.moments import in_order
from svmbench.records.spelling import short
from svmbench.records.states import STATES


def path(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part for each abscissa: over / solver is at least `by` there, or near a published ratio.

    Unless they come with published ratios, the abscissae are spaced evenly on a logarithmic axis
    over the range of the claim; all that can be tested must hold. A repeat makes no pair at an
    abscissa before the first point of one of the two, or where both have met their target; it
    counts as +inf after it diverged.
    """
    assert claim.along is not None
    solver, over = claim.labels
    name = claim.asked.name
    missing = case.without_runs(claim.labels)
    for at, ratio, region in _places(claim):
        what = f"{name} of {over} / {solver} at {short(at, 3)} {claim.along}"
        if claim.ratios:
            what += f", over the published {short(ratio, 4)}"
        if missing:
            yield ClaimPart(what, (), paired((), (), *region), observed="open", note=missing)
            continue
        below, above = case.rows[solver], case.rows[over]
        order = in_order(below.group.ends, below.group, above.group)
        found, reason = _pairs(ordinates(below, claim, at), ordinates(above, claim, at), order)
        question = paired([ratio * a for a, _ in found], [b for _, b in found], *region)
        reason = "" if found else f"{reason} {short(at, 3)} {claim.along}"
        yield ClaimPart(what, (*below.cells, *above.cells), question, reason=reason)


def _places(claim: Claim) -> Iterator[tuple[float, float, tuple[float, float]]]:
    """The abscissae, each with the published ratio (else 1) and the region claimed over it."""
    for at, ratio in claim.ratios:
        yield at, ratio, claim.region
    if claim.between is not None:
        for at in map(float, np.geomspace(*claim.between, claim.points)):
            yield at, 1.0, (claim.by, math.inf)


@dataclass(frozen=True)
class Ordinate:
    """What is known of one repeat's curve at an abscissa."""

    # before its first point; along the curve; or beyond its end, which was at a target that the run
    # met, a failure or a limit
    where: Literal["early", "along", "target", "failed", "limit"]
    value: float  # nan where nothing is known


def ordinates(row: MeasuredRow, claim: Claim, at: float) -> dict[int, Ordinate]:
    """The ordinate of each repeat at an abscissa.

    Beyond its end, a run that reached its target keeps its last ordinate, and one that failed is
    +inf; nothing is known there of a run that a limit ended.
    """
    assert claim.along is not None
    ends = row.group.ends
    return {
        repeat: _ordinate(points, at, ends[repeat])
        for repeat, points in curve(row, claim.along, claim.asked.name).items()
    }


def _ordinate(points: RunCurve, at: float, end: str) -> Ordinate:
    value = height(points, at)
    if value is None:
        return Ordinate("early", math.nan)
    if at <= points[0][-1] * (1 + 1e-9):
        return Ordinate("along", value)
    if end == "converged":
        return Ordinate("target", value)
    if STATES[end].at_end == "worst":
        return Ordinate("failed", math.inf)
    return Ordinate("limit", math.nan)


def _pairs(
    below: Mapping[int, Ordinate], above: Mapping[int, Ordinate], order: Sequence[int]
) -> tuple[list[tuple[float, float]], str]:
    """The pairs at an abscissa in the order of the repeats, and why there are none.

    Two runs that have both met their target make no pair: their last ordinates differ by where
    the checkpoints were, and not by their speed.
    """
    both = [
        (below[repeat], above[repeat]) for repeat in order if repeat in below and repeat in above
    ]
    found = [
        (a.value, b.value)
        for a, b in both
        if not (math.isnan(a.value) or math.isnan(b.value)) and (a.where, b.where) != _MET
    ]
    if found:
        return found, ""
    if _MET in [(a.where, b.where) for a, b in both]:
        return [], "both had met their target before"
    if any("limit" in (a.where, b.where) for a, b in both):
        return [], "a limit ended the runs before"
    return [], "no curve has a point before"


#: Both runs of a pair have ended at a target that they met.
_MET = ("target", "target")
