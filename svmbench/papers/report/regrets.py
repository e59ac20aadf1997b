"""Regret as a function of the number of steps, and its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from svmbench.claims.measured import MeasuredRow
from svmbench.papers.report.drawing import Drawer, Panel, padded, say_missing
from svmbench.records.read import read_regret
from svmbench.report.style import Look

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: The bound of a curve, in that curve's colour.
_BOUND = Look("#777777", (0, (1, 1.6)))


class Regrets(Drawer):
    """The regret as a function of the number of steps, and its bound."""

    def legend(self) -> dict[str, Look]:
        """The names of the curves, and the bound's."""
        return super().legend() | {"its bound": _BOUND}

    def draw(self, axes: Axes, panel: Panel) -> None:
        """Draw the regret of each series with its range, and its bound."""
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
            return pd.DataFrame()
        grouped = table.groupby("presentations", sort=True)
        found = pd.DataFrame(
            {
                "middle": grouped["regret_high"].median(),
                "low": grouped["regret_low"].min(),
                "high": grouped["regret_high"].max(),
                "bound": grouped["regret_bound"].median(),
                "runs": grouped["id"].nunique(),
            }
        )
        found = found[2 * found["runs"] >= table["id"].nunique()]
        return found.rename_axis("steps").reset_index()
