"""The picture of a benchmark: all peers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from svmbench.bench.champion import champion
from svmbench.bench.found import Found
from svmbench.bench.tables.grid import Record, epsilon_text, starred
from svmbench.bench.tables.seconds import fastest_entries, problem_of
from svmbench.records.spelling import place_words
from svmbench.report.sheet import log_ticks, save_figure, uniform_style
from svmbench.report.style import DPI, Look
from svmbench.solvers.registry import find_solver

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Inches: a line of the picture, what is above and below them, and its width.
_LINE, _ROOM, _WIDTH = 0.24, 0.9, 10.5

#: Marks of the series, from the first on.
_MARKS = ("o", "s", "^", "D", "v", "P", "X")


def write_plots(
    found: Found, looks: Mapping[str, Look], folder: Path
) -> Iterator[tuple[Path, str]]:
    """Draw ``peers.png``, with a caption."""
    with uniform_style():
        if raced := _raced(fastest_entries(found)):
            caption = f"Seconds of every peer over the champion’s, to {_to(raced)}"
            yield save_figure(_peers(raced, looks), folder / "peers"), caption


def _to(raced: Sequence[Record]) -> str:
    return epsilon_text(raced[0]["accuracy"])


def _raced(everything: Sequence[Record]) -> list[Record]:
    """All solvers at the accuracy with the most problems that the champion and a peer reached."""
    reached = [one for one in everything if math.isfinite(one["median_seconds"])]
    ours = {problem_of(one) for one in reached if one["solver"] == champion()}
    met = {problem_of(one) for one in reached if find_solver(one["solver"]).foreign} & ours
    if not met:
        return []
    counts = Counter(accuracy for _, _, accuracy in met)
    # As many problems at several accuracies: the tightest of these.
    accuracy = max(counts, key=lambda each: (counts[each], -each))
    return [
        one
        for one in reached
        if one["accuracy"] == accuracy
        and problem_of(one) in met
        and (one["solver"] == champion() or find_solver(one["solver"]).foreign)
    ]


def _peers(raced: Sequence[Record], looks: Mapping[str, Look]) -> Figure:
    """A line for each set and λ, a mark for each peer that reached the accuracy there."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = [problem_of(one) for one in raced if one["solver"] == champion()]
    shown = {problem_of(one): one for one in raced}
    peers = list(dict.fromkeys(one["solver"] for one in raced if one["solver"] != champion()))
    names = [f"{starred(one)}, {place_words(one['_written'])}" for one in shown.values()]
    figure = Figure((_WIDTH, _ROOM + max(2, len(names)) * _LINE), DPI, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    kept = "; *: kept out of tuning" if any(one["held_out"] for one in raced) else ""
    axes.set_title(f"All peers against {champion()}, to {_to(raced)}{kept}", loc="left")
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), names)
    axes.grid(axis="y", color="#e6e6e6", linewidth=0.6)
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel("median seconds of a peer over those of the champion")
    axes.set_xscale("log")
    axes.axvline(1.0, color="#888888", linewidth=0.8)
    ratios = [1.0]
    for number, name in enumerate(peers):
        dots = [
            (one["ratio"], lines.index(problem_of(one)))
            for one in raced
            if one["solver"] == name and 0.0 < one["ratio"] < math.inf
        ]
        ratios += [ratio for ratio, _ in dots]
        axes.plot(
            *zip(*dots, strict=True) if dots else ([], []),
            linestyle="none",
            marker=_MARKS[number % len(_MARKS)],
            markersize=4.2,
            label=name,
            color=looks[name].colour,
        )
    axes.set_xlim(min(0.5, min(ratios) / 1.5), max(20.0, max(ratios) * 1.5))
    log_ticks(axes.xaxis)
    figure.legend(loc="outside right upper")
    return figure
