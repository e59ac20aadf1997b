"""The verdicts of a paper as rows of the page: a claim, and a strip with a dot per comparison.

The picture in verdicts.svg shows the same; the page's rows fit any width and follow its colours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from svmbench.claims.parts import ClaimResult
from svmbench.papers.report.verdicts import Dot, VerdictRow, reach_of, verdict_rows
from svmbench.records.spelling import short

#: Ticks of an axis that is long or short.
_TICKS = ((20.0, (0.01, 0.1, 1.0, 10.0, 100.0)), (4.0, (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)))
_SHORTEST = (0.5, 1.0, 2.0)


@dataclass(frozen=True)
class Mark:
    """A dot of a strip.

    Parameters
    ----------
    at, low, high : float
        Its place and those of its interval's ends, in per cent of the strip; all the same if its
        interval has no bound.
    words : str
        The factor and its interval.
    """

    at: float
    low: float
    high: float
    verdict: str
    stand_in: bool
    words: str


@dataclass(frozen=True)
class Strip:
    """A claim with its comparisons.

    Parameters
    ----------
    low, high : float
        Ends of the factors claimed, in per cent of the strip.
    """

    result: ClaimResult
    low: float
    high: float
    marks: tuple[Mark, ...]


@dataclass(frozen=True)
class Strips:
    """All strips of a paper, on one axis.

    Parameters
    ----------
    ticks : tuple of (float, str)
        Places in per cent, with the factors there. The factor 1 is in the middle.
    """

    rows: tuple[Strip, ...]
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
