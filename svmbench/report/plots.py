"""Convergence plots: the objective or its distance from the optimum, against epochs and seconds."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from svmbench.durable import replacing
from svmbench.records.groups import Group, short
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.statistics import format_value
from svmbench.records.summaries import summary
from svmbench.report.svg import with_titles

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text

    from svmbench.report.style import Look

FloatArray = NDArray[np.float64]
Fate = Literal["reached", "limit", "diverged"]

#: The two horizontal axes: column of traces.csv and what is written below the axis.
_ABSCISSAE = (("epochs", "epochs"), ("wall_seconds", "seconds of training"))

#: The quantiles a band lies between.
BAND = (0.1, 0.9)

#: Above how many times a panel's upper limit a curve is left out of sight: on a logarithmic
#: axis, and on a linear one.
_LIFT, _LIFT_LINEAR = 1e4, 3.0

_GRID = 200
_MARKERS = {"reached": "o", "limit": "o", "diverged": "x"}


@dataclass(frozen=True)
class Trace:
    """One run as a plot needs it.

    Parameters
    ----------
    x, y : ndarray, shape (n,)
        Positive, x ascending.
    state : str
        How the run ended.
    """

    x: FloatArray
    y: FloatArray
    state: str


@dataclass(frozen=True)
class Curve:
    """Median and band of the repeats of one label.

    Parameters
    ----------
    x, middle, low, high : ndarray, shape (n,)
    fate : {'reached', 'limit', 'diverged'}
        What most runs came to.
    """

    x: FloatArray
    middle: FloatArray
    low: FloatArray
    high: FloatArray
    fate: Fate


def write_plots(results: Results) -> list[Path]:
    """Draw the plots the sweep asks for, one figure a data set and kind.

    Returns
    -------
    list of Path
        ``plots/DATASET-KIND.png``, ``.svg`` and ``.pdf``; a stand-in's file says so. In the
        SVG each curve has a title, which is shown when the pointer rests on it.
    """
    if not results.plots:
        return []
    import matplotlib

    from svmbench.report.style import RC

    written: list[Path] = []
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the user's own settings must not change a report
        matplotlib.rcParams.update(RC)
        for (dataset, stand_in), groups in results.groups.items():
            for kind in results.plots:
                figure = draw(results, dataset, stand_in, groups, kind)
                path = results.folder / "plots" / plot_name(dataset, stand_in, kind)
                written += save_figure(figure, path, hover_titles(results, groups, kind))
    return written


def plot_name(dataset: str, stand_in: bool, kind: str) -> str:
    """Name of a plot's file, without its suffix."""
    name = re.sub(r"[^A-Za-z0-9._+=-]+", "-", dataset)
    name += "-stand-in" if stand_in and "stand-in" not in name else ""
    return f"{name}-{kind}"


def save_figure(figure: Figure, path: Path, titles: Mapping[str, str]) -> Iterator[Path]:
    """Write a figure as PNG, SVG with ``titles`` by id, and PDF; ``path`` lacks the suffix."""
    from svmbench.report.style import DPI

    # No date in any of them: the same results give the same files.
    for suffix, metadata in (
        ("png", {"Software": "svmbench"}),
        ("svg", {"Creator": "svmbench", "Date": None}),
        ("pdf", {"Creator": "svmbench", "CreationDate": None}),
    ):
        picture = BytesIO()
        figure.savefig(picture, format=suffix, dpi=DPI, metadata=metadata)
        content = picture.getvalue()
        if suffix == "svg":
            content = with_titles(content.decode(), titles).encode()
        elif suffix == "png":
            content = _with_palette(picture, metadata)
        file_path = path.with_name(f"{path.name}.{suffix}")
        with replacing(file_path, "wb") as file:
            file.write(content)
        yield file_path


def _with_palette(picture: BytesIO, metadata: Mapping[str, str | None]) -> bytes:
    """A PNG with a palette of 256 colours, which takes a third of the bytes."""
    from PIL import Image
    from PIL.PngImagePlugin import PngInfo

    from svmbench.report.style import DPI

    told = PngInfo()
    for key, value in metadata.items():
        told.add_text(key, value or "")
    opaque = Image.open(picture).convert("RGB")
    reduced = BytesIO()
    opaque.quantize(256, dither=Image.Dither.NONE).save(
        reduced, "png", optimize=True, dpi=(DPI, DPI), pnginfo=told
    )
    return reduced.getvalue()


