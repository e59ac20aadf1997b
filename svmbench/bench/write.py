"""Writes the tables, the plots and the page of a benchmark."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pandas as pd

from svmbench.bench.champion import champion
from svmbench.bench.found import Found, read_found, stand_in_text
from svmbench.bench.plan import Plan
from svmbench.bench.plots import write_plots
from svmbench.bench.tables.ratios import ahead_table, compared, ratios_table, standings
from svmbench.bench.tables.seconds import fastest_table
from svmbench.bench.versus import answered
from svmbench.data.dataset import scale_text
from svmbench.durable import write_text
from svmbench.evidence.steadiness import unsteady
from svmbench.harness.environment import environment
from svmbench.harness.sources import Source
from svmbench.records.groups import Group
from svmbench.records.read import Results
from svmbench.records.states import FAULTS
from svmbench.report.html import environment_facts, figure_of, render
from svmbench.report.markup import write_tables
from svmbench.report.style import Look, looks_of
from svmbench.solvers.program import ForeignProgram
from svmbench.solvers.registry import solvers

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
    pictures = list(write_plots(found, looks, plan.root / "plots"))
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
            figures=[figure_of(path, said, _WATCH[path.stem]) for path, said in pictures],
            lines_of={name: look.background for name, look in looks.items()},
            environment=list(environment_facts(facts)),
        ),
    )
    return standing, ahead.records


def _environment(found: Found) -> dict[str, Any]:
    """The latest record of the sweeps, whose runs may be of another machine; else of this one."""
    known = [results.environment for _, results in found.sweeps if results.environment]
    return max(known, key=lambda facts: str(facts.get("recorded")), default=None) or environment()


#: What to look at in each picture.
_WATCH = {
    "peers": "Look left of the line at 1: there a peer was faster than the champion.",
}


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
    at_least = {(each.name, each.item): each.sweep.at_least for each in found.plan.sweeps}
    fewer = [
        f"{part.part} on {part.set}"
        for part, results in found.sweeps
        if len(set(results.runs["repeat"])) < at_least[part.part, part.set]
    ]
    if fewer:
        yield f"Fewer repeats than requested: {', '.join(fewer)}."
    cut_short = sum(part.cut_short for part in found.parts)
    if cut_short:
        yield (
            f"Repeats left out, as the budget ended between their runs: {cut_short}. Run the same "
            "command again to continue."
        )
    # The plan was built before the runs: the present state of the folders counts.
    old = [
        f"{each.name} on {each.item}" for each in map(replace, found.plan.sweeps) if each.outdated
    ]
    if old:
        yield (
            f"Measured by other versions, on another machine or for another profile: "
            f"{', '.join(old)}; run the same command again to replace them."
        )
    there = {(part.part, part.set) for part, _ in found.sweeps}
    lacking = [
        f"{each.name} on {each.item}"
        for each in found.plan.sweeps
        if (each.name, each.item) not in there
    ]
    if lacking:
        yield f"Not run yet: {', '.join(lacking)}."


def _sets(found: Found) -> list[dict[str, str]]:
    """Each set, where its rows came from and what it was used for."""
    measured: dict[str, Group] = {}
    for part in found.parts:
        measured.setdefault(part.set, part.groups[0])
    listed = []
    for each in found.plan.profile.sets:
        group = measured.get(each.label)
        first = None if group is None else group.runs.iloc[0]
        listed.append(
            {
                "set": each.label,
                "rows of": _what(found.plan.sources[each.label], group),
                "m": "–" if first is None else f"{first['m']:,.0f}",
                "d": "–" if first is None else f"{first['d']:,.0f}",
                "nonzeros": "–" if first is None else f"{first['nnz']:,.0f}",
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
