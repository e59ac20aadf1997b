"""The folders of an item's sweeps, and their results."""

from __future__ import annotations

from pathlib import Path

from svmbench.papers.model import Paper
from svmbench.records.read import Results, read_results


def sweep_folder(root: Path, paper: Paper, item: str, sweep: str) -> Path:
    """The folder of a sweep's runs: ``ROOT/KEY/ITEM/SWEEP``, or another item's if shared."""
    return root.joinpath(paper.key, *paper.origin(item, sweep))


def read_item(root: Path, paper: Paper, item: str) -> dict[str, Results]:
    """Results of an item's sweeps by key; those that have no runs yet are left out."""
    folders = {key: sweep_folder(root, paper, item, key) for key in paper.items[item].sweeps}
    return {
        key: read_results(folder)
        for key, folder in folders.items()
        if (folder / "runs.csv").exists()
    }
