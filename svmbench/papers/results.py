"""What was run of a paper's item, and the verdicts of all claims on it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

from pydantic import ValidationError

from svmbench.claims.judge import KnownParts, judge_claims
from svmbench.claims.measured import MeasuredRow, fills, rows
from svmbench.claims.model import Claim
from svmbench.claims.parts import ClaimResult
from svmbench.claims.places import Slot
from svmbench.config.sweep import Sweep
from svmbench.errors import ConfigError
from svmbench.papers.likeness import Likeness, likenesses
from svmbench.papers.model import Item, Paper
from svmbench.records.read import Results, read_results

#: A paper and an item.
ItemKey = tuple[str, str]


@dataclass(frozen=True)
class ItemResults:
    paper: Paper
    name: str  # the item's key
    # the results of its sweeps, by key; those that were not run are absent
    results: Mapping[str, Results]
    rows: Sequence[MeasuredRow]  # those of all its sweeps

    @property
    def item(self) -> Item:
        return self.paper.items[self.name]

    @property
    def place(self) -> ItemKey:
        return self.paper.key, self.name

    @cached_property
    def sweeps(self) -> dict[str, Sweep]:
        """Its sweeps as they were run; if they were not, as the paper's file describes them."""
        known = {
            key: _sweep(json.dumps(self.results[key].config))
            if key in self.results
            else self.paper.sweep(self.name, key)
            for key in self.item.sweeps
        }
        return {key: sweep for key, sweep in known.items() if sweep is not None}

    @cached_property
    def slots(self) -> list[Slot]:
        """The cells of its sweeps: each row's place, without axes that only the rows know."""
        return [slot for key, sweep in self.sweeps.items() for slot in _slots(key, sweep)]

    @cached_property
    def not_run(self) -> list[Slot]:
        """The expected cells that have no row."""
        return [slot for slot in self.slots if not any(fills(row, slot) for row in self.rows)]

    def stand_ins(self, rows: Iterable[MeasuredRow] | None = None) -> list[str]:
        """Data sets of which some or all rows are not the real ones."""
        return named_once(self.labelled_stand_ins(rows))

    def labelled_stand_ins(
        self, rows: Iterable[MeasuredRow] | None = None
    ) -> list[tuple[str, str]]:
        """The name in the catalogue and the label of each stand-in, in the order of the rows."""
        members = [
            (row.sweep, row.group.dataset)
            for row in (self.rows if rows is None else rows)
            if row.group.stand_in
        ]
        return [(self.catalogued.get(member, member[1]), member[1]) for member in members]

    @cached_property
    def likeness(self) -> dict[str, Likeness]:
        """How like their sets its stand-ins are, by label."""
        return likenesses(self.item, self.rows, self.catalogued)

    def unlike(self, claim: Claim, dataset: str) -> str:
        """Why a stand-in says nothing about a claim; empty if it does."""
        return self.likeness[dataset].against(claim) if dataset in self.likeness else ""

    @cached_property
    def catalogued(self) -> dict[tuple[str, str], str]:
        """Names of its data sets in the catalogue, by sweep and label."""
        return {
            (key, dataset.label): dataset.name
            for key, sweep in self.sweeps.items()
            for dataset in sweep.datasets
            if dataset.name is not None
        }


def sweep_folder(root: Path, paper: Paper, item: str, sweep: str) -> Path:
    """The folder of a sweep's runs: ``ROOT/KEY/ITEM/SWEEP``, or another item's if shared."""
    return root.joinpath(paper.key, *paper.origin(item, sweep))


def sweep_folders(root: Path, paper: Paper, item: str) -> dict[str, Path]:
    """The folders of an item's sweeps, by key."""
    return {key: sweep_folder(root, paper, item, key) for key in paper.items[item].sweeps}


def read_item(root: Path, paper: Paper, item: str) -> ItemResults:
    """An item's results; sweeps that have no runs yet are left out."""
    results = {
        key: read_results(folder)
        for key, folder in sweep_folders(root, paper, item).items()
        if (folder / "runs.csv").exists()
    }
    return ItemResults(paper, item, results, rows(results))


def judged(
    sources: Sequence[ItemResults], known: KnownParts | None = None
) -> dict[ItemKey, list[ClaimResult]]:
    """The claims of all items, judged together."""
    found = judge_claims(
        [(source.item.claims, source.rows) for source in sources],
        [source.slots for source in sources],
        known,
        [source.unlike for source in sources],
    )
    return {source.place: results for source, results in zip(sources, found, strict=True)}


def named_once(stand_ins: Iterable[tuple[str, str]]) -> list[str]:
    """Each data set once: by its label, or by its name in the catalogue if it has several labels.

    A set has several labels, for example, if it is cut to several sizes.
    """
    labels: dict[str, list[str]] = {}
    for name, label in stand_ins:
        labels.setdefault(name, []).append(label)
    return [name if len(set(members)) > 1 else members[0] for name, members in labels.items()]


@lru_cache(maxsize=256)
def _sweep(config: str) -> Sweep | None:
    try:
        return Sweep.model_validate(json.loads(config))
    except (ValidationError, ConfigError):
        return None  # written by another version: then only the runs are known


def _slots(key: str, sweep: Sweep) -> Iterator[Slot]:
    axis, weights = ("lambda", sweep.lambdas) if sweep.lambdas is not None else ("C", sweep.C)
    for dataset in sweep.datasets:
        for weight in weights or ():
            for solver in sweep.solvers:
                yield {
                    "sweep": key, "dataset": dataset.label, axis: weight, "solver": solver.label
                }  # fmt: skip
