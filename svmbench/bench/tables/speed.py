"""The tables of seconds: to an accuracy, to the solver's own gap, and who is the fastest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from svmbench.bench.found import Found, Measured
from svmbench.bench.tables.columns import (
    KeyedColumns,
    TableColumn,
    TablePart,
    TableSpec,
    parts_of,
    source_text,
)
from svmbench.records.groups import Group
from svmbench.records.spelling import short
from svmbench.records.statistics import median
from svmbench.report.numbers import number_text
from svmbench.report.overall import Share
from svmbench.report.table import Row, Section, Table, TableCell
from svmbench.report.tables.accuracy import accuracy_notes, accuracy_table, summarise
from svmbench.solvers.registry import find_solver


def seconds_table(found: Found) -> Table:
    """Oracle seconds of every row as in the report of a sweep, and of the virtual best."""
    tables = [
        (part, accuracy_table(results, "time"))
        for part, results in found.sweeps
        if part.kind == "oracle"
    ]
    everything = [
        (group, summary)
        for part, _ in tables
        if part.results is not None
        for members in summarise(part.results, "time").values()
        for group, row in members
        for summary in row
    ]
    return Table(
        "seconds",
        "Oracle seconds to relative accuracy ε",
        (),
        (),
        tuple(
            replace(
                section,
                heading=f"{section.heading}, {part.part}",
                facts="; ".join(
                    filter(None, [section.facts, source_text(found, part.set, part.groups[0])])
                ),
                rows=tuple(_with_best(section, len(part.accuracies))),
            )
            for part, table in tables
            for section in table.sections
        ),
        tuple(accuracy_notes("time", everything)) if everything else (),
        pd.concat([table.records.assign(part=part.part) for part, table in tables])
        if tables
        else pd.DataFrame(),
    )


def _with_best(section: Section, accuracies: int) -> Iterator[Row]:
    """The rows of a section, and after those of each λ the least time to each accuracy."""
    ends = [at for at, row in enumerate(section.rows) if row.opens] + [len(section.rows)]
    for first, last in zip([0, *ends], ends, strict=False):
        members = section.rows[first:last]
        yield from members
        if members:
            columns = zip(*(row.cells for row in members), strict=True)
            times = [
                min((c.value for c in column if c.value is not None), default=math.inf)
                for column in columns
            ][2 : 2 + accuracies]
            best = (TableCell(number_text(time), value=time) for time in times)
            spare = [TableCell("")] * (len(section.columns) - 2 - accuracies)
            yield Row((TableCell(""), TableCell("virtual best"), *best, *spare))


@dataclass(frozen=True)
class _Certified:
    """Seconds of one row of a sweep until its own gap was small enough."""

    group: Group
    gap: float
    samples: Sequence[float]

    @property
    def seconds(self) -> float:
        return median(self.samples) if self.samples else math.inf


_SELF_STOPPED: TableSpec[_Certified] = TableSpec(
    "self-stopped",
    "Self-stopped seconds: the solver's own certificate",
    (
        TableColumn("set", "", lambda one: one.group.dataset),
        TableColumn("stand_in", "", lambda one: one.group.stand_in),
        TableColumn("lambda", "λ", lambda one: one.group.lam, short),
        TableColumn("label", "solver", lambda one: one.group.label),
        TableColumn("own_gap", "", lambda one: one.gap),
        TableColumn("median_seconds", "", lambda one: one.seconds),
        TableColumn("repeats", "", lambda one: len(one.samples)),
    ),
    KeyedColumns(
        lambda one: one.gap,
        lambda gap: f"gap ≤ {short(gap)}",
        lambda one: number_text(one.seconds),
        lambda one: (one.group.lam, one.group.label),
    ),
    texts=2,
    notes=(
        "Seconds until the solver's own duality gap, computed on the clock at every checkpoint, "
        "is at most this. No peer shows a gap.",
    ),
)


def self_stopped_table(found: Found) -> Table:
    """Seconds to the solver's own gap."""
    return _SELF_STOPPED.table(parts_of(found, "certificate", _certified))


def _certified(part: Measured) -> Iterator[_Certified]:
    for group in part.groups:
        for gap in part.gaps:
            yield _Certified(group, gap, list(_own_gap(part, group, gap)))


def _own_gap(part: Measured, group: Group, gap: float) -> Iterator[float]:
    """Seconds of each repeat to the first checkpoint with that gap."""
    assert part.results is not None
    traces = part.results.traces
    if "gap" not in traces:
        return
    for run in group.runs["id"]:
        points = traces[traces["id"] == run]
        gaps = pd.to_numeric(points["gap"], errors="coerce")
        within = points.loc[gaps <= gap, "wall_seconds"]
        yield float(within.iloc[0]) if len(within) else math.inf


_VIRTUAL_BEST: TableSpec[Share] = TableSpec(
    "virtual-best",
    "Virtual best solver",
    (
        TableColumn("solver", "solver", lambda share: share.solver),
        TableColumn("foreign", "", lambda share: find_solver(share.solver).foreign),
        TableColumn("problems", "cases", lambda share: share.problems),
        TableColumn("solved", "solved", lambda share: share.solved),
        TableColumn("fastest", "among the fastest", lambda share: share.fastest),
        TableColumn("", "share", lambda share: f"{100 * share.fastest / share.problems:.0f} %"),
        TableColumn("alone", "alone", lambda share: share.alone),
    ),
    notes=(
        "In each case (set, λ, ε) the virtual best solver takes the time of the fastest solver; "
        "among the fastest: within 5 % of it. Times are multiples of the champion's in the same "
        "sweep, the medians of pairs; a case that several sweeps have counts once.",
    ),
)


def virtual_best_table(shares: Sequence[Share]) -> Table:
    """What each solver contributes to the virtual best one."""
    return _VIRTUAL_BEST.table([TablePart("Virtual best", "", shares)])
