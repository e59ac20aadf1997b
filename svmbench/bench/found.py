"""The findings of a benchmark: its sweeps' results, its tasks' files, and their arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import pandas as pd

from svmbench.bench.plan import Plan
from svmbench.bench.profile import SetSpec
from svmbench.bench.tasks import read_task
from svmbench.config import Sweep
from svmbench.harness.plan import for_each_horizon
from svmbench.records.groups import Group
from svmbench.records.read import Results, read_results
from svmbench.records.statistics import median
from svmbench.solvers.registry import find_solver

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

#: Bytes of a stored entry, column and value, by storage.
ENTRY_BYTES = {
    "uint16+ones": 2,
    "uint16+float32": 6,
    "uint16+float64": 10,
    "int32+ones": 4,
    "int32+float32": 8,
    "int32+float64": 12,
    "dense float32": 4,
    "dense float64": 8,
}


def grouped(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """The items by key, in their order."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups


@dataclass(frozen=True)
class Swept:
    """The results of one part's sweep of one set.

    Parameters
    ----------
    part, kind : str
    spec : SetSpec
    results : Results
    accuracies : tuple of float
        Those that the part asks for: of the objective, or of the solver's own gap.
    cut_short : int
        Repeats left out because the budget ended before all their runs were finished.
    """

    part: str
    kind: str
    spec: SetSpec
    results: Results
    accuracies: tuple[float, ...]
    cut_short: int = 0

    def groups(self) -> list[Group]:
        """All rows of its tables."""
        return [group for groups in self.results.groups.values() for group in groups]


@dataclass(frozen=True)
class Found:
    """All findings.

    Parameters
    ----------
    plan : Plan
    sweeps : list of Swept
        Those that have runs.
    """

    plan: Plan
    sweeps: list[Swept]

    def of_kind(self, kind: str) -> list[Swept]:
        """The sweeps of the parts of that kind."""
        return [swept for swept in self.sweeps if swept.kind == kind]

    @cached_property
    def physics(self) -> dict[str, Any]:
        """The speeds of the machine; empty if they were not measured."""
        return next(iter(self._task("physics")), {})

    @cached_property
    def epochs(self) -> dict[str, dict[str, Any]]:
        """Epochs by set."""
        return {result["set"]: result for result in self._tasks("epochs")}

    @cached_property
    def readings(self) -> list[dict[str, Any]]:
        """Every repeat of every reader on every set."""
        return [each for each in self._tasks("reading") if each["kind"] == "reading"]

    @property
    def openings(self) -> list[dict[str, Any]]:
        """The openings of the cached rows of every set."""
        return [each for each in self._tasks("reading") if each["kind"] == "opening"]

    @cached_property
    def texts(self) -> list[dict[str, Any]]:
        """Every repeat of every program on every text."""
        return list(self._tasks("text"))

    @cached_property
    def growth(self) -> dict[str, list[dict[str, Any]]]:
        """The points of each kind of rows."""
        return grouped(self._tasks("growth"), lambda result: str(result["label"]))

    @cached_property
    def unmade(self) -> list[str]:
        """Measurements that did not end well, in words."""
        tasks = self.plan.tasks
        ended = [
            f"{task.name}, {result['label']}: {result['state']}, {result['reason']}"
            for task in tasks
            for result in read_task(self.plan.parts, task.name)
            if result["state"] != "ok"
        ]
        none = [task.name for task in tasks if not read_task(self.plan.parts, task.name)]
        return [*dict.fromkeys(ended), *(f"{name}: not measured yet" for name in none)]

    def _task(self, name: str) -> Iterator[dict[str, Any]]:
        return (r for r in read_task(self.plan.parts, name) if r["state"] == "ok")

    def _tasks(self, kind: str) -> Iterator[dict[str, Any]]:
        for task in self.plan.tasks:
            if task.name.partition("-")[0] == kind:
                yield from self._task(task.name)


def read_found(plan: Plan) -> Found:
    """Read the results of a benchmark.

    Raises
    ------
    DataError
        If results cannot be read.
    """
    sweeps = []
    specs = {each.label: each for each in plan.profile.sets}
    for job in plan.jobs:
        if (job.folder / "runs.csv").exists():
            part = plan.profile.sweeps[job.name]
            written = (job.folder / "runs.csv").stat().st_mtime_ns
            results, cut_short = without_unfinished(_read(job.folder, written), job.sweep)
            if len(results.runs):
                spec, accuracies = specs[job.item], part.accuracy
                sweeps.append(Swept(job.name, part.kind, spec, results, accuracies, cut_short))
    return Found(plan, sweeps)


@lru_cache(maxsize=256)
def _read(folder: Path, written: int) -> Results:
    """The results of a folder, read again only if its table has been rewritten."""
    return read_results(folder)


def without_unfinished(results: Results, sweep: Sweep) -> tuple[Results, int]:
    """The results without the repeats that lack some run, and the number of these repeats.

    A solver that is run for one horizon after another has not failed to reach the accuracy if the
    budget ended between two of them. A ladder is at its end if a run had the tightest accuracy, did
    not reach its horizon or met the time limit.
    """
    horizons = {
        spec.label: [horizon for _, horizon in for_each_horizon(spec, sweep.stop)]
        for spec in sweep.solvers
    }
    kept, left = [], 0
    for (label, _, _), runs in results.runs.groupby(["label", "lambda", "repeat"], sort=False):
        known = horizons.get(str(label), [None])
        whole = len(runs) >= len(known) or (
            find_solver(str(runs["solver"].iloc[0])).ladder and _at_its_end(results, runs)
        )
        if whole:
            kept.append(runs)
        else:
            left += 1
    together = pd.concat(kept).sort_index() if kept else results.runs.iloc[:0]
    return replace(results, runs=together), left


