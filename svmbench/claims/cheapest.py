"""Which open parts of a claim to decide first: those that decide its verdict in the least time.

A claim about all cases is refuted by one of them, and holds only if all do. If an open case looks
contrary, it alone is decided first; otherwise all open cases are needed. A claim about most cases
needs as many of the cheapest as make a majority. The estimate of a part is taken as a guess of the
side for which it will be decided. This guess affects only the order of the runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from svmbench.claims.parts import CaseResult, ClaimResult, PartResult
from svmbench.harness.doubts import worth


@dataclass(frozen=True)
class _Way:
    """Open parts that are expected to decide something, and the seconds that takes."""

    seconds: float
    parts: tuple[PartResult, ...]

    @staticmethod
    def of(ways: Iterable[_Way]) -> _Way:
        """All of several ways."""
        ways = list(ways)
        return _Way(
            sum(way.seconds for way in ways), tuple(part for way in ways for part in way.parts)
        )


_NONE = _Way(math.inf, ())


def cheapest(result: ClaimResult) -> tuple[PartResult, ...]:
    """The open parts that are expected to decide a claim in the least time."""
    if result.verdict != "open":
        return ()
    lacking = [part for part in result.open_parts if part.part.lacks]
    if lacking or result.across is not None:
        return tuple(lacking)
    undecided = [case for case in result.cases if case.verdict == "open"]
    contrary = [way for case in undecided if (way := _against(case)) is not None]
    agreeing = [_for(case) for case in undecided if _against(case) is None]
    way = _ways(result, sorted(agreeing, key=_seconds), sorted(contrary, key=_seconds))
    return way.parts if math.isfinite(way.seconds) else ()


def _ways(result: ClaimResult, agreeing: Sequence[_Way], contrary: Sequence[_Way]) -> _Way:
    """The cheapest way to a verdict, from the ways of the open cases, each list ascending."""
    everything = _Way.of([*agreeing, *contrary])
    if result.claim.cases == "all":
        return contrary[0] if contrary else everything
    if result.claim.cases == "any":
        return agreeing[0] if agreeing else everything
    tested = [case.verdict for case in result.cases if case.verdict != "not testable"]
    wanted = len(tested) // 2 + 1 - tested.count("holds")
    unwanted = (len(tested) + 1) // 2 - tested.count("does not hold")
    ways = [
        _Way.of(ways[:count])
        for ways, count in ((agreeing, wanted), (contrary, unwanted))
        if len(ways) >= count
    ]
    return min(ways, key=_seconds, default=everything)


def _for(case: CaseResult) -> _Way:
    return _Way.of(map(_way, _open(case)))


def _against(case: CaseResult) -> _Way | None:
    """The cheapest part that looks contrary; None if no part does."""
    return min(
        (_way(part) for part in _open(case) if _looks_contrary(part)), key=_seconds, default=None
    )


def _open(case: CaseResult) -> list[PartResult]:
    return [part for part in case.parts if part.verdict == "open"]


def _looks_contrary(part: PartResult) -> bool:
    """Whether the estimate lies outside the claimed region; not where only a bound is known."""
    question, answer = part.part.question, part.answer
    if question is None or answer is None or not part.pairs:
        return False
    return answer.estimate_high < question.low or answer.estimate > question.high


def _way(part: PartResult) -> _Way:
    count = worth(part.more, part.pairs)
    if count is None or part.answer is None:
        return _NONE
    seconds = sum(count * part.seconds.get(cell, 0.0) for cell in part.part.rests_on)
    return _Way(math.inf if math.isnan(seconds) else seconds, (part,))


def _seconds(way: _Way) -> float:
    return way.seconds
