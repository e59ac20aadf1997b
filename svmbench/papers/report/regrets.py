"""Regret as a function of the number of steps, and its bound."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from svmbench.claims.measured import MeasuredRow
from svmbench.papers.report.drawing import Drawer, Drawn, Panel, padded, say_missing
from svmbench.records.read import read_regret
from svmbench.report.sheet import CurveName

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Regrets(Drawer):
    """The regret as a function of the number of steps, and its bound."""

    def _draw(self, axes: Axes, panel: Panel, name: str) -> Drawn:
        self.scale(axes)
        curves = {each.name: self._regret(each.rows[0]) for each in panel.series}
        curves = {key: table for key, table in curves.items() if not table.empty}
        say_missing(axes, {"no regret": [e.name for e in panel.series if e.name not in curves]})
        if not curves:
            return Drawn()
        every = pd.concat(curves.values())
        heights = every[["middle", "bound"]].to_numpy(np.float64).ravel()
        heights = heights[np.isfinite(heights) & ((heights > 0) | (not self.shape.log_y))]
        if not heights.size:
            say_missing(axes, {"no positive regret": list(curves)})
            return Drawn()
        steps = every["steps"].to_numpy(np.float64)
        axes.set_xlim(*padded(steps.min(), steps.max(), self.shape.log_x, 0.02, 0.05))
        axes.set_ylim(*padded(heights.min(), heights.max(), self.shape.log_y, 0.1, 0.08))
        self.ticks(axes)
        looks = {each.name: each.look for each in panel.series}
        drawn = Drawn()
        for at, (key, table) in enumerate(curves.items()):
            look = looks[key]
            x = table["steps"].to_numpy(np.float64)
            shown = table["middle"] > 0 if self.shape.log_y else table["middle"].notna()
            axes.fill_between(
                x, table["low"], table["high"], where=shown, color=look.colour, alpha=0.16,
                linewidth=0, zorder=2,
            )  # fmt: skip
            for column, dash, text in (
                ("middle", look.dash, key),
                ("bound", (0, (1, 1.6)), f"{key}: bound"),
            ):
                y = table[column].where(table[column] > 0).to_numpy(np.float64)
                known = np.isfinite(y)
                if not known.any():
                    continue
                gid = f"{name}-{at}-{column}"
                axes.plot(x, y, color=look.colour, linestyle=dash, zorder=3, gid=gid)
                drawn.titles[gid] = text
                end = float(x[known][-1]), float(y[known][-1])
                drawn.names.append(CurveName(*end, text, look.colour, look.ink))
        return drawn

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
