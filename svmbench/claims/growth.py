"""Claims that a measure grows like a power of λ, of the number of rows, or along a curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from svmbench.claims.curves import curve, height
from svmbench.claims.limits import says_nothing
from svmbench.claims.measured import MeasuredRow
from svmbench.claims.model import Claim
from svmbench.claims.parts import ClaimCase, ClaimPart
from svmbench.evidence.growth import growing
from svmbench.evidence.questions import Question, factor_of
from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.moments import in_order
from svmbench.records.samples import least, samples
from svmbench.records.spelling import counted

#: Fewest places along the axis for an exponent.
FEWEST = 3


def grows(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part: the exponent lies within its bounds.

    Each repeat gives one exponent, the slope of the logarithm of the measure over that of λ or m.
    """
    assert claim.solver is not None
    if claim.along_curve:
        yield _along_curve(claim, case)
        return
    along = "λ" if claim.along == "lambda" else "m"
    what = f"exponent of {claim.asked.words} over {along}, {claim.solver}"
    rows = case.series.get(claim.solver, ())
    rests_on = tuple(cell for row in rows for cell in row.cells)
    assert claim.along is not None
    places = [float(row.axis(claim.along)) for row in rows]
    low, high = _claimed(claim)
    none = Question((), factor_of(low), factor_of(high))
    if not rows:
        yield ClaimPart(what, (), none, observed="open", note="no runs yet")
        return
    if (different := len(set(places))) < FEWEST:
        reason = f"{counted(different, 'value')} of {along}; an exponent needs {FEWEST}"
        yield ClaimPart(what, rests_on, none, reason=reason)
        return
    if reason := says_nothing(rows, claim.asked):
        yield ClaimPart(what, rests_on, none, reason=reason)
        return
    repeats, at_least = (values_by_repeat(rows, claim, find) for find in (samples, least))
    if not repeats:
        note = f"no repeat has {claim.asked.words} at all {len(rows)} values of {along}"
        yield ClaimPart(what, rests_on, none, observed="open", note=note)
        return
    question = growing(places, repeats, low, high, y_least=at_least)
    limited = question.upper_logs is not None
    yield ClaimPart(what, rests_on, question, note=_bounds(claim), exponent=True, limited=limited)


def _along_curve(claim: Claim, case: ClaimCase) -> ClaimPart:
    """Each repeat gives one exponent, the slope of its curve on logarithmic axes."""
    assert claim.solver is not None
    assert claim.between is not None
    assert claim.along is not None
    first, last = (f"{end:g}" for end in claim.between)
    what = f"exponent of {claim.asked.words} from {first} to {last} {claim.along}, {claim.solver}"
    low, high = _claimed(claim)
    none = Question((), factor_of(low), factor_of(high))
    if claim.solver not in case.rows:
        return ClaimPart(what, (), none, observed="open", note="no runs yet")
    row = case.rows[claim.solver]
    places = [float(at) for at in np.geomspace(*claim.between, claim.points)]
    repeats = []
    curves = curve(row, claim.along, claim.asked.name)
    for repeat in in_order(curves, row.group):
        points = curves[repeat]
        heights = [height(points, at) for at in places]
        if points[0][-1] >= places[-1] * (1 - 1e-9) and None not in heights:
            repeats.append([max(0.0, value) for value in heights if value is not None])
    if not repeats:
        reason = f"no curve spans {first} to {last} {claim.along}"
        return ClaimPart(what, row.cells, none, reason=reason)
    question = growing(places, repeats, low, high)
    return ClaimPart(what, row.cells, question, note=_bounds(claim), exponent=True)


def _claimed(claim: Claim) -> tuple[float, float]:
    """The least and the largest exponent that the claim allows."""
    low = -math.inf if claim.at_least is None else claim.at_least
    return low, math.inf if claim.at_most is None else claim.at_most


def _bounds(claim: Claim) -> str:
    return "to be " + " and ".join(f"{sign} {bound:g}" for sign, bound in claim.bounds)


def values_by_repeat(
    rows: Sequence[MeasuredRow], claim: Claim, find: Callable[[Group, Asked], dict[int, float]]
) -> list[list[float]]:
    """The measure at all places of each repeat that has them all; repeats as they were measured."""
    places = [find(row.group, claim.asked) for row in rows]
    common = set.intersection(*(set(values) for values in places))
    repeats = in_order(common, *(row.group for row in rows))
    return [[max(0.0, values[repeat]) for values in places] for repeat in repeats]
