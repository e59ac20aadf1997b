"""Which open parts of a claim to decide first: those that decide its verdict in the least time.

A claim about all cases is refuted by one of them, and holds only if all do. If an open case looks
contrary, it alone is decided first; otherwise all open cases are needed. A claim about most cases
needs as many of the cheapest as make a majority. The estimate of a part is taken as a guess of the
side for which it will be decided. This guess affects only the order of the runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import chain

from svmbench.claims.parts import ClaimResult, PartResult
from svmbench.harness.doubts import worth

#: Open parts that are expected to decide something.
_Way = tuple[PartResult, ...]


def cheapest(result: ClaimResult) -> _Way:
    """The open parts that are expected to decide a claim in the least time."""
    if result.verdict != "open":
        return ()
    lacking = [part for part in result.open_parts if part.part.lacks]
    if lacking or result.across is not None:
        return tuple(lacking)
    agreeing: list[_Way] = []
    contrary: list[_Way] = []
    for case in result.cases:
        if case.verdict == "open":
            parts = tuple(part for part in case.parts if part.verdict == "open")
            against = [(part,) for part in parts if _looks_contrary(part)]
            if against:
                contrary.append(min(against, key=_seconds))
            else:
                agreeing.append(parts)
    way = _ways(result, sorted(agreeing, key=_seconds), sorted(contrary, key=_seconds))
    return way if math.isfinite(_seconds(way)) else ()


def _ways(result: ClaimResult, agreeing: Sequence[_Way], contrary: Sequence[_Way]) -> _Way:
    """The cheapest way to a verdict, from the ways of the open cases, each list ascending."""
    everything = tuple(chain(*agreeing, *contrary))
    if result.claim.cases == "all":
        return contrary[0] if contrary else everything
    if result.claim.cases == "any":
        return agreeing[0] if agreeing else everything
    tested = [case.verdict for case in result.cases if case.verdict != "not testable"]
    wanted = len(tested) // 2 + 1 - tested.count("holds")
    unwanted = (len(tested) + 1) // 2 - tested.count("does not hold")
    ways = [
        tuple(chain(*ways[:count]))
        for ways, count in ((agreeing, wanted), (contrary, unwanted))
        if len(ways) >= count
    ]
    return min(ways, key=_seconds, default=everything)


def _looks_contrary(part: PartResult) -> bool:
    """Whether the estimate lies outside the claimed region; not where only a bound is known."""
    question, answer = part.part.question, part.answer
    if question is None or answer is None or not part.pairs:
        return False
    return answer.estimate_high < question.low or answer.estimate > question.high


def _seconds(way: _Way) -> float:
    """How long a way takes; +inf if a part of it is not expected to be decided."""
    counts = [worth(part.more, part.pairs) for part in way]
    if any(count is None or part.answer is None for count, part in zip(counts, way, strict=True)):
        return math.inf
    seconds = sum(
        (count or 0) * part.seconds.get(cell, 0.0)
        for count, part in zip(counts, way, strict=True)
        for cell in part.part.rests_on
    )
    return math.inf if math.isnan(seconds) else seconds
