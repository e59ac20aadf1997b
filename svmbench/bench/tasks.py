"""Measurements outside the sweeps, each in processes of its own, kept and reused.

A task is a list of jobs for `svmbench.bench.measure`, with its findings in one file
``parts/NAME.json``: a record for each number of the repeat and label. If anything that it could
depend on has changed, the whole task is repeated: the contents of one file were measured on the
same machine with the same programs. Further repeats are added to those that are there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from svmbench.durable import is_own_file, write_text
from svmbench.errors import ConfigError
from svmbench.harness import child
from svmbench.harness.environment import fingerprint, memory_kills
from svmbench.records.states import FAULTS, RERUN
from svmbench.solvers.base import Solver
from svmbench.solvers.checked import as_plain, checked
from svmbench.solvers.registry import find_solver
from svmbench.solvers.single_file import address

SCHEMA_VERSION = 3

#: Seconds that starting a process and its imports may take in addition to its limit.
STARTING = 10.0

#: Numbers and texts that each kind of measurement records, if it ended well.
_NUMBERS = {
    "physics": ("table_bytes", "gather_ns", "gather_add_ns", "stream_gb_per_second"),
    "epochs": ("m", "d", "nnz", "array_bytes", "ns_per_nonzero"),
    "opening": ("seconds",),
    "reading": ("seconds", "mb_per_second", "text_bytes", "array_bytes", "peak_bytes"),
    "text": ("lambda", "accuracy", "read_seconds", "convert_seconds", "fit_seconds"),
    "growth": ("m", "d", "nnz", "array_bytes", "peak_bytes", "point", "seconds_per_epoch"),
}
_TEXTS = {"epochs": ("set", "storage", "how"), "growth": ("set", "storage")}

#: Numbers that others are divided by.
_ABOVE_ZERO = ("m", "d", "nnz", "array_bytes", "seconds_per_epoch", "stream_gb_per_second")

#: Largest length of the stored reason of a failure, in characters.
_LONGEST_REASON = 160

#: The solver that belongs to the same program as a reader.
_PROGRAMS = {"scikit-learn": "linear-svc", "liblinear": "liblinear"}

TaskOutcome = Literal["made", "reused", "left"]


@dataclass(frozen=True)
class Task:
    """Jobs that are executed and stored together.

    Parameters
    ----------
    name : str
        Name of its file.
    longest : float
        Seconds its repeats take at most, once its data are there.
    repeats : int
        Repeats that it has at least.
    jobs : callable
        Returns the jobs of some repeats in order, from the number of the first one and how many
        they are; called just before they are executed.
    prepare : callable
        Called before the task is executed, and not if it is reused.
    clean : callable
        Called when everything is done.
    """

    name: str
    longest: float
    repeats: int
    jobs: Callable[[int, int], list[dict[str, Any]]]
    prepare: Callable[[], None] = lambda: None
    clean: Callable[[], None] = lambda: None


def run_task(
    task: Task, folder: Path, end: float, fresh: bool = False, further: int = 0
) -> TaskOutcome:
    """Execute the measurements that a task lacks and write the findings."""
    path = folder / f"{task.name}.json"
    try:
        facts = _facts(task.jobs(0, 1))
        # What failed is tried again by the next call, not by each of the further repeats.
        kept = not fresh and _recorded(path, despite_faults=further > 0) == facts
        known = read_task(folder, task.name) if kept else []
        there = 1 + max((record["repeat"] for record in known), default=-1)
        lacking = max(task.repeats, there + further) - there
        if not lacking:
            return "reused"
        task.prepare()
        made = _made(task.jobs(there, lacking), known, end)
        if made is None:
            return "left"
        found = {"schema_version": SCHEMA_VERSION, "facts": facts, "results": [*known, *made]}
        write_text(path, json.dumps(found, indent=1) + "\n")
        return "made"
    finally:
        task.clean()


def read_task(folder: Path, name: str) -> list[dict[str, Any]]:
    """The records of a task; empty if it was not executed."""
    return list(_read(folder / f"{name}.json").get("results", ()))


def solver_job(entry: dict[str, Any]) -> dict[str, Any]:
    """A solver as jobs name it, from its entry in a profile.

    Raises
    ------
    ConfigError
        If there is no such solver, or a parameter is wrong.
    """
    given = {key: value for key, value in entry.items() if key not in ("name", "label")}
    solver = find_solver(entry["name"])
    try:
        parameters = checked(solver.schema, given)
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"]))
        what = " ".join(first["msg"].split())
        raise ConfigError(f"solver {entry['name']}: {name}: {what}") from None
    return {
        "name": solver.name,
        "label": entry.get("label", solver.name),
        "solver_class": address(solver),
        "parameters": as_plain(parameters),
    }


def repeats_of(folder: Path, name: str) -> int:
    """Number of repeats that a task has."""
    return len({record["repeat"] for record in read_task(folder, name)})


def _made(
    jobs: Sequence[dict[str, Any]], known: Sequence[dict[str, Any]], end: float
) -> list[dict[str, Any]] | None:
    """The records of some jobs; None if the time ends before them."""
    results: list[dict[str, Any]] = []
    spent = {record["label"] for record in known if _is_late(record)}
    for job in jobs:
        if job["label"] in spent:
            results.append(_record(job, "skipped", "its first repeat had met the time limit"))
            continue
        left = end - time.monotonic()
        if left <= 0.0:
            return None
        found = run_job(job, min(job["limit"] + STARTING, left))
        if _is_late(found[0]):
            if time.monotonic() >= end:
                return None
            spent.add(job["label"])
        results += found
    return results


def _is_late(record: dict[str, Any]) -> bool:
    """Whether a whole measurement, not only its training, has met the limit."""
    return bool(record["state"] == "time_limit" and record["reason"])


def run_job(job: dict[str, Any], seconds: float) -> list[dict[str, Any]]:
    """Execute one measurement; its records, or one with the reason why there are none."""
    readers = [find_solver(_PROGRAMS[job["reader"]])] if job.get("reader") in _PROGRAMS else []
    for solver in [*_solvers_of(job), *readers]:
        if missing := solver.missing():
            return [_record(job, "not_installed", missing)]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as complaints:
        found, kills = Path(folder) / "found.json", memory_kills()
        worker = child.start("svmbench.bench.measure", job.get("threads", 1), complaints)
        wanted = job | {"found": str(found), "parent": os.getpid()}
        try:
            worker.communicate(json.dumps(wanted).encode(), timeout=seconds)
        except subprocess.TimeoutExpired:
            return [_record(job, "time_limit", f"more than {seconds:.0f} s")]
        finally:
            with contextlib.suppress(ProcessLookupError):
                worker.kill()
            worker.wait()
        if worker.returncode != 0 or not found.exists():
            for_memory = kills is None or memory_kills() != kills
            state, reason = child.cause_of_death(worker.returncode, complaints, for_memory)
            return [_record(job, state, textwrap.shorten(reason, _LONGEST_REASON))]
        measured: dict[str, Any] = json.loads(found.read_text())
    facts = _record(job, "converged", "") | measured["facts"]
    return [facts | sample for sample in measured["samples"]]


def _record(job: dict[str, Any], state: str, reason: str) -> dict[str, Any]:
    """The keys that distinguish this job's records from others, and how it ended."""
    kept = ("kind", "set", "label", "stand_in", "scale", "threads", "lambda", "accuracy", "point")
    found = {key: job[key] for key in kept if key in job}
    return found | {"repeat": job["first"], "state": state, "reason": reason}


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
    sources = [
        Path(__file__).with_name(name).read_text(encoding="utf-8")
        for name in ("measure.py", "pace.py")
    ]
    facts = [jobs, builds, kernels, programs, fingerprint(), sources]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _recorded(path: Path, despite_faults: bool) -> str | None:
    """The facts of a task's file; None if there is no file, or a measurement to repeat in it."""
    found = _read(path)
    states = {result["state"] for result in found.get("results", ())}
    repeated = not despite_faults and states & {*FAULTS, *RERUN}
    return None if not found or repeated else str(found["facts"])


