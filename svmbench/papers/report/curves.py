"""Curves along the runs: medians with bands."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from svmbench.claims.measured import MeasuredRow
from svmbench.claims.places import same
from svmbench.papers.model import FigureShape
from svmbench.papers.published import Published, PublishedCurve
from svmbench.papers.report.drawing import (
    Drawer,
    Panel,
    say_missing,
)
from svmbench.papers.results import ItemResults
from svmbench.records.measures import MEASURES
from svmbench.report.curves import (
    Curve,
    cut_floor,
    lifted,
    median_curve,
    points_of,
    trajectories,
)
from svmbench.report.sheet import draw_curve, limit_abscissa
from svmbench.report.style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from svmbench.records.read import Results

#: A linear axis of an objective ends at this multiple of the optimum.
_CEILING = 1.6

#: With published curves, that of another measure ends at this multiple of their largest ordinate.
_BEYOND = 1.25

#: A published curve; one whose program is run has that curve's colour.
_PUBLISHED = Look("#777777", (0, (4, 2)), ".")


def curves_of(
    published: Published, shape: FigureShape, rows: Sequence[MeasuredRow]
) -> list[PublishedCurve]:
    """The published curves on the axes of a figure that are of the problems of its rows."""
    asked = shape.of.given.get("solver")
    return [
        curve
        for curve in published.curves
        if (curve.x, curve.y) == (shape.x, shape.y)
        and (asked is None or curve.solver in asked)
        and any(
            all(same(row.axis(name), value) for name, value in curve.place().items())
            for row in rows
        )
    ]


class Curves(Drawer):
    def __init__(self, source: ItemResults, shape: FigureShape, found: Sequence[Panel]) -> None:
        super().__init__(source, shape, found)
        self._measure = MEASURES[shape.y]
        self._curves = {
            panel.title: {each.name: self._curve(each.rows[0]) for each in panel.series}
            for panel in found
        }
        self._published = {panel.title: self._published_in(panel) for panel in found}

    def legend(self) -> dict[str, Look]:
        published = {"published": _PUBLISHED} if any(self._published.values()) else {}
        return super().legend() | published

    def draw(self, axes: Axes, panel: Panel) -> None:
        self.scale(axes)
        curves = {key: c for key, c in self._curves[panel.title].items() if c is not None}
        missing = {"no trace": [e.name for e in panel.series if e.name not in curves]}
        published = self._published[panel.title]
        if published and not self.shape.log_x:
            frame = max(curve.points[-1][0] for curve in published)
            missing["beyond the frame"] = [key for key, c in curves.items() if c.x[0] > frame]
            curves = {key: _until(c, frame) for key, c in curves.items() if c.x[0] <= frame}
        outside = [key for key, c in curves.items() if self._is_above(c)]
        missing["above the frame"] = outside
        curves = {key: c for key, c in curves.items() if key not in outside}
        say_missing(axes, missing)
        if not curves:
            return
        optima = self._optima(panel)
        axes.set_ylim(*self._limits(panel, optima))
        if self.shape.y_range is not None:
            axes.set_ylim(*self.shape.y_range)
        if self.shape.x_range is not None:
            axes.set_xlim(*self.shape.x_range)
        elif self.shape.log_x:
            limit_abscissa(axes, list(curves.values()))
        else:
            ends = [float(curve.x[-1]) for curve in curves.values()]
            ends += [curve.points[-1][0] for curve in published]
            axes.set_xlim(0.0, 1.03 * max(ends))
        self.ticks(axes)
        self._rules(axes, panel, optima)
        looks = {each.name: each.look for each in panel.series}
        for key, curve in curves.items():
            draw_curve(axes, curve, looks[key], key)
        self._draw_published(axes, panel)

    def _is_above(self, curve: Curve) -> bool:
        """Whether no point of the curve is low enough for the figure's fixed range."""
        fixed = self.shape.y_range
        return fixed is not None and float(curve.middle.min()) > fixed[1]

    def _published_in(self, panel: Panel) -> list[PublishedCurve]:
        rows = [row for each in panel.series for row in each.rows]
        published = self.source.item.published
        return [curve for each in published for curve in curves_of(each, self.shape, rows)]

    def _draw_published(self, axes: Axes, panel: Panel) -> None:
        colours = {each.rows[0].group.label: each.look.colour for each in panel.series}
        for curve in self._published[panel.title]:
            x, y = zip(*curve.points, strict=True)
            axes.plot(
                x,
                [self._measure.scale * height for height in y],
                color=colours.get(curve.solver, _PUBLISHED.colour),
                linestyle=_PUBLISHED.dash,
                marker=_PUBLISHED.marker,
                linewidth=0.7,
                markersize=2.5,
                alpha=0.75,
                zorder=2.5,
                label=f"{curve.solver}, published",
            )

    def _rules(self, axes: Axes, panel: Panel, optima: Sequence[float]) -> None:
        for level in self._accuracies(panel) if self.shape.y == "accuracy" else optima:
            axes.axhline(level, color="#999999", linewidth=0.6, zorder=1)

    def _accuracies(self, panel: Panel) -> Sequence[float]:
        return self._results(panel.series[0].rows[0]).accuracies

    def _optima(self, panel: Panel) -> list[float]:
        """Those of the panel's problems that are above 0."""
        groups = [each.rows[0].group for each in panel.series]
        optima = [
            self._measure.optimum(g.middle("reference_dual"), g.lam, g.middle("m")) for g in groups
        ]
        return [value for value in dict.fromkeys(optima) if value is not None and value > 0]

    def _limits(self, panel: Panel, optima: Sequence[float]) -> tuple[float, float]:
        shared = self.shape.y == "accuracy"
        titles = [each.title for each in self.panels] if shared else [panel.title]
        curves = [c for title in titles for c in self._curves[title].values() if c is not None]
        known = [
            self._measure.scale * height
            for title in titles
            for published in self._published[title]
            for _, height in published.points
        ]
        least = min([float(curve.middle.min()) for curve in curves] + known)
        most = max([float(curve.middle.max()) for curve in curves] + known)
        floor = min([least, *optima])
        if not self.shape.log_y:
            if self._measure.objective:
                ceiling = max([_CEILING * floor, *known])
                most = lifted(min(most, ceiling), curves, log=False)
            elif known:
                most = lifted(min(most, _BEYOND * max(known)), curves, log=False)
            span = max(most - floor, 1e-3 * abs(most), 1e-12)
            return max(floor - 0.06 * span, -0.08 * span), most + 0.05 * span
        if self._measure.objective:
            most = lifted(min(most, max(10.0 * floor, _CEILING * least)), curves)
        elif self.shape.y == "accuracy":
            # The limits are shared by all panels.
            asked = [level for each in self.panels for level in self._accuracies(each)]
            floor = cut_floor(floor, asked)
            most = lifted(min(most, 100.0), curves)
        span = math.log(max(most / floor, 1.05))
        return floor * math.exp(-0.06 * span), floor * math.exp(1.06 * span)

    def _results(self, row: MeasuredRow) -> Results:
        return self.source.results[row.sweep]

    def _curve(self, row: MeasuredRow) -> Curve | None:
        points = points_of(self._results(row).traces, row.group)
        runs = trajectories(points, row.group, self.shape.x, self._measure)
        curve = median_curve(runs)
        # Only a run's target is known to stay below after its end.
        if curve is None or not self._measure.share:
            return curve
        open_ended = median_curve([replace(run, state="max_steps") for run in runs])
        return None if open_ended is None else replace(open_ended, fate=curve.fate)


def _until(curve: Curve, end: float) -> Curve:
    """The part of a curve inside the frame of the published ones; its end has no marker."""
    inside = curve.x <= end
    if inside.all():
        return curve
    x, middle, low, high = (v[inside] for v in (curve.x, curve.middle, curve.low, curve.high))
    return Curve(x, middle, low, high, "cut")
