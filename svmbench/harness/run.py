"""Makes the runs of a sweep, one worker process after another, and keeps what they did."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import IO, Any

from svmbench.config import Sweep, dump_sweep
from svmbench.data.load import load
from svmbench.harness.environment import environment, pinned
from svmbench.harness.plan import Instance, Run, plan_runs
from svmbench.harness.store import Store
from svmbench.harness.trace import FAULTS, close_trace, read_trace
from svmbench.problem import Problem
from svmbench.reference import certified_optimum
from svmbench.solvers.registry import find_solver

#: Seconds a worker may be silent beyond its time limit, for start-up and evaluation.
GRACE = 30.0


@dataclass
class Outcome:
    """What came of a sweep.

    Attributes
    ----------
    folder : Path
    made, reused : int
        Runs made now, and runs found finished.
    states : Counter
        End states over all runs of the plan, ``skipped`` among them.
    interrupted : bool
    """

    folder: Path
    made: int = 0
    reused: int = 0
    states: Counter[str] = field(default_factory=Counter)
    interrupted: bool = False

    @property
    def faulty(self) -> bool:
        """Whether a run failed or ran out of memory."""
        return any(self.states[state] for state in FAULTS)


class Reporter:
    """What `run_sweep` tells of its progress; the base class is silent."""

    def stage(self, text: str) -> None:
        """Something before or after the runs has begun or been found."""

    def detail(self, text: str) -> None:
        """How far the stage is; of interest only while it lasts."""

    def begin(self, total: int, reused: int) -> None:
        """The plan stands: ``total`` runs, of which ``reused`` are finished already."""

    def run_begins(self, run: Run) -> None:
        """A worker starts."""

    def run_ends(self, run: Run, state: str) -> None:
        """A run ended or was skipped."""


def prepare(
    sweep: Sweep, reporter: Reporter, offline: bool = False, certify: bool = True
) -> list[Instance]:
    """Load the data sets of a sweep and certify the optimum of each of its problems.

    Parameters
    ----------
    sweep : Sweep
    reporter : Reporter
    offline : bool
        Do not look for data on the network.
    certify : bool
        False for a dry run: the instances then have no reference.
    """
    instances = []
    for dataset in sweep.datasets:
        reporter.stage(f"data {dataset.label}")
        loaded = load(dataset.source, offline=offline)
        for lam in sweep.lambdas_for(loaded.train.n_samples):
            problem = Problem(loaded.train, lam, sweep.loss.loss)
            reference = None
            if certify:
                what = f"reference {dataset.label}, λ = {lam:g}"
                reporter.stage(what)
                reference = certified_optimum(
                    problem,
                    sweep.reference.gap,
                    sweep.reference.time_limit,
                    partial(_tell_gap, reporter, what),
                )
                short = "" if reference.gap <= sweep.reference.gap else " (asked for more)"
                reporter.stage(f"{what}: certified to {reference.gap:.1e}{short}")
            instances.append(
                Instance(problem, loaded.test, loaded.train_path, loaded.test_path, reference)
            )
    return instances


def _tell_gap(reporter: Reporter, what: str, gap: float) -> None:
    reporter.detail(f"{what}: gap {gap:.1e}")


def run_sweep(
    sweep: Sweep,
    folder: Path,
    reporter: Reporter | None = None,
    *,
    offline: bool = False,
    fresh: bool = False,
    retry_faults: bool = False,
) -> Outcome:
    """Make every run of a sweep that is not finished yet, and write its tables of numbers.

    Parameters
    ----------
    sweep : Sweep
    folder : Path
        The results folder.
    reporter : Reporter, optional
    offline : bool
        Do not look for data on the network.
    fresh : bool
        Make all runs again.
    retry_faults : bool
        Make runs again that failed or ran out of memory.

    Raises
    ------
    DataError
        When a data set cannot be had.
    ConfigError
        When another process is writing to the folder.
    """
    reporter = reporter or Reporter()
    store = Store(folder)
    outcome = Outcome(folder)
    with store.locked(), _terminable():
        instances = prepare(sweep, reporter, offline)
        runs = plan_runs(sweep, instances)
        store.write_environment(dump_sweep(sweep), environment())
        done = {run.id for run in runs if not fresh and store.finished(run, retry_faults)}
        reporter.begin(len(runs), len(done))
        skipped: set[str] = set()
        try:
            _make_runs(runs, done, skipped, store, reporter, outcome)
        except KeyboardInterrupt:
            outcome.interrupted = True
        store.export(runs, frozenset(skipped))
    return outcome


def _make_runs(
    runs: Sequence[Run],
    done: set[str],
    skipped: set[str],
    store: Store,
    reporter: Reporter,
    outcome: Outcome,
) -> None:
    out_of_time: set[tuple[str, float, str]] = set()
    for run in runs:
        if run.id in done:
            trace = read_trace(store.path(run))
            assert trace is not None  # it was found whole a moment ago, and the folder is locked
            state = trace.state
            outcome.reused += 1
        elif run.cell in out_of_time:
            state = "skipped"
            skipped.add(run.id)
        else:
            reporter.run_begins(run)
            state = make_run(run, store)
            outcome.made += 1
        if state == "time_limit":
            out_of_time.add(run.cell)
        outcome.states[state] += 1
        if run.id not in done:
            reporter.run_ends(run, state)


def make_run(run: Run, store: Store) -> str:
    """Make one run in a worker process and return its end state.

    A worker that dies, or shows no sign of life for longer than the time limit and
    `GRACE` seconds, gets its trace ended here; so does one that is interrupted.
    """
    path = store.path(run)
    path.unlink(missing_ok=True)
    header = _header(run)
    patience = run.stop.time_limit + GRACE
    with tempfile.TemporaryFile() as complaints:
        worker = _start(_job(run, path, header), run.threads, complaints)
        try:
            silent = _wait(worker, path, patience)
        except KeyboardInterrupt:
            _kill(worker)
            close_trace(path, header, "interrupted", "interrupted by the user")
            raise
        trace = read_trace(path)
        if trace is not None and trace.end:
            return trace.state
        if silent:
            state = "time_limit"
            reason = f"killed after {patience:g} s without a checkpoint"
        else:
            state, reason = _cause_of_death(worker.returncode, complaints)
        close_trace(path, header, state, reason)
        return state


def _header(run: Run) -> dict[str, Any]:
    reference = run.instance.reference
    assert reference is not None
    return {
        "id": run.id,
        "dataset": run.instance.problem.data.name,
        "label": run.solver.label,
        "seed": run.seed,
        "reference_dual": reference.dual,
        "reference_primal": reference.primal,
        "reference_gap": reference.gap,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "load_average": os.getloadavg()[0],
        **run.facts(),
    }


def _job(run: Run, path: Path, header: dict[str, Any]) -> dict[str, Any]:
    instance = run.instance
    problem, solver = instance.problem, find_solver(run.solver.name)
    return {
        "trace": str(path.resolve()),
        "header": header,
        "solver_class": f"{solver.__module__}:{solver.__qualname__}",
        "parameters": run.solver.parameters.model_dump(mode="json"),
        "train": str(instance.train_path),
        "test": str(instance.test_path) if instance.test_path else None,
        "lambda": problem.lam,
        "loss": {"name": problem.loss.name, "gamma": problem.loss.gamma},
        "stop": run.stop.model_dump(mode="json"),
        "reference_dual": header["reference_dual"],
        "reference_primal": header["reference_primal"],
        "seed": run.seed,
    }


def _start(job: dict[str, Any], threads: int, complaints: IO[bytes]) -> subprocess.Popen[bytes]:
    worker = subprocess.Popen(
        # -P: whatever lies in the current folder must not shadow the installed package.
        [sys.executable, "-P", "-m", "svmbench.harness.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=complaints,
        env=pinned(threads),
        start_new_session=True,  # Ctrl-C is for the parent, which then ends the worker
    )
    assert worker.stdin is not None
    try:
        with worker.stdin as pipe:
            pipe.write(json.dumps(job).encode())
    except BrokenPipeError:
        worker.wait()  # it died before it read its job; what it said tells why
    return worker


def _wait(worker: subprocess.Popen[bytes], path: Path, patience: float) -> bool:
    """Wait for a worker to end; kill it, and return True, when it falls silent too long."""
    size, since = -1, time.monotonic()
    while True:
        try:
            worker.wait(timeout=0.05)
            return False
        except subprocess.TimeoutExpired:
            grown = path.stat().st_size if path.exists() else 0
            if grown != size:
                size, since = grown, time.monotonic()
            elif time.monotonic() - since > patience:
                _kill(worker)
                return True


def _kill(worker: subprocess.Popen[bytes]) -> None:
    worker.kill()
    worker.wait()


def _cause_of_death(code: int, complaints: IO[bytes]) -> tuple[str, str]:
    if code < 0:
        name = signal.Signals(-code).name
        if name == "SIGKILL":
            return "out_of_memory", "killed by the system (SIGKILL), most likely for its memory"
        return "failed", f"the worker crashed ({name})"
    complaints.seek(0)
    lines = complaints.read().decode(errors="replace").strip().splitlines()
    return "failed", lines[-1] if lines else f"the worker left with exit code {code}"


@contextmanager
def _terminable() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C: what was measured is kept."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before: Callable[..., Any] | int | None = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
