"""The plots of a sweep: the objective, or its distance from the optimum, against seconds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from svmbench.errors import ConfigError
from svmbench.records.read import Results
from svmbench.report.curves import CurveTable
from svmbench.report.sheet import save_figure, uniform_style
from svmbench.report.single import FigureRequest, single_figure


@dataclass(frozen=True)
class PlotWords:
    y: str  # the vertical axis, as ``svmbench plot --y`` has it
    caption: str
    grey: str  # what the grey lines are
    look: str  # what to look at, in a sentence


#: Every kind of plot by name.
PLOT_KINDS: dict[str, PlotWords] = {
    "log-primal": PlotWords(
        "primal",
        "primal objective against seconds of training",
        "Grey: the certified optimum P*.",
        "Look at which curve meets the grey line first, and which level off above it.",
    ),
    "log-suboptimality": PlotWords(
        "suboptimality",
        "accuracy ε against seconds of training",
        "Grey: the accuracies asked for.",
        "Look at which curve crosses a grey line first: it reaches that accuracy first.",
    ),
}


def write_plots(results: Results, curves: CurveTable) -> list[Path]:
    """Draw what the sweep asks for: one figure per data set and kind."""
    written = []
    for dataset, stand_in in results.groups:
        for kind in results.plots:
            path = results.folder / "plots" / plot_name(dataset, stand_in, kind)
            asked = FigureRequest(y=PLOT_KINDS[kind].y, datasets=(dataset,), style="page")
            try:
                figure = single_figure(results, asked, curves).figure
            except ConfigError:  # no run has such a curve
                path.with_name(f"{path.name}.png").unlink(missing_ok=True)
                continue
            with uniform_style():
                written.append(save_figure(figure, path))
    return written


def plot_name(dataset: str, stand_in: bool, kind: str) -> str:
    """Name of a plot's file, without its suffix."""
    name = re.sub(r"[^A-Za-z0-9._+=-]+", "-", dataset)
    name += "-stand-in" if stand_in and "stand-in" not in name else ""
    return f"{name}-{kind}"
