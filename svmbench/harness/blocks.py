"""Blocks of runs that can be compared pair by pair because they were executed together.

A block is one data set, one λ and one repeat, with all solvers. `plan_runs` interleaves its
runs, so that the machine's momentary state affects all solvers alike. Runs that are added to a
block later, on another day say, lack that property.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from svmbench.harness.plan import Run
from svmbench.harness.store import Store
from svmbench.harness.trace import read_trace

#: An interrupted block is resumed unless its last run is older than this.
RESUMABLE = timedelta(hours=1)

BlockKey = tuple[str, float, int]


def block_of(run: Run) -> BlockKey:
    """Data set, λ and repeat of a run."""
    return *run.cell[:2], run.repeat


def torn(
    runs: Sequence[Run],
    found: Mapping[str, datetime],
    wanted: Sequence[Run],
    store: Store,
    changed: bool,
) -> set[BlockKey]:
    """The blocks that would mix old and new runs; if it has ``changed``, a run may be new."""
    last: dict[BlockKey, datetime] = {}
    for run in runs:
        if run.id in found:
            block, started = block_of(run), found[run.id]
            last[block] = max(started, last.get(block, started))
    now = datetime.now(UTC)
    return {
        block
        for run in wanted
        for block in [block_of(run)]
        if block in last and (changed or now - last[block] > RESUMABLE or _has_ended(run, store))
    }


def forget(runs: Sequence[Run], store: Store) -> None:
    """Remove the traces of runs, and those of the same runs with other facts."""
    for run in runs:
        for path in _traces(run, store):
            path.unlink(missing_ok=True)


def _has_ended(run: Run, store: Store) -> bool:
    """Whether a run of this name has ended: also with another id, faulty, damaged or removed."""
    others = any(path != store.path(run) for path in _traces(run, store))
    if others or store.loss(run) is not None:
        return True
    trace = read_trace(store.path(run))
    # A solver that was not installed has an ended trace too: its block was executed without it.
    return trace is not None and bool(trace.end) and trace.state != "interrupted"


def _traces(run: Run, store: Store) -> list[Path]:
    """The traces of a run, also with other facts: these are in a hash at the end of its id."""
    name, _, facts = run.id.rpartition("-")
    return list(store.runs.glob(f"{name}-{'?' * len(facts)}.jsonl"))
