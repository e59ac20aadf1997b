"""Curves along the runs: medians with bands."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from svmbench.papers.measured import MeasuredRow
from svmbench.papers.model import FigureShape
from svmbench.papers.report.drawing import ABSCISSAE, Drawer, FloatArray, Panel, axis_words, told
from svmbench.papers.report.layout import ItemResults
from svmbench.papers.report.numbers import SHARES
from svmbench.report.plots import (
    Curve,
    Trace,
    draw_curve,
    label_curves,
    lifted,
    limit_abscissa,
    median_curve,
    rounded,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from svmbench.records.read import Results

#: Of these the optimum is drawn: what it is, given D_ref, λ and m.
OPTIMA = {
    "primal": lambda dual, lam, m: dual,
    "J": lambda dual, lam, m: dual / lam,
    "sum_objective": lambda dual, lam, m: dual * m,
}

#: Only what a run was stopped for tells that it stays below after its end.
_OBJECTIVES = ("primal", "J", "sum_objective", "suboptimality", "accuracy", "gap")

#: Above this multiple of the optimum a linear axis of an objective ends.
_CEILING = 1.6


class Curves(Drawer):
    """Along the runs: medians with bands."""

    def __init__(self, source: ItemResults, shape: FigureShape, found: Sequence[Panel]) -> None:
        super().__init__(source, shape, found)
        self._curves = {
            panel.title: {each.name: self._curve(each.rows[0]) for each in panel.series}
            for panel in found
        }

    def _draw(self, axes: Axes, panel: Panel, name: str) -> dict[str, str]:
        self.scale(axes)
        curves = {key: c for key, c in self._curves[panel.title].items() if c is not None}
        missing = [each.name for each in panel.series if each.name not in curves]
        texts = told(axes, "no trace", missing)
        if not curves:
            return {}
        optima = self._optima(panel)
        axes.set_ylim(*self._limits(panel, optima))
        if self.shape.log_x:
            limit_abscissa(axes, list(curves.values()))
        else:
            axes.set_xlim(0.0, 1.03 * max(float(curve.x[-1]) for curve in curves.values()))
        self.ticks(axes)
        self._rules(axes, panel, optima)
        looks = {each.name: each.look for each in panel.series}
        titles: dict[str, str] = {}
        for at, (key, curve) in enumerate(curves.items()):
            draw_curve(axes, curve, looks[key], f"{name}-{at}")
            title = self._title(key, curve)
            titles |= {f"{name}-{at}-{part}": title for part in ("band", "line", "end", "name")}
        for at, text in enumerate(label_curves(axes, curves, looks, texts)):
            text.set_gid(f"{name}-{at}-name")
        return titles

    def _title(self, key: str, curve: Curve) -> str:
        x, y = axis_words(self.shape)
        return f"{key}\n{y} {rounded(curve.middle[-1])} at the end, {x} {rounded(curve.x[-1])}"

    def _rules(self, axes: Axes, panel: Panel, optima: Sequence[float]) -> None:
        levels = list(optima)
        if self.shape.y == "accuracy":
            levels = list(self._results(panel.series[0].rows[0]).thresholds)
        for level in levels:
            axes.axhline(level, color="#999999", linewidth=0.6, zorder=1)

    def _optima(self, panel: Panel) -> list[float]:
        """Of the panel's problems, where they are above 0."""
        of = OPTIMA.get(self.shape.y)
        if of is None:
            return []
        groups = [each.rows[0].group for each in panel.series]
        optima = [of(g.middle("reference_dual"), g.lam, g.middle("m")) for g in groups]
        return [value for value in dict.fromkeys(optima) if value > 0]

    def _limits(self, panel: Panel, optima: Sequence[float]) -> tuple[float, float]:
        shared = self.shape.y == "accuracy"
        titles = [each.title for each in self.panels] if shared else [panel.title]
        curves = [c for title in titles for c in self._curves[title].values() if c is not None]
        least = min(float(curve.middle.min()) for curve in curves)
        most = max(float(curve.middle.max()) for curve in curves)
        floor = min([least, *optima])
        if not self.shape.log_y:
            if self.shape.y in OPTIMA:
                most = lifted(min(most, _CEILING * floor), curves, log=False)
            span = max(most - floor, 1e-3 * abs(most), 1e-12)
            return max(floor - 0.22 * span, -0.08 * span), most + 0.05 * span
        if self.shape.y in OPTIMA:
            most = lifted(min(most, max(10.0 * floor, _CEILING * least)), curves)
        elif self.shape.y == "accuracy":
            most = lifted(min(most, 100.0), curves)
        span = math.log(max(most / floor, 1.05))
        return floor * math.exp(-0.25 * span), floor * math.exp(1.06 * span)

    def _results(self, row: MeasuredRow) -> Results:
        return self.source.results[row.sweep]

    def _curve(self, row: MeasuredRow) -> Curve | None:
        traces = list(self._traces(row))
        curve = median_curve(traces)
        if curve is None or self.shape.y in _OBJECTIVES:
            return curve
        open_ended = median_curve([replace(trace, state="max_steps") for trace in traces])
        return None if open_ended is None else replace(open_ended, fate=curve.fate)

    def _traces(self, row: MeasuredRow) -> Iterator[Trace]:
        group = row.group
        points = self._results(row).traces
        points = points[points["id"].isin(set(group.runs["id"]))]
        points = points.sort_values("point", kind="stable")
        if group.separate_runs:
            arrived = group.runs.loc[group.runs["state"] == "converged", "id"]
            points = points[points["id"].isin(set(arrived))].groupby("id", sort=False).tail(1)
        states = dict(zip(group.repeats["repeat"], group.repeats["state"], strict=True))
        for repeat, members in points.groupby("repeat", sort=False):
            column = ABSCISSAE[self.shape.x][0]
            x = pd.to_numeric(members[column], errors="coerce").to_numpy(np.float64)
            y = self._heights(row, members)
            begun = members["epochs"].to_numpy(np.float64) > 0  # the start is the same for all
            drawn = begun & (x > 0) & np.isfinite(y) & (y > 0)
            if drawn.any():
                order = np.argsort(x[drawn], kind="stable")
                yield Trace(x[drawn][order], y[drawn][order], states[repeat])

    def _heights(self, row: MeasuredRow, points: pd.DataFrame) -> FloatArray:
        group, y = row.group, self.shape.y
        dual = group.middle("reference_dual")
        source = {"test_accuracy": "test_error", "J": "primal", "sum_objective": "primal"}
        column = source.get(y, "primal" if y == "suboptimality" else y)
        heights = pd.to_numeric(points[column], errors="coerce").to_numpy(np.float64)
        if y in OPTIMA:
            scaled: FloatArray = OPTIMA[y](heights, group.lam, group.middle("m"))
            return scaled
        # Below the reference's own gap an accuracy is not known, only bounded.
        floor = max(group.middle("reference_gap"), 1e-16)
        if y == "suboptimality":
            heights, floor = heights - dual, floor * (dual if dual > 0 else 1.0)
        if y == "test_accuracy":
            heights = 1.0 - heights
        if y in SHARES:
            # No errors at all are shown as half a row's share, which a logarithm can show.
            heights, floor = 100.0 * heights, 50.0 / group.middle("m")
        floored: FloatArray = np.maximum(heights, floor)
        return floored
