"""How far a run had come at its checkpoints: the horizontal axes of curves, in one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from svmbench.data.dataset import FloatArray
    from svmbench.records.groups import Group


@dataclass(frozen=True)
class Abscissa:
    """One row of the table of horizontal axes."""

    name: str  # its name in configurations
    words: str  # below the axis
    # its values from rows of traces.csv, which contain all points of each run, and their group; nan
    # where it is not known
    formula: Callable[[pd.DataFrame, Group], FloatArray]
    in_claims: bool = True  # whether claims can be about it


def _column(name: str) -> Callable[[pd.DataFrame, Group], FloatArray]:
    def values(points: pd.DataFrame, group: Group) -> FloatArray:
        import pandas as pd  # Deferred: models of papers' files are read without it.

        return np.asarray(pd.to_numeric(points[name], errors="coerce"), dtype=np.float64)

    return values


def _steps(points: pd.DataFrame, group: Group) -> FloatArray:
    return _column("epochs")(points, group) * group.middle("m") / group.middle("step_rows")


def _percent(points: pd.DataFrame, group: Group) -> FloatArray:
    ends = points.groupby("id")["epochs"].transform("max")
    return np.asarray(100.0 * points["epochs"] / ends, dtype=np.float64)


#: Every horizontal axis by name.
ABSCISSAE = {
    each.name: each
    for each in (
        Abscissa("seconds", "seconds of training", _column("wall_seconds")),
        Abscissa(
            "seconds_after_setup",
            "seconds of training after the set-up",
            _column("seconds_after_setup"),
        ),
        Abscissa("epochs", "epochs", _column("epochs")),
        Abscissa("steps", "steps", _steps),  # a mini-batch is one step
        Abscissa("presentations", "rows presented", _column("presentations"), in_claims=False),
        Abscissa("percent", "per cent of the run", _percent, in_claims=False),
    )
}
