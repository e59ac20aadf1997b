"""What a claim is held to, in words: its margins, its range, and how many cases must hold."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from svmbench.claims.model import Claim
from svmbench.evidence.across import MIN_DATA_SETS
from svmbench.records.spelling import short


def held_to(claim: Claim) -> str:
    """The margins of a claim, such as ``b / a at least 1.4; in all cases``."""
    if claim.kind == "untestable":
        return ""
    if claim.across is not None:
        decided = f"decided by signed ranks over at least {MIN_DATA_SETS} data sets"
    else:
        decided = "in at least one case" if claim.cases == "any" else f"in {claim.cases} cases"
    return f"{MARGINS[claim.kind](claim)}; {decided}"


def _ratio(claim: Claim) -> str:
    place = f" on {claim.over_dataset}" if claim.over_dataset else ""
    if claim.spread:
        what = f"the largest of {', '.join(claim.spread)} / the smallest"
    else:
        what = ", ".join(f"{above}{place} / {below}" for below, above in claim.ratios_of)
    low, high = claim.region
    ends = f"at least {_number(low)}" if high == math.inf else f"{_number(low)} to {_number(high)}"
    words = f"{claim.asked.words}: {what} {ends}"
    if claim.of_change and claim.between is not None:
        first, last = (f"{claim.sign_along} = {_number(end)}" for end in claim.between)
        words += f" times as much at {last} as at {first}"
    return words


def _order(claim: Claim) -> str:
    tie = f", ties up to a factor of {_number(claim.tie)}" if claim.tie > 1.0 else ""
    return f"{claim.asked.words}: {' ≤ '.join(claim.solvers)}{tie}"


def _reaches(claim: Claim) -> str:
    bounds = _bounds(claim)
    if bounds:
        return f"{claim.asked.words}: {bounds}"
    return f"{claim.asked.words} reached in most runs"


def _fails(claim: Claim) -> str:
    if claim.how != "limit":
        return f"weights {'not ' * (claim.how == 'not-finite')}finite in most runs"
    return f"{claim.asked.words} not reached within the limits in most runs"


def _grows(claim: Claim) -> str:
    over = ""
    if claim.between is not None:
        first, last = map(_number, claim.between)
        over = f" over {claim.points} abscissae from {first} to {last} {claim.along}"
    return f"{claim.asked.words}: exponent {_bounds(claim)}{over}"


def _path(claim: Claim) -> str:
    if claim.ratios:
        ends = _number(claim.ratios[0][0]), _number(claim.ratios[-1][0])
        published = " to ".join(dict.fromkeys(ends))
        return (
            f"within a factor of {_number(claim.within or 1.0)} of the published ratios at "
            f"{published} {claim.along}"
        )
    assert claim.between is not None
    first, last = map(_number, claim.between)
    abscissae = f"{claim.points} abscissae from {first} to {last} {claim.along}"
    return f"{_ratio(claim)} at {abscissae}"


def _bounds(claim: Claim) -> str:
    words = {"≥": "at least", "≤": "at most"}
    return " and ".join(f"{words[sign]} {_number(bound)}" for sign, bound in claim.bounds)


def _number(value: float) -> str:
    return short(value, 5)


#: The words of each kind.
MARGINS: Mapping[str, Callable[[Claim], str]] = {
    "ratio": _ratio,
    "order": _order,
    "reaches": _reaches,
    "fails": _fails,
    "grows": _grows,
    "path": _path,
}
