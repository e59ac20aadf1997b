"""A measure along a run: its values at the points of the traces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from svmbench.records.groups import Group
from svmbench.records.measures import Measure

#: Least distance from the optimum that double precision can resolve.
_LEAST = 1e-16


def values_along(group: Group, points: pd.DataFrame, measure: Measure) -> NDArray[np.float64]:
    """The measure at points of the traces of a group, nan where there is none.

    A distance from the optimum is at least the certified gap: below that it is only bounded.
    """
    dual = group.middle("reference_dual")
    facts = {"lambda": group.lam, "m": group.middle("m"), "reference_dual": dual}
    try:
        found = measure.formula(_Known(points, facts))
        values: NDArray[np.float64] = np.asarray(found, dtype=np.float64)
    except KeyError:
        return np.full(len(points), np.nan)
    if not measure.distance:
        return values
    gap = group.middle("reference_gap")
    floor = gap if gap > _LEAST else _LEAST
    if measure.distance == "absolute" and dual > 0:
        floor *= dual
    floored: NDArray[np.float64] = np.maximum(values, floor)
    return floored


def ends_of_runs(points: pd.DataFrame, group: Group) -> NDArray[np.bool_]:
    """The last point of each run that reached its horizon: nothing else was measured."""
    ended = set(group.runs.loc[group.runs["state"] == "converged", "id"])
    last = ~points["id"].duplicated(keep="last")
    return (last & points["id"].isin(ended)).to_numpy()


class _Known(dict[str, Any]):
    """The facts of a problem, and any column of traces.csv that a formula asks for."""

    def __init__(self, points: pd.DataFrame, facts: Mapping[str, float]) -> None:
        super().__init__(facts)
        self._points = points

    def __missing__(self, name: str) -> NDArray[np.float64]:
        return pd.to_numeric(self._points[name], errors="coerce").to_numpy(np.float64)
