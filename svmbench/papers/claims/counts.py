"""Claims about quantities that a seed determines: observed and compared, without a test."""

from __future__ import annotations

import math
from collections.abc import Iterator

from svmbench.papers.claims.limits import says_nothing, unreached
from svmbench.papers.claims.model import Claim
from svmbench.papers.claims.parts import ClaimCell, ClaimPart, ClaimVerdict
from svmbench.records.groups import short
from svmbench.records.samples import pairs


def counts(claim: Claim, cell: ClaimCell) -> Iterator[ClaimPart]:
    """One part: over / solver is at least `by` with most of the seeds that were run.

    A count, such as the epochs to an accuracy, is the same whenever a seed is run again. The
    verdict is about the seeds that were run, and the page says how many they are.
    """
    assert claim.solver is not None
    assert claim.over is not None
    what = f"{claim.over} / {claim.solver}"
    missing = [label for label in claim.labels if label not in cell.rows]
    if missing:
        yield ClaimPart(what, observed="open", note=f"no runs of {', '.join(missing)}")
        return
    below, above = cell.rows[claim.solver], cell.rows[claim.over]
    rests_on = (below.cell, above.cell)
    if reason := says_nothing((below, above), claim.asked):
        yield ClaimPart(what, rests_on, reason=reason)
        return
    found = pairs(below.group, above.group, claim.asked)
    if not found:
        note = f"no seed has {claim.asked.words} of both"
        yield ClaimPart(what, rests_on, observed="open", note=note)
        return
    if reason := unreached({claim.solver: below, claim.over: above}, found, claim.asked):
        yield ClaimPart(what, rests_on, reason=reason)
        return
    kept = sum(b >= claim.by * a and math.isfinite(a) for a, b in found)
    verdict: ClaimVerdict = "holds" if 2 * kept > len(found) else "does not hold"
    values = [f"{_shown(b)} / {_shown(a)}" for a, b in found]
    shown = ", ".join(dict.fromkeys(values[:5]))
    note = f"{claim.asked.words} {shown}: so with {kept} of {len(found)} seeds"
    yield ClaimPart(what, rests_on, observed=verdict, note=note, by_factor=False)


def _shown(value: float) -> str:
    return short(value, 3) if math.isfinite(value) else "not reached"
