"""Claims that a curve rises between two of its points."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from svmbench.claims.curves import FloatArray, curve
from svmbench.claims.model import Claim
from svmbench.claims.parts import ClaimCell, ClaimPart
from svmbench.evidence import reaching
from svmbench.records.moments import in_order
from svmbench.records.samples import states
from svmbench.records.states import STATES
from svmbench.records.statistics import median

#: A smaller relative rise may be rounding.
_ROUNDING = 1e-9


def rises(claim: Claim, cell: ClaimCell) -> Iterator[ClaimPart]:
    """One part for each solver: in most runs its curve rises between two neighbouring points.

    Where a curve rises from one point to the next, some step between them raised it. A run that
    failed is left out, because its last values prove nothing.
    """
    for label in claim.solvers:
        if label not in cell.rows:
            if label in cell.absent:
                yield ClaimPart(label, (), reaching(()), observed="open", note="no runs yet")
            continue
        row = cell.rows[label]
        ends = states(row.group)
        curves = {
            repeat: heights
            for repeat, (_, heights) in curve(row, "epochs", claim.asked.name).items()
            if heights.size > 1 and not STATES[ends[repeat]].fault
        }
        shares = [_share_of_rises(curves[repeat]) for repeat in in_order(curves, row.group)]
        if not shares:
            reason = "no curve has two points"
            yield ClaimPart(label, row.cells, reaching(()), reason=reason)
            continue
        note = (
            f"{claim.asked.words} rises in {sum(share > 0 for share in shares)} of {len(shares)} "
            f"runs, from {100 * median(shares):.0f} % of the points to the next"
        )
        question = reaching([share > 0 for share in shares])
        yield ClaimPart(label, row.cells, question, note=note, by_factor=False)


def _share_of_rises(heights: FloatArray) -> float:
    """The share of the points after which the next one is higher."""
    return float(np.mean(heights[1:] > heights[:-1] * (1 + _ROUNDING)))
