"""Curves along runs: median and quantile band of the repeats of one label."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.along import ends_of_runs, values_along
from svmbench.records.measures import Measure

if TYPE_CHECKING:
    from svmbench.data.dataset import FloatArray
    from svmbench.records.groups import Group
    from svmbench.records.read import Results

Fate = Literal["reached", "limit", "diverged", "cut"]

#: The quantiles between which a band lies.
BAND = (0.1, 0.9)

#: The marks at the ends of curves, in words.
_END_MARKS = "Dot: reached its accuracy; ring: ended by a limit; cross: diverged."

#: A panel does not show a curve whose lowest stretch lies above this multiple of its upper
#: limit: on a logarithmic axis, and on a linear one.
_LIFT, _LIFT_LINEAR = 1e4, 3.0

#: Curves of the accuracy leave a panel at the bottom where they fall below this share of the
#: smallest accuracy asked for.
_BELOW = 0.01

_GRID = 200


def remarks(groups: Sequence[Group], grey: str) -> list[str]:
    """What a figure of curves shows, in sentences."""
    most = max(len(group.repeats) for group in groups)
    low, high = (f"{100 * q:.0f}" for q in BAND)
    band = f"Median of up to {most} runs, bands from the {low} to the {high} % quantile."
    joined = dict.fromkeys(group.label for group in groups if group.separate_runs)
    ends = f"Joined ends of separate runs, one per horizon: {', '.join(joined)}."
    return [band if most > 1 else "Single runs.", grey, _END_MARKS, ends if joined else ""]


@dataclass(frozen=True)
class Trajectory:
    x: FloatArray  # x, y: (shape (n,)) Positive, x ascending
    y: FloatArray
    state: str  # how the run ended


@dataclass(frozen=True)
class Curve:
    """Median and band of the repeats of one label."""

    x: FloatArray
    middle: FloatArray
    low: FloatArray
    high: FloatArray
    fate: Fate  # how most runs ended; or cut, if they go on beyond the curve's last point


def points_of(traces: pd.DataFrame, group: Group) -> pd.DataFrame:
    points = traces[traces["id"].isin(set(group.runs["id"]))]
    return points.sort_values("point", kind="stable")


def trajectories(
    points: pd.DataFrame, group: Group, abscissa: str, measure: Measure
) -> list[Trajectory]:
    """The repeats of a group, without points that a logarithmic axis cannot show."""
    x = np.asarray(ABSCISSAE[abscissa].formula(points, group), dtype=np.float64)
    y = heights_along(group, measure, points)
    begun = points["epochs"].to_numpy(np.float64) > 0  # the start is the same for all
    drawn = begun & (x > 0) & np.isfinite(y) & (y > 0)
    if group.separate_runs:
        drawn &= ends_of_runs(points, group)
    repeats = points["repeat"].to_numpy()
    found = []
    for repeat, state in zip(group.repeats["repeat"], group.repeats["state"], strict=True):
        mine = np.flatnonzero(drawn & (repeats == repeat))
        if mine.size:
            mine = mine[np.argsort(x[mine], kind="stable")]
            found.append(Trajectory(x[mine], y[mine], state))
    return found


def no_errors(group: Group, measure: Measure) -> float:
    """Where a logarithmic axis shows a share of 0: at half of one row's; 0 if it is no share."""
    return 0.5 * measure.scale / group.middle("m") if measure.share else 0.0


def heights_along(group: Group, measure: Measure, points: pd.DataFrame) -> FloatArray:
    """The measure at the points of a group's runs, as it is printed; see `no_errors`."""
    values: FloatArray = measure.scale * values_along(group, points, measure)
    return np.maximum(values, no_errors(group, measure))


def median_curve(trajectories: Sequence[Trajectory]) -> Curve | None:
    """Median and quantile band of several runs, each read as a step function.

    Between two checkpoints a run keeps its last value: nothing is shown that was not measured.
    After its end a run that reached its accuracy counts as below everything, one that diverged as
    above everything, and one that met a limit is left out. A curve thus ends where the median
    run reaches the accuracy, not where only slow runs are left; it is drawn only where at least
    half of the runs count.
    """
    if not trajectories:
        return None
    x = _common_grid(trajectories)
    heights = np.stack([_stepped(trajectory, x) for trajectory in trajectories])
    low, middle, high = (_quantile(heights, q) for q in (BAND[0], 0.5, BAND[1]))
    seen = np.isfinite(middle)
    seen &= 2 * (~np.isnan(heights)).sum(axis=0) >= len(trajectories)
    if not seen.any():
        return None
    finite = heights[np.isfinite(heights)]
    least, most = float(finite.min()), float(finite.max())
    low = np.nan_to_num(low[seen], nan=least, neginf=least, posinf=most)
    high = np.nan_to_num(high[seen], nan=most, neginf=least, posinf=most)
    return Curve(x[seen], np.exp(middle[seen]), np.exp(low), np.exp(high), _fate(trajectories))


