"""Claims about the curves of single runs, and about growth: with λ, with m or along a curve."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from svmbench.claims.compare import says_nothing
from svmbench.claims.measured import MeasuredRow
from svmbench.claims.model import Claim
from svmbench.claims.parts import ClaimCase, ClaimPart
from svmbench.data.dataset import FloatArray
from svmbench.evidence.growth import growing
from svmbench.evidence.questions import Question, factor_of, paired
from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.along import ends_of_runs, values_along
from svmbench.records.groups import Group
from svmbench.records.measures import MEASURES, Asked
from svmbench.records.moments import in_order
from svmbench.records.samples import least, samples
from svmbench.records.spelling import counted, short
from svmbench.records.states import STATES

#: Fewest places along the axis for an exponent.
FEWEST = 3

RunCurve = tuple[FloatArray, FloatArray]


def curve(row: MeasuredRow, along: str, measure: str) -> dict[int, RunCurve]:
    """Abscissae and ordinates of each repeat's points after the start, ascending.

    A repeat of a solver that is run once for each horizon has one point for each that it reached.

    - ``measure``: name of a measure that can be drawn along a run, or the regret. That is the upper
      end of the interval that contains it; below 0 it counts as 0.
    """
    if measure == "regret":
        return _regrets(row, along)
    points = row.points
    if points.empty:
        return {}
    if row.group.separate_runs:
        points = points[ends_of_runs(points, row.group)]
    found = {}
    for repeat in sorted(set(points["repeat"])):
        members = points[points["repeat"] == repeat]
        x = ABSCISSAE[along].formula(members, row.group)
        y = values_along(row.group, members, MEASURES[measure])
        known = (members["epochs"].to_numpy(np.float64) > 0) & (x > 0) & np.isfinite(y)
        order = np.argsort(x[known], kind="stable")
        if known.any():
            found[int(repeat)] = (x[known][order], y[known][order])
    return found


def height(points: RunCurve, at: float) -> float | None:
    """The ordinate of a curve's last point not beyond an abscissa; None before its first point."""
    x, y = points
    place = int(np.searchsorted(x, at * (1 + 1e-9), side="right")) - 1
    return float(y[place]) if place >= 0 else None


def _regrets(row: MeasuredRow, along: str) -> dict[int, RunCurve]:
    """The regret of each repeat by the number of steps, which have one row each."""
    if row.regrets.empty or along.startswith("seconds"):
        return {}
    own = row.regrets[row.regrets["id"].isin(set(row.group.runs["id"]))]
    unit = row.group.middle("m") if along == "epochs" else 1.0
    found = {}
    for repeat in sorted(set(own["repeat"])):
        members = own[own["repeat"] == repeat].sort_values("presentations")
        x = members["presentations"].to_numpy(np.float64) / unit
        found[int(repeat)] = (x, np.maximum(members["regret_high"].to_numpy(np.float64), 0.0))
    return found


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


#: Why two curves make no pair at an abscissa.
_MET = "both had met their target before"
_LIMIT, _EARLY = "a limit ended the runs before", "no curve has a point before"


def ordinates(row: MeasuredRow, claim: Claim, at: float) -> dict[int, tuple[float, str]]:
    """The ordinate of each repeat at an abscissa, with why it may make no pair.

    Beyond its end, a run that reached its target keeps its last ordinate, and one that failed is
    +inf; nothing is known there of a run that a limit ended.
    """
    assert claim.along is not None
    found = {}
    for repeat, points in curve(row, claim.along, claim.asked.name).items():
        value, end = height(points, at), row.group.ends[repeat]
        if value is None:
            found[repeat] = math.nan, _EARLY
        elif at <= points[0][-1] * (1 + 1e-9):
            found[repeat] = value, ""
        elif end == "converged":
            found[repeat] = value, _MET
        else:
            failed = STATES[end].at_end == "worst"
            found[repeat] = (math.inf, "") if failed else (math.nan, _LIMIT)
    return found


