"""Measures across the rows of the results: one point per row, joined along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from svmbench.claims.measured import MeasuredRow
from svmbench.papers.report.drawing import (
    Drawer,
    Panel,
    Series,
    measure_of,
    padded,
    say_missing,
)
from svmbench.papers.report.numbers import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from svmbench.report.style import Look


@dataclass(frozen=True)
class _Point:
    x: float
    y: float
    low: float
    high: float
    bound: bool


class AcrossPlot(Drawer):
    """One point per row of the results, joined along the horizontal axis."""

    def draw(self, axes: Axes, panel: Panel) -> None:
        """Draw a point per row, joined by series."""
        self.scale(axes)
        chains = [(each, points) for each in panel.series if (points := self._points(each))]
        there = {each.name for each, _ in chains}
        say_missing(axes, {"no value": [e.name for e in panel.series if e.name not in there]})
        if not chains:
            return
        self._limit(axes, [point for _, points in chains for point in points])
        self.ticks(axes)
        for each, points in chains:
            x, y = ([getattr(point, a) for point in points] for a in "xy")
            axes.plot(x, y, color=each.look.colour, linestyle=each.look.dash, label=each.name)
            for point in points:
                _mark(axes, point, each.look)

    def _points(self, series: Series) -> list[_Point]:
        found = [point for row in series.rows if (point := self._point(row)) is not None]
        return sorted(found, key=lambda point: point.x)

    def _point(self, row: MeasuredRow) -> _Point | None:
        shape = self.shape
        measure = measure_of(shape.y, shape.at)
        if measure is None:
            return None
        at = measure_of(shape.x, shape.at)
        x = (
            float(row.axis(shape.x))
            if at is None
            else number(row, at).found.median * at.measure.scale
        )
        shown = number(row, measure)
        factor = measure.measure.scale
        bound = shown.found.median == math.inf and shown.at_least > 0
        y = shown.at_least if bound else shown.found.median
        if not (math.isfinite(x) and math.isfinite(y)):
            return None
        if (shape.log_x and x <= 0) or (shape.log_y and y <= 0):
            return None
        low, high = (y, y) if bound else (shown.found.low, shown.found.high)
        return _Point(x, factor * y, factor * low, factor * high, bound)

    def _limit(self, axes: Axes, points: Sequence[_Point]) -> None:
        xs = [point.x for point in points]
        ys = [p.y for p in points]
        ys += [e for p in points for e in (p.low, p.high) if math.isfinite(e)]
        if self.shape.log_y:
            ys = [y for y in ys if y > 0]
        axes.set_xlim(*padded(min(xs), max(xs), self.shape.log_x, 0.05, 0.08))
        axes.set_ylim(*padded(min(ys), max(ys), self.shape.log_y, 0.12, 0.08))


def _mark(axes: Axes, point: _Point, look: Look) -> None:
    if point.bound:
        axes.plot(
            [point.x], [point.y], marker="^", markersize=5, color=look.colour,
            markerfacecolor="white", clip_on=False, zorder=4,
        )  # fmt: skip
        return
    low = point.low if math.isfinite(point.low) else point.y
    high = point.high if math.isfinite(point.high) else axes.get_ylim()[1]
    axes.vlines(point.x, low, high, color=look.colour, linewidth=0.9, zorder=3)
    axes.plot(
        [point.x], [point.y], marker=look.marker or "o", markersize=3, color=look.colour, zorder=4
    )
