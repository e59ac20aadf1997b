"""Convergence plots: the objective or its distance from the optimum, against epochs and seconds."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.groups import Group, heading
from svmbench.records.measures import MEASURES, Measure
from svmbench.records.read import Results
from svmbench.records.spelling import place_words
from svmbench.report.curves import Curve, CurveTable, cut_floor, lifted, remarks
from svmbench.report.panels import draw_curve, limit_abscissa, remark, set_ticks
from svmbench.report.sheet import PANELS_ACROSS, SMALL, Sheet, save_figure, uniform_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svmbench.report.style import Look

#: The two horizontal axes.
_ABSCISSAE = ("epochs", "seconds")


@dataclass(frozen=True)
class PlotWords:
    """What a kind of plot shows, in words."""

    # of an objective, whose optimum is marked, or of the distance from it, whose accuracies are
    measure: Measure
    what: str
    grey: str  # what the grey lines are
    look: str  # what to look at, in a sentence

    @property
    def caption(self) -> str:
        """What the panels show."""
        return f"{self.what} against epochs and against seconds of training"


#: Every kind of plot by name.
PLOT_KINDS: dict[str, PlotWords] = {
    "log-primal": PlotWords(
        MEASURES["primal"],
        "primal objective",
        "Grey: the certified optimum P*.",
        "Look at which curve meets the grey line of the optimum first, and which level off above "
        "it.",
    ),
    "log-suboptimality": PlotWords(
        MEASURES["accuracy"],
        "relative accuracy ε",
        "Grey: the accuracies asked for.",
        "Look at which curve crosses a grey line first: it reaches that accuracy first.",
    ),
}


def plots(
    results: Results, curves: CurveTable, formats: tuple[str, ...] = ("png",)
) -> list[Callable[[], list[Path]]]:
    """What writes each plot that the sweep asks for: one figure per data set and kind."""

    def write(dataset: str, stand_in: bool, kind: str) -> list[Path]:
        path = results.folder / "plots" / plot_name(dataset, stand_in, kind)
        with uniform_style():
            figure = draw(results, curves, results.groups[dataset, stand_in], kind)
            return list(save_figure(figure, path, formats))

    return [partial(write, *of, kind) for of in results.groups for kind in results.plots]


def plot_name(dataset: str, stand_in: bool, kind: str) -> str:
    """Name of a plot's file, without its suffix."""
    name = re.sub(r"[^A-Za-z0-9._+=-]+", "-", dataset)
    name += "-stand-in" if stand_in and "stand-in" not in name else ""
    return f"{name}-{kind}"


def draw(results: Results, known: CurveTable, groups: Sequence[Group], kind: str) -> Figure:
    """Draw one figure: a column of panels for each λ, epochs above and seconds below.

    More than three λ are continued below.
    """
    from svmbench.report import style

    lambdas = list(dict.fromkeys(group.lam for group in groups))
    looks = style.looks(results)
    blocks = [_of_lambda(known, [g for g in groups if g.lam == lam], kind) for lam in lambdas]
    common = _limits(blocks, results.accuracies, kind)
    across = min(len(lambdas), PANELS_ACROSS)
    words = PLOT_KINDS[kind]
    drawn = {label for block in blocks for curves in block.curves for label in curves}
    sheet = Sheet(
        2 * across * math.ceil(len(lambdas) / across),
        f"{heading(groups[0].dataset, groups[0].stand_in)}: {words.what}",
        remarks=_remarks(groups, kind),
        warns=groups[0].stand_in,
        legend={label: look for label, look in looks.items() if label in drawn},
        across=across,
    )
    for number, block in enumerate(blocks):
        limits = _limits([block], (), kind) if words.measure.objective else common
        row, column = divmod(number, across)
        for part, abscissa in enumerate(_ABSCISSAE):
            axes = sheet.axes[(2 * row + part) * across + column]
            axes.set_xlabel(ABSCISSAE[abscissa].words, labelpad=2)
            axes.set_ylabel(words.measure.words if column == 0 else "")
            axes.set_title(block.title if part == 0 else "", loc="left", parse_math=False)
            _fill(axes, block, part, looks, limits, results.accuracies, kind)
    for axes in sheet.axes:
        if not axes.get_xlabel():  # a place in the last row that no λ uses
            axes.remove()
    return sheet.figure