class CurveTable:
    """The curves of a results folder, each computed once for all that show it."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._known: dict[tuple[Group, str, str], Curve | None] = {}
        self._points: dict[Group, pd.DataFrame] = {}

    def of(self, groups: Sequence[Group], x: str, measure: Measure) -> dict[str, Curve]:
        found = {group.label: self._curve(group, x, measure) for group in groups}
        return {label: curve for label, curve in found.items() if curve is not None}

    def _curve(self, group: Group, x: str, measure: Measure) -> Curve | None:
        key = group, x, measure.name
        if key not in self._known:
            if group not in self._points:
                self._points[group] = points_of(self._results.traces, group)
            runs = trajectories(self._points[group], group, x, measure)
            self._known[key] = median_curve(runs)
        return self._known[key]


def _common_grid(trajectories: Sequence[Trajectory]) -> FloatArray:
    first, last = (f(t.x[0 if f is min else -1] for t in trajectories) for f in (min, max))
    grid = np.geomspace(first, last, _GRID) if last > first else np.array([first])
    ends = [x for trajectory in trajectories for x in (trajectory.x[0], trajectory.x[-1])]
    return np.unique(np.clip(np.concatenate([grid, ends]), first, last))


def _stepped(trajectory: Trajectory, x: FloatArray) -> FloatArray:
    """Logarithm of a run's last value at each x; nan if it has none."""
    at = np.searchsorted(trajectory.x, x, side="right") - 1
    heights = np.where(at >= 0, np.log(trajectory.y)[np.maximum(at, 0)], np.nan)
    after = {"converged": -np.inf, "diverged": np.inf}.get(trajectory.state, np.nan)
    stepped: FloatArray = np.where(x > trajectory.x[-1], after, heights)
    return stepped


def _quantile(heights: FloatArray, q: float) -> FloatArray:
    """Quantile of each column without its nans, interpolated linearly; -inf and inf are legal."""
    ordered = np.sort(heights, axis=0)  # nans last
    count = (~np.isnan(heights)).sum(axis=0)
    position = q * np.maximum(count - 1, 0)
    below = np.floor(position).astype(int)
    above = np.ceil(position).astype(int)
    columns = np.arange(heights.shape[1])
    a, b = ordered[below, columns], ordered[above, columns]
    # Next to a missing run, the existing one is shown.
    a, b = np.where(np.isneginf(a), b, a), np.where(np.isposinf(b), a, b)
    with np.errstate(invalid="ignore"):
        between = a + (position - below) * (b - a)
    quantile: FloatArray = np.where(a == b, a, between)
    return quantile


def _fate(trajectories: Sequence[Trajectory]) -> Fate:
    states = [trajectory.state for trajectory in trajectories]
    if 2 * states.count("converged") >= len(states):
        return "reached"
    return "diverged" if 2 * states.count("diverged") >= len(states) else "limit"


def cut_floor(floor: float, accuracies: Sequence[float]) -> float:
    """A panel's lowest accuracy, raised if it is far below all that were asked for.

    Where P is next to its optimum, only rounding decides how far a curve falls.
    """
    asked = [level for level in accuracies if level > 0.0]
    return max(floor, _BELOW * min(asked)) if asked else floor


def lifted(ceiling: float, curves: Sequence[Curve], log: bool = True) -> float:
    """A panel's upper limit, raised until the lowest stretch of every curve is below it.

    Those that diverged may leave at the top, and so may a curve that stays more than `_LIFT` times
    above: it would flatten all others.
    """
    most, stretch = (_LIFT, 2.0) if log else (_LIFT_LINEAR, 1.1)
    wanted = [ceiling]
    for curve in curves:
        least, start = float(curve.middle.min()), float(curve.middle.max())
        if curve.fate != "diverged" and least <= most * ceiling:
            wanted.append(min(start, stretch * least))
    return max(wanted)
