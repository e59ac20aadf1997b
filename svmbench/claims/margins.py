"""What a claim is held to, in words: its margins, its range, and how many cases must hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from svmbench.claims.model import Claim
from svmbench.evidence import MIN_DATA_SETS
from svmbench.records.spelling import short


def held_to(claim: Claim) -> str:
    """The margins of a claim, such as ``b / a at least 1.4; in all cases``.

    Empty for one that cannot be tested.
    """
    if claim.kind == "untestable":
        return ""
    if claim.across is not None:
        decided = f"decided by signed ranks over at least {MIN_DATA_SETS} data sets"
    else:
        decided = "in at least one case" if claim.cases == "any" else f"in {claim.cases} cases"
    return f"{MARGINS[claim.kind](claim)}; {decided}"


def _factor(claim: Claim) -> str:
    place = f" on {claim.over_dataset}" if claim.over_dataset else ""
    measure = claim.asked.words
    return f"{measure}: {claim.over}{place} / {claim.solver} at least {_number(claim.by)}"


def _order(claim: Claim) -> str:
    tie = f", ties up to a factor of {_number(claim.tie)}" if claim.tie > 1.0 else ""
    return f"{claim.asked.words}: {' ≤ '.join(claim.solvers)}{tie}"


def _largest(claim: Claim) -> str:
    first, *others = claim.solvers
    return f"{claim.asked.words}: {first} at least as large as {', '.join(others)}"


def _ratio(claim: Claim) -> str:
    assert claim.published is not None
    place = f" on {claim.over_dataset}" if claim.over_dataset else ""
    low, high = claim.published / claim.within, claim.published * claim.within
    ends = f"from {_number(low)} to {_number(high)}"
    return f"{claim.asked.words}: {claim.solver} / {claim.over}{place} {ends}"


def _alike(claim: Claim) -> str:
    first, *others = claim.solvers
    factor = _number(claim.within)
    return f"{claim.asked.words}: {', '.join(others)} within a factor of {factor} of {first}"


def _differ(claim: Claim) -> str:
    factor = _number(claim.by)
    return f"{claim.asked.words}: {claim.over} and {claim.solver} apart by more than {factor}"


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
            f"within a factor of {_number(claim.within)} of the published ratios at "
            f"{published} {claim.along}"
        )
    assert claim.between is not None
    first, last = map(_number, claim.between)
    abscissae = f"{claim.points} abscissae from {first} to {last} {claim.along}"
    return f"{_factor(claim)} at {abscissae}"


def _rises(claim: Claim) -> str:
    return f"{claim.asked.words} rises between two points of the curve in most runs"


def _widens(claim: Claim) -> str:
    assert claim.between is not None
    first, last = (f"{claim.sign_along} = {_number(end)}" for end in claim.between)
    ratio = f"{claim.over} / {claim.solver}"
    if claim.solvers:
        ratio = f"the largest of {', '.join(claim.solvers)} / the smallest"
    times = "as much as" if claim.by == 1.0 else f"{_number(claim.by)} times as much as"
    return f"{claim.asked.words}: {ratio} at {last} at least {times} at {first}"


def _bounds(claim: Claim) -> str:
    words = {"≥": "at least", "≤": "at most"}
    return " and ".join(f"{words[sign]} {_number(bound)}" for sign, bound in claim.bounds)


def _number(value: float) -> str:
    return short(value, 5)


#: The words of each kind.
MARGINS: Mapping[str, Callable[[Claim], str]] = {
    "faster": _factor,
    "counts": _factor,
    "order": _order,
    "largest": _largest,
    "ratio": _ratio,
    "alike": _alike,
    "differ": _differ,
    "reaches": _reaches,
    "fails": _fails,
    "grows": _grows,
    "path": _path,
    "rises": _rises,
    "widens": _widens,
}
