"""Measurements besides the sweeps, each in processes of its own, kept and reused.

A task is a list of jobs for `svmbench.bench.measure`, with its findings in one file
``parts/NAME.json``. If anything that it could depend on has changed, the whole task is repeated:
the contents of one file were measured side by side.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from svmbench.durable import write_text
from svmbench.harness import child
from svmbench.harness.environment import fingerprint, memory_kills
from svmbench.records.states import FAULTS, RERUN
from svmbench.solvers.base import Solver
from svmbench.solvers.registry import find_solver

SCHEMA_VERSION = 2

#: Seconds that starting a process and its imports may take in addition to its limit.
STARTING = 10.0

#: Largest length of the stored reason of a failure, in characters.
_LONGEST_REASON = 160

Outcome = Literal["made", "reused", "left"]


@dataclass(frozen=True)
class Task:
    """Jobs that are executed and stored together.

    Parameters
    ----------
    name : str
        Name of its file.
    bound : float
        Seconds it takes at most, once its data are there.
    jobs : callable
        Returns the jobs in order; called just before they are executed.
    prepare : callable
        Called before the task is executed, and not if it is reused.
    clean : callable
        Called when everything is done.
    """

    name: str
    bound: float
    jobs: Callable[[], list[dict[str, Any]]]
    prepare: Callable[[], None] = lambda: None
    clean: Callable[[], None] = lambda: None


def run_task(task: Task, folder: Path, end: float, fresh: bool = False) -> Outcome:
    """Execute a task's measurements and write the findings.

    Parameters
    ----------
    task : Task
    folder : Path
    end : float
        Moment of the monotonic clock at which it is abandoned, leaving nothing.
    fresh : bool
        Repeat it even if nothing has changed.
    """
    path = folder / f"{task.name}.json"
    jobs = task.jobs()
    try:
        facts = _facts(jobs)
        if not fresh and _recorded(path) == facts:
            return "reused"
        task.prepare()
        results = _made(jobs, end)
        if results is None:
            return "left"
        found = {"schema_version": SCHEMA_VERSION, "facts": facts, "results": results}
        write_text(path, json.dumps(found, indent=1) + "\n")
        return "made"
    finally:
        task.clean()


def read_task(folder: Path, name: str) -> list[dict[str, Any]]:
    """The findings of a task, one mapping per job; empty if it was not executed."""
    return list(_read(folder / f"{name}.json").get("results", ()))


def solver_job(entry: dict[str, Any]) -> dict[str, Any]:
    """A solver as jobs name it, from its entry in a profile."""
    given = {key: value for key, value in entry.items() if key not in ("name", "label")}
    solver = find_solver(entry["name"])
    parameters = solver.schema.model_validate_json(json.dumps(given), strict=True)
    return {
        "name": solver.name,
        "label": entry.get("label", solver.name),
        "solver_class": f"{solver.__module__}:{solver.__qualname__}",
        "parameters": parameters.model_dump(mode="json"),
    }


def _made(jobs: Sequence[dict[str, Any]], end: float) -> list[dict[str, Any]] | None:
    results: list[dict[str, Any]] = []
    spent: set[str] = set()
    for job in jobs:
        if job["label"] in spent:
            results.append(_result(job, "skipped", "its first repeat had met the time limit"))
            continue
        left = end - time.monotonic()
        if left <= 0.0:
            return None
        result = run_job(job, min(job["limit"] + STARTING, left))
        if result["state"] == "time_limit":
            if time.monotonic() >= end:
                return None
            spent.add(job["label"])
        results.append(result)
    return results


def run_job(job: dict[str, Any], seconds: float) -> dict[str, Any]:
    """Execute one measurement; the findings, with a state and, if it failed, the reason."""
    for solver in _solvers_of(job):
        if missing := solver.missing():
            return _result(job, "not_installed", missing)
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as complaints:
        found, kills = Path(folder) / "found.json", memory_kills()
        worker = child.start("svmbench.bench.measure", job.get("threads", 1), complaints)
        wanted = job | {"found": str(found), "parent": os.getpid()}
        try:
            worker.communicate(json.dumps(wanted).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            return _result(job, "time_limit", f"more than {seconds:.0f} s")
        finally:
            with contextlib.suppress(ProcessLookupError):
                worker.kill()
            worker.wait()
        if worker.returncode != 0 or not found.exists():
            for_memory = kills is None or memory_kills() != kills
            state, reason = child.cause_of_death(worker.returncode, complaints, for_memory)
            return _result(job, state, textwrap.shorten(reason, _LONGEST_REASON))
        measured: dict[str, Any] = json.loads(found.read_text())
    return _result(job, "ok", "") | measured


def _result(job: dict[str, Any], state: str, reason: str) -> dict[str, Any]:
    """The keys that distinguish this job's result from others, and how it ended."""
    kept = (
        "kind", "set", "label", "stand_in", "scale", "threads", "repeat", "lambda", "accuracy",
        "point",
    )  # fmt: skip
    return {key: job[key] for key in kept if key in job} | {"state": state, "reason": reason}


def _solvers_of(job: dict[str, Any]) -> list[type[Solver]]:
    entries = [*job.get("solvers", ()), *([job["solver"]] if "solver" in job else [])]
    return [find_solver(entry["name"]) for entry in entries]


def _facts(jobs: Sequence[dict[str, Any]]) -> str:
    """Hash of everything that could change the findings of the jobs."""
    builds = {s.name: s.build() for job in jobs for s in _solvers_of(job) if not s.missing()}
    kernels = {
        name: import_module(f"svmbench.kernels.{name}").__build__ for name in ("libsvm", "physics")
    }
    programs = [_version(package) for package in ("scikit-learn", "liblinear-official")]
    sources = [Path(__file__).with_name(name).read_text() for name in ("measure.py", "pace.py")]
    facts = [jobs, builds, kernels, programs, fingerprint(), sources]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _recorded(path: Path) -> str | None:
    """The facts of a task's file; None if there is no file, or a measurement to repeat in it."""
    found = _read(path)
    states = {result["state"] for result in found.get("results", ())}
    return None if not found or states & {*FAULTS, *RERUN} else str(found["facts"])


def _read(path: Path) -> dict[str, Any]:
    """A task's file; empty if it is missing, damaged or of another version."""
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    known = isinstance(found, dict) and found.get("schema_version") == SCHEMA_VERSION
    return found if known else {}
