"""The pictures of a benchmark: all peers, and ratios to LIBLINEAR."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svmbench.bench.champion import champion
from svmbench.bench.found import Found
from svmbench.bench.tables.fastest import FastestEntry, fastest_entries
from svmbench.bench.versus import Versus, by_problem, comparisons, most_pairs
from svmbench.records.groups import heading
from svmbench.records.spelling import place_words, short
from svmbench.report.sheet import SAMPLE, Sheet, log_ticks, room_of, save_figure, uniform_style
from svmbench.solvers.registry import find_solver

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from svmbench.report.style import Look

#: Inches: a line of a plot, and its width with the names beside it.
_LINE, _WIDTH = 0.24, 7.9

#: Marks of the series, from the first on.
_MARKS = ("o", "s", "^", "D", "v", "P", "X")

#: Of a line of the ratios: its set, whether that is a stand-in and kept out of tuning, and its λ.
_PlottedProblem = tuple[str, bool, bool, float]


@dataclass(frozen=True)
class _Dot:
    """A value on a line of a plot, with its interval; open if it is only a lower bound."""

    line: float
    value: float
    low: float
    high: float
    open: bool = False


def write_plots(
    found: Found,
    rivals: Sequence[str],
    threshold: float,
    looks: Mapping[str, Look],
    folder: Path,
) -> Iterator[tuple[Path, str]]:
    """Draw ``peers.png`` and ``ratios.png``, each with a caption."""
    every = map(most_pairs, by_problem(comparisons(found, rivals)))
    compared = [one for one in every if 0.0 < one.estimate < math.inf]
    with uniform_style():
        if raced := _raced(fastest_entries(found)):
            caption = (
                f"Seconds of every peer over the champion’s, to ε = {short(raced[0].accuracy)}"
            )
            for path in save_figure(_peers(raced, looks), folder / "peers"):
                yield path, caption
        if compared:
            caption = "Seconds of LIBLINEAR over the champion’s; right of 1 the champion is faster"
            for path in save_figure(_ratios(compared, threshold), folder / "ratios"):
                yield path, caption


def _raced(everything: Sequence[FastestEntry]) -> list[FastestEntry]:
    """All solvers at the accuracy with the most problems that the champion and a peer reached."""
    reached = [one for one in everything if math.isfinite(one.seconds.median)]
    ours = {one.problem for one in reached if one.solver == champion()}
    met = {one.problem for one in reached if find_solver(one.solver).foreign} & ours
    if not met:
        return []
    counts = Counter(accuracy for _, _, accuracy in met)
    # As many problems at several accuracies: the tightest of these.
    accuracy = max(counts, key=lambda each: (counts[each], -each))
    return [
        one
        for one in reached
        if one.accuracy == accuracy
        and one.problem in met
        and (one.solver == champion() or find_solver(one.solver).foreign)
    ]


def _peers(raced: Sequence[FastestEntry], looks: Mapping[str, Look]) -> Figure:
    """A line for each set and λ, a mark for each peer that reached the accuracy there."""
    lines = [one.problem for one in raced if one.solver == champion()]
    shown = {one.problem: one for one in raced}
    peers = list(dict.fromkeys(one.solver for one in raced if one.solver != champion()))
    sheet, axes = _sheet(
        [
            f"{heading(one.set, one.stand_in)}{'*' * one.held_out}, "
            f"{place_words(one.written_lambda)}"
            for one in shown.values()
        ],
        peers,
        f"All peers against {champion()}, to ε = {short(raced[0].accuracy)}",
        "median seconds of a peer over those of the champion",
        "* kept out of tuning" if any(one.held_out for one in raced) else "",
    )
    axes.axvline(1.0, color="#888888", linewidth=0.8)
    ratios = []
    for number, name in enumerate(peers):
        dots = [
            _Dot(lines.index(one.problem), value, value, value)
            for one in raced
            if one.solver == name and 0.0 < one.ratio < math.inf
            for value in [one.ratio]
        ]
        ratios += [dot.value for dot in dots]
        _draw(axes, dots, name, number, {"color": looks[name].colour})
    axes.set_xlim(min(0.5, min(ratios) / 1.5), max(20.0, max(ratios) * 1.5))
    return _finished(sheet, axes)


def _ratios(compared: Sequence[Versus], threshold: float) -> Figure:
    """A line for each set and λ, a mark for each accuracy."""
    problems = _by_set(map(_problem, compared))
    accuracies = sorted({one.accuracy for one in compared if one.accuracy}, reverse=True)
    notes = {
        "* kept out of tuning": any(one.held_out for one in compared),
        "open mark: a lower bound; LIBLINEAR did not reach the accuracy in every repeat": any(
            one.censored for one in compared
        ),
    }
    sheet, axes = _sheet(
        [
            f"{heading(name, stand_in)}{'*' if held_out else ''}, λ = {short(lam, plain_from=0.1)}"
            for name, stand_in, held_out, lam in problems
        ],
        [f"ε = {short(accuracy)}" for accuracy in accuracies],
        f"LIBLINEAR against {champion()}",
        "seconds of the fastest run of LIBLINEAR over those of the champion",
        "\n".join(note for note, holds in notes.items() if holds),
    )
    axes.axvline(1.0, color="#888888", linewidth=0.8)
    for number, accuracy in enumerate(accuracies):
        # Marks of one line are slightly apart, so that none hides another.
        apart = (number - (len(accuracies) - 1) / 2) * 0.7 / len(accuracies)
        dots = [
            _Dot(
                problems.index(_problem(one)) + apart,
                one.estimate,
                *one.interval(threshold),
                one.censored,
            )
            for one in compared
            if one.accuracy == accuracy
        ]
        colour = str(0.75 - 0.75 * number / max(1, len(accuracies) - 1))
        _draw(axes, dots, f"ε = {short(accuracy)}", number, {"color": colour})
    estimates = [one.estimate for one in compared]
    axes.set_xlim(min(0.5, min(estimates) / 1.5), max(20.0, max(estimates) * 1.5))
    return _finished(sheet, axes)


def _problem(one: Versus) -> _PlottedProblem:
    return one.set, one.stand_in, one.held_out, one.lam


def _by_set(problems: Iterable[_PlottedProblem]) -> list[_PlottedProblem]:
    """Each problem once, those of a set together, whichever sweeps they are from."""
    distinct = list(dict.fromkeys(problems))
    sets = [name for name, *_ in distinct]
    return sorted(distinct, key=lambda each: (sets.index(each[0]), -each[-1]))


def _sheet(
    names: Sequence[str], series: Sequence[str], title: str, below: str, remarks: str = ""
) -> tuple[Sheet, Axes]:
    """A sheet of one panel with a line for each name, and a logarithmic axis below."""
    sheet = Sheet(
        1,
        title,
        remarks=remarks,
        panel=(_WIDTH, max(2, len(names)) * _LINE),
        left=0.15 + max(map(room_of, names)),
        beside=SAMPLE + max(map(room_of, series)),
    )
    (axes,) = sheet.axes
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), names)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(below)
    axes.set_xscale("log")
    return sheet, axes


def _draw(
    axes: Axes, dots: Sequence[_Dot], label: str, number: int, style: Mapping[str, Any]
) -> None:
    """Draw the dots of one series, and those of their intervals that are bounded."""
    for dot in dots:
        if 0.0 < dot.low < dot.high < math.inf:
            axes.plot((dot.low, dot.high), (dot.line,) * 2, linewidth=0.8, zorder=2, **style)
    for is_open in (False, True):
        places = [(dot.value, dot.line) for dot in dots if dot.open == is_open]
        axes.plot(
            *zip(*places, strict=True) if places else ([], []),
            linestyle="none",
            marker=_MARKS[number % len(_MARKS)],
            markersize=4.2,
            label=None if is_open else label,
            zorder=3,
            **{**style, **({"markerfacecolor": "white"} if is_open else {})},
        )


def _finished(sheet: Sheet, axes: Axes) -> Figure:
    log_ticks(axes.xaxis, plain_below=1000.0)
    sheet.add_legend(*axes.get_legend_handles_labels())
    return sheet.figure
