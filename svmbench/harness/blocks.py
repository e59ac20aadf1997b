"""Blocks of runs that can be compared pair by pair because they were executed together.

A block is one data set, one λ and one repeat, with all solvers. `plan_runs` interleaves its
runs, so that the machine's momentary state affects all solvers alike. Runs that are added to a
block later, on another day say, lack that property.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from svmbench.durable import is_own_file
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
    now, before = datetime.now(UTC), _names(store)
    return {
        block
        for run in wanted
        for block in [block_of(run)]
        if block in last
        and (changed or now - last[block] > RESUMABLE or _has_ended(run, store, before))
    }


def forget(runs: Sequence[Run], store: Store) -> None:
    """Remove the traces of runs, and those of the same runs with other facts."""
    before = _names(store)
    for run in runs:
        for path in _traces(run, before):
            path.unlink(missing_ok=True)


def _has_ended(run: Run, store: Store, before: dict[str, list[Path]]) -> bool:
    """Whether a run of this name has ended: also with another id, faulty, damaged or removed."""
    others = [path for path in _traces(run, before) if path.stem != run.id]
    if others or store.loss(run) is not None:
        return True
    trace = read_trace(store.path(run))
    # A solver that was not installed has an ended trace too: its block was executed without it.
    return trace is not None and bool(trace.end) and trace.state != "interrupted"


def _names(store: Store) -> dict[str, list[Path]]:
    """The folder's traces by the readable part of their names."""
    found: dict[str, list[Path]] = {}
    for path in store.runs.glob("*.jsonl"):
        found.setdefault(_name(path.stem), []).append(path)
    return found


def _traces(run: Run, before: dict[str, list[Path]]) -> list[Path]:
    """The traces of a run, also with other facts."""
    return [path for path in before.get(_name(run.id), ()) if _may_be_of(path, run)]


def _may_be_of(path: Path, run: Run) -> bool:
    """Whether a trace is one of the run's cell: labels and λ may be written alike in names."""
    if not is_own_file(path):
        return True
    try:
        with path.open(encoding="utf-8") as file:
            header = json.loads(file.readline())
        return (header["dataset"], header["problem"]["lambda"], header["label"]) == run.cell
    except (OSError, ValueError, RecursionError, KeyError, TypeError):
        return True


def _name(run: str) -> str:
    """The readable part of a run's id, which does not depend on its facts."""
    return run.rpartition("-")[0]
