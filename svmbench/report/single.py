"""A figure of curves, a panel for each problem, in the size that a paper or a talk needs."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmbench.durable import replacing, resolved
from svmbench.errors import ConfigError, nearest
from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.groups import Group, heading
from svmbench.records.measures import ALONG, MEASURES, Measure
from svmbench.records.read import Results
from svmbench.records.spelling import meant, place_words, short, written_apart
from svmbench.report.curves import (
    Curve,
    CurveTable,
    cut_floor,
    lifted,
    no_errors,
)
from svmbench.report.sheet import (
    FORMATS,
    draw_curve,
    limit_abscissa,
    picture,
    set_ticks,
    uniform_style,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    from svmbench.report.style import Look

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

#: Width of a character, in ems, at most.
_CHARACTER = 0.62

#: Least width of a figure, in units of its text's size, and of a panel beside others.
_LEAST_EMS, _PANEL_EMS = 12.0, 20.0

_UNITS = {"in": 1.0, "cm": 1 / 2.54, "mm": 1 / 25.4, "pt": 1 / 72}


@dataclass(frozen=True)
class FigureStyle:
    width: float  # inches of a figure with one panel, unless another width is asked for
    wide: float  # inches of one with several
    aspect: float  # height of the frame over the figure's width
    text: float  # points; fewer if the figure is narrower than `_LEAST_EMS`
    line: float  # points

    def within(self, width: float) -> FigureStyle:
        """The style of a figure so many inches wide, whose text leaves room for the frame."""
        return replace(self, width=width, text=min(self.text, 72 * width / _LEAST_EMS))


STYLES = {
    "paper": FigureStyle(3.3, 7.0, 0.7, 8.0, 1.1),
    "slides": FigureStyle(9.0, 13.0, 0.5, 18.0, 3.0),
    "page": FigureStyle(6.5, 9.0, 0.7, 9.2, 1.2),
}


@dataclass(frozen=True)
class FigureRequest:
    x: str = "seconds"
    y: str = "suboptimality"  # a key of `ORDINATES`
    solvers: Sequence[str] = ()  # names of solvers or labels; all unless given
    datasets: Sequence[str] = ()  # all unless given
    lam: float | None = None  # λ; all unless given
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
        # A link stays one, as for what the commands write.
        with replacing(resolved(path) if path.is_symlink() else path, "wb") as file:
            file.write(content)
        return path

    def _repr_svg_(self) -> str:
        with uniform_style():
            return picture(self.figure, "svg", dpi=_DPI).decode()


def format_of(path: Path) -> str:
    """The format that a file's suffix names."""
    suffix = path.suffix.removeprefix(".").lower()
    if suffix not in FORMATS:
        raise ConfigError(f"{path}: ends in none of .{', .'.join(FORMATS)}; choose one of them")
    return suffix


def single_figure(
    results: Results, asked: FigureRequest, table: CurveTable | None = None
) -> SingleFigure:
    """Draw the medians of the repeats with their bands, one curve per label."""
    known(asked.x, ABSCISSAE, "x")
    known(asked.y, ORDINATES, "y")
    known(asked.style, STYLES, "style")
    measure, table = ordinate(results, asked.y), table or CurveTable(results)
    problems = chosen(results, asked)
    drawn = [(groups, table.of(groups, asked.x, measure)) for groups in problems]
    panels = [(groups, curves) for groups, curves in drawn if curves]
    if not panels:
        raise ConfigError(f"{results.folder}: {_no_curve(problems, asked)}")
    style = STYLES[asked.style]
    style = style.within(style.wide if len(panels) > 1 else style.width)
    if asked.width is not None:
        style = style.within(inches(asked.width))
    with uniform_style():
        return SingleFigure(_drawn(results, panels, measure, asked, style))


def _no_curve(problems: Sequence[Sequence[Group]], asked: FigureRequest) -> str:
    groups = [group for members in problems for group in members]
    names = ", ".join(dict.fromkeys(group.label for group in groups))
    if all((group.runs["epochs"] == 0).all() for group in groups):
        return (
            f"solved before the first step, at w = 0, by all of {names}: there is no curve; choose "
            "another λ or data set"
        )
    return (
        f"no run of {names} has a trace with {asked.y} along {asked.x}; choose other solvers, or "
        "another --x or --y"
    )


