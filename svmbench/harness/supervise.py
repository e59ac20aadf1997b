"""Executes one run in a worker process, and guarantees that its trace is closed."""

from __future__ import annotations

import math
import os
import threading
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any, Literal, NamedTuple

from svmbench.data.cache import entry_path, is_unchanged, require_sound
from svmbench.data.stamp import Stamp
from svmbench.durable import writing
from svmbench.errors import UnwritableError
from svmbench.harness import child, system
from svmbench.harness.assignment import BRIEF, Assignment, assignment_of
from svmbench.harness.environment import memory_kills
from svmbench.harness.place import Node
from svmbench.harness.plan import Run
from svmbench.harness.processes import Worker
from svmbench.harness.store import Store
from svmbench.harness.trace import (
    Trace,
    close_trace,
    is_complete,
    read_trace,
)
from svmbench.records.states import RERUN
from svmbench.solvers.registry import find_solver

#: Entries of a trace's first line that are not part of the run's identity (`Run.facts`).
CIRCUMSTANCES = (
    *("kind", "id", "dataset", "label", "seed", "started", "load_average"),
    *("reference_dual", "reference_primal", "reference_gap", "time_limit", "keep_weights"),
    "node",  # of a cluster; absent from runs of this machine
)

#: A run is interrupted if the machine was suspended for so many seconds. Less may be the time that
#: the process waited between reading one clock and the other.
SUSPENDED_FROM = 1.0

#: Reason of a run during which its cached rows were changed on disk.
CHANGED_ROWS = "its cached rows were changed on disk during the run; remove them from the cache"

#: A silent worker that used less than this share of the time was not busy with training.
IDLE_SHARE = 0.1


def make_run(
    run: Run,
    store: Store,
    time_limit: float,
    stop: threading.Event,
    end: float = math.inf,
    keep_weights: bool = False,
    worker: Worker | Node | None = None,
    brief: bool = False,
) -> Trace | None:
    """Execute one run, and return its trace, closed whatever happens; None if it was given up."""
    if worker is None:
        with Worker() as own:
            return make_run(run, store, time_limit, stop, end, keep_weights, own, brief)
    path = store.growing(run)
    with writing(path):
        path.unlink(missing_ok=True)
    assignment = assignment_of(run, header_of(run, time_limit, keep_weights), brief)
    if isinstance(worker, Node):
        trace = worker.carry_out(assignment, path, stop, end)
    else:
        trace = carry_out(assignment, path, stop, end, worker)
    if trace is None or (trace.state in RERUN and store.finished(run) is not None):
        path.unlink(missing_ok=True)  # keep the finished trace of an earlier run
    else:
        store.settle(run, trace)
    return trace


def carry_out(
    assignment: Assignment, path: Path, stop: threading.Event, end: float, worker: Worker
) -> Trace | None:
    """Carry out a run with a process and the cached rows of this machine.

    It knows nothing of the plan or the results folder. Kept weights are written beside the trace.
    """
    missing = find_solver(assignment.solver).missing()
    if missing is not None:
        return close_trace(path, assignment.header, "not_installed", missing)
    rows = _sound_rows(assignment)
    kills, suspended = memory_kills(), system.suspended_seconds()
    worker.give(assignment, _job(assignment, path))
    outcome = _wait(worker, path, assignment.patience, stop, end)
    if outcome.how != "answered" or assignment.process is None:
        worker.end()
    if outcome.how == "dead" and worker.jobs > 1 and assignment.process == BRIEF:
        # The runs before it may be the cause.
        return carry_out(replace(assignment, process=None), path, stop, end, worker)
    disturbance = None if outcome.how == "late" else _disturbance(rows, suspended)
    if disturbance is not None:
        path.unlink(missing_ok=True)  # nobody knows which of its points this has changed
        return close_trace(path, assignment.header, "interrupted", disturbance, worker.cpu)
    ended = _ended(path)
    if ended is not None or outcome.how == "late":
        return ended
    return _cut_off(assignment, path, outcome, worker, kills)


def _disturbance(rows: dict[Path, tuple[Stamp, ...]], suspended: float) -> str | None:
    """What has happened to the machine or the rows since then, if a run must not outlast it."""
    asleep = system.suspended_seconds() - suspended
    if asleep > SUSPENDED_FROM:
        return f"the machine was suspended for {asleep:.0f} s during the run"
    if not all(is_unchanged(entry, before) for entry, before in rows.items()):
        return CHANGED_ROWS
    return None