def _read(path: Path) -> dict[str, Any]:
    """A task's file; empty if it is missing, damaged or of another version."""
    if not is_own_file(path):
        return {}
    try:
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    known = (
        isinstance(found, dict)
        and found.get("schema_version") == SCHEMA_VERSION
        and isinstance(found.get("facts"), str)
        and isinstance(found.get("results"), list)
        and all(map(_is_record, found["results"]))
    )
    return found if known else {}


def _is_record(record: Any) -> bool:
    """Whether it has what a measurement records, each of its type."""
    if not isinstance(record, dict):
        return False
    texts, repeat = ("label", "state", "reason"), record.get("repeat")
    if not all(isinstance(record.get(key), str) for key in texts):
        return False
    if type(repeat) is not int or not 0 <= repeat < sys.maxsize:
        return False
    return bool(record["reason"]) or _ended_well(record)


def _ended_well(record: dict[str, Any]) -> bool:
    kind = record.get("kind")
    if not isinstance(kind, str) or kind not in _NUMBERS:
        return False
    texts, numbers = _TEXTS.get(kind, ("set",)), _NUMBERS[kind]
    return (
        all(isinstance(record.get(key), str) for key in texts)
        and isinstance(record.get("stand_in"), bool)
        and _is_number_or_none(record.get("scale"))
        and all(key in record for key in numbers)
        and all(_is_number_or_none(record[key]) for key in numbers)
        and all(record[key] is None or record[key] > 0 for key in numbers if key in _ABOVE_ZERO)
        and not any(isinstance(value, dict | list) for value in record.values())
    )


def _is_number_or_none(value: Any) -> bool:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    return value is None or (known and abs(value) <= sys.float_info.max)