def _pairs(
    below: Mapping[int, tuple[float, str]],
    above: Mapping[int, tuple[float, str]],
    order: Sequence[int],
) -> tuple[list[tuple[float, float]], str]:
    """The pairs at an abscissa in the order of the repeats, and why there are none.

    Two runs that have both met their target make no pair: their last ordinates differ by where
    the checkpoints were, and not by their speed.
    """
    found, reasons = [], set()
    for repeat in order:
        if repeat in below and repeat in above:
            (a, why), (b, other) = below[repeat], above[repeat]
            if why == other == _MET:
                reasons.add(_MET)
            elif math.isnan(a) or math.isnan(b):
                reasons |= {why, other} - {_MET}
            else:
                found.append((a, b))
    return found, next((each for each in (_MET, _LIMIT) if each in reasons), _EARLY)


def grows(claim: Claim, case: ClaimCase) -> Iterator[ClaimPart]:
    """One part: the exponent lies within its bounds.

    Each repeat gives one exponent, the slope of the logarithm of the measure over that of λ or m,
    or of its curve on logarithmic axes.
    """
    assert claim.solver is not None
    assert claim.along is not None
    along = claim.sign_along
    span = f"over {along}"
    if claim.along_curve and claim.between is not None:
        first, last = (f"{end:g}" for end in claim.between)
        span = f"from {first} to {last} {along}"
    what = f"exponent of {claim.asked.words} {span}, {claim.solver}"
    rows = case.series.get(claim.solver, ())
    if claim.solver in case.rows:
        rows = (case.rows[claim.solver],)
    rests_on = tuple(cell for row in rows for cell in row.cells)
    low = -math.inf if claim.at_least is None else claim.at_least
    high = math.inf if claim.at_most is None else claim.at_most
    none = Question((), factor_of(low), factor_of(high))
    if not rows:
        yield ClaimPart(what, (), none, observed="open", note="no runs yet")
        return
    at_least = None
    if claim.along_curve:
        places, repeats = _along_curve(claim, rows[0])
        reason = "" if repeats else f"no curve spans {span.removeprefix('from ')}"
    else:
        places = [float(row.axis(claim.along)) for row in rows]
        different = len(set(places))
        reason = f"{counted(different, 'value')} of {along}; an exponent needs {FEWEST}"
        if different >= FEWEST:
            reason = says_nothing(rows, claim.asked)
            repeats, at_least = (values_by_repeat(rows, claim, find) for find in (samples, least))
    if reason:
        yield ClaimPart(what, rests_on, none, reason=reason)
        return
    if not repeats:
        note = f"no repeat has {claim.asked.words} at all {len(rows)} values of {along}"
        yield ClaimPart(what, rests_on, none, observed="open", note=note)
        return
    question = growing(places, repeats, low, high, y_least=at_least)
    limited = question.upper_logs is not None
    note = "to be " + " and ".join(f"{sign} {bound:g}" for sign, bound in claim.bounds)
    yield ClaimPart(what, rests_on, question, note=note, exponent=True, limited=limited)


def _along_curve(claim: Claim, row: MeasuredRow) -> tuple[list[float], list[list[float]]]:
    """Abscissae over the range of the claim, and the heights of the repeats that span it."""
    assert claim.between is not None
    assert claim.along is not None
    places = [float(at) for at in np.geomspace(*claim.between, claim.points)]
    repeats = []
    curves = curve(row, claim.along, claim.asked.name)
    for repeat in in_order(curves, row.group):
        points = curves[repeat]
        heights = [height(points, at) for at in places]
        if points[0][-1] >= places[-1] * (1 - 1e-9) and None not in heights:
            repeats.append([max(0.0, value) for value in heights if value is not None])
    return places, repeats


def values_by_repeat(
    rows: Sequence[MeasuredRow], claim: Claim, find: Callable[[Group, Asked], dict[int, float]]
) -> list[list[float]]:
    """The measure at all places of each repeat that has them all; repeats as they were measured."""
    places = [find(row.group, claim.asked) for row in rows]
    common = set.intersection(*(set(values) for values in places))
    repeats = in_order(common, *(row.group for row in rows))
    return [[max(0.0, values[repeat]) for values in places] for repeat in repeats]
