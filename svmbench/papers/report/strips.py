"""The verdicts of a paper as rows of the page: a claim, and a strip with a dot per comparison."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from svmbench.claims.parts import ClaimResult, ClaimVerdict, PartResult
from svmbench.evidence import factor_of
from svmbench.records.spelling import short

#: Verdicts of comparisons that a strip shows.
_SHOWN: tuple[ClaimVerdict, ...] = ("holds", "does not hold", "open")

#: What to look at.
LOOK = "Look at the squares: there the measured factor contradicts the claimed ones."

#: Factors beyond this, and below its inverse, are drawn at the edge.
_FURTHEST = 300.0

#: Ticks of an axis that is long or short.
_TICKS = ((20.0, (0.01, 0.1, 1.0, 10.0, 100.0)), (4.0, (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)))
_SHORTEST = (0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Mark:
    """A dot of a strip."""

    # at, low, high: its place and those of its interval's ends, in per cent of the strip; all the
    # same if its interval has no bound
    at: float
    low: float
    high: float
    verdict: str
    stand_in: bool
    words: str  # the factor and its interval


@dataclass(frozen=True)
class Strip:
    """A claim with its comparisons."""

    result: ClaimResult
    low: float  # low, high: ends of the factors claimed, in per cent of the strip
    high: float
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Strips:
    """All strips of a paper, on one axis."""

    rows: tuple[Strip, ...]
    # places in per cent, with the factors there. The factor 1 is in the middle.
    ticks: tuple[tuple[float, str], ...]


def strips(results: Sequence[ClaimResult]) -> Strips | None:
    """The claims that rest on factors between two measurements; None if there are none."""
    rows = verdict_rows(results)
    if not rows:
        return None
    reach = reach_of(rows)
    chosen = next((ticks for least, ticks in _TICKS if reach >= least), _SHORTEST)
    ticks = tuple(
        (_place(tick, reach), short(tick)) for tick in chosen if 1 / reach <= tick <= reach
    )
    return Strips(tuple(_strip(row, reach) for row in rows), ticks)


def _strip(row: VerdictRow, reach: float) -> Strip:
    low, high = (_place(end, reach) for end in row.region)
    return Strip(row.result, low, high, tuple(_mark(dot, reach) for dot in row.dots))


def _mark(dot: Dot, reach: float) -> Mark:
    ends = (dot.low, dot.high) if dot.bounded else (dot.estimate, dot.estimate)
    at, low, high = (_place(each, reach) for each in (dot.estimate, *ends))
    interval = f" [{_factor(dot.low)}, {_factor(dot.high)}]" if dot.bounded else ""
    words = f"{_factor(dot.estimate)}{interval}"
    return Mark(at, low, high, dot.verdict, dot.stand_in, words)


def _factor(value: float) -> str:
    return "∞" if value == math.inf else short(value, 3)


def _place(factor: float, reach: float) -> float:
    """Per cent of the way from 1/reach to reach, on a logarithmic axis; beyond them, the ends."""
    inside = min(max(factor, 1.0 / reach), reach)
    return round(50.0 + 50.0 * math.log(inside) / math.log(reach), 1)


@dataclass(frozen=True)
class Dot:
    """One comparison."""

    estimate: float  # estimate, low, high: its factor and interval; 0 and +inf are legal
    low: float
    high: float
    verdict: ClaimVerdict
    stand_in: bool  # whether it rests on a stand-in

    @property
    def bounded(self) -> bool:
        """Whether its interval has a bound; without one it says nothing."""
        return self.low > 0.0 or self.high < math.inf


@dataclass(frozen=True)
class VerdictRow:
    """One claim with its comparisons."""

    result: ClaimResult
    region: tuple[float, float]  # claimed factors; from 0, or to +inf
    dots: tuple[Dot, ...]


def verdict_rows(results: Sequence[ClaimResult]) -> list[VerdictRow]:
    """The claims of a paper that rest on factors between two measurements, in order."""
    rows = []
    for result in results:
        compared = list(_compared(result))
        if not compared:
            continue
        question = compared[0][0].part.question
        assert question is not None
        dots = tuple(
            Dot(part.answer.estimate, part.answer.low, part.answer.high, part.verdict, stand_in)
            for part, stand_in in compared
            if part.answer is not None
        )
        rows.append(VerdictRow(result, (question.low, question.high), dots))
    return rows


def _compared(result: ClaimResult) -> Iterator[tuple[PartResult, bool]]:
    """The comparisons of a claim with a factor, and whether each rests on a stand-in."""
    for case in result.cases:
        for part in case.parts:
            drawn = part.part.by_factor and not part.part.exponent and part.verdict in _SHOWN
            if drawn and part.answer is not None and part.answer.pairs:
                yield part, case.stand_in


def reach_of(rows: Sequence[VerdictRow]) -> float:
    """How far the axis extends to either side of 1."""
    ends = [end for row in rows for end in row.region]
    ends += [end for row in rows for dot in row.dots for end in (dot.estimate, dot.low, dot.high)]
    logs = [abs(math.log(end)) for end in ends if 0 < end < math.inf]
    return min(max(factor_of(1.1 * max(logs, default=0.0)), 3.0), _FURTHEST)
