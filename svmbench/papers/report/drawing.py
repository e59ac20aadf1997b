"""What a paper's figures share, and three kinds of them: across rows, regret, decision lines."""

from __future__ import annotations

import math
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from svmbench.claims.measured import MeasuredRow
from svmbench.data.cache import by_identity, open_cached
from svmbench.data.dataset import Dataset, FloatArray
from svmbench.harness.trace import Trace, read_trace
from svmbench.papers.model import FigureShape
from svmbench.papers.report.numbers import number
from svmbench.papers.results import ItemResults
from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.measures import MEASURES, Asked
from svmbench.records.read import read_regret
from svmbench.records.spelling import short
from svmbench.report.sheet import SMALL, set_ticks
from svmbench.report.style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


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
    box = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}
    axes.text(
        0.995, 0.99, "\n".join(lines), transform=axes.transAxes, ha="right", va="top",
        fontsize=SMALL, color="#666666", zorder=6, bbox=box,
    )  # fmt: skip


# ---------------------------------------------------------------- measures across rows


class AcrossPlot(Drawer):
    """One point per row of the results, joined along the horizontal axis."""

    def draw(self, axes: Axes, panel: Panel) -> None:
        self.scale(axes)
        chains = {each.name: (each.look, self._points(each)) for each in panel.series}
        say_missing(axes, {"no value": [name for name, (_, t) in chains.items() if t.empty]})
        known = [table for _, table in chains.values() if not table.empty]
        if not known:
            return
        every = pd.concat(known)
        ys = every[["y", "low", "high"]].to_numpy(np.float64).ravel()
        ys = ys[np.isfinite(ys) & ((ys > 0) | (not self.shape.log_y))]
        axes.set_xlim(*padded(every["x"].min(), every["x"].max(), self.shape.log_x, 0.05, 0.08))
        axes.set_ylim(*padded(ys.min(), ys.max(), self.shape.log_y, 0.12, 0.08))
        self.ticks(axes)
        for name, (look, table) in chains.items():
            if table.empty:
                continue
            axes.plot(table["x"], table["y"], color=look.colour, linestyle=look.dash, label=name)
            found, bounds = table[~table["bound"]], table[table["bound"]]
            low = found["low"].where(np.isfinite(found["low"]), found["y"])
            high = found["high"].where(np.isfinite(found["high"]), axes.get_ylim()[1])
            axes.vlines(found["x"], low, high, color=look.colour, linewidth=0.9, zorder=3)
            axes.plot(
                found["x"], found["y"], marker=look.marker or "o", markersize=3,
                color=look.colour, linestyle="none", zorder=4,
            )  # fmt: skip
            axes.plot(
                bounds["x"], bounds["y"], marker="^", markersize=5, color=look.colour,
                markerfacecolor="white", linestyle="none", clip_on=False, zorder=4,
            )  # fmt: skip

    def _points(self, series: Series) -> pd.DataFrame:
        """The points that can be drawn, each with its interval, from left to right."""
        shape, found = self.shape, []
        across, measure = (measure_of(name, shape.at) for name in (shape.x, shape.y))
        for row in series.rows if measure is not None else ():
            assert measure is not None
            if across is None:
                x = float(row.axis(shape.x))
            else:
                x = number(row, across).found.median * across.measure.scale
            shown, factor = number(row, measure), measure.measure.scale
            bound = shown.found.median == math.inf and shown.at_least > 0
            y = shown.at_least if bound else shown.found.median
            low, high = (y, y) if bound else (shown.found.low, shown.found.high)
            visible = (x > 0 or not shape.log_x) and (y > 0 or not shape.log_y)
            if math.isfinite(x) and math.isfinite(y) and visible:
                found.append((x, factor * y, factor * low, factor * high, bound))
        return pd.DataFrame(sorted(found), columns=["x", "y", "low", "high", "bound"])


# ---------------------------------------------------------------- regret


#: The bound of a curve, in that curve's colour.
_BOUND = Look("#777777", (0, (1, 1.6)))


