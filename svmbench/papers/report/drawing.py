"""What the kinds of a paper's figures share: series, axes and their labels."""

from __future__ import annotations

import math
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from svmbench.claims.measured import MeasuredRow
from svmbench.papers.model import FigureShape
from svmbench.papers.report.layout import ItemResults
from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.measures import MEASURES, Asked
from svmbench.records.spelling import short
from svmbench.report.panels import set_ticks
from svmbench.report.sheet import SMALL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

    from svmbench.report.style import Look


@dataclass(frozen=True)
class Series:
    """The contents of one curve or chain of points of a panel."""

    name: str  # as written beside it
    rows: list[MeasuredRow]  # one for a curve; those along the horizontal axis for a chain
    look: Look


@dataclass(frozen=True)
class Panel:
    title: str
    series: list[Series]


def axis_words(shape: FigureShape) -> tuple[str, str]:
    """The labels below and beside a figure's panels."""
    if shape.kind == "regret":
        return "steps T", "regret"
    if shape.kind == "lines":
        return "", ""
    if shape.kind == "curve":
        x, y = ABSCISSAE[shape.x].words, MEASURES[shape.y].heading
        if shape.log_x and "x" in shape.natural:
            x = f"ln({x})"
        if shape.log_y and "y" in shape.natural:
            y = f"ln({MEASURES[shape.y].words})"
        return x, y
    return _measure_words(shape.x, shape.at), _measure_words(shape.y, shape.at)


def _measure_words(name: str, at: float | None) -> str:
    measure = measure_of(name, at)
    return measure.heading if measure else {"lambda": "λ"}.get(name, name)


def measure_of(name: str, at: float | None) -> Asked | None:
    """The measure of that name; None if it is an axis of the results."""
    if name not in MEASURES:
        return None
    return Asked(name, at if MEASURES[name].to_accuracy else None)


class Drawer(ABC):
    """Draws the panels of one figure; each kind of figure has its own."""

    def __init__(self, source: ItemResults, shape: FigureShape, found: Sequence[Panel]) -> None:
        self.source, self.shape, self.panels = source, shape, found

    @abstractmethod
    def draw(self, axes: Axes, panel: Panel) -> None:
        """Draw the panel's curves."""

    def legend(self) -> dict[str, Look]:
        return {each.name: each.look for panel in self.panels for each in panel.series}

    def scale(self, axes: Axes) -> None:
        """Set the requested scales."""
        axes.set_xscale("log" if self.shape.log_x else "linear")
        axes.set_yscale("log" if self.shape.log_y else "linear")

    def ticks(self, axes: Axes) -> None:
        """Ticks in plain numbers; for axes whose limits are set."""
        from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

        set_ticks(axes)
        sides = ((axes.xaxis, "x", self.shape.log_x), (axes.yaxis, "y", self.shape.log_y))
        for axis, side, log in sides:
            if not log:
                axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
                axis.set_minor_locator(NullLocator())
                axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
                continue
            low, high = axis.get_view_interval()
            if side in self.shape.natural:
                unit = MEASURES[self.shape.y].scale if side == "y" else 1.0
                _natural_ticks(axis, unit)
            elif 4 * low <= high < 12 * low:  # too few round numbers of 1, 2, 5
                axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 3.0, 5.0, 7.0)))


def _natural_ticks(axis: Axis, unit: float) -> None:
    """Ticks at round natural logarithms of the values over their unit, with these as numbers."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

    low, high = (math.log(end / unit) for end in axis.get_view_interval())
    at = [each for each in MaxNLocator(6).tick_values(low, high) if low <= each <= high]
    axis.set_major_locator(FixedLocator([unit * math.exp(each) for each in at]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(_ln(value / unit))))


def _ln(value: float) -> float:
    """The natural logarithm, without the rounding of a tick's place."""
    return round(math.log(value), 9)


def _tick(value: float) -> str:
    """A tick of a linear axis: millions as powers of ten."""
    if 1e4 <= abs(value) < 1e6 and value == round(value):
        return f"{value:,.0f}"
    return short(value, 4) if abs(value) < 1e5 else short(value, 3, plain_from=1e9)


def padded(low: float, high: float, log: bool, before: float, after: float) -> tuple[float, float]:
    """Limits with a margin on both sides, as shares of the range."""
    if log:
        span = math.log(max(high / low, 1.2))
        return low * math.exp(-before * span), high * math.exp(after * span)
    span = max(high - low, 1e-3 * abs(high), 1e-12)
    return low - before * span, high + after * span


def say_missing(axes: Axes, missing: Mapping[str, Sequence[str]]) -> None:
    """Write in a panel's corner which series are missing, by the reason."""
    lines = [
        line
        for what, names in missing.items()
        if names
        for line in textwrap.wrap(f"{what}: {', '.join(names)}", 38)
    ]
    if not lines:
        return
    axes.text(
        0.995,
        0.99,
        "\n".join(lines),
        transform=axes.transAxes,
        ha="right",
        va="top",
        fontsize=SMALL,
        color="#666666",
        zorder=6,
        bbox={
            "boxstyle": "square,pad=0.1",
            "facecolor": "white",
            "edgecolor": "none",
            "alpha": 0.8,
        },
    )