def draw(
    results: Results, dataset: str, stand_in: bool, groups: Sequence[Group], kind: str
) -> Figure:
    """Draw one figure: a column of panels for each λ, epochs above and seconds below.

    More than three λ are continued below.

    Parameters
    ----------
    results : Results
    dataset : str
    stand_in : bool
    groups : sequence of Group
        The data set's.
    kind : {'log-primal', 'log-suboptimality'}
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    from svmbench.report import style

    lambdas = list(dict.fromkeys(group.lam for group in groups))
    across = min(len(lambdas), style.PANELS_ACROSS)
    down = 2 * math.ceil(len(lambdas) / style.PANELS_ACROSS)
    step_x = style.PANEL_WIDTH + style.SPACE_BESIDE
    step_y = style.PANEL_HEIGHT + style.SPACE_BELOW
    width = style.MARGIN_LEFT + style.MARGIN_RIGHT + across * step_x - style.SPACE_BESIDE
    height = style.MARGIN_TOP + style.MARGIN_BOTTOM + down * step_y - style.SPACE_BELOW
    figure = Figure(figsize=(width, height), dpi=style.DPI)
    FigureCanvasAgg(figure)
    look = style.looks(results)
    blocks = [_block(results, [g for g in groups if g.lam == lam], kind) for lam in lambdas]
    common = _limits(blocks, results.thresholds, kind)
    for number, block in enumerate(blocks):
        limits = common if kind == "log-suboptimality" else _limits([block], (), kind)
        column = number % style.PANELS_ACROSS
        for part, (_, caption) in enumerate(_ABSCISSAE):
            row = 2 * (number // style.PANELS_ACROSS) + part
            left = style.MARGIN_LEFT + column * step_x
            bottom = height - style.MARGIN_TOP - (row + 1) * style.PANEL_HEIGHT
            bottom -= row * style.SPACE_BELOW
            size = (style.PANEL_WIDTH / width, style.PANEL_HEIGHT / height)
            axes = figure.add_axes((left / width, bottom / height, *size))
            axes.set_xlabel(caption, labelpad=2)
            axes.set_ylabel(_ordinate(kind) if column == 0 else "")
            axes.set_title(block.title if part == 0 else "", loc="left")
            panel = _panel(number, part)
            _fill(axes, block, part, look, limits, results.thresholds, kind, panel)
    _caption(figure, dataset, stand_in, groups, kind)
    return figure


@dataclass(frozen=True)
class Block:
    """What the panels of one λ show.

    Parameters
    ----------
    title : str
    optimum : float
        D_ref.
    curves : list of dict
        By label, for each of the two horizontal axes.
    missing : list of str
        Labels without a trace.
    """

    title: str
    optimum: float
    curves: list[dict[str, Curve]]
    missing: list[str]


def _block(results: Results, groups: Sequence[Group], kind: str) -> Block:
    curves = [_curves(results, groups, abscissa, kind) for abscissa, _ in _ABSCISSAE]
    return Block(
        title=f"λ = {groups[0].written_lambda}",
        optimum=groups[0].middle("reference_dual"),
        curves=curves,
        missing=[group.label for group in groups if group.label not in curves[0]],
    )


def _ordinate(kind: str) -> str:
    return "P(w)" if kind == "log-primal" else "(P(w) − D_ref) / D_ref"


def _caption(
    figure: Figure, dataset: str, stand_in: bool, groups: Sequence[Group], kind: str
) -> None:
    from svmbench.report.style import MARGIN_LEFT

    width, height = figure.get_size_inches()
    left, top = MARGIN_LEFT / width, 1 - 0.12 / height
    what = "primal objective" if kind == "log-primal" else "relative distance from the optimum"
    warning = "STAND-IN for " if stand_in else ""
    figure.text(
        left,
        top,
        f"{warning}{dataset}",
        fontsize=10.5,
        va="top",
        weight="bold",
        color="#B00000" if stand_in else "black",
    )
    figure.text(left, top - 0.2 / height, what, fontsize=8.5, va="top")
    most = max(len(group.repeats) for group in groups)
    low, high = (f"{100 * q:.0f}" for q in BAND)
    lines = [
        f"Median of up to {most} runs, bands from the {low} to the {high} % quantile."
        if most > 1
        else "Single runs.",
        "Grey: the certified optimum P*."
        if kind == "log-primal"
        else "Grey: the accuracies asked for.",
        "Dot: reached its accuracy; ring: ended by a limit; cross: diverged.",
    ]
    joined = dict.fromkeys(group.label for group in groups if group.separate_runs)
    if joined:
        lines[-1] += " Joined ends of separate runs, one a horizon: " + ", ".join(joined) + "."
    figure.text(
        left,
        0.08 / height,
        "\n".join(lines),
        fontsize=7,
        va="bottom",
        color="#444444",
        linespacing=1.3,
    )


# ---------------------------------------------------------------- titles

#: The artists of a curve, all of which show its title.
_PARTS = ("band", "line", "end", "name")

_FATES = {"reached": "reached its accuracy", "limit": "ended by a limit", "diverged": "diverged"}


def _panel(number: int, part: int) -> str:
    return f"panel-{number}-{part}"


def hover_titles(results: Results, groups: Sequence[Group], kind: str) -> dict[str, str]:
    """What each curve of a figure says of itself, by the ids of its parts in the SVG."""
    titles: dict[str, str] = {}
    for number, lam in enumerate(dict.fromkeys(group.lam for group in groups)):
        members = {group.label: group for group in groups if group.lam == lam}
        for part, (abscissa, _) in enumerate(_ABSCISSAE):
            curves = _curves(results, list(members.values()), abscissa, kind)
            for at, (label, curve) in enumerate(curves.items()):
                title = _title(members[label], curve, abscissa, kind, results.thresholds)
                titles |= {f"{_panel(number, part)}-{at}-{name}": title for name in _PARTS}
    return titles


def _title(
    group: Group, curve: Curve, abscissa: str, kind: str, thresholds: Sequence[float]
) -> str:
    unit = "epochs" if abscissa == "epochs" else "seconds"
    height = "P(w)" if kind == "log-primal" else "accuracy"
    lines = [
        f"{group.label}, λ = {group.written_lambda}",
        f"{height} {rounded(curve.middle[-1])} after {rounded(curve.x[-1])} {unit}: "
        f"{_FATES[curve.fate]}",
    ]
    for threshold in thresholds:
        middle = summary(group, Asked(unit, threshold)).median
        said = f"{rounded(middle)} {unit}" if math.isfinite(middle) else "not reached"
        lines.append(f"ε = {short(threshold)}: {said} (median)")
    return "\n".join(lines)


def rounded(number: float) -> str:
    """A number as a title says it."""
    return format_value(float(number), math.nan, math.nan)


# ---------------------------------------------------------------- curves


def _curves(
    results: Results, groups: Sequence[Group], abscissa: str, kind: str
) -> dict[str, Curve]:
    """The curves of one panel by label; labels without any point are absent."""
    found = {}
    for group in groups:
        curve = median_curve(_traces(results, group, abscissa, kind))
        if curve is not None:
            found[group.label] = curve
    return found


def _traces(results: Results, group: Group, abscissa: str, kind: str) -> list[Trace]:
    points = results.traces[results.traces["id"].isin(set(group.runs["id"]))]
    if group.separate_runs:
        points = _joined(points, group)
    states = dict(zip(group.repeats["repeat"], group.repeats["state"], strict=True))
    column = "primal" if kind == "log-primal" else "accuracy"
    # Below the reference's own gap an accuracy is not known, only bounded.
    floor = 0.0 if kind == "log-primal" else max(group.middle("reference_gap"), 1e-16)
    traces = []
    for repeat, rows in points.groupby("repeat", sort=False):
        ordered = rows.sort_values(abscissa if group.separate_runs else "point", kind="stable")
        x, y = ordered[abscissa].to_numpy(), ordered[column].to_numpy()
        y = np.maximum(y, floor) if floor > 0 else y
        begun = ordered["epochs"].to_numpy() > 0  # the start is the same for all
        drawn = begun & (x > 0) & np.isfinite(y) & (y > 0)  # what a logarithmic axis can show
        if drawn.any():
            traces.append(Trace(x[drawn], y[drawn], states[repeat]))
    return traces


def _joined(points: pd.DataFrame, group: Group) -> pd.DataFrame:
    """The last point of each run that came to its horizon: elsewhere it was not measured."""
    arrived = group.runs.loc[group.runs["state"] == "converged", "id"]
    ordered = points.sort_values("point", kind="stable")
    return ordered[ordered["id"].isin(set(arrived))].groupby("id", sort=False).tail(1)


def median_curve(traces: Sequence[Trace]) -> Curve | None:
    """Median and quantile band of several runs, each read as a step function.

    Between two checkpoints a run has its last value: nothing is shown that was not measured.
    After its end a run that reached its accuracy counts as below, one that diverged as above
    everything, and one that ran into a limit is left out. A curve thus ends where the median
    run has arrived, not where the slow ones are alone; it is drawn only where at least half
    of the runs count.

    Parameters
    ----------
    traces : sequence of Trace

    Returns
    -------
    Curve or None
        None without a run.
    """
    if not traces:
        return None
    x = _common_grid(traces)
    heights = np.stack([_stepped(trace, x) for trace in traces])
    low, middle, high = (_quantile(heights, q) for q in (BAND[0], 0.5, BAND[1]))
    seen = np.isfinite(middle)
    seen &= 2 * (~np.isnan(heights)).sum(axis=0) >= len(traces)
    if not seen.any():
        return None
    least, most = (f(h for h in heights.flat if math.isfinite(h)) for f in (min, max))
    low = np.nan_to_num(low[seen], nan=least, neginf=least, posinf=most)
    high = np.nan_to_num(high[seen], nan=most, neginf=least, posinf=most)
    return Curve(x[seen], np.exp(middle[seen]), np.exp(low), np.exp(high), _fate(traces))


def _common_grid(traces: Sequence[Trace]) -> FloatArray:
    first, last = (f(t.x[0 if f is min else -1] for t in traces) for f in (min, max))
    grid = np.geomspace(first, last, _GRID) if last > first else np.array([first])
    ends = [x for trace in traces for x in (trace.x[0], trace.x[-1])]
    return np.unique(np.clip(np.concatenate([grid, ends]), first, last))


def _stepped(trace: Trace, x: FloatArray) -> FloatArray:
    """Logarithm of a run's last value at each x; nan where it has none."""
    at = np.searchsorted(trace.x, x, side="right") - 1
    heights = np.where(at >= 0, np.log(trace.y)[np.maximum(at, 0)], np.nan)
    after = {"converged": -np.inf, "diverged": np.inf}.get(trace.state, np.nan)
    stepped: FloatArray = np.where(x > trace.x[-1], after, heights)
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
    # Between a run that is there and one that is not, the one that is there is shown.
    a, b = np.where(np.isneginf(a), b, a), np.where(np.isposinf(b), a, b)
    with np.errstate(invalid="ignore"):
        between = a + (position - below) * (b - a)
    quantile: FloatArray = np.where(a == b, a, between)
    return quantile


