"""Decision lines: the plane of two-dimensional data with the final line of a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from svmbench.claims.measured import MeasuredRow
from svmbench.data.cache import by_identity, open_cached
from svmbench.data.dataset import Dataset, FloatArray
from svmbench.harness.trace import Trace, read_trace
from svmbench.papers.report.drawing import Drawer, Panel
from svmbench.papers.results import ItemResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from svmbench.report.style import Look

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
