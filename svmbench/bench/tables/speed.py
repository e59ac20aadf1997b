"""The tables of seconds: to an accuracy, to the solver's own gap, and who is the fastest."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd

from svmbench.bench.found import Found, Swept
from svmbench.bench.tables.columns import KeyedColumns, TableColumn, TablePart, TableSpec
from svmbench.bench.tables.sets import source_text, sweep_parts
from svmbench.records.groups import Group, heading, short
from svmbench.records.measures import Asked
from svmbench.records.samples import samples
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
    return _SECONDS.table(_seconds(found, swept) for swept in found.of_kind("oracle"))


def _seconds(found: Found, swept: Swept) -> TablePart[_Timed]:
    rows: list[_Timed] = []
    groups = swept.groups()
    for lam in dict.fromkeys(group.lam for group in groups):
        members = [group for group in groups if group.lam == lam]
        for group in members:
            for threshold in swept.results.thresholds:
                times = list(samples(group, Asked("seconds", threshold)).values())
                rows.append(_timed(swept, group, threshold, times))
        for threshold in swept.results.thresholds:
            best = min(
                one.seconds for one in rows if (one.group.lam, one.target) == (lam, threshold)
            )
            rows.append(_Timed(swept.part, members[0], _BEST, threshold, best))
    first = groups[0].runs.iloc[0]
    facts = f"{first['m']:,.0f} x {first['d']:,.0f}, {first['nnz']:,.0f} nonzeros"
    name = f"{heading(swept.spec.label, groups[0].stand_in)}, {swept.part}"
    return TablePart(
        name, "; ".join(filter(None, [facts, source_text(found, swept.spec.label)])), rows
    )


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
    return _SELF_STOPPED.table(sweep_parts(found, "certificate", _certified))


def _certified(swept: Swept) -> Iterator[_Timed]:
    for group in swept.groups():
        for gap in swept.accuracies:
            yield _timed(swept, group, gap, list(_own_gap(swept, group, gap)))


def _timed(swept: Swept, group: Group, target: float, times: Sequence[float]) -> _Timed:
    middle = median(times) if times else math.inf
    return _Timed(swept.part, group, group.label, target, middle, times)


def _own_gap(swept: Swept, group: Group, gap: float) -> Iterator[float]:
    """Seconds of each repeat to the first checkpoint with that gap."""
    traces = swept.results.traces
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
