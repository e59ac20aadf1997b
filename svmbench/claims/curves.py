"""The curves of a row's repeats, from the points of their traces."""

from __future__ import annotations

import numpy as np

from svmbench.claims.measured import MeasuredRow
from svmbench.data.dataset import FloatArray
from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.along import values_along
from svmbench.records.measures import MEASURES

RunCurve = tuple[FloatArray, FloatArray]


def curve(row: MeasuredRow, along: str, measure: str) -> dict[int, RunCurve]:
    """Abscissae and ordinates of each repeat's points after the start, ascending.

    A repeat of a solver that is run once for each horizon has one point per horizon, the last of
    each run.

    - ``measure``: name of a measure that can be drawn along a run, or the regret. That is the upper
      end of the interval that contains it; below 0 it counts as 0.
    """
    if measure == "regret":
        return _regrets(row, along)
    points = row.points
    if points.empty:
        return {}
    if row.group.separate_runs:
        points = points.groupby("id", sort=False).tail(1)
    found = {}
    for repeat in sorted(set(points["repeat"])):
        members = points[points["repeat"] == repeat]
        x = ABSCISSAE[along].formula(members, row.group)
        y = values_along(row.group, members, MEASURES[measure])
        known = (members["epochs"].to_numpy(np.float64) > 0) & (x > 0) & np.isfinite(y)
        order = np.argsort(x[known], kind="stable")
        if known.any():
            found[int(repeat)] = (x[known][order], y[known][order])
    return found


def height(points: RunCurve, at: float) -> float | None:
    """The curve's ordinate at an abscissa: that of its last point not beyond it.

    None before its first point. A run that ended earlier keeps its last ordinate.
    """
    x, y = points
    place = int(np.searchsorted(x, at * (1 + 1e-9), side="right")) - 1
    return float(y[place]) if place >= 0 else None


def _regrets(row: MeasuredRow, along: str) -> dict[int, RunCurve]:
    """The regret of each repeat by the number of steps, which have one row each."""
    if row.regrets.empty or along.startswith("seconds"):
        return {}
    own = row.regrets[row.regrets["id"].isin(set(row.group.runs["id"]))]
    unit = row.group.middle("m") if along == "epochs" else 1.0
    found = {}
    for repeat in sorted(set(own["repeat"])):
        members = own[own["repeat"] == repeat].sort_values("presentations")
        x = members["presentations"].to_numpy(np.float64) / unit
        found[int(repeat)] = (x, np.maximum(members["regret_high"].to_numpy(np.float64), 0.0))
    return found
