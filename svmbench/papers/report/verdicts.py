"""The verdicts of a paper as a picture: a row per claim, a dot with its interval per comparison.

The axis is the measured factor of each comparison; the factors that the paper claims are shaded.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from svmbench.claims.parts import ClaimResult, ClaimVerdict, PartResult
from svmbench.evidence import factor_of
from svmbench.report.sheet import SMALL, Sheet, log_ticks, save_figure, uniform_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: Colour and marker of a comparison by its verdict; they also differ in black and white.
_MARKS: dict[ClaimVerdict, tuple[str, str]] = {
    "holds": ("#007A5A", "o"),
    "does not hold": ("#C04A00", "X"),
    "open": ("#555555", "D"),
}

#: Inches: a line of text, the lowest row, the axis with its labels. Characters per line of text.
_LINE, _LEAST, _WIDTH, _CHARACTERS = 0.165, 0.3, 8.4, 62

#: What to look at.
LOOK = "Look at the squares: there the measured factor contradicts the claimed ones."

#: Factors beyond this, and below its inverse, are drawn at the edge.
_FURTHEST = 300.0


@dataclass(frozen=True)
class Dot:
    """One comparison.

    Parameters
    ----------
    estimate, low, high : float
        Its factor and interval; 0 and +inf are legal.
    stand_in : bool
        Whether it rests on a stand-in.
    """

    estimate: float
    low: float
    high: float
    verdict: ClaimVerdict
    stand_in: bool

    @property
    def bounded(self) -> bool:
        """Whether its interval has a bound; without one it says nothing."""
        return self.low > 0.0 or self.high < math.inf


@dataclass(frozen=True)
class VerdictRow:
    """One claim.

    Parameters
    ----------
    region : (float, float)
        Claimed factors; from 0, or to +inf.
    """

    result: ClaimResult
    region: tuple[float, float]
    dots: tuple[Dot, ...]

    @property
    def text(self) -> str:
        """The verdict and the claim, in lines."""
        words = f"{self.result.verdict_words}: {self.result.claim.text}"
        return "\n".join(textwrap.wrap(words, _CHARACTERS))

    @property
    def height(self) -> float:
        """Height in inches."""
        lines = 1 + self.text.count("\n")
        return max(_LEAST, _LINE * lines + 0.08, 0.07 * len(self.dots) + 0.08)


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
            drawn = part.part.by_factor and not part.part.exponent and part.verdict in _MARKS
            if drawn and part.answer is not None and part.answer.pairs:
                yield part, case.stand_in


def write_verdicts(results: Sequence[ClaimResult], title: str, path: Path) -> list[Path]:
    """Draw the claims of a paper.

    Parameters
    ----------
    path : Path
        Of the picture, without a suffix.

    Returns
    -------
    list of Path
        The files; empty if no claim rests on a measured factor.
    """
    rows = verdict_rows(results)
    if not rows:
        return []
    with uniform_style():
        sheet = Sheet(
            1,
            title,
            remarks="Dots: measured factors, with their intervals where they are bounded. "
            "Shaded: the factors claimed. Filled: real data; open: a stand-in. Circle: holds; "
            "cross: does not hold; diamond: open.",
            panel=(_WIDTH, sum(row.height for row in rows)),
        )
        (axes,) = sheet.axes
        _draw(axes, rows)
        return list(save_figure(sheet.finish(), path, {}))


def _draw(axes: Axes, rows: Sequence[VerdictRow]) -> None:
    reach = reach_of(rows)
    axes.set_xscale("log")
    axes.set_xlim(1.0 / reach, reach)
    axes.axvline(1.0, color="#888888", linewidth=0.6, zorder=1)
    top, centres = 0.0, []
    for row in rows:
        bottom = top + row.height
        low, high = (min(max(end, 1.0 / reach), reach) for end in row.region)
        axes.fill_between([low, high], top + 0.03, bottom - 0.03, color="#DCE8F2", zorder=0)
        for at, dot in enumerate(row.dots):
            _dot(axes, dot, top + row.height * (at + 1) / (len(row.dots) + 1), reach)
        centres.append((top + bottom) / 2)
        axes.axhline(bottom, color="#EEEEEE", linewidth=0.6, zorder=0)
        top = bottom
    axes.set_ylim(top, 0.0)
    axes.set_yticks(centres, [row.text for row in rows], fontsize=SMALL)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("measured factor")
    log_ticks(axes.xaxis, plain_below=50.0)


def reach_of(rows: Sequence[VerdictRow]) -> float:
    """How far the axis extends to either side of 1."""
    ends = [end for row in rows for end in row.region]
    ends += [end for row in rows for dot in row.dots for end in (dot.estimate, dot.low, dot.high)]
    logs = [abs(math.log(end)) for end in ends if 0 < end < math.inf]
    return min(max(factor_of(1.1 * max(logs, default=0.0)), 3.0), _FURTHEST)


def _dot(axes: Axes, dot: Dot, height: float, reach: float) -> None:
    colour, marker = _MARKS[dot.verdict]
    low, high, at = (min(max(end, 1.0 / reach), reach) for end in (dot.low, dot.high, dot.estimate))
    if dot.bounded:
        axes.plot([low, high], [height, height], color=colour, linewidth=0.8, zorder=2)
    axes.plot(
        [at],
        [height],
        marker=marker,
        markersize=4.5,
        color=colour,
        markerfacecolor="white" if dot.stand_in else colour,
        clip_on=False,
        zorder=3,
    )
