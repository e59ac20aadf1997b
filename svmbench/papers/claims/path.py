"""Claims along the path: one solver's curve lies below another's over a range."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from svmbench.evidence import paired
from svmbench.papers.claims.curves import curve, height
from svmbench.papers.claims.model import Claim
from svmbench.papers.claims.parts import ClaimCell, ClaimPart
from svmbench.papers.measured import MeasuredRow
from svmbench.records.groups import short
from svmbench.records.samples import states
from svmbench.records.states import STATES


def path(claim: Claim, cell: ClaimCell) -> Iterator[ClaimPart]:
    """One part for each abscissa: there, over / solver is at least `by`.

    The abscissae are spaced evenly on a logarithmic axis over the range of the claim; all must
    hold. A repeat makes no pair at an abscissa before the first point of one of the two, and counts
    as +inf at one after it diverged.
    """
    assert claim.solver is not None
    assert claim.over is not None
    assert claim.between is not None
    assert claim.along is not None
    missing = [label for label in claim.labels if label not in cell.rows]
    if missing:
        yield ClaimPart(
            f"{claim.over} / {claim.solver}",
            observed="open",
            note=f"no runs of {', '.join(missing)}",
        )
        return
    below, above = cell.rows[claim.solver], cell.rows[claim.over]
    name = claim.asked.name
    rests_on = (below.cell, above.cell)
    for at in np.geomspace(*claim.between, claim.points):
        what = f"{name} of {claim.over} / {claim.solver} at {short(float(at), 3)} {claim.along}"
        found = _pairs(heights(below, claim, float(at)), heights(above, claim, float(at)))
        question = paired([a for a, _ in found], [b for _, b in found], low=claim.by)
        reason = "" if found else f"no curve has a point before {at:.3g} {claim.along}"
        yield ClaimPart(what, rests_on, question, reason=reason)


def heights(row: MeasuredRow, claim: Claim, at: float) -> dict[int, float]:
    """The ordinate of each repeat at an abscissa.

    Beyond its end, a run that reached its target keeps its last ordinate, and one that failed is
    +inf; nothing is known there of a run that a limit ended.
    """
    assert claim.along is not None
    ends = states(row.group)
    found = {}
    for repeat, points in curve(row, claim.along, claim.asked.name).items():
        value = height(points, at)
        if value is None:
            continue
        beyond = at > points[0][-1] * (1 + 1e-9)
        if not beyond or ends[repeat] == "converged":
            found[repeat] = value
        elif STATES[ends[repeat]].at_end == "worst":
            found[repeat] = math.inf
    return found


def _pairs(below: dict[int, float], above: dict[int, float]) -> list[tuple[float, float]]:
    return [(below[repeat], above[repeat]) for repeat in sorted(set(below) & set(above))]
