"""The rows of a paper's runs, and the measures of each, repeat by repeat."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from svmbench.papers.model import Item, Paper, Place, SweepSource
from svmbench.records.groups import Group
from svmbench.records.read import Results, read_results


@dataclass(frozen=True)
class MeasuredRow:
    """The repeats of one solver on one problem of one sweep.

    Parameters
    ----------
    sweep : str
        Its key in the item.
    group : Group
    """

    sweep: str
    group: Group

    def axis(self, name: str) -> str | float:
        """Its value on one of `svmbench.papers.model.AXES`; a solver's is its label."""
        group = self.group
        if name == "sweep":
            return self.sweep
        if name == "dataset":
            return group.dataset
        if name == "solver":
            return group.label
        return float(group.runs[name].iloc[0])

    def lies_in(self, place: Place) -> bool:
        """Whether it has one of the values asked for in each column that is restricted."""
        return all(
            any(same(self.axis(name), value) for value in values)
            for name, values in place.given.items()
        )


def same(left: str | float, right: str | float) -> bool:
    """Whether two values of an axis are meant to be the same: numbers to nine digits."""
    if isinstance(left, str) or isinstance(right, str):
        return str(left) == str(right)
    return math.isclose(left, right, rel_tol=1e-9)


def rows(results: Mapping[str, Results]) -> list[MeasuredRow]:
    """All rows of an item's sweeps, in the order of the sweeps and of their tables."""
    return [
        MeasuredRow(sweep, group)
        for sweep, result in results.items()
        for groups in result.groups.values()
        for group in groups
    ]


def sweep_folder(root: Path, paper: Paper, item: str, sweep: str) -> Path:
    """Where the runs of a sweep lie: ``ROOT/KEY/ITEM/SWEEP``, another item's where shared."""
    source = paper.items[item].sweeps[sweep]
    if isinstance(source, SweepSource):
        item, _, sweep = source.same_as.partition("/")
    return root / paper.key / item / sweep


def read_item(root: Path, paper: Paper, item: str) -> dict[str, Results]:
    """Results of an item's sweeps by key; those that have no runs yet are left out."""
    return dict(_read(root, paper, item, paper.items[item]))


def _read(root: Path, paper: Paper, name: str, item: Item) -> Iterator[tuple[str, Results]]:
    for key in item.sweeps:
        folder = sweep_folder(root, paper, name, key)
        if (folder / "runs.csv").exists():
            yield key, read_results(folder)
