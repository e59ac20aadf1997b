"""The pictures of a benchmark: ratios to LIBLINEAR, epochs with their bounds, profiles."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmbench.bench import found as findings
from svmbench.bench.champion import champion
from svmbench.bench.found import Found, Versus
from svmbench.records.groups import heading, short
from svmbench.records.statistics import median, median_interval
from svmbench.report.sheet import Sheet, save_figure, uniform_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svmbench.report.style import Look

#: Inches: a line of a plot, and its width with the names beside it.
_LINE, _WIDTH = 0.24, 7.9

#: Marks of the accuracies, from the loosest on.
_MARKS = ("o", "s", "^", "D", "v", "P", "X")


def write_plots(
    found: Found, than: Sequence[str], looks: Mapping[str, Look], folder: Path
) -> Iterator[tuple[Path, str]]:
    """Draw ``ratios.*`` and ``epochs.*``; each file with the caption of its picture."""
    compared = [one for one in findings.versus(found, than) if _shown(one)]
    with uniform_style():
        if compared:
            caption = "Seconds of LIBLINEAR over the champion’s; right of 1 the champion is faster"
            for path in save_figure(_ratios(compared), folder / "ratios", {}):
                yield path, caption
        if found.epochs:
            caption = "Nanoseconds a stored nonzero of an epoch, with the bounds of this machine"
            for path in save_figure(_epochs(found, looks), folder / "epochs", {}):
                yield path, caption


def _shown(one: Versus) -> bool:
    return math.isfinite(one.ratio.estimate) and one.ratio.estimate > 0


def _sheet(lines: int, title: str, below: str, remarks: str = "") -> tuple[Sheet, Axes]:
    """A sheet of one panel with a line for each thing measured."""
    sheet = Sheet(1, title, remarks=remarks, panel=(_WIDTH, max(2, lines) * _LINE))
    (axes,) = sheet.axes
    axes.set_ylim(lines - 0.4, -0.6)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(below)
    return sheet, axes


def _ratios(compared: Sequence[Versus]) -> Figure:
    problems = list(
        dict.fromkeys((one.set, one.stand_in, one.held_out, one.lam) for one in compared)
    )
    thresholds = sorted({one.threshold for one in compared}, reverse=True)
    notes = {
        "* kept out of tuning": any(one.held_out for one in compared),
        "open mark: at least so much; LIBLINEAR did not arrive": any(o.at_least for o in compared),
    }
    sheet, axes = _sheet(
        len(problems),
        f"LIBLINEAR beside {champion()}",
        "seconds of the fastest run of LIBLINEAR over those of the champion",
        "\n".join(note for note, holds in notes.items() if holds),
    )
    axes.set_xscale("log")
    axes.axvline(1.0, color="#888888", linewidth=0.8)
    for number, threshold in enumerate(thresholds):
        members = [one for one in compared if one.threshold == threshold]
        lines = [problems.index(_problem(one)) for one in members]
        # Marks of one line stand a little apart, so that none hides another.
        apart = (number - (len(thresholds) - 1) / 2) * 0.7 / max(1, len(thresholds))
        colour = str(0.75 - 0.75 * number / max(1, len(thresholds) - 1))
        for one, line in zip(members, lines, strict=True):
            reach = one.ratio.low, one.ratio.high
            if one.ratio.pairs > 1 and all(math.isfinite(end) and end > 0 for end in reach):
                axes.plot(reach, (line + apart,) * 2, color=colour, linewidth=0.7, zorder=2)
        for at_least in (False, True):
            places = [
                (one.ratio.estimate, line + apart)
                for one, line in zip(members, lines, strict=True)
                if one.at_least == at_least
            ]
            axes.plot(
                *zip(*places, strict=True) if places else ([], []),
                linestyle="none",
                marker=_MARKS[number % len(_MARKS)],
                markersize=4,
                color=colour,
                markerfacecolor="white" if at_least else colour,
                label=None if at_least else f"ε = {short(threshold)}",
                zorder=3,
            )
    names = [
        f"{heading(name, stand_in)}{'*' if held_out else ''}, λ = {short(lam)}"
        for name, stand_in, held_out, lam in problems
    ]
    axes.set_yticks(range(len(problems)), names)
    low = min(one.ratio.estimate for one in compared)
    high = max(one.ratio.estimate for one in compared)
    axes.set_xlim(min(0.5, low / 1.5), max(20.0, high * 1.5))
    _plain_ticks(axes)
    sheet.figure.legend(loc="outside right upper", frameon=False, fontsize=7.5)
    return sheet.finish()


def _problem(one: Versus) -> tuple[str, bool, bool, float]:
    return one.set, one.stand_in, one.held_out, one.lam


def _epochs(found: Found, looks: Mapping[str, Look]) -> Figure:
    names = list(found.epochs)
    sheet, axes = _sheet(len(names), "One epoch", "ns per stored nonzero")
    axes.set_xscale("log")
    labels = dict.fromkeys(e["label"] for each in found.epochs.values() for e in each["epochs"])
    for number, label in enumerate(labels):
        values: list[tuple[float, int]] = []
        style: dict[str, Any] = {"color": looks[label].colour} if label in looks else {}
        for line, name in enumerate(names):
            samples = list(findings.nanoseconds(found.epochs[name], label).values())
            if samples:
                values.append((median(samples), line))
                low, high, _ = median_interval(samples)
                axes.plot((low, high), (line, line), linewidth=0.8, zorder=2, **style)
        axes.plot(
            *zip(*values, strict=True) if values else ([], []),
            linestyle="none",
            marker=_MARKS[number % len(_MARKS)],
            markersize=4.5,
            label=label,
            zorder=3,
            **style,
        )
    bounds = [findings.bound(found.physics, found.epochs[name]) for name in names]
    drawn = [(b.least, line) for line, b in enumerate(bounds) if b is not None]
    if drawn:
        axes.plot(
            *zip(*drawn, strict=True),
            linestyle="none",
            marker="|",
            markersize=13,
            color="#000000",
            label="bound",
            zorder=4,
        )
    axes.set_yticks(
        range(len(names)), [heading(name, found.epochs[name]["stand_in"]) for name in names]
    )
    _plain_ticks(axes)
    sheet.figure.legend(loc="outside right upper", frameon=False, fontsize=7.5)
    return sheet.finish()


def _plain_ticks(axes: Axes) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value, 4)))
    axes.xaxis.set_minor_formatter(NullFormatter())
