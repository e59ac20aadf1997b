"""The tables of seconds: to an accuracy, to the solver's own gap, and who is the fastest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

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
from svmbench.records.groups import Group, heading, short
from svmbench.records.statistics import median
from svmbench.report.numbers import number_text
from svmbench.report.overall import Share
from svmbench.report.table import Table
from svmbench.solvers.registry import find_solver


@dataclass(frozen=True)
class _Timed:
    """Seconds of one row of a sweep to one accuracy, or to one gap of its own."""

    part: str
    group: Group
    label: str
    target: float
    seconds: float
    samples: Sequence[float] = ()


#: The label of the fastest of all solvers, which does not appear in any CSV.
_BEST = "virtual best"


def _timed_columns(target: str) -> tuple[TableColumn[_Timed], ...]:
    return (
        TableColumn("set", "", lambda one: one.group.dataset),
        TableColumn("stand_in", "", lambda one: one.group.stand_in),
        TableColumn("lambda", "λ", lambda one: one.group.lam, short),
        TableColumn("label", "solver", lambda one: one.label),
        TableColumn(target, "", lambda one: one.target),
        TableColumn("median_seconds", "", lambda one: one.seconds),
        TableColumn("repeats", "", lambda one: len(one.samples)),
    )


def _of_targets(name: str) -> KeyedColumns[_Timed]:
    return KeyedColumns(
        lambda one: one.target,
        lambda target: f"{name} {short(target)}",
        lambda one: number_text(one.seconds),
        lambda one: (one.group.lam, one.label),
    )


_SECONDS = TableSpec(
    "seconds",
    "Oracle seconds to relative accuracy ε",
    (
        TableColumn("part", "", lambda one: one.part),
        *_timed_columns("accuracy"),
        TableColumn("reached", "", lambda one: sum(map(math.isfinite, one.samples))),
    ),
    _of_targets("ε ="),
    texts=2,
    notes=(
        "Median seconds until the primal is within ε of the certified optimum (oracle stop); "
        "∞: not reached in half of the repeats. Set-up is included, a program's conversion of the "
        "rows outside.",
    ),
    recorded=lambda one: one.label != _BEST,
)


def seconds_table(found: Found) -> Table:
    """Median oracle seconds of every row, and of the virtual best."""
    return _SECONDS.table(_seconds(found, part) for part in found.of_kind("oracle"))


def _seconds(found: Found, part: Measured) -> TablePart[_Timed]:
    rows: list[_Timed] = []
    for lam in dict.fromkeys(group.lam for group in part.groups):
        members = [group for group in part.groups if group.lam == lam]
        for threshold in part.thresholds:
            timed = [
                _timed(part, group, threshold, list(part.values(group, threshold).values()))
                for group in members
            ]
            best = min(one.seconds for one in timed)
            rows += [*timed, _Timed(part.part, members[0], _BEST, threshold, best)]
    first = part.groups[0].runs.iloc[0]
    facts = f"{first['m']:,.0f} x {first['d']:,.0f}, {first['nnz']:,.0f} nonzeros"
    name = f"{heading(part.set, part.groups[0].stand_in)}, {part.part}"
    return TablePart(name, "; ".join(filter(None, [facts, source_text(found, part.set)])), rows)


_SELF_STOPPED = TableSpec(
    "self-stopped",
    "Self-stopped seconds: the solver's own certificate",
    _timed_columns("own_gap"),
    _of_targets("gap ≤"),
    texts=2,
    notes=(
        "Seconds until the solver's own duality gap, found inside the clock at every checkpoint, "
        "is at most this. No program from outside reports one; the accuracies that their default "
        "rules reach are among the oracle's rows.",
    ),
)


def self_stopped_table(found: Found) -> Table:
    """Seconds to the solver's own gap."""
    return _SELF_STOPPED.table(parts_of(found, "certificate", _certified))


def _certified(part: Measured) -> Iterator[_Timed]:
    for group in part.groups:
        for gap in part.gaps:
            yield _timed(part, group, gap, list(_own_gap(part, group, gap)))


def _timed(part: Measured, group: Group, target: float, times: Sequence[float]) -> _Timed:
    middle = median(times) if times else math.inf
    return _Timed(part.part, group, group.label, target, middle, times)


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
        TableColumn("problems", "problems", lambda share: share.problems),
        TableColumn("solved", "solved", lambda share: share.solved),
        TableColumn("fastest", "among the fastest", lambda share: share.fastest),
        TableColumn("", "share", lambda share: f"{100 * share.fastest / share.problems:.0f} %"),
        TableColumn("alone", "alone", lambda share: share.alone),
    ),
    notes=(
        "On each problem (set, λ, ε) the virtual best solver takes the time of the fastest solver; "
        "among the fastest: within 5 % of it.",
    ),
)


def virtual_best_table(shares: Sequence[Share]) -> Table:
    """What each solver contributes to the virtual best one."""
    return _VIRTUAL_BEST.table([TablePart("Virtual best", "", shares)])