def _at_its_end(results: Results, runs: pd.DataFrame) -> bool:
    over = (runs["state"] != "converged") | (runs["train_seconds"] > runs["limit_seconds"])
    if results.thresholds:
        over |= runs[f"seconds_to_{results.thresholds[-1]!r}"].notna()
    return bool(over.any())


# ---------------------------------------------------------------- epochs and their bounds


def nanoseconds(epochs: dict[str, Any], label: str) -> dict[int, float]:
    """Nanoseconds per stored nonzero by repeat, without stretches of no measurable time."""
    for entry in epochs["epochs"]:
        if entry["label"] == label:
            return {
                repeat: seconds / (passes * epochs["nnz"]) * 1e9
                for repeat, (seconds, passes) in enumerate(
                    zip(entry["seconds"], entry["passes"], strict=True)
                )
                if seconds > 0 and passes > 0
            }
    return {}


@dataclass(frozen=True)
class MachineBound:
    """The least time of an epoch, in nanoseconds per stored nonzero.

    Parameters
    ----------
    stream : float
        Reading the entries from memory once, sequentially.
    core : float
        One gather and one gathered addition per nonzero, at the level of the memory that w would
        fit in if its columns were drawn evenly; 0 for dense rows, whose columns are in order.
    level : str
        That level.
    """

    stream: float
    core: float
    level: str

    @property
    def least(self) -> float:
        """The larger of the two: they overlap."""
        return max(self.stream, self.core)


def machine_bound(physics: dict[str, Any], epochs: dict[str, Any]) -> MachineBound | None:
    """The bound of a set's epoch by this machine's own speeds; None if they are unknown."""
    if not physics:
        return None
    entry = ENTRY_BYTES[epochs["storage"]] + epochs["m"] * 8 / epochs["nnz"]
    if epochs["storage"].startswith("dense"):
        entry = ENTRY_BYTES[epochs["storage"]]
    stream = entry / median(physics["stream_gb_per_second"])
    level = next(
        (g for g in physics["gathers"] if 8 * epochs["d"] <= g["bytes"]), physics["gathers"][-1]
    )
    core = median(level["sum_ns"]) + median(level["add_ns"])
    dense = epochs["storage"].startswith("dense")
    return MachineBound(stream, 0.0 if dense else core, level["level"])


# ---------------------------------------------------------------- reading, texts and growth


def mb_per_second(result: dict[str, Any]) -> float:
    """MB/s of one reading."""
    return float(result["text_bytes"] / result["seconds"] / 1e6)


def total_seconds(result: dict[str, Any]) -> float:
    """Seconds from a text to the accuracy, +inf if it was not reached."""
    trained = result["train_seconds"]
    return math.inf if trained is None else _until(result, trained)


def spent_seconds(result: dict[str, Any]) -> float:
    """Seconds from a text to the end of the training, whether it reached the accuracy or not."""
    return _until(result, result.get("spent_seconds", 0.0))


def _until(result: dict[str, Any], trained: float) -> float:
    return float(result["read_seconds"] + result["convert_seconds"] + trained)


def by_repeat(
    results: Sequence[dict[str, Any]],
    value: Callable[[dict[str, Any]], float],
    label: str,
    name: str,
) -> dict[int, float]:
    """A value of the results of one reader or program on a set, by repeat."""
    return {
        result["repeat"]: value(result)
        for result in results
        if result["set"] == label and result["label"] == name
    }


@dataclass(frozen=True)
class GrowthStep:
    """The step from one size of rows to the next.

    Parameters
    ----------
    rows : str
        Kind of rows.
    axis : {'m', 'd'}
        What grows.
    grown : float
        Factor by which the entries grow.
    before, after : list of float
        Seconds of an epoch on the smaller and on the larger rows.
    bytes : int
        Size of the smaller rows.
    """

    rows: str
    axis: str
    grown: float
    before: list[float]
    after: list[float]
    bytes: int

    @property
    def slowed(self) -> float:
        """Factor by which an epoch takes longer."""
        return median(self.after) / median(self.before)


def steps(points: Sequence[dict[str, Any]]) -> list[GrowthStep]:
    """The steps from each size to the next along m, and along d from the first size."""
    found = []
    ordered = sorted(points, key=lambda point: point["point"])
    along_m = [p for p in ordered if p["d"] == ordered[0]["d"]]
    along_d = [p for p in ordered if p["m"] == ordered[0]["m"]]
    for axis, line in (("m", along_m), ("d", along_d)):
        for small, large in pairwise(line):
            found.append(
                GrowthStep(
                    small["label"],
                    axis,
                    large["nnz"] / small["nnz"],
                    small["seconds_per_epoch"],
                    large["seconds_per_epoch"],
                    small["array_bytes"],
                )
            )
    return found


def memory_share(point: dict[str, Any]) -> float:
    """All memory that rows and solver took over the bytes of the rows."""
    return float(point["peak_bytes"] / point["array_bytes"])