def _fate(traces: Sequence[Trace]) -> Fate:
    states = [trace.state for trace in traces]
    if 2 * states.count("converged") >= len(states):
        return "reached"
    return "diverged" if 2 * states.count("diverged") >= len(states) else "limit"


# ---------------------------------------------------------------- panels


def _fill(
    axes: Axes,
    block: Block,
    part: int,
    look: dict[str, Look],
    limits: tuple[float, float],
    thresholds: Sequence[float],
    kind: str,
    panel: str,
) -> None:
    """Draw one panel; ``panel`` begins the names of its curves."""
    curves = block.curves[part]
    axes.set_xscale("log")
    axes.set_yscale("log")
    if not curves:
        axes.text(0.5, 0.5, "no run has a trace", transform=axes.transAxes, ha="center")
        return
    axes.set_ylim(*limits)
    limit_abscissa(axes, list(curves.values()))
    set_ticks(axes)
    texts = _rules(axes, block.optimum, thresholds, kind)
    if block.missing and part == 0:
        texts.append(remark(axes, "no trace: " + ", ".join(block.missing)))
    for number, (label, curve) in enumerate(curves.items()):
        draw_curve(axes, curve, look[label], f"{panel}-{number}")
    names = label_curves(axes, curves, look, texts)
    for number, name in enumerate(names):
        name.set_gid(f"{panel}-{number}-name")


