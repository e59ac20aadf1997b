"""Measure the rounds of the methods on shards, for `svmbench/solvers/distributed/measured.py`.

    python scripts/distributed/rounds.py --seconds 60

The script trains in one process until the gap is within each target, and prints a line of the table
RUNS for each data set, lambda, number of shards and target. Rows are scaled to length 1 first, so
that lambda means the same for all sets.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import click
import numpy as np

from svmbench.data.dataset import Dataset
from svmbench.data.load import load
from svmbench.problem import Problem
from svmbench.solvers.distributed.measured import MeasuredRounds
from svmbench.solvers.distributed.sharded_multipliers import MultipliersShard
from svmbench.solvers.registry import solvers

TARGETS = (1e-1, 1e-2, 1e-3, 1e-6)


def of_length_one(data: Dataset) -> Dataset:
    """The rows divided by their lengths."""
    norms = np.sqrt(np.asarray(data.rows.norms2()))
    norms[norms == 0.0] = 1.0
    if data.indptr is None:
        assert data.values is not None
        return replace(data, values=np.ascontiguousarray(data.values / norms[:, None]))
    values = np.ones(data.nnz) if data.values is None else data.values
    lengths = np.repeat(norms, np.diff(data.indptr))
    return replace(data, values=np.ascontiguousarray(values / lengths))


class _Changed:
    """Counts the rows whose products a shard makes."""

    def __init__(self) -> None:
        self.rows = 0
        made = MultipliersShard._gram

        def counted(shard: MultipliersShard, chosen: Any) -> Any:
            self.rows += int(chosen.sum())
            return made(shard, chosen)

        MultipliersShard._gram = counted  # type: ignore


def measured(
    method: str, problem: Problem, shards: int, seconds: float, most: int, changed: _Changed
) -> Iterator[MeasuredRounds]:
    """Train until each target is reached, or the seconds or steps are over."""
    solver: Any = solvers()[method]
    run = solver(solver.schema(shards=shards, tolerance=min(TARGETS)))
    run.start(problem, seed=1)
    changed.rows, steps, begun = 0, 0, time.monotonic()
    for target in TARGETS:
        while True:
            reached = steps > 0 and run._relative_gap() <= target
            over = time.monotonic() - begun > seconds or steps >= most or run.exhausted
            if reached or over:
                break
            run.advance(1)
            steps += 1
        data = problem.data
        yield MeasuredRounds(
            method,
            data.name,
            problem.lam,
            shards,
            target,
            reached,
            run._executor.rounds,
            steps,
            round(run.counters.nonzeros / data.nnz, 2),
            round(changed.rows / data.n_samples, 3),
        )
        if not reached:
            return


@click.command()
@click.option("--data", "names", multiple=True, help="Data sets.")
@click.option("--method", "methods", multiple=True, default=("newton-shards", "cocoa"))
@click.option("--seconds", default=60.0, show_default=True, help="Most for a run.")
@click.option("--steps", default=100, show_default=True, help="Most for a run.")
@click.option("--smoke", is_flag=True, help="A tiny set: does it work?")
def main(
    names: tuple[str, ...], methods: tuple[str, ...], seconds: float, steps: int, smoke: bool
) -> None:
    """Print measured rounds."""
    if smoke:
        names, seconds = ("tiny-sparse",), 1.0
    changed = _Changed()
    for name in names or ("adult", "imdb.tfidf", "kddcup10"):
        data = of_length_one(load(name, offline=True).train)
        for method in methods:
            if method == "newton-shards" and data.n_features > 1000:
                continue
            for lam in (1e-2,) if smoke else (1e-3, 1e-4, 1e-5, 1e-6):
                # The steps of newton-shards are the same for any number.
                for shards in (8,) if smoke or method == "newton-shards" else (1, 8, 64):
                    problem = Problem(data, lam)
                    for run in measured(method, problem, shards, seconds, steps, changed):
                        click.echo(f"    MeasuredRounds{tuple(run)!r},")


if __name__ == "__main__":
    main()
