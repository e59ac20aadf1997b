"""The rows that claims are about: the repeats of one solver on one problem."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from svmbench.claims.places import Place, same
from svmbench.records.groups import Group
from svmbench.records.read import Results, read_regret

#: Sweep of an item, data set, λ and label: what the repeats of a row have in common.
SweepCell = tuple[str, str, float, str]


@dataclass(frozen=True)
class MeasuredRow:
    """The repeats of one solver on one problem of one sweep."""

    sweep: str  # its key in the item
    group: Group
    # the points of its runs; no rows if there are none. Those of other runs are left aside.
    traces: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False, compare=False)
    # the regrets of all runs of the sweep; no rows if it did not ask for them
    regrets: pd.DataFrame = field(default_factory=pd.DataFrame, repr=False, compare=False)
    # the rows it was taken from, if it is not a row of the sweep itself
    members: tuple[MeasuredRow, ...] = ()

    @property
    def cell(self) -> SweepCell:
        """Its place, by which its sweep knows it unless it has members."""
        group = self.group
        return self.sweep, group.dataset, float(group.lam), group.label

    @property
    def seconds(self) -> dict[SweepCell, float]:
        """Seconds that a repeat takes, for each cell that must be repeated to extend this row."""
        if self.members:
            return {cell: each for row in self.members for cell, each in row.seconds.items()}
        return {self.cell: self.group.seconds_of_repeat}

    @property
    def cells(self) -> tuple[SweepCell, ...]:
        """The cells of the sweep whose further repeats would extend this row."""
        return tuple(self.seconds)

    @cached_property
    def points(self) -> pd.DataFrame:
        if self.traces.empty:
            return self.traces
        own = self.traces[self.traces["id"].isin(set(self.group.runs["id"]))]
        return own.sort_values("point", kind="stable")

    def axis(self, name: str) -> str | float:
        """Its value on one of `svmbench.claims.places.AXES`; a solver's value is its label."""
        group = self.group
        if name == "sweep":
            return self.sweep
        if name == "dataset":
            return group.dataset
        if name == "solver":
            return group.label
        return float(group.runs[name].iloc[0])

    def lies_in(self, place: Place) -> bool:
        """Whether it has one of the requested values in each restricted column."""
        return all(
            any(same(self.axis(name), value) for value in values)
            for name, values in place.given.items()
        )


def fills(row: MeasuredRow, slot: Mapping[str, str | float]) -> bool:
    """Whether a row has the place of a slot."""
    return all(same(row.axis(name), value) for name, value in slot.items())


def rows(results: Mapping[str, Results]) -> list[MeasuredRow]:
    """All rows of an item's sweeps, in the order of the sweeps and of their tables."""
    found: list[MeasuredRow] = []
    for sweep, result in results.items():
        groups = [group for members in result.groups.values() for group in members]
        place = {run: at for at, group in enumerate(groups) for run in group.runs["id"]}
        traces, regrets = (
            dict(list(table.groupby(table["id"].map(place))))
            for table in (result.traces, read_regret(result.folder))
        )
        none = result.traces.iloc[:0]
        found += [
            MeasuredRow(sweep, group, traces.get(at, none), regrets.get(at, pd.DataFrame()))
            for at, group in enumerate(groups)
        ]
    return found


def unchanged(row: MeasuredRow, before: MeasuredRow) -> bool:
    """Whether two readings of a row show the same runs, so that the first can be kept."""
    if (row.sweep, row.cell, [*row.group.runs["id"]]) != (
        before.sweep,
        before.cell,
        [*before.group.runs["id"]],
    ):
        return False  # found out faster than by comparing all columns
    now, then = (each.group.runs.reset_index(drop=True) for each in (row, before))
    return now.equals(then)