def remark(axes: Axes, text: str) -> Text:
    """Write a line above a panel's right end."""
    return axes.text(
        1.0,
        1.0,
        text,
        transform=axes.transAxes,
        ha="right",
        va="bottom",
        fontsize=7,
        color="#666666",
    )


def _limits(blocks: Sequence[Block], thresholds: Sequence[float], kind: str) -> tuple[float, float]:
    """Vertical limits: early overshoots leave at the top, labels get room at the bottom."""
    curves = [curve for block in blocks for part in block.curves for curve in part.values()]
    if not curves:
        return 0.1, 1.0
    optima = [block.optimum for block in blocks if block.optimum > 0]
    least = min(float(curve.middle.min()) for curve in curves)
    most = max(float(curve.middle.max()) for curve in curves)
    if kind == "log-primal":
        floor = min([least, *optima])
        ceiling = min(most, max(3.0, 10.0 * floor))
    else:
        floor = min([least, *thresholds])
        # At w = 0 the objective is about 1, so that the accuracy is about 1/P*.
        ceiling = min(most, 10.0 * max([1.0, *(1.0 / optimum for optimum in optima)]))
    ceiling = lifted(ceiling, curves)
    span = math.log(max(ceiling / floor, 1.05))
    return floor * math.exp(-0.25 * span), floor * math.exp(1.06 * span)


