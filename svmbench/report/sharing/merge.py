"""A table over machines: the medians of several published folders side by side, nothing pooled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pandas as pd

from svmbench.durable import write_text
from svmbench.errors import ConfigError, DataError
from svmbench.records.groups import Group, heading, regularisation, short
from svmbench.records.measures import Asked
from svmbench.records.summaries import summary
from svmbench.report.html import render
from svmbench.report.markup import write_tables
from svmbench.report.sharing.publish import PublishedFolder, open_published
from svmbench.report.table import Row, Section, Table, TableCell
from svmbench.report.tables.accuracy import threshold_cell

#: What makes two problems the same, apart from λ.
_PROBLEM = ("dataset", "stand_in", "data_sha256", "data_transforms", "m", "d", "nnz")
_OBJECTIVE = ("loss", "bias", "l1_radius")

_NOTES = (
    "Median seconds of training to relative accuracy ε, with the interval, of each folder's own "
    "repeats. Nothing is pooled: seconds of two machines, and of two folders, stay apart.",
    "Rows are of one problem only if the data have the same hash, rows and transforms and the "
    "objective is the same. An empty field: not run there.",
)


def merge(folders: Sequence[Path], target: Path) -> list[Path]:
    """Write the table and its page.

    Parameters
    ----------
    folders : sequence of Path
        Published ones, at least two.
    target : Path
        Folder for machines.md, machines.csv and index.html.

    Returns
    -------
    list of Path
        The files written.

    Raises
    ------
    ConfigError
        If there are fewer than two folders, or one is given twice.
    DataError
        If a folder is not as it was published, or two contradict each other.
    """
    if len(folders) < 2:
        raise ConfigError("merge compares two or more published folders; name another")
    members = [open_published(folder) for folder in folders]
    for one, other in combinations(members, 2):
        if set(one.results.runs["id"]) & set(other.results.runs["id"]) and _same_runs(one, other):
            raise ConfigError(
                f"{one.folder} and {other.folder}: the same runs; leave one of them out"
            )
        refuse_contradictions(one, other)
    table = build(members)
    written = write_tables([table], target, ("md", "csv"))
    page = target / "index.html"
    machines = [
        (_name(member), f"{member.machine}; {member.unverified} figures were not recomputed here")
        for member in members
    ]
    values = {"table": table, "machines": machines, "lines_of": {}}
    write_text(page, render("machines.html", ["report.css"], "report.js", **values))
    return [*written, page]


def build(members: Sequence[PublishedFolder]) -> Table:
    """The table over published folders."""
    placed: dict[tuple[Any, ...], dict[tuple[Any, ...], dict[int, Group]]] = {}
    accuracies: dict[int, set[float]] = {}
    for at, member in enumerate(members):
        accuracies[at] = set(member.results.thresholds)
        for groups in member.results.groups.values():
            for group in groups:
                rows = placed.setdefault(_key(group, (*_PROBLEM, *_OBJECTIVE)), {})
                rows.setdefault((-group.lam, group.solver, group.label), {})[at] = group
    sections = tuple(
        _section(rows, members, accuracies) for _, rows in sorted(placed.items(), key=str)
    )
    return Table(
        kind="machines",
        title="Seconds to relative accuracy ε, by machine",
        header=tuple(f"{_name(member)}: machine {member.machine}" for member in members),
        warnings=(),
        sections=sections,
        notes=_NOTES,
        records=pd.DataFrame(list(_records(placed, members))),
    )


def _key(group: Group, columns: Sequence[str]) -> tuple[Any, ...]:
    """Values of a group's runs; unknown ones are equal to each other."""
    first = group.runs.iloc[0]
    values = (first[name] if name in first.index else "" for name in columns)
    return tuple("" if value != value else value for value in values)


def _name(member: PublishedFolder) -> str:
    return f"{member.folder.resolve().name} ({member.processor})"


