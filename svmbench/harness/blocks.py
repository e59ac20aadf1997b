"""Which runs can be compared pair by pair: those of a block that were made in one sitting.

A block is one data set, one λ and one repeat, with all solvers: what `plan_runs` interleaves, so
that the machine of the moment falls on all alike. Runs that are made one by one later on, beside
others of an earlier day, have lost that.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from svmbench.harness.plan import Run
from svmbench.harness.store import Store
from svmbench.harness.trace import Trace, read_trace

#: A block that was interrupted is gone on with until its last run is this old.
SITTING = timedelta(hours=1)

Block = tuple[str, float, int]


def block_of(run: Run) -> Block:
    """Data set, λ and repeat of a run."""
    return *run.cell[:2], run.repeat


def torn(
    done: Sequence[tuple[Run, Trace]], wanted: Sequence[Run], store: Store, changed: bool
) -> set[Block]:
    """The blocks that would end as old runs beside new ones, were only the missing ones made.

    Parameters
    ----------
    done : sequence of (Run, Trace)
        Runs that are finished.
    wanted : sequence of Run
        Runs that are to be made.
    store : Store
        Where both lie, and what lay there before.
    changed : bool
        Whether the sweep is not the one that the runs were made for, so that what is missing
        may be new to it rather than interrupted.
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
    """Remove the traces of runs, and those of runs that their place had before."""
    before = _names(store)
    for run in runs:
        for stem in before.get(_name(run.id), ()):
            (store.runs / f"{stem}.jsonl").unlink(missing_ok=True)


def _was_made(run: Run, store: Store, before: dict[str, list[str]]) -> bool:
    """Whether a run ended in this place, be it of another identity, faulty, damaged or gone."""
    others = [stem for stem in before.get(_name(run.id), ()) if stem != run.id]
    if others or store.loss(run) is not None:
        return True
    trace = read_trace(store.path(run))
    # Of a program that has been installed since, the block was made without it.
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
    """What of a run's id does not depend on its facts."""
    return run.rpartition("-")[0]
