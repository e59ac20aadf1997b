"""Which runs can be compared pair by pair: those of a block that were run in one sitting.

A block is one data set, one λ and one repeat, with all solvers. `plan_runs` interleaves them, so
that the momentary state of the machine affects all alike. Runs that are added one by one later,
next to those of an earlier day, have lost this property.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from svmbench.harness.plan import Run
from svmbench.harness.store import Store
from svmbench.harness.trace import Trace, read_trace

#: An interrupted block is resumed unless its last run is older than this.
SITTING = timedelta(hours=1)

Block = tuple[str, float, int]


def block_of(run: Run) -> Block:
    """Data set, λ and repeat of a run."""
    return *run.cell[:2], run.repeat


def torn(
    done: Sequence[tuple[Run, Trace]], wanted: Sequence[Run], store: Store, changed: bool
) -> set[Block]:
    """The blocks that would mix old and new runs if only the missing ones were run.

    Parameters
    ----------
    done : sequence of (Run, Trace)
        Runs that are finished.
    wanted : sequence of Run
        Runs to execute.
    store : Store
        Where both are stored, and what was there before.
    changed : bool
        Whether the sweep differs from the one that the runs belong to, so that what is missing
        may be new rather than interrupted.
    """
    last: dict[Block, datetime] = {}
    for run, trace in done:
        block = block_of(run)
        last[block] = max(_started(trace), last.get(block, _started(trace)))
    now, before = datetime.now(UTC), _names(store)
    return {
        block
        for run in wanted
        for block in [block_of(run)]
        if block in last
        and (changed or now - last[block] > SITTING or _was_made(run, store, before))
    }


def forget(runs: Sequence[Run], store: Store) -> None:
    """Remove the traces of runs, and those of earlier runs in their place."""
    before = _names(store)
    for run in runs:
        for stem in before.get(_name(run.id), ()):
            (store.runs / f"{stem}.jsonl").unlink(missing_ok=True)


def _was_made(run: Run, store: Store, before: dict[str, list[str]]) -> bool:
    """Whether a run ended in this place, even with another identity, faulty, damaged or gone."""
    others = [stem for stem in before.get(_name(run.id), ()) if stem != run.id]
    if others or store.loss(run) is not None:
        return True
    trace = read_trace(store.path(run))
    # A program that has been installed since was missing in the block.
    return trace is not None and bool(trace.end) and trace.state != "interrupted"


def _started(trace: Trace) -> datetime:
    return datetime.fromisoformat(trace.header["started"])


def _names(store: Store) -> dict[str, list[str]]:
    """Traces of the folder by the readable part of their names."""
    found: dict[str, list[str]] = {}
    for path in store.runs.glob("*.jsonl"):
        found.setdefault(_name(path.stem), []).append(path.stem)
    return found


def _name(run: str) -> str:
    """The part of a run's id that does not depend on its facts."""
    return run.rpartition("-")[0]
