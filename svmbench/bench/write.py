"""Writes the tables, the plots and the page of a benchmark."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, read_found, stand_in_text
from svmbench.bench.plan import Plan
from svmbench.bench.tables import (
    Record,
    ahead_table,
    compared,
    epsilon_text,
    fastest_entries,
    fastest_table,
    problem_of,
    ratios_table,
    standings,
    starred,
)
from svmbench.bench.versus import answered
from svmbench.data.dataset import scale_text
from svmbench.durable import write_text
from svmbench.evidence.steadiness import unsteady
from svmbench.harness.environment import environment
from svmbench.harness.series import PlannedSweep
from svmbench.harness.sources import Source
from svmbench.records.groups import Group
from svmbench.records.read import Results
from svmbench.records.spelling import place_words
from svmbench.records.states import FAULTS
from svmbench.report.html import Figure, environment_facts, figure_of, render
from svmbench.report.markup import write_tables
from svmbench.report.sheet import log_ticks, save_figure, uniform_style
from svmbench.report.style import DPI, Look, looks_of
from svmbench.solvers.program import ForeignProgram
from svmbench.solvers.registry import find_solver, solvers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Picture

#: Load average beyond which the machine is said to have done other work: a run alone makes 1.
BUSY = 1.5


def write_bench(plan: Plan) -> tuple[str, pd.DataFrame]:
    """Write tables, plots, the environment and the page.

    Returns in how many cases who is ahead, and the numbers of each case.
    """
    found = read_found(plan)
    fastest, liblinear, asked = answered(found)
    against = compared(fastest)
    standing = standings(against)
    ahead = ahead_table(against)
    tables = [
        fastest_table(found, against),
        ahead,
        ratios_table(found, compared(liblinear)),
    ]
    tables = [table for table in tables if table.sections]
    write_tables(tables, plan.root / "tables", ("md", "csv"))
    looks = _looks([results for _, results in found.sweeps])
    facts = _environment(found)
    write_text(plan.root / "environment.json", json.dumps(facts, indent=2) + "\n")
    page = plan.root / "index.html"
    write_text(
        page,
        render(
            "bench.html",
            ["report.css", "papers.css", "bench.css"],
            ["report.js"],
            title=f"Benchmark: {plan.profile.name}",
            about=plan.profile.title,
            champion=champion(),
            standing=standing,
            notices=[
                *_notices(found),
                *filter(None, [unsteady([one.question for one, _ in asked])]),
            ],
            sets=_sets(found),
            tables=tables,
            figures=list(_figures(found, looks, plan.root / "plots")),
            lines_of={name: look.background for name, look in looks.items()},
            environment=list(environment_facts(facts)),
        ),
    )
    return standing, ahead.records


def _environment(found: Found) -> dict[str, Any]:
    """The latest record of the sweeps, whose runs may be of another machine; else of this one."""
    known = [results.environment for _, results in found.sweeps if results.environment]
    return max(known, key=lambda facts: str(facts.get("recorded")), default=None) or environment()


def _looks(everything: Sequence[Results]) -> dict[str, Look]:
    """One look per solver, and one per program by its label."""
    programs = {
        label
        for results in everything
        for label in results.runs.loc[results.runs["solver"] == ForeignProgram.name, "label"]
    }
    return looks_of([champion(), *solvers(), *sorted(programs)])


def _notices(found: Found) -> list[str]:
    runs = [results.runs for _, results in found.sweeps]
    return [*(_troubles(pd.concat(runs)) if runs else ()), *_gaps(found)]


def _troubles(runs: pd.DataFrame) -> Iterator[str]:
    for name in sorted(set(runs.loc[runs["state"] == "not_installed", "solver"])):
        yield f"{name}: not installed, so it is not among the peers."
    failed = runs.loc[runs["state"].isin(FAULTS), ["dataset", "label", "state", "reason"]]
    for dataset, label, state, reason in failed.drop_duplicates().itertuples(index=False):
        yield f"{label} on {dataset}: {state} ({reason})"
    load = float(runs["load_average"].max())
    if load > BUSY:
        yield f"The machine did other work: the load average rose to {load:.2g}."


def _gaps(found: Found) -> Iterator[str]:
    sweeps = found.plan.sweeps
    repeats = {(part.part, part.set): set(of.runs["repeat"]) for part, of in found.sweeps}
    there = [each for each in sweeps if (each.name, each.item) in repeats]

    def named(some: Iterable[PlannedSweep]) -> str:
        return ", ".join(f"{each.name} on {each.item}" for each in some)

    if fewer := named(
        each for each in there if len(repeats[each.name, each.item]) < each.sweep.at_least
    ):
        yield f"Fewer repeats than requested: {fewer}."
    if cut_short := sum(part.cut_short for part in found.parts):
        yield (
            f"Repeats left out, as the budget ended between their runs: {cut_short}. Run the same "
            "command again to continue."
        )
    # The plan was built before the runs: the present state of the folders counts.
    if old := named(each for each in map(replace, sweeps) if each.outdated):
        yield (
            f"Measured by other versions, on another machine or for another profile: {old}; run "
            "the same command again to replace them."
        )
    if lacking := named(each for each in sweeps if each not in there):
        yield f"Not run yet: {lacking}."


def _sets(found: Found) -> list[dict[str, str]]:
    """Each set, where its rows came from and what it was used for."""
    measured: dict[str, Group] = {}
    for part in found.parts:
        measured.setdefault(part.set, part.groups[0])
    listed = []
    for each in found.plan.profile.sets:
        group = measured.get(each.label)
        m, d, nnz = (
            "–" if group is None else f"{group.first[key]:,.0f}" for key in ("m", "d", "nnz")
        )
        listed.append(
            {
                "set": each.label,
                "rows of": _what(found.plan.sources[each.label], group),
                "m": m,
                "d": d,
                "nonzeros": nnz,
                "use": each.use or "measured only",
            }
        )
    return listed


def _what(planned: Source, group: Group | None) -> str:
    """What a set's rows were when they were measured; what they would be if they were not."""
    if group is None and planned.unavailable:
        return f"left out: {planned.unavailable}"
    scale = "" if planned.scale is None else f"SCALE {scale_text(planned.scale)}"
    if group is not None:
        scale = stand_in_text(group)
    return f"STAND-IN, {scale}" if scale else "the set itself"


# ---------------------------------------------------------------- the picture

#: Inches: a line of the picture, what is above and below them, and its width.
_LINE, _ROOM, _WIDTH = 0.24, 0.9, 10.5

#: Marks of the series, from the first on.
_MARKS = ("o", "s", "^", "D", "v", "P", "X")


def _figures(found: Found, looks: Mapping[str, Look], folder: Path) -> Iterator[Figure]:
    """Draw ``peers.png``, if there is anything to draw."""
    if raced := _raced(fastest_entries(found)):
        with uniform_style():
            path = save_figure(_peers(raced, looks), folder / "peers")
        caption = f"Seconds of every peer over the champion’s, to {_to(raced)}"
        watch = "Look left of the line at 1: there a peer was faster than the champion."
        yield figure_of(path, caption, watch)


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


def _peers(raced: Sequence[Record], looks: Mapping[str, Look]) -> Picture:
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
