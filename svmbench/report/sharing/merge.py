"""Tables over machines: several published folders side by side, nothing pooled."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from svmbench.durable import require_free, resolved, write_text
from svmbench.errors import ConfigError, DataError
from svmbench.records.groups import Group, heading
from svmbench.records.measures import PASS_UNIT, Asked
from svmbench.records.spelling import short
from svmbench.records.summaries import summary
from svmbench.report.html import render
from svmbench.report.markup import write_tables
from svmbench.report.sharing.publish import PublishedFolder, open_published
from svmbench.report.table import Row, Section, Table, TableCell
from svmbench.report.tables.accuracy import accuracy_cell
from svmbench.report.tables.words import RELAPSES
from svmbench.report.verdict import Lead, verdicts
from svmbench.verify.own import MANIFEST

#: What makes two problems the same, apart from λ.
_PROBLEM = ("dataset", "stand_in", "data_sha256", "data_transforms", "m", "d", "nnz")
_OBJECTIVE = ("loss", "bias", "l1_radius")

#: Words for what is counted, and what they mean.
_COUNTED = {
    "seconds": (
        "Seconds",
        "Median seconds of training to relative accuracy ε, with the interval, of each folder's "
        "own repeats. Nothing is pooled: seconds of two machines, and of two folders, stay apart.",
    ),
    "passes": (
        "Streaming passes",
        "The same times in streaming passes: how often that machine can read all rows in order in "
        "this time, whatever the solver did. They compare machines better than seconds do.",
    ),
}

_FIRST = (
    "Who has the least median of seconds, with its interval, and the next one as a multiple. "
    "Ratios are taken within a folder. proven: its runs show it to take less than every other.",
)

_SAME = (
    "Rows are of one problem only if the data have the same hash, rows and transforms and the "
    "objective is the same. An empty field: not run there."
)


def merge(folders: Sequence[Path], target: Path) -> list[Path]:
    """Write the tables and their page.

    - ``target``: folder for machines.md, machines-passes.md, machines-first.md, the same as CSV,
      and index.html.

    Raises ConfigError if there are fewer than two folders, one is given twice, or the target
    belongs to one. Raises DataError if a folder is not as it was published, or two contradict each
    other.
    """
    if len(folders) < 2:
        raise ConfigError("merge compares two or more published folders; name another")
    for folder in folders:
        if resolved(target).is_relative_to(resolved(folder)):
            raise ConfigError(f"{target}: in {folder}, which is read; give -o another name")
    if (target / MANIFEST).exists():
        raise ConfigError(f"{target}: a published folder, and kept; give -o another name")
    require_free(target, ("index.html",), ("machines.csv",))
    members = _named([open_published(folder) for folder in folders])
    for one, other in combinations(members, 2):
        if set(one.results.runs["id"]) & set(other.results.runs["id"]) and _same_runs(one, other):
            raise ConfigError(
                f"{one.folder} and {other.folder}: the same runs; leave one of them out"
            )
        refuse_contradictions(one, other)
    tables = [first(members), build(members, "seconds"), *_passes(members)]
    written = write_tables(tables, target, ("md", "csv"))
    page = target / "index.html"
    machines = [
        (_name(member), f"{member.machine}; {member.unverified} figures were not recomputed here")
        for member in members
    ]
    values = {"tables": tables, "machines": machines, "lines_of": {}}
    write_text(page, render("machines.html", ["report.css"], ["report.js"], **values))
    return [*written, page]


def _named(members: Sequence[PublishedFolder]) -> list[PublishedFolder]:
    """The folders with names that differ: with parents, where those of the folders do not."""
    places = [member.folder.resolve() for member in members]
    names = [place.name for place in places]
    if len(set(names)) < len(names):
        common = os.path.commonpath([place.parent for place in places])
        names = [place.relative_to(common).as_posix() for place in places]
    return [replace(member, name=name) for member, name in zip(members, names, strict=True)]


def _passes(members: Sequence[PublishedFolder]) -> Iterator[Table]:
    """The table of streaming passes, if the time of a pass is known anywhere."""
    if any(member.results.runs[PASS_UNIT].notna().any() for member in members):
        yield build(members, "passes")


#: A λ, as it is and as it is printed, and what was to be reached.
ProblemAt = tuple[float, str, str]


class _Firsts(NamedTuple):
    """Who is first on one problem."""

    heading: str  # the problem's
    # for each place, who is first there, by the number of the folder
    leads: dict[ProblemAt, dict[int, Lead]]


def first(members: Sequence[PublishedFolder]) -> Table:
    """The table of who is first on which machine."""
    firsts = _firsts(members)
    sections = tuple(
        Section(
            heading=each.heading,
            facts="",
            columns=("λ", "to", *map(_name, members)),
            rows=tuple(
                Row((TableCell(lam), TableCell(to), *_leading(leads, len(members))))
                for (_, lam, to), leads in _by_lambda(each.leads).items()
            ),
            texts=len(members) + 2,
        )
        for _, each in sorted(firsts.items(), key=str)
    )
    records = [
        {
            "folder": members[at].name,
            "machine": members[at].machine,
            "problem": each.heading,
            "lambda": lam,
            "to": to,
            "first": lead.leader,
            "value": lead.value,
            "next": lead.following,
            "proven": lead.clear,
        }
        for each in firsts.values()
        for (_, lam, to), leads in each.leads.items()
        for at, lead in leads.items()
    ]
    return Table(
        kind="machines-first",
        title="Who is first, by machine",
        header=_header(members),
        warnings=(),
        sections=sections,
        notes=(*_FIRST, _SAME),
        records=pd.DataFrame(records),
    )


def _firsts(members: Sequence[PublishedFolder]) -> dict[tuple[Any, ...], _Firsts]:
    """Who is first, by problem; a problem has the heading that the last folder gives it."""
    firsts: dict[tuple[Any, ...], _Firsts] = {}
    for at, member in enumerate(members):
        problems = {
            heading(*key): _key(groups[0], (*_PROBLEM, *_OBJECTIVE))
            for key, groups in member.results.groups.items()
        }
        for standing in verdicts(member.results):
            problem = problems[standing.heading]
            known = firsts[problem].leads if problem in firsts else {}
            firsts[problem] = _Firsts(standing.heading, known)
            for leads in standing.problems:
                for lead in leads.leads:
                    known.setdefault((leads.value, leads.lam, lead.place), {})[at] = lead
    return firsts


def _by_lambda(rows: dict[ProblemAt, Any]) -> dict[ProblemAt, Any]:
    """The rows by λ, the greatest first, as the other tables have them."""
    return dict(sorted(rows.items(), key=lambda row: -row[0][0]))


def _leading(leads: Mapping[int, Lead], width: int) -> Iterator[TableCell]:
    """A cell for each folder."""
    for at in range(width):
        lead = leads.get(at)
        if lead is None:
            yield TableCell("")
        elif not lead.leader:
            yield TableCell("nobody", hint=lead.remark)
        else:
            following = f"; then {lead.following}" if lead.following else ""
            proven = " (proven)" if lead.clear else ""
            yield TableCell(f"{lead.leader}, {lead.value}{proven}{following}", hint=lead.remark)


def _header(members: Sequence[PublishedFolder]) -> tuple[str, ...]:
    return tuple(f"{_name(member)}: machine {member.machine}" for member in members)


def build(members: Sequence[PublishedFolder], counted: str) -> Table:
    """The table of seconds or passes over published folders."""
    placed: dict[tuple[Any, ...], dict[tuple[Any, ...], dict[int, Group]]] = {}
    accuracies: dict[int, set[float]] = {}
    for at, member in enumerate(members):
        accuracies[at] = set(member.results.accuracies)
        for groups in member.results.groups.values():
            for group in groups:
                rows = placed.setdefault(_key(group, (*_PROBLEM, *_OBJECTIVE)), {})
                rows.setdefault((-group.lam, group.solver, group.label), {})[at] = group
    sections = tuple(
        _section(rows, members, accuracies, counted) for _, rows in sorted(placed.items(), key=str)
    )
    name, note = _COUNTED[counted]
    cells = (cell for section in sections for row in section.rows for cell in row.cells)
    relapses = (f"{RELAPSES}.",) if any("†" in cell.text for cell in cells) else ()
    return Table(
        kind="machines" if counted == "seconds" else f"machines-{counted}",
        title=f"{name} to relative accuracy ε, by machine",
        header=_header(members),
        warnings=(),
        sections=sections,
        notes=(note, *relapses, _SAME),
        records=pd.DataFrame(list(_records(placed, members, counted))),
    )


def _key(group: Group, columns: Sequence[str]) -> tuple[Any, ...]:
    """Values of a group's runs; unknown ones are equal to each other."""
    first = group.runs.iloc[0]
    values = (first[name] if name in first.index else "" for name in columns)
    return tuple("" if value != value else value for value in values)