class Regrets(Drawer):
    def legend(self) -> dict[str, Look]:
        return super().legend() | {"its bound": _BOUND}

    def draw(self, axes: Axes, panel: Panel) -> None:
        self.scale(axes)
        curves = {each.name: self._regret(each.rows[0]) for each in panel.series}
        curves = {key: table for key, table in curves.items() if not table.empty}
        say_missing(axes, {"no regret": [e.name for e in panel.series if e.name not in curves]})
        if not curves:
            return
        every = pd.concat(curves.values())
        heights = every[["middle", "bound"]].to_numpy(np.float64).ravel()
        heights = heights[np.isfinite(heights) & ((heights > 0) | (not self.shape.log_y))]
        if not heights.size:
            say_missing(axes, {"no positive regret": list(curves)})
            return
        steps = every["steps"].to_numpy(np.float64)
        axes.set_xlim(*padded(steps.min(), steps.max(), self.shape.log_x, 0.02, 0.05))
        axes.set_ylim(*padded(heights.min(), heights.max(), self.shape.log_y, 0.1, 0.08))
        self.ticks(axes)
        looks = {each.name: each.look for each in panel.series}
        for key, table in curves.items():
            colour = looks[key].colour
            x = table["steps"].to_numpy(np.float64)
            shown = table["middle"] > 0 if self.shape.log_y else table["middle"].notna()
            axes.fill_between(
                x, table["low"], table["high"], where=shown, color=colour, alpha=0.16,
                linewidth=0, zorder=2,
            )  # fmt: skip
            for column, dash, name in (
                ("middle", looks[key].dash, key),
                ("bound", _BOUND.dash, f"{key}: bound"),
            ):
                y = table[column].where(table[column] > 0).to_numpy(np.float64)
                axes.plot(x, y, color=colour, linestyle=dash, label=name)

    def _regret(self, row: MeasuredRow) -> pd.DataFrame:
        """Median, range and bound by the number of steps, over the repeats that got that far."""
        table = read_regret(self.source.results[row.sweep].folder)
        table = table[table["id"].isin(set(row.group.runs["id"]))]
        if table.empty:
            return table
        found = table.groupby("presentations", sort=True).agg(
            middle=("regret_high", "median"),
            low=("regret_low", "min"),
            high=("regret_high", "max"),
            bound=("regret_bound", "median"),
            runs=("id", "nunique"),
        )
        found = found[2 * found["runs"] >= table["id"].nunique()]
        return found.rename_axis("steps").reset_index()


# ---------------------------------------------------------------- decision lines


#: The scores at which a line is drawn, and how.
_LEVELS = ((0.0, "solid", 1.3), (-1.0, (0, (4, 2)), 0.8), (1.0, (0, (4, 2)), 0.8))

#: Most features of rows whose plane is drawn: the two of the plane, and a constant one.
_FEATURES = 3

#: Larger weights are drawn by no line: their squares leave double precision.
_LARGEST = 1e150

#: Classes: label, marker and colour, distinguishable in print and by the colour-blind.
_CLASSES = ((1, "o", "#0072B2"), (-1, "x", "#D55E00"))


@dataclass(frozen=True)
class DecisionLine:
    """score(x) = w.x + b at the end of a run."""

    w: FloatArray
    b: float


def _traces(source: ItemResults, row: MeasuredRow) -> Iterator[Trace]:
    folder = source.results[row.sweep].folder / "runs"
    return filter(None, (read_trace(folder / f"{name}.jsonl") for name in row.group.runs["id"]))


def final_line(source: ItemResults, row: MeasuredRow) -> DecisionLine | None:
    """The line of a row's first repeat; None if its file does not record it, or not of a plane."""
    for trace in _traces(source, row):
        weights, b = trace.end.get("weights"), trace.end.get("bias") or 0.0
        if not isinstance(weights, list) or not all(map(_is_finite, [*weights, b])):
            continue
        datasets = source.sweeps[row.sweep].datasets if row.sweep in source.sweeps else ()
        constant = next((data.bias for data in datasets if data.label == row.group.dataset), None)
        if len(weights) == 3 and constant is not None:
            b += weights.pop() * constant
        return DecisionLine(np.array(weights, dtype=np.float64), b) if len(weights) == 2 else None
    return None