def lifted(ceiling: float, curves: Sequence[Curve], log: bool = True) -> float:
    """A panel's upper limit, raised until the lowest stretch of every curve is below it.

    Those that diverged may leave at the top, and so may what stays more than `_LIFT` times
    above: it would press all others flat.

    Parameters
    ----------
    ceiling : float
    curves : sequence of Curve
    log : bool
        Whether the axis is logarithmic.
    """
    most, stretch = (_LIFT, 2.0) if log else (_LIFT_LINEAR, 1.1)
    wanted = [ceiling]
    for curve in curves:
        least, start = float(curve.middle.min()), float(curve.middle.max())
        if curve.fate != "diverged" and least <= most * ceiling:
            wanted.append(min(start, stretch * least))
    return max(wanted)


def limit_abscissa(axes: Axes, curves: Sequence[Curve]) -> None:
    """From where the first curve comes into view to where the last one ends."""
    _, top = axes.get_ylim()
    views = [curve.x[curve.middle <= top] for curve in curves]
    first = min((float(x[0]) for x in views if x.size), default=float(curves[0].x[0]))
    last = max(float(curve.x[-1]) for curve in curves)
    if last <= first:
        first, last = last / 2, last * 2
    axes.set_xlim(first, last * (last / first) ** 0.03)


def _rules(axes: Axes, optimum: float, thresholds: Sequence[float], kind: str) -> list[Text]:
    """Draw the grey lines; returns what is written on them."""
    for level in [optimum] if kind == "log-primal" else thresholds:
        if level > 0:
            axes.axhline(level, color="#999999", linewidth=0.6, zorder=1)
    if kind != "log-primal" or optimum <= 0:
        return []
    name = axes.annotate(
        f"P* = {optimum:.4g}",
        (0.01, optimum),
        xycoords=("axes fraction", "data"),
        xytext=(0, -2),
        textcoords="offset points",
        va="top",
        fontsize=7,
        color="#666666",
    )
    return [name]


def draw_curve(axes: Axes, curve: Curve, look: Look, name: str) -> None:
    """Draw a curve with its band and its end; ``name`` begins the ids of its parts."""
    if (curve.high > curve.low).any():
        axes.fill_between(
            curve.x,
            curve.low,
            curve.high,
            color=look.colour,
            alpha=0.16,
            linewidth=0,
            zorder=2,
            gid=f"{name}-band",
        )
    axes.plot(
        curve.x,
        curve.middle,
        color=look.colour,
        linestyle=look.dash,
        zorder=3,
        gid=f"{name}-line",
    )
    x, y = _tip(axes, curve)
    axes.plot(
        [x],
        [y],
        marker=_MARKERS[curve.fate],
        markersize=4,
        markeredgewidth=1.0,
        color=look.colour,
        markerfacecolor="white" if curve.fate == "limit" else look.colour,
        clip_on=False,
        zorder=4,
        gid=f"{name}-end",
    )


def _tip(axes: Axes, curve: Curve) -> tuple[float, float]:
    """Where a curve ends, or leaves the panel; where it is never seen, above its end."""
    bottom, top = axes.get_ylim()
    if curve.middle[-1] > top:
        inside = np.flatnonzero(curve.middle <= top)
        at = int(inside[-1]) + 1 if inside.size else -1
        return float(curve.x[at]), top
    return float(curve.x[-1]), max(float(curve.middle[-1]), bottom)


def label_curves(
    axes: Axes, curves: dict[str, Curve], look: dict[str, Look], texts: Sequence[Text]
) -> list[Text]:
    """Write the curves' names beside their ends; ``texts`` are kept clear."""
    from svmbench.report.labels import End, label_ends

    ends = [End(*_tip(axes, curve), label, look[label].ink) for label, curve in curves.items()]
    drawn = [np.column_stack([curve.x, curve.middle]) for curve in curves.values()]
    return label_ends(axes, ends, drawn, texts)


def set_ticks(axes: Axes) -> None:
    """Plain numbers on an axis of less than two decades, powers of ten on longer ones."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter, NullLocator

    for axis, (low, high) in ((axes.xaxis, axes.get_xlim()), (axes.yaxis, axes.get_ylim())):
        plain = FuncFormatter(lambda value, _: short(value))
        axis.set_major_formatter(plain)
        axis.set_minor_formatter(NullFormatter())
        if high < 4 * low:
            axis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
            axis.set_minor_locator(NullLocator())
        elif high < 100 * low:
            axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
            axis.set_minor_locator(NullLocator())
        else:
            axis.set_major_locator(LogLocator(numticks=7))