def known(name: str, names: Any, what: str) -> None:
    """Refuse a name that is not among the known ones."""
    if name not in names:
        raise ConfigError(f"unknown {what} {name!r}; known: {', '.join(names)}")


def inches(width: str | float) -> float:
    """A width as a number of inches."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*(in|cm|mm|pt)?\s*", str(width))
    size = float(match[1]) * _UNITS[match[2] or "in"] if match else 0.0
    if not 1.0 <= size <= 40.0:
        raise ConfigError(f"width {width!r} is not between 1in and 40in; write it as 3.3in or 84mm")
    return size


def chosen(results: Results, asked: FigureRequest) -> list[list[Group]]:
    """The rows that a figure shows, those of each data set and λ together."""
    groups = [group for members in results.groups.values() for group in members]
    there = list(dict.fromkeys(group.dataset for group in groups))
    for name in asked.datasets:
        if name not in there:
            raise ConfigError(
                f"{results.folder}: data set {name!r} has no runs; {nearest(name, there)}"
            )
    groups = [group for group in groups if group.dataset in (asked.datasets or there)]
    kept = _lambdas(results, groups, asked.lam)
    groups = [group for group in groups if group.lam in kept]
    labels = list(dict.fromkeys(name for g in groups for name in (g.label, g.solver)))
    for name in asked.solvers:
        if name not in labels:
            raise ConfigError(
                f"{results.folder}: no solver {name!r}; there are {', '.join(labels)}"
            )
    found: dict[tuple[str, bool, float], list[Group]] = {}
    for group in groups:
        if not asked.solvers or {group.label, group.solver} & set(asked.solvers):
            found.setdefault((group.dataset, group.stand_in, group.lam), []).append(group)
    return list(found.values())


def _lambdas(results: Results, groups: Sequence[Group], wanted: float | None) -> list[float]:
    """The λ of some rows that are meant; all unless one is named."""
    lambdas = {group.lam: group.written_lambda for group in groups}
    if wanted is None or wanted in lambdas:
        return list(lambdas) if wanted is None else [wanted]
    alike = {short(lam) for lam in meant(short(wanted), lambdas)}
    if not alike:
        there = ", ".join(lambdas.values())
        raise ConfigError(f"{results.folder}: no λ = {short(wanted)}; there are {there}")
    return [lam for lam in lambdas if short(lam) in alike]


def ordinate(results: Results, y: str) -> Measure:
    if y == "suboptimality" and results.distance == "absolute":
        return MEASURES["suboptimality"]
    return MEASURES[ORDINATES[y]]


_Panel = tuple[Sequence[Group], Mapping[str, Curve]]


def _drawn(
    results: Results,
    panels: Sequence[_Panel],
    measure: Measure,
    asked: FigureRequest,
    style: FigureStyle,
) -> Figure:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from svmbench.report.style import looks, looks_of

    labels = list(dict.fromkeys(label for _, curves in panels for label in curves))
    columns = max(1, min(len(panels), 3, int(style.width * 72 / (_PANEL_EMS * style.text))))
    rows = -(-len(panels) // columns)
    of_page = asked.style == "page"  # with the colours and the grey lines that the page has
    look = looks(results) if of_page else looks_of(labels)
    lambdas = {groups[0].lam: groups[0].written_lambda for groups, _ in panels}
    if len(set(lambdas.values())) < len(lambdas):
        lambdas = written_apart(lambdas)
    # The frame is narrower than its panel, by the numbers beside it.
    room = 72 * style.width / columns - 6 * style.text
    # Title, numbers and labels take as much of a narrow panel as of a wide one.
    aspect = style.aspect if columns == 1 else max(style.aspect, 1.0)
    tall = max(aspect * style.width / columns, 9 * style.text / 72)  # at least nine lines of text
    place_of = [
        f"{heading(first.dataset, first.stand_in)}, {place_words(lambdas[first.lam])}"
        for (first, *_), _ in panels
    ]
    above = [_wrapped(name, room, style) for name in place_of]
    below = _wrapped(ABSCISSAE[asked.x].words, room, style)
    lines = below.count("\n") + max(name.count("\n") for name in above)
    # A line of the legend: the sample, the spaces about it and a character of the names, in ems.
    wide = (4.5 + _CHARACTER * max(map(len, labels))) * 0.9 * style.text
    across = max(1, min(len(labels), int(72 * style.width / wide)))
    height = rows * (tall + 1.2 * style.text / 72 * lines)
    height += 1.6 * style.text / 72 * -(-len(labels) // across)
    figure = Figure(figsize=(style.width, height), layout="constrained")
    FigureCanvasAgg(figure)
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    grid = grid[: len(panels)]
    for at, (axes, (groups, curves)) in enumerate(zip(grid, panels, strict=True)):
        levels = _levels(groups[0], measure, results.accuracies) if of_page else ()
        _fill(axes, groups[0], curves, look, measure, style, levels)
        axes.set_title(above[at], loc="left", fontsize=style.text, parse_math=False,
                       color="#B00000" if groups[0].stand_in else "black")  # fmt: skip
        if at + columns >= len(panels):
            axes.set_xlabel(below, fontsize=style.text)
        if at % columns == 0:
            axes.set_ylabel(_wrapped(measure.heading, 72 * tall, style), fontsize=style.text)
    _legend(figure, grid, 0.9 * style.text * min(1.0, 72 * style.width / wide), across)
    figure.draw_without_rendering()
    if of_page:
        figure.set_layout_engine("none")  # to lay it out again takes as long as to draw it
    for axes in grid:
        for at, axis in enumerate((axes.xaxis, axes.yaxis)):
            _thin_numbers(axis, at, 0.3 * style.text / 72 * figure.dpi)
    return figure


def _fill(
    axes: Axes,
    first: Group,
    curves: Mapping[str, Curve],
    look: Mapping[str, Look],
    measure: Measure,
    style: FigureStyle,
    levels: Sequence[float],
) -> None:
    axes.set_xscale("log")
    axes.set_yscale("linear" if measure.share else "log")
    bottom, top = _limits(list(curves.values()), first, measure)
    bottom = min([bottom, *(level / 1.3 for level in levels if level > 0)])
    bottom = cut_floor(bottom, levels) if measure.distance else bottom
    axes.set_ylim(bottom, top if measure.share else max(top, 2 * bottom))
    for level in levels:
        axes.axhline(level, color="#999999", linewidth=0.6, zorder=1)
    limit_abscissa(axes, list(curves.values()))
    for label, curve in curves.items():
        draw_curve(axes, curve, look[label], label, 0.4 * style.text, style.line)
    _mark_ends(axes, curves, no_errors(first, measure), style)
    set_ticks(axes)
    axes.tick_params(labelsize=0.9 * style.text)


def _levels(first: Group, measure: Measure, accuracies: Sequence[float]) -> Sequence[float]:
    """Where grey lines are: at the optimum of an objective, else at the accuracies asked for."""
    best = measure.optimum(first.middle("reference_dual"), first.lam, first.middle("m"))
    if best is not None:
        return [best]
    return accuracies if measure.name in ("accuracy", "suboptimality") else ()


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
            zorder=5,  # above the curves' own ends
            label="no errors",
        )


def _legend(figure: Figure, grid: Sequence[Axes], size: float, across: int) -> None:
    """Names below the frames, where they cover neither a curve nor each other."""
    named = [zip(*axes.get_legend_handles_labels(), strict=True) for axes in grid]
    samples = {label: handle for panel in named for handle, label in panel}
    legend = figure.legend(
        samples.values(),
        samples.keys(),
        loc="outside lower center",
        ncols=across,
        fontsize=size,
        handlelength=2.2,
        columnspacing=1.2,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)  # names are the user's: a $ in them is a $


def _wrapped(name: str, room: float, style: FigureStyle) -> str:
    """A name in lines that fit into so many points; an equation stays in one piece."""
    whole = name.replace(" = ", "\0=\0")
    lines = textwrap.wrap(whole, max(6, int(room / (_CHARACTER * style.text))))
    return "\n".join(lines).replace("\0", " ")


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