@dataclass(frozen=True)
class LambdaPanels:
    """What the panels of one λ show."""

    title: str
    optimum: float  # D_ref
    curves: list[dict[str, Curve]]  # by label, for each of the two horizontal axes
    missing: list[str]  # labels without a trace


def _of_lambda(known: CurveTable, groups: Sequence[Group], kind: str) -> LambdaPanels:
    curves = [known.of(groups, abscissa, PLOT_KINDS[kind].measure) for abscissa in _ABSCISSAE]
    return LambdaPanels(
        title=place_words(groups[0].written_lambda),
        optimum=groups[0].middle("reference_dual"),
        curves=curves,
        missing=[group.label for group in groups if group.label not in curves[0]],
    )


def _remarks(groups: Sequence[Group], kind: str) -> str:
    runs, grey, ends, joined = remarks(groups, PLOT_KINDS[kind].grey)
    return "\n".join([runs, grey, f"{ends} {joined}".rstrip()])


# ---------------------------------------------------------------- panels


def _fill(
    axes: Axes,
    block: LambdaPanels,
    part: int,
    looks: Mapping[str, Look],
    limits: tuple[float, float],
    accuracies: Sequence[float],
    kind: str,
) -> None:
    curves = block.curves[part]
    axes.set_xscale("log")
    axes.set_yscale("log")
    if not curves:
        axes.text(0.5, 0.5, "no run has a trace", transform=axes.transAxes, ha="center")
        return
    axes.set_ylim(*limits)
    limit_abscissa(axes, list(curves.values()))
    set_ticks(axes)
    _rules(axes, block.optimum, accuracies, kind)
    if block.missing and part == 0:
        remark(axes, "no trace: " + ", ".join(block.missing))
    for label, curve in curves.items():
        draw_curve(axes, curve, looks[label], label)


def _limits(
    blocks: Sequence[LambdaPanels], accuracies: Sequence[float], kind: str
) -> tuple[float, float]:
    """Vertical limits: early overshoots leave at the top."""
    curves = [curve for block in blocks for part in block.curves for curve in part.values()]
    if not curves:
        return 0.1, 1.0
    optima = [block.optimum for block in blocks if block.optimum > 0]
    least = min(float(curve.middle.min()) for curve in curves)
    most = max(float(curve.middle.max()) for curve in curves)
    if PLOT_KINDS[kind].measure.objective:
        floor = min([least, *optima])
        ceiling = min(most, max(3.0, 10.0 * floor))
    else:
        floor = cut_floor(min([least, *accuracies]), accuracies)
        # At w = 0 the objective is about 1, so that the accuracy is about 1/P*.
        ceiling = min(most, 10.0 * max([1.0, *(1.0 / optimum for optimum in optima)]))
    ceiling = lifted(ceiling, curves)
    span = math.log(max(ceiling / floor, 1.05))
    return floor * math.exp(-0.06 * span), floor * math.exp(1.06 * span)


def _rules(axes: Axes, optimum: float, accuracies: Sequence[float], kind: str) -> None:
    """Draw the grey lines, and label that of the optimum."""
    of_objective = PLOT_KINDS[kind].measure.objective
    for level in [optimum] if of_objective else accuracies:
        if level > 0:
            axes.axhline(level, color="#999999", linewidth=0.6, zorder=1)
    if of_objective and optimum > 0:
        axes.annotate(
            f"P* = {optimum:.4g}",
            (0.01, optimum),
            xycoords=("axes fraction", "data"),
            xytext=(0, -2),
            textcoords="offset points",
            va="top",
            fontsize=SMALL,
            color="#666666",
        )
