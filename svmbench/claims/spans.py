"""Claims that our repeats lie on both sides of published values of single runs."""

from __future__ import annotations

from collections.abc import Iterator

from svmbench.claims.compare import barred
from svmbench.claims.limits import says_nothing
from svmbench.claims.model import LEAST_REPEATS, Claim
from svmbench.claims.parts import ClaimCase, ClaimPart, ClaimVerdict
from svmbench.records.samples import measured
from svmbench.records.spelling import counted, short

#: Published values are printed to five digits.
_SAME = 1e-5


def spans(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """A part for each solver: its published value lies within the range of our repeats.

    The published value is that of one run whose seed is not ours. No question is asked, because
    the claim is not about a mean: the verdict is about the repeats that were run.
    """
    for label in claim.solvers:
        if label in case.rows:
            yield _part(claim, case, label)
        elif label in case.absent:
            yield ClaimPart(label, observed="open", note="no runs yet")


def _part(claim: Claim, case: ClaimCase, label: str) -> ClaimPart:
    """Whether the published value lies in our range, up to the digits that are printed."""
    row, asked = case.rows[label], claim.asked
    published = claim.quoted[label]
    if reason := says_nothing((row,), asked):
        return ClaimPart(label, row.cells, reason=reason)
    values = list(measured(row.group, asked).values())
    if not values:
        return ClaimPart(label, row.cells, observed="open", note=f"{asked.words} is not known")
    least, most = min(values), max(values)
    inside = least - _SAME <= published <= most + _SAME
    verdict: ClaimVerdict = "holds" if inside else "does not hold"
    note = (
        f"{asked.words} {short(least, 4)} to {short(most, 4)} in "
        f"{counted(len(values), 'repeat')}, published {short(published, 4)}"
    )
    lacks = max(0, LEAST_REPEATS - len(values))
    return ClaimPart(
        label,
        row.cells,
        observed="open" if lacks else verdict,
        note=note,
        seeds=len(values),
        lacks=lacks,
        barred=barred((row,), (), asked),
    )
