"""The cells that an item's sweeps consist of, whether they were run or not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache

from pydantic import ValidationError

from svmbench.claims.places import Slot
from svmbench.config.sweep import Sweep
from svmbench.errors import ConfigError
from svmbench.papers.model import Paper
from svmbench.records.read import Results


def slots(paper: Paper, item: str, results: Mapping[str, Results]) -> list[Slot]:
    """The cells of an item's sweeps, without axes that only the rows know."""
    return [
        slot
        for key in paper.items[item].sweeps
        if (sweep := sweep_of(paper, item, key, results)) is not None
        for slot in _slots(key, sweep)
    ]


def catalogued(
    paper: Paper, item: str, results: Mapping[str, Results]
) -> dict[tuple[str, str], str]:
    """Names of an item's data sets in the catalogue, by sweep and label."""
    sweeps = {key: sweep_of(paper, item, key, results) for key in paper.items[item].sweeps}
    return {
        (key, dataset.label): dataset.name
        for key, sweep in sweeps.items()
        if sweep is not None
        for dataset in sweep.datasets
        if dataset.name is not None
    }


def sweep_of(paper: Paper, item: str, key: str, results: Mapping[str, Results]) -> Sweep | None:
    """The sweep as it was run; if it was not, as the paper's file describes it."""
    if key in results:
        return _sweep(json.dumps(results[key].config))
    return paper.sweep(item, key)


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