def _section(
    rows: dict[tuple[Any, ...], dict[int, Group]],
    members: Sequence[PublishedFolder],
    accuracies: dict[int, set[float]],
) -> Section:
    any_group = next(iter(next(iter(rows.values())).values()))
    first = any_group.runs.iloc[0]
    found, last = [], None
    for (negative, _, label), groups in sorted(rows.items(), key=lambda entry: entry[0]):
        C = next(iter(groups.values())).runs.iloc[0]["C"]
        for accuracy in sorted(set().union(*(accuracies[at] for at in groups)), reverse=True):
            cells = [
                threshold_cell(summary(groups[at], Asked("seconds", accuracy)))
                if at in groups and accuracy in accuracies[at]
                else TableCell("")
                for at in range(len(members))
            ]
            names = (regularisation(-negative, C), label, short(accuracy))
            found.append(Row((*map(TableCell, names), *cells), negative != last, label))
            last = negative
    return Section(
        heading=heading(any_group.dataset, any_group.stand_in),
        facts=f"m = {first['m']:,.0f}, d = {first['d']:,.0f}, nonzeros = {first['nnz']:,.0f}, "
        f"{str(first['loss']).replace('-', ' ')} loss",
        columns=("λ", "solver", "ε", *map(_name, members)),
        rows=tuple(found),
        texts=3,
    )


def _records(
    placed: dict[tuple[Any, ...], dict[tuple[Any, ...], dict[int, Group]]],
    members: Sequence[PublishedFolder],
) -> Iterator[dict[str, Any]]:
    for problem, rows in placed.items():
        known = dict(zip((*_PROBLEM, *_OBJECTIVE), problem, strict=True))
        for (negative, solver, label), groups in rows.items():
            for at, group in groups.items():
                for accuracy in members[at].results.thresholds:
                    found = summary(group, Asked("seconds", accuracy))
                    yield known | {
                        "lambda": -negative,
                        "solver": solver,
                        "label": label,
                        "accuracy": accuracy,
                        "folder": members[at].folder.resolve().name,
                        "machine": members[at].machine,
                        "processor": members[at].processor,
                        "repeats": len(found.samples),
                        "median": found.median,
                        "low": found.low,
                        "high": found.high,
                        "coverage": found.coverage,
                    }


def _same_runs(one: PublishedFolder, other: PublishedFolder) -> bool:
    """Whether two folders share a run: the same identity, started at the same moment."""
    columns = ["id", "started"]
    ran = [each.results.runs[columns].dropna() for each in (one, other)]
    return not ran[0].merge(ran[1], on=columns).empty


def refuse_contradictions(one: PublishedFolder, other: PublishedFolder) -> None:
    """Refuse folders that cannot stand in one table.

    Raises
    ------
    DataError
        If a label has different parameters, or certified intervals of an optimum do not overlap.
    """
    _refuse_other_settings(one, other)
    _refuse_apart(one, other)


def _refuse_other_settings(one: PublishedFolder, other: PublishedFolder) -> None:
    settings = [_settings(each) for each in (one, other)]
    for label in settings[0].keys() & settings[1].keys():
        if settings[0][label] != settings[1][label]:
            raise DataError(
                f"{one.folder} and {other.folder}: {label} has different parameters; "
                "give it a label of its own"
            )


def _settings(member: PublishedFolder) -> dict[str, Any]:
    entries = member.results.config.get("solvers")
    return {
        str(entry.get("label", entry.get("name"))): entry
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
    }


def _refuse_apart(one: PublishedFolder, other: PublishedFolder) -> None:
    """Certified intervals of one problem contain the same optimum, so they must overlap."""
    bounds = [_bounds(each) for each in (one, other)]
    for problem in bounds[0].keys() & bounds[1].keys():
        (low, high), (from_, to) = bounds[0][problem], bounds[1][problem]
        if low > to or from_ > high:
            raise DataError(
                f"{one.folder} and {other.folder}: their optima of {problem[0]} at λ = "
                f"{short(problem[-1])} exclude each other; verify both"
            )


def _bounds(member: PublishedFolder) -> dict[tuple[Any, ...], tuple[float, float]]:
    return {
        (*_key(group, (*_PROBLEM, *_OBJECTIVE)), group.lam): (
            float(group.runs.iloc[0]["reference_dual"]),
            float(group.runs.iloc[0]["reference_primal"]),
        )
        for groups in member.results.groups.values()
        for group in groups
    }
