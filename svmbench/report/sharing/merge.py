"""Tables over machines: several published folders side by side, nothing pooled."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from svmbench.durable import require_free, resolved, write_text
from svmbench.errors import ConfigError, DataError
from svmbench.records.groups import Group, heading
from svmbench.records.measures import Asked
from svmbench.records.read import Results
from svmbench.records.spelling import short
from svmbench.records.summaries import Summary, summary
from svmbench.report.html import render
from svmbench.report.markup import write_tables
from svmbench.report.sharing.publish import PublishedFolder, open_published
from svmbench.report.table import Row, Section, Table, TableCell
from svmbench.report.tables.accuracy import accuracy_cell
from svmbench.report.tables.words import RELAPSES, facts_of

#: What makes two problems the same, apart from λ.
_PROBLEM = (
    *("dataset", "stand_in", "data_sha256", "data_transforms", "m", "d", "nnz"),
    *("loss", "bias", "l1_radius"),
)

#: Names of the tables, and what they count.
_COUNTED = {
    "seconds": (
        "machines",
        "Seconds",
        "Median seconds of training to relative accuracy ε, with the interval, of each folder's "
        "own repeats. Nothing is pooled: seconds of two machines, and of two folders, stay apart.",
    ),
    "passes": (
        "machines-passes",
        "Streaming passes",
        "The same times in streaming passes: how often that machine can read all rows in order in "
        "this time, whatever the solver did. They compare machines better than seconds do.",
    ),
}

_SAME = (
    "Rows are of one problem only if the data have the same hash, rows and transforms and the "
    "objective is the same. An empty field: not run there."
)

#: The cells of one row, each with its group, by the column's number.
_Cells = dict[int, tuple[Group, Summary]]


def merge(folders: Sequence[Path], target: Path) -> list[Path]:
    """Write machines.md, machines-passes.md, the same as CSV, and index.html into a folder.

    Raises ConfigError if there are fewer than two folders, one is given twice, or the target
    belongs to one. Raises DataError if a folder is not as it was published.
    """
    if len(folders) < 2:
        raise ConfigError("merge compares two or more published folders; name another")
    if any(resolved(target).is_relative_to(resolved(folder)) for folder in folders):
        raise ConfigError(f"{target}: in a folder that is read; give -o another name")
    require_free(target, ("index.html",), ("machines.csv",))
    members = [open_published(folder) for folder in folders]
    for one, other in combinations((member.results for member in members), 2):
        ran = [each.runs[["id", "started"]].dropna() for each in (one, other)]
        if not ran[0].merge(ran[1]).empty:
            raise ConfigError(f"{one.folder} and {other.folder}: the same runs; leave one out")
        _refuse_other_settings(one, other)
    tables = [build(members, counted) for counted in _COUNTED]
    written = write_tables(tables, target, ("md", "csv"))
    page = target / "index.html"
    machines = [
        (each.heading, f"{each.machine}; {each.unverified} figures were not recomputed here")
        for each in members
    ]
    values = {"tables": tables, "machines": machines, "lines_of": {}}
    write_text(page, render("machines.html", ["report.css"], ["report.js"], **values))
    return [*written, page]


def _refuse_other_settings(one: Results, other: Results) -> None:
    settings = [each.entries("solvers") for each in (one, other)]
    for label in settings[0].keys() & settings[1].keys():
        if settings[0][label] != settings[1][label]:
            raise DataError(
                f"{one.folder} and {other.folder}: {label} has different parameters; "
                "give it a label of its own"
            )


def build(members: Sequence[PublishedFolder], counted: str) -> Table:
    """The table of seconds or passes over published folders."""
    problems: dict[tuple[Any, ...], dict[tuple[Any, ...], _Cells]] = {}
    records = []
    for at, member in enumerate(members):
        for group in (group for groups in member.results.groups.values() for group in groups):
            problem = tuple("" if v != v else v for v in (group.first[name] for name in _PROBLEM))
            for accuracy in member.results.accuracies:
                found = summary(group, Asked(counted, accuracy))
                key = -group.lam, group.label, -accuracy
                problems.setdefault(problem, {}).setdefault(key, {})[at] = group, found
                records.append(_record(member, group, found, problem))
    kind, name, note = _COUNTED[counted]
    return Table(
        kind=kind,
        title=f"{name} to relative accuracy ε, by machine",
        header=tuple(f"{each.heading}: machine {each.machine}" for each in members),
        warnings=(),
        sections=tuple(_section(rows, members) for _, rows in sorted(problems.items(), key=str)),
        notes=(note, f"{RELAPSES}.", _SAME),
        records=pd.DataFrame(records),
    )


def _section(rows: dict[tuple[Any, ...], _Cells], members: Sequence[PublishedFolder]) -> Section:
    found, last = [], None
    for (negative, label, accuracy), cells in sorted(rows.items()):
        group = next(iter(cells.values()))[0]
        names = (group.written_lambda, label, short(-accuracy))
        numbers = (
            accuracy_cell(cells[at][1]) if at in cells else TableCell("")
            for at in range(len(members))
        )
        found.append(Row((*map(TableCell, names), *numbers), negative != last, label))
        last = negative
    return Section(
        heading=heading(group.dataset, group.stand_in),
        facts=facts_of([group]),
        columns=("λ", "solver", "ε", *(member.heading for member in members)),
        rows=tuple(found),
        texts=3,
    )


def _record(
    member: PublishedFolder, group: Group, found: Summary, problem: tuple[Any, ...]
) -> dict[str, Any]:
    return dict(zip(_PROBLEM, problem, strict=True)) | {
        "lambda": group.lam,
        "solver": group.solver,
        "label": group.label,
        "accuracy": found.accuracy,
        "folder": member.results.folder.resolve().name,
        "machine": member.machine,
        "repeats": len(found.samples),
        "median": found.median,
        "low": found.low,
        "high": found.high,
        "coverage": found.coverage,
    }