def points(source: ItemResults, row: MeasuredRow) -> Dataset | None:
    """The training rows of a row's first repeat, if they are still in the cache."""
    for trace in _traces(source, row) if not row.group.stand_in else ():
        problem = trace.header.get("problem")
        if isinstance(problem, dict):
            path = by_identity(_FEATURES).get(str(problem.get("data")))
            return None if path is None else open_cached(path)
    return None


def _is_finite(value: Any) -> bool:
    """Whether a value of a trace is a number that an axis can show."""
    return isinstance(value, int | float) and abs(value) < _LARGEST


def draw_plane(axes: Axes, line: DecisionLine | None, data: Dataset | None, look: Look) -> None:
    """Draw the points of both classes and the line with its margins."""
    xy = _plane(data) if data is not None else np.empty((0, 2))
    if data is not None:
        for label, marker, colour in _CLASSES:
            members = xy[np.asarray(data.labels) == label]
            axes.plot(
                *members.T, linestyle="none", marker=marker, markersize=2.6, color=colour,
                markerfacecolor="none", markeredgewidth=0.7, zorder=2,
            )  # fmt: skip
    x, y = _frame(xy, line)
    axes.set_xlim(*x)
    axes.set_ylim(*y)
    norm = 0.0 if line is None else float(np.hypot(*line.w))
    if line is None or norm == 0:
        said = "no weights recorded" if line is None else "w = 0: no line"
        axes.text(0.5, 0.5, said, transform=axes.transAxes, ha="center")
        return
    along = np.array([-line.w[1], line.w[0]]) / norm
    reach = 4.0 * max(*np.abs(axes.get_xlim()), *np.abs(axes.get_ylim()), 1.0)
    for level, dash, width in _LEVELS:
        foot = line.w * (level - line.b) / norm**2
        ends = np.array([foot - reach * along, foot + reach * along])
        axes.plot(
            *ends.T, color=look.colour, linestyle=dash, linewidth=width, zorder=3,
            scalex=False, scaley=False,
        )  # fmt: skip


def _plane(data: Dataset) -> FloatArray:
    """The first two features of each row, shape (m, 2)."""
    from scipy.sparse import csr_array  # type: ignore[import-untyped]

    dense = data.values
    if data.indptr is not None and data.indices is not None:
        values = np.ones(len(data.indices)) if data.values is None else data.values
        dense = csr_array((values, data.indices, data.indptr), (data.n_samples, data.n_features))
        dense = dense.toarray()
    return np.pad(np.asarray(dense, dtype=np.float64), ((0, 0), (0, 1)))[:, :2]


def _frame(xy: FloatArray, line: DecisionLine | None) -> tuple[Sequence[float], Sequence[float]]:
    """Limits of both axes, of equal length, for a square panel."""
    if len(xy):
        low, high = xy.min(axis=0), xy.max(axis=0)
        middle, reach = (low + high) / 2, 0.54 * max(float((high - low).max()), 1e-9)
    elif line is not None and (norm := float(np.hypot(*line.w))) > 0:
        middle, reach = -line.w * line.b / norm**2, 3.0 / norm
    else:
        middle, reach = np.zeros(2), 1.0
    return (middle[0] - reach, middle[0] + reach), (middle[1] - reach, middle[1] + reach)


class Planes(Drawer):
    def legend(self) -> dict[str, Look]:
        """None: each panel has one line, and its name above."""
        return {}

    def draw(self, axes: Axes, panel: Panel) -> None:
        row, look = panel.series[0].rows[0], panel.series[0].look
        draw_plane(axes, final_line(self.source, row), points(self.source, row), look)
