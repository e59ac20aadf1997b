"""Claims that a curve rises between two of its points: observed, without a test."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from svmbench.claims.curves import curve
from svmbench.claims.model import Claim
from svmbench.claims.parts import SEEDS, ClaimCase, ClaimPart, ClaimVerdict
from svmbench.data.dataset import FloatArray
from svmbench.records.moments import in_order
from svmbench.records.samples import states
from svmbench.records.states import STATES
from svmbench.records.statistics import median

#: A smaller relative rise may be rounding.
_ROUNDING = 1e-9


def rises(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part for each solver: in most runs its curve rises between two neighbouring points.

    Where a curve rises from one point to the next, some step between them raised it. A run's seed
    determines its curve, so the verdict is about the seeds that were run. A run that failed is left
    out, because its last values prove nothing.
    """
    for label in claim.solvers:
        if label not in case.rows:
            if label in case.absent:
                yield ClaimPart(label, observed="open", note="no runs yet")
            continue
        row = case.rows[label]
        ends = states(row.group)
        curves = {
            repeat: heights
            for repeat, (_, heights) in curve(row, "epochs", claim.asked.name).items()
            if heights.size > 1 and not STATES[ends[repeat]].fault
        }
        shares = [_share_of_rises(curves[repeat]) for repeat in in_order(curves, row.group)]
        if not shares:
            reason = "no curve has two points"
            yield ClaimPart(label, row.cells, reason=reason)
            continue
        # Further repeats may have been run for other claims because of what these showed.
        shares = shares[:SEEDS]
        so, seeds = sum(share > 0 for share in shares), len(shares)
        lacks = 0 if "skipped" in ends.values() else max(0, SEEDS - seeds)
        verdict: ClaimVerdict = "holds" if 2 * so > seeds else "does not hold"
        yield ClaimPart(
            label,
            row.cells,
            observed="open" if lacks else verdict,
            note=f"{claim.asked.words} rises in {so} of {seeds} runs, from "
            f"{100 * median(shares):.0f} % of the points to the next",
            by_factor=False,
            seeds=seeds,
            lacks=lacks,
        )


def _share_of_rises(heights: FloatArray) -> float:
    """The share of the points after which the next one is higher."""
    return float(np.mean(heights[1:] > heights[:-1] * (1 + _ROUNDING)))
