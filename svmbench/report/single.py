"""One figure of one problem's curves, in the size and format that a paper or a talk needs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmbench.durable import replacing
from svmbench.errors import ConfigError, nearest
from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.groups import Group, heading
from svmbench.records.measures import ALONG, MEASURES, Measure
from svmbench.records.read import Results
from svmbench.records.spelling import meant, place_words, short, written_apart
from svmbench.report.curves import (
    Curve,
    CurveTable,
    lifted,
    no_errors,
)
from svmbench.report.panels import limit_abscissa, set_ticks
from svmbench.report.sheet import FORMATS, picture, uniform_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from matplotlib.legend import Legend
    from matplotlib.text import Text

#: The distance from the optimum has one name, whichever distance the sweep takes; regret has no
#: points in traces.csv.
_NOT_AN_ORDINATE = ("accuracy", "suboptimality", "regret")

#: The measure of each vertical axis: all that can be drawn along a run.
ORDINATES = {
    "suboptimality": "accuracy",
    **{name.replace("_", "-"): name for name in ALONG if name not in _NOT_AN_ORDINATE},
}

#: Dots per inch of a PNG.
_DPI = 300

#: Inches between the upright name and the figure's edge.
_MARGIN = 0.03

#: Least width of a figure, in units of its text's size.
_LEAST_EMS = 12.0

_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}


@dataclass(frozen=True)
class FigureStyle:
    """Sizes of a kind of figure."""

    width: float  # inches, unless another width is asked for
    aspect: float  # height of the frame over the figure's width
    text: float  # points; fewer if the figure is narrower than `_LEAST_EMS`
    line: float  # points

    def within(self, width: float) -> FigureStyle:
        """The style of a figure so many inches wide, whose text leaves room for the frame."""
        return replace(self, width=width, text=min(self.text, 72 * width / _LEAST_EMS))


STYLES = {
    "paper": FigureStyle(3.3, 0.7, 8.0, 1.1),
    "slides": FigureStyle(9.0, 0.5, 18.0, 3.0),
}


@dataclass(frozen=True)
class FigureRequest:
    """What a figure shows."""

    x: str = "seconds"
    y: str = "suboptimality"  # a key of `ORDINATES`
    solvers: Sequence[str] = ()  # names of solvers or labels; all unless given
    dataset: str | None = None  # needed if there are several
    lam: float | None = None  # λ; needed if there are several
    style: str = "paper"
    # ``3.3in``, ``8cm``, ``84mm``, ``240pt``, or inches; the style's unless given
    width: str | float | None = None


@dataclass(frozen=True)
class SingleFigure:
    """A figure that notebooks show and that can be saved."""

    figure: Figure  # to be changed at will

    def save(self, path: Path | str) -> Path:
        """Write it to a file; the suffix names the format: .pdf, .png or .svg.

        Raises ConfigError if the suffix is another one, or the file cannot be written.
        """
        path = Path(path)
        suffix = format_of(path)
        with uniform_style():
            content = picture(self.figure, suffix, dpi=_DPI)
        with replacing(path, "wb") as file:
            file.write(content)
        return path

    def _repr_svg_(self) -> str:
        with uniform_style():
            return picture(self.figure, "svg", dpi=_DPI).decode()


def format_of(path: Path) -> str:
    """The format that a file's suffix names.

    Raises ConfigError if there is no such format.
    """
    suffix = path.suffix.removeprefix(".").lower()
    if suffix not in FORMATS:
        raise ConfigError(f"{path}: ends in none of .{', .'.join(FORMATS)}; choose one of them")
    return suffix


def single_figure(results: Results, asked: FigureRequest) -> SingleFigure:
    """Draw the medians of the repeats with their bands, one curve per label.

    Raises ConfigError if the results do not have what is asked for; the message names what there
    is.
    """
    known(asked.x, ABSCISSAE, "x")
    known(asked.y, ORDINATES, "y")
    known(asked.style, STYLES, "style")
    style = STYLES[asked.style]
    if asked.width is not None:
        style = style.within(inches(asked.width))
    groups = chosen(results, asked)
    curves = CurveTable(results).of(groups, asked.x, ordinate(results, asked.y))
    if not curves and all((group.runs["epochs"] == 0).all() for group in groups):
        raise ConfigError(
            f"{results.folder}: solved before the first step, at w = 0, by all of "
            f"{', '.join(g.label for g in groups)}: there is no curve; choose another λ or data set"
        )
    if not curves:
        raise ConfigError(
            f"{results.folder}: no run of {', '.join(g.label for g in groups)} has a trace with "
            f"{asked.y} along {asked.x}; choose other solvers, or another --x or --y"
        )
    with uniform_style():
        return SingleFigure(_drawn(results, groups, curves, asked, style))


def known(name: str, names: Any, what: str) -> None:
    """Refuse a name that is not among the known ones.

    Raises ConfigError: with what there is.
    """
    if name not in names:
        raise ConfigError(f"unknown {what} {name!r}; known: {', '.join(names)}")


def inches(width: str | float) -> float:
    """A width as a number of inches.

    Raises ConfigError if it is none, or one that no page has.
    """
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(in|cm|mm|pt)?\s*", str(width))
    size = float(match[1]) * _UNITS[match[2] or "in"] if match else 0.0
    if not 1.0 <= size <= 40.0:
        raise ConfigError(f"width {width!r} is not between 1in and 40in; write it as 3.3in or 84mm")
    return size


def chosen(results: Results, asked: FigureRequest) -> list[Group]:
    """The rows of one data set and λ that a figure shows.

    Raises ConfigError if there are none, or more than one data set or λ is left.
    """
    groups = [group for members in results.groups.values() for group in members]
    groups = _only(
        groups, lambda group: group.dataset, asked.dataset, f"{results.folder}: data set", "dataset"
    )
    lambdas = {group.lam: group.written_lambda for group in groups}
    left = list(lambdas)
    if asked.lam is not None:
        alike = {short(lam) for lam in meant(short(asked.lam), lambdas)}
        left = [lam for lam in lambdas if short(lam) in alike]
        if asked.lam in lambdas:
            left = [asked.lam]
        if not left:
            there = ", ".join(lambdas.values())
            raise ConfigError(f"{results.folder}: no λ = {short(asked.lam)}; there are {there}")
    if len(left) > 1:
        told_apart = len({lambdas[lam] for lam in left}) == len(left)
        names = lambdas if told_apart else written_apart(left)
        there = ", ".join(names[lam] for lam in left)
        raise ConfigError(f"{results.folder}: several λ; choose one with --lambda: {there}")
    groups = [group for group in groups if group.lam in left]
    labels = list(dict.fromkeys(name for g in groups for name in (g.label, g.solver)))
    for name in asked.solvers:
        if name not in labels:
            raise ConfigError(
                f"{results.folder}: no solver {name!r}; there are {', '.join(labels)}"
            )
    return [g for g in groups if not asked.solvers or {g.label, g.solver} & set(asked.solvers)]


def _only(
    groups: Sequence[Group], key: Any, wanted: str | None, where: str, option: str
) -> list[Group]:
    names = list(dict.fromkeys(key(group) for group in groups))
    if wanted is None and len(names) > 1:
        raise ConfigError(f"{where}: several; choose one with --{option}: {', '.join(names)}")
    if wanted is not None and wanted not in names:
        raise ConfigError(f"{where} {wanted!r} has no runs; {nearest(wanted, names)}")
    return [group for group in groups if wanted is None or key(group) == wanted]


def ordinate(results: Results, y: str) -> Measure:
    """The measure of a vertical axis."""
    if y == "suboptimality" and results.distance == "absolute":
        return MEASURES["suboptimality"]
    return MEASURES[ORDINATES[y]]


def _drawn(
    results: Results,
    groups: Sequence[Group],
    curves: dict[str, Curve],
    asked: FigureRequest,
    style: FigureStyle,
) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from svmbench.report.style import looks_of

    measure = ordinate(results, asked.y)
    height, across = _height(curves, style)
    figure = Figure(figsize=(style.width, height), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_yscale("linear" if measure.share else "log")
    axes.set_ylim(*_limits(list(curves.values()), groups[0], measure))
    limit_abscissa(axes, list(curves.values()))
    look = looks_of(curves)
    for label, curve in curves.items():
        colour = look[label].colour
        axes.fill_between(curve.x, curve.low, curve.high, color=colour, alpha=0.16, linewidth=0)
        axes.plot(
            curve.x,
            curve.middle,
            color=colour,
            linestyle=look[label].dash,
            marker=look[label].marker,
            markersize=0.4 * style.text,
            markevery=max(1, len(curve.x) // 6),
            linewidth=style.line,
            label=label,
        )
    first = groups[0]
    _mark_ends(axes, curves, no_errors(first, measure), style)
    set_ticks(axes)
    place = f"{heading(first.dataset, first.stand_in)}, {place_words(first.written_lambda)}"
    title = axes.set_title(place, loc="left", fontsize=style.text, parse_math=False,
                           color="#B00000" if first.stand_in else "black")  # fmt: skip
    along = axes.set_xlabel(ABSCISSAE[asked.x].words, fontsize=style.text)
    axes.set_ylabel(measure.heading, fontsize=style.text)
    axes.tick_params(labelsize=0.9 * style.text)
    _fit_legend(figure, _legend(figure, axes, style, across))
    _fit_names(figure, axes, title, along)
    for at, axis in enumerate((axes.xaxis, axes.yaxis)):
        _thin_numbers(axis, at, 0.3 * style.text / 72 * figure.dpi)
    return figure


def _height(curves: Mapping[str, Curve], style: FigureStyle) -> tuple[float, int]:
    """Inches of the figure with its legend, and names on a line of that."""
    # A line of the legend: the sample, the spaces about it and a character of the names, in ems.
    ems = 4.5 + 0.62 * max(map(len, curves))
    across = max(1, min(len(curves), int(style.width * 72 / (0.9 * style.text * ems))))
    legend_lines = -(-len(curves) // across)
    # At least nine lines of text for the frame with its title and labels.
    height = max(style.aspect * style.width, 9 * style.text / 72)
    return height + 1.6 * style.text / 72 * legend_lines, across


def _mark_ends(axes: Axes, curves: Mapping[str, Curve], least: float, style: FigureStyle) -> None:
    """Mark where curves end without errors."""
    ends = [
        (c.x[-1], c.middle[-1]) for c in curves.values() if c.middle[-1] <= least * (1.0 + 1e-9)
    ]
    if ends:
        axes.plot(
            *zip(*ends, strict=True),
            linestyle="none",
            marker="v",
            color="black",
            markersize=0.5 * style.text,
            label="no errors",
        )


def _legend(figure: Figure, axes: Axes, style: FigureStyle, across: int) -> Legend:
    """Names below the frame, where they cover neither a curve nor each other."""
    legend = figure.legend(
        *axes.get_legend_handles_labels(),
        loc="outside lower center",
        ncols=across,
        fontsize=0.9 * style.text,
        handlelength=2.2,
        columnspacing=1.2,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)  # names are the user's: a $ in them is a $
    return legend


def _fit_legend(figure: Figure, legend: Legend) -> None:
    """Shrink the names of a legend that is wider than the figure; its samples keep their size."""
    figure.draw_without_rendering()
    for _ in range(20):
        if legend.get_window_extent().width <= 0.98 * figure.bbox.width:
            break
        for text in legend.get_texts():
            text.set_fontsize(0.93 * float(text.get_fontsize()))


def _fit_names(figure: Figure, axes: Axes, title: Text, along: Text) -> None:
    """Break names wider than the figure, and make it as high as the lines and the upright one need.

    Constrained layout keeps room beside a name, but not at its two ends.
    """
    for _ in range(2):  # the frame of a figure that was not high enough was elsewhere
        figure.draw_without_rendering()
        frame, page = axes.get_window_extent(), figure.bbox
        lines = _broken(title, page.x1 - frame.x0)
        middle = (frame.x0 + frame.x1) / 2
        lines += _broken(along, 2 * min(middle, page.x1 - middle))
        figure.set_figheight(
            figure.get_figheight() + lines * 1.2 * float(title.get_fontsize()) / 72
        )
    figure.draw_without_rendering()
    upright = axes.yaxis.label.get_window_extent()
    outside = max(upright.y1 - figure.bbox.y1, figure.bbox.y0 - upright.y0) / figure.dpi
    if outside > -_MARGIN:  # the middle of the frame rises by half of what the figure gains
        figure.set_figheight(figure.get_figheight() + 2 * (outside + _MARGIN))


def _broken(name: Text, room: float) -> int:
    """Break a name into lines that fit into so many dots; return the number of added ones."""
    before = name.get_text().count("\n")
    lines: list[str] = []
    for word in re.split(r"(?<!=)\s(?!=)", name.get_text()):  # an equation stays in one piece
        longer = f"{lines[-1]} {word}" if lines else word
        name.set_text(longer)
        if lines and name.get_window_extent().width <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    name.set_text("\n".join(lines))
    width = name.get_window_extent().width
    if width > room:  # one word is wider
        name.set_fontsize(float(name.get_fontsize()) * room / width)
    return len(lines) - 1 - before


def _thin_numbers(axis: Axis, at: int, apart: float) -> None:
    """Leave out every second number, or more, until the others are so many dots apart."""
    from matplotlib.ticker import FuncFormatter

    low, high = axis.get_view_interval()
    values = {each.get_position()[at]: each for each in axis.get_majorticklabels()}
    shown = {value: each for value, each in values.items() if low <= value <= high}
    boxes = [label.get_window_extent().padded(apart / 2) for label in shown.values()]
    step = 1
    while any(a.overlaps(b) for a, b in pairwise(boxes[::step])):
        step += 1
    if step == 1:
        return
    kept = {value: shown[value].get_text() for value in list(shown)[::step]}
    axis.set_major_formatter(FuncFormatter(lambda value, _: kept.get(value, "")))


def _limits(curves: Sequence[Curve], group: Group, measure: Measure) -> tuple[float, float]:
    """From below the lowest curve to where the last curve becomes visible."""
    least = min(float(curve.middle.min()) for curve in curves)
    ceiling = most = max(float(curve.middle.max()) for curve in curves)
    if measure.share:
        span = max(most - least, 1e-9)
        return least - 0.05 * span, most + 0.05 * span
    optimum = group.middle("reference_dual")
    if measure.distance and measure.name != "gap" and optimum > 0:
        ceiling = min(most, 10.0 / optimum)
    three = measure.optimum(3.0, group.lam, group.middle("m"))  # three times P(0), in its unit
    if three is not None:
        ceiling = min(most, max(three, 10.0 * least))
    ceiling = lifted(ceiling, curves)
    return least / 1.3, max(ceiling, 2 * least) * 1.1