def _name(member: PublishedFolder) -> str:
    return f"{member.name} ({member.processor})"


def _section(
    rows: dict[tuple[Any, ...], dict[int, Group]],
    members: Sequence[PublishedFolder],
    accuracies: dict[int, set[float]],
    counted: str,
) -> Section:
    any_group = next(iter(next(iter(rows.values())).values()))
    first = any_group.runs.iloc[0]
    found, last = [], None
    for (negative, _, label), groups in sorted(rows.items(), key=lambda entry: entry[0]):
        written = next(iter(groups.values())).written_lambda
        for accuracy in sorted(set().union(*(accuracies[at] for at in groups)), reverse=True):
            cells = [
                accuracy_cell(summary(groups[at], Asked(counted, accuracy)))
                if at in groups and accuracy in accuracies[at]
                else TableCell("")
                for at in range(len(members))
            ]
            names = (written, label, short(accuracy))
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
    counted: str,
) -> Iterator[dict[str, Any]]:
    for problem, rows in placed.items():
        known = dict(zip((*_PROBLEM, *_OBJECTIVE), problem, strict=True))
        for (negative, solver, label), groups in rows.items():
            for at, group in groups.items():
                for accuracy in members[at].results.accuracies:
                    found = summary(group, Asked(counted, accuracy))
                    yield known | {
                        "lambda": -negative,
                        "solver": solver,
                        "label": label,
                        "accuracy": accuracy,
                        "folder": members[at].name,
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

    Raises DataError if a label has different parameters, or certified intervals of an optimum do
    not overlap.
    """
    _refuse_other_settings(one, other)
    _refuse_apart(one, other)


def _refuse_other_settings(one: PublishedFolder, other: PublishedFolder) -> None:
    settings = [each.results.entries("solvers") for each in (one, other)]
    for label in settings[0].keys() & settings[1].keys():
        if settings[0][label] != settings[1][label]:
            raise DataError(
                f"{one.folder} and {other.folder}: {label} has different parameters; "
                "give it a label of its own"
            )


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
