"""Claims about quantities that a seed determines: observed and compared, without a test."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from svmbench.claims.compare import barred, deciding_limit, skipped_cells
from svmbench.claims.limits import says_nothing, unreached
from svmbench.claims.model import Claim
from svmbench.claims.parts import SEEDS, ClaimCase, ClaimPart, ClaimVerdict
from svmbench.records.samples import Pairs, pairs
from svmbench.records.spelling import short


def counts(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part: over / solver is at least `by` with most of the seeds that were run.

    A count, such as the epochs to an accuracy, is the same whenever a seed is run again. The
    verdict is about the seeds that were run, and the page says how many they are. A seed whose run
    met a limit too early to tell counts for neither side.
    """
    solver, over = claim.labels
    what = f"{over} / {solver}"
    if missing := case.without_runs(claim.labels):
        yield ClaimPart(what, observed="open", note=missing)
        return
    below, above = case.rows[solver], case.rows[over]
    rests_on = (*below.cells, *above.cells)
    if reason := says_nothing((below, above), claim.asked):
        yield ClaimPart(what, rests_on, reason=reason)
        return
    found = pairs(below.group, above.group, claim.asked)
    if not found:
        note = f"no seed has {claim.asked.words} of both"
        yield ClaimPart(what, rests_on, observed="open", note=note)
        return
    if reason := unreached({solver: below, over: above}, found, claim.asked):
        yield ClaimPart(what, rests_on, reason=reason)
        return
    held = list(_held(found, claim.by))
    if held.count(None) == len(held):
        needed = deciding_limit(found, (claim.by, math.inf), claim.asked)
        reason = f"its limits ended the runs too early to tell; it would take {needed}"
        yield ClaimPart(what, rests_on, reason=reason)
        return
    lacks, skippable = _lacks(found), skipped_cells(below, above, claim.asked)
    yield ClaimPart(
        what,
        rests_on,
        observed="open" if lacks else _verdict(held),
        note=f"{claim.asked.words} {_seen(found, held)}",
        by_factor=False,
        skippable=skippable,
        seeds=len(found),
        lacks=lacks,
        barred=barred((below, above), skippable, claim.asked),
    )


def _held(found: Pairs, by: float) -> Iterator[bool | None]:
    """Whether it is so with each seed; None if a limit ended a run too early to tell.

    Seeds with which neither reaches the accuracy are left out.
    """
    for a, b, a_least, b_least in zip(found.a, found.b, found.a_least, found.b_least, strict=True):
        if math.isinf(a) and math.isinf(b):
            continue
        if math.isfinite(a) and b_least >= by * a:
            yield True
        elif b <= by * a_least:  # if a was not reached by then, it takes more
            yield False
        else:
            yield None


def _verdict(held: Sequence[bool | None]) -> ClaimVerdict:
    """Whether it is so with most seeds; open while limits hide too many of them."""
    if 2 * held.count(True) > len(held):
        return "holds"
    return "does not hold" if 2 * held.count(False) >= len(held) else "open"


def _seen(found: Pairs, held: Sequence[bool | None]) -> str:
    """The first counts, and with how many seeds it is so."""
    values = [f"{_shown(b)} / {_shown(a)}" for a, b in found]
    shown, unknown = ", ".join(dict.fromkeys(values[:5])), held.count(None)
    hidden = f", {unknown} not known for a limit" if unknown else ""
    return f"{shown}: so with {held.count(True)} of {len(held)} seeds{hidden}"


def _lacks(found: Pairs) -> int:
    """Seeds that are still to be run: two are enough if the counts do not depend on the seed."""
    alike = len(found) > 1 and len(set(found)) == 1
    return 0 if alike else max(0, SEEDS - len(found))


def _shown(value: float) -> str:
    return short(value, 3) if math.isfinite(value) else "not reached"