def _ended(path: Path) -> Trace | None:
    """The trace of a run that wrote its end; None if it did not. A damaged one is removed."""
    trace = read_trace(path)
    if trace is None or not is_complete(trace):
        path.unlink(missing_ok=True)
        return None
    return trace if trace.end else None


def _cut_off(
    assignment: Assignment, path: Path, outcome: Waited, worker: Worker, kills: int | None
) -> Trace:
    """The trace of a run that wrote no end, with the cause as its end."""
    header, cpu = assignment.header, worker.cpu
    if outcome.how == "answered":
        return close_trace(path, header, "interrupted", "its trace was damaged or removed", cpu)
    if outcome.how == "stopped":
        return close_trace(path, header, "interrupted", "interrupted by the user", cpu)
    if outcome.how == "silent":
        before = outcome.spent
        spent = None if cpu is None or before is None else cpu - before
        state, reason = _cause_of_silence(assignment.patience, 0.0 if worker.frozen else spent)
        hung = {"hung": True} if state == "interrupted" else {}
        return close_trace(path, header, state, reason, cpu, **hung)
    if worker.code == child.CANNOT_WRITE:
        path.unlink(missing_ok=True)
        raise UnwritableError(child.last_line(worker.stderr))
    for_memory = kills is None or memory_kills() != kills
    death = child.cause_of_death(worker.code, worker.stderr, for_memory)
    return close_trace(path, header, *death, cpu)


def _sound_rows(assignment: Assignment) -> dict[Path, tuple[Stamp, ...]]:
    """The stamps of a run's cached rows, which are checked; the worker says if some are gone."""
    found = {}
    for key in filter(None, (assignment.rows, assignment.test_rows)):
        with suppress(OSError):
            found[entry_path(key)] = require_sound(entry_path(key))
    return found


def _cause_of_silence(seconds: float, spent: float | None) -> tuple[str, str]:
    """End state and reason of a run that was killed because it wrote nothing for some seconds."""
    if spent is not None and spent < IDLE_SHARE * seconds:
        return "interrupted", (
            f"{seconds:g} s without a checkpoint, in which the worker used {spent:.2g} s of"
            " processor time: it was frozen, or it waited for something"
        )
    return "time_limit", f"killed after {seconds:g} s without a checkpoint"


def header_of(run: Run, time_limit: float, keep_weights: bool) -> dict[str, Any]:
    """The first line of a run's trace."""
    reference = run.instance.reference
    return {
        "id": run.id,
        "dataset": run.instance.problem.data.name,
        "label": run.solver.label,
        "seed": run.seed,
        "reference_dual": reference.dual,
        "reference_primal": reference.primal,
        "reference_gap": reference.gap,
        "started": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "load_average": os.getloadavg()[0],
        "time_limit": time_limit,
        "keep_weights": keep_weights,
        **run.facts(),
    }


def _job(assignment: Assignment, path: Path) -> dict[str, Any]:
    """What a worker of this machine receives."""
    test = assignment.test_rows
    return {
        **assignment.work,
        "header": assignment.header,
        "trace": str(path.resolve()),
        "train": str(entry_path(assignment.rows)),
        "test": None if test is None else str(entry_path(test)),
    }


class Waited(NamedTuple):
    how: Literal["answered", "dead", "silent", "stopped", "late"]
    # seconds of processor time that the process of a silent run had used for this run when it last
    # wrote to its trace; None if that is not known
    spent: float | None = None


def _wait(worker: Worker, path: Path, patience: float, stop: threading.Event, end: float) -> Waited:
    """Wait for a worker's answers or death, until it is silent for too long or must stop."""
    size, since = -1, monotonic()
    begun = child.processor_seconds(worker.pid) if worker.pid else 0.0
    spent: float | None = 0.0
    while True:
        report = worker.report(0.05)
        if report is not None and report.event == "ended":
            return Waited("dead")
        if report is not None and report.text == child.ENDED:
            return Waited("answered")
        grown = _size(path)
        if grown != size:
            size, since = grown, monotonic()
            now = child.processor_seconds(worker.pid) if worker.pid else begun
            spent = None if now is None or begun is None else now - begun
        if stop.is_set():
            return Waited("stopped")
        if monotonic() - since > patience:
            return Waited("silent", spent=spent)
        if monotonic() > end:
            return Waited("late")


def _size(path: Path) -> int:
    """Bytes of a trace; 0 if there is none, as where the solver has just removed it."""
    try:
        return path.stat().st_size
    except OSError:
        return 0
