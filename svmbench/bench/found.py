"""The findings of a benchmark: the rows of its sweeps."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import pandas as pd

from svmbench.bench.plan import Plan
from svmbench.claims.measured import MeasuredRow
from svmbench.config import Sweep
from svmbench.data.dataset import scale_in, scale_text
from svmbench.harness.plan import for_each_horizon
from svmbench.harness.series import PlannedSweep
from svmbench.records.columns import of_accuracy
from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.read import Results, read_results
from svmbench.solvers.registry import find_solver

if TYPE_CHECKING:
    from svmbench.bench.versus import Versus

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


@dataclass(frozen=True, eq=False)
class Measured:
    """The rows of one part on one set."""

    part: str  # name of the sweep in the profile
    set: str  # label of the set
    groups: list[Group]  # all rows of its tables
    held_out: bool = False  # whether the set was kept out of tuning
    accuracies: tuple[float, ...] = ()
    results: Results | None = None  # those of a sweep
    # repeats left out because the budget ended before all their runs were finished
    cut_short: int = 0
    # comparisons of one row with others, by what `svmbench.bench.versus.side_by_side` is given
    compared: dict[tuple[MeasuredRow, tuple[MeasuredRow, ...], Asked], Versus | None] = field(
        default_factory=dict, repr=False
    )

    @cached_property
    def rows(self) -> list[MeasuredRow]:
        traces = pd.DataFrame() if self.results is None else self.results.traces
        return [MeasuredRow(self.part, group, traces) for group in self.groups]


def stand_in_text(group: Group) -> str:
    """The scale of the stand-in that a row was measured on; empty for the set itself."""
    if not group.stand_in:
        return ""
    known = scale_in(str(group.runs["data_source"].iloc[0]))
    return f"SCALE {scale_text(math.nan if known is None else known)}"


@dataclass(frozen=True)
class Found:
    plan: Plan
    parts: list[Measured]  # those that have rows

    @cached_property
    def sweeps(self) -> list[tuple[Measured, Results]]:
        return [(part, part.results) for part in self.parts if part.results is not None]


def read_found(plan: Plan) -> Found:
    """Read the results of a benchmark."""
    parts = []
    held_out = {each.label: each.held_out for each in plan.profile.sets}
    for planned in plan.sweeps:
        if (planned.folder / "runs.csv").exists():
            part = _of_sweep(planned, held_out[planned.item])
            if part.groups:
                parts.append(part)
    return Found(plan, parts)


#: The findings of each folder, with the time at which its table was written.
_known: dict[Path, tuple[int, Measured]] = {}


def _of_sweep(planned: PlannedSweep, held_out: bool) -> Measured:
    """The rows of a sweep, read again only if its table has been rewritten."""
    written = (planned.folder / "runs.csv").stat().st_mtime_ns
    if planned.folder not in _known or _known[planned.folder][0] != written:
        results, cut_short = without_unfinished(read_results(planned.folder), planned.sweep)
        found = Measured(
            planned.name,
            planned.item,
            [group for groups in results.groups.values() for group in groups],
            held_out,
            results.accuracies,
            results,
            cut_short,
        )
        _known[planned.folder] = written, found
    return _known[planned.folder][1]


def without_unfinished(results: Results, sweep: Sweep) -> tuple[Results, int]:
    """The results without the repeats that lack some run, and the number of these repeats.

    A solver that is run for one horizon after another has not failed to reach the accuracy if the
    budget ended between two of them. A ladder is at its end if a run had the last horizon or the
    tightest accuracy, did not reach its horizon or met the time limit; it may begin late.
    """
    horizons = {
        spec.label: [horizon for _, horizon in for_each_horizon(spec, sweep.stop)]
        for spec in sweep.solvers
    }
    kept, left = [], 0
    for (label, _, _), runs in results.runs.groupby(["label", "lambda", "repeat"], sort=False):
        known = horizons.get(str(label), [None])
        whole = len(runs) >= len(known) or (
            find_solver(str(runs["solver"].iloc[0])).ladder
            and (bool((runs["horizon"] == known[-1]).any()) or _at_its_end(results, runs))
        )
        if whole:
            kept.append(runs)
        else:
            left += 1
    together = pd.concat(kept).sort_index() if kept else results.runs.iloc[:0]
    return replace(results, runs=together), left


def _at_its_end(results: Results, runs: pd.DataFrame) -> bool:
    over = (runs["state"] != "converged") | (runs["train_seconds"] > runs["limit_seconds"])
    if results.accuracies:
        over |= runs[of_accuracy("seconds_to", results.accuracies[-1])].notna()
    return bool(over.any())
