"""The folders of an item's sweeps, and their results."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from svmbench.papers.model import Item, Paper, SweepSource
from svmbench.records.read import Results, read_results


def sweep_folder(root: Path, paper: Paper, item: str, sweep: str) -> Path:
    """The folder of a sweep's runs: ``ROOT/KEY/ITEM/SWEEP``, or another item's if shared."""
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
