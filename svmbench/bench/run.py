"""Plans a benchmark within its budget, and makes what of it is missing.

**Time.** What is measured beside the sweeps comes first, and none of it is begun once nearly half
of the budget has passed; the sweeps, which `svmbench.harness.series` makes in the profile's order,
have the rest but for what is kept for writing. What is not made by then a later call makes.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from svmbench.bench.champion import named
from svmbench.bench.profile import Growth, Profile, SetSpec
from svmbench.bench.rows import caches, drop_rows, made_rows, plain_text, rows_path, sizes
from svmbench.bench.tasks import Task, run_task, solver_job
from svmbench.data.libsvm import read_libsvm
from svmbench.data.load import Loaded, load
from svmbench.errors import DataError
from svmbench.harness.doubts import Doubt
from svmbench.harness.run import Options, Reporter
from svmbench.harness.series import Job, Result, run_series
from svmbench.harness.sources import Source, source_of
from svmbench.problem import Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.registry import find_solver

#: Shares of the budget: for what is measured beside the sweeps, and for writing; and the seconds
#: that writing takes at most.
BESIDE_SHARE, WRITING_SHARE, WRITING = 0.45, 0.1, 45.0

#: Relative gap of a text's optimum, as a share of the accuracy.
REFERENCE_SHARE = 0.01


@dataclass(frozen=True)
class Plan:
    """All that a profile asks for.

    Parameters
    ----------
    profile : Profile
    root : Path
        Of the results.
    budget : float, optional
        Seconds for everything.
    sources : dict
        Where each set's rows come from, by label.
    tasks : list of Task
        What is measured beside the sweeps.
    jobs : list of Job
        One a part and a set.
    """

    profile: Profile
    root: Path
    budget: float | None
    sources: dict[str, Source]
    tasks: list[Task]
    jobs: list[Job]

    @property
    def parts(self) -> Path:
        """Folder of what is measured beside the sweeps."""
        return self.root / "parts"

    @property
    def bound(self) -> float:
        """Seconds that all takes if every limit is met."""
        tasks = sum(task.bound for task in self.tasks)
        return tasks + sum(job.bound for job in self.jobs)


@dataclass
class Progress:
    """What came of a plan.

    Parameters
    ----------
    sweeps : Result
    tasks : dict
        made, reused or left, by task.
    faults : list of str
        What kept a task from being made, a line each.
    """

    sweeps: Result = field(default_factory=Result)
    tasks: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Runs and tasks not made for lack of time."""
        return self.sweeps.left + list(self.tasks.values()).count("left")


def plan(profile: Profile, root: Path, budget: float | None, fetch: bool = False) -> Plan:
    """What is to be done.

    Parameters
    ----------
    profile : Profile
    root : Path
    budget : float, optional
        Seconds for everything; None: as long as it takes.
    fetch : bool
        Download data that are not here.
    """
    # Stand-ins go by the profile's own budget: a shorter call goes on with the same rows.
    sources = {
        each.label: source_of(
            each.data, profile.budget, fetch, scale=each.scale, pace=profile.entries_a_second
        )
        for each in profile.sets
    }
    data = _Data(profile, sources)
    return Plan(
        profile,
        root,
        budget,
        sources,
        [
            *_physics(profile),
            *_epochs(profile, data),
            *_reading(profile, data),
            *_growth(profile),
            *_texts(profile, data),
        ],
        list(_jobs(profile, root, sources)),
    )


def _jobs(profile: Profile, root: Path, sources: dict[str, Source]) -> list[Job]:
    return [
        Job(
            "bench",
            each.label,
            name,
            profile.sweep(name, each),
            root / "sweeps" / name / each.label.replace(" ", "-"),
            (sources[each.label],),
        )
        for name, part in profile.sweeps.items()
        for each in profile.chosen(part.sets)
    ]


class _Data:
    """The sets of a profile, opened when they are needed."""

    def __init__(self, profile: Profile, sources: dict[str, Source]) -> None:
        self._specs = {each.label: each for each in profile.sets}
        self.sources = sources
        self.rows: Callable[[str], Loaded] = cache(self._rows)

    def here(self, chosen: list[SetSpec]) -> list[SetSpec]:
        """Those of which there are rows."""
        return [each for each in chosen if not self.sources[each.label].unavailable]

    def facts(self, label: str) -> dict[str, Any]:
        """What jobs say of a set."""
        scale = self.sources[label].scale
        return {"set": label, "stand_in": scale is not None, "scale": scale}

    def _rows(self, label: str) -> Loaded:
        spec = self._specs[label]
        return load(spec.data.source, offline=True, stand_in=self.sources[label].scale)


def _physics(profile: Profile) -> list[Task]:
    part = profile.physics
    if part is None:
        return []
    job = {
        "kind": "physics",
        "label": "physics",
        "caches": caches(),
        "repeats": part.repeats,
        "limit": part.limit,
    }
    return [Task("physics", part.limit, lambda: [job])]


def _epochs(profile: Profile, data: _Data) -> list[Task]:
    part = profile.epochs
    if part is None:
        return []

    def job(label: str) -> dict[str, Any]:
        solvers = [solver_job(named(entry)) for entry in part.solvers]
        return data.facts(label) | {
            "kind": "epochs",
            "label": label,
            "path": str(data.rows(label).train_path),
            "lambda": part.lambda_,
            "solvers": [each for each in solvers if find_solver(each["name"]).missing() is None],
            "repeats": part.repeats,
            "seed": 0,
            "limit": part.limit,
        }

    return [
        Task(f"epochs-{_file(each.label)}", part.limit, lambda at=each.label: [job(at)])  # type: ignore[misc]
        for each in data.here(profile.chosen(part.sets))
    ]


def _reading(profile: Profile, data: _Data) -> list[Task]:
    part = profile.reading
    if part is None:
        return []
    readers = [(reader, 1) for reader in part.readers]
    if "svmbench" in part.readers:
        readers.append(("svmbench", 2))

    def jobs(spec: SetSpec) -> list[dict[str, Any]]:
        rows = data.rows(spec.label)
        path, entry = plain_text(spec.data, rows, data.sources[spec.label].scale is None)
        common = data.facts(spec.label) | {"path": str(path), "limit": part.limit}
        opening = {
            "kind": "opening",
            "label": "cache",
            "path": str(rows.train_path),
            "repeats": 20,
        }
        wanted: list[dict[str, Any]] = [opening]
        for repeat in range(part.repeats):
            block = [
                {
                    "kind": "reading",
                    "label": reader if threads == 1 else f"{reader}, {threads} threads",
                    "reader": reader,
                    "threads": threads,
                    "repeat": repeat,
                    "n_features": entry.n_features,
                    "positive": list(entry.positive) if entry.positive else None,
                }
                for reader, threads in readers
            ]
            random.Random(repeat).shuffle(block)
            wanted += block
        return [common | job for job in wanted]

    bound = part.limit * part.repeats * len(readers)
    return [
        Task(f"reading-{_file(each.label)}", bound, lambda at=each: jobs(at))  # type: ignore[misc]
        for each in data.here([each for each in profile.sets if each.text])
    ]


def _growth(profile: Profile) -> list[Task]:
    part = profile.growth
    if part is None:
        return []
    solver = solver_job(named(part.solver))

    def jobs(growth: Growth) -> list[dict[str, Any]]:
        points = sizes(growth)
        return [
            {
                "kind": "growth",
                "label": growth.name,
                "point": at,
                "path": str(rows_path(growth, m, d)),
                "solver": solver,
                "lambda": part.lambda_,
                "repeats": part.repeats,
                "limit": part.limit,
            }
            for at, (m, d) in enumerate(points)
        ]

    def prepare(growth: Growth) -> None:
        for m, d in sizes(growth):
            made_rows(growth, m, d)

    def clean(growth: Growth) -> None:
        for m, d in sizes(growth):
            drop_rows(growth, m, d)

    return [
        Task(
            f"growth-{growth.name}",
            part.limit * len(sizes(growth)),
            lambda at=growth: jobs(at),  # type: ignore[misc]
            lambda at=growth: prepare(at),  # type: ignore[misc]
            lambda at=growth: clean(at),  # type: ignore[misc]
        )
        for growth in part.rows
    ]


def _texts(profile: Profile, data: _Data) -> list[Task]:
    part = profile.text
    if part is None:
        return []

    def jobs(spec: SetSpec) -> list[dict[str, Any]]:
        rows = data.rows(spec.label)
        path, entry = plain_text(spec.data, rows, data.sources[spec.label].scale is None)
        positive = list(entry.positive) if entry.positive else None
        parsed = read_libsvm(path, n_features=entry.n_features, positive=positive)
        problem = Problem(parsed, part.lambda_)
        optimum = certified_optimum(problem, REFERENCE_SHARE * part.accuracy, part.limit)
        common = data.facts(spec.label) | {
            "kind": "text",
            "path": str(path),
            "n_features": entry.n_features,
            "positive": positive,
            "lambda": part.lambda_,
            "accuracy": part.accuracy,
            "reference_dual": optimum.dual,
            "reference_primal": optimum.primal,
            "limit": part.limit,
        }
        wanted = []
        for repeat in range(part.repeats):
            block = [
                {
                    "label": program.label,
                    "reader": program.reader,
                    "solver": solver_job(named(program.solver)),
                    "threads": program.threads,
                    "repeat": repeat,
                    "seed": repeat,
                }
                for program in part.programs
            ]
            random.Random(repeat).shuffle(block)
            wanted += block
        return [common | job for job in wanted]

    bound = part.limit * part.repeats * len(part.programs)
    return [
        Task(f"text-{_file(each.label)}", bound, lambda at=each: jobs(at))  # type: ignore[misc]
        for each in data.here([each for each in profile.sets if each.text])
    ]


def _file(label: str) -> str:
    return label.replace(" ", "-").replace("/", "-")


# ---------------------------------------------------------------- making it


def carry_out(
    planned: Plan,
    reporter: Reporter,
    wanted: Options | None = None,
    doubts: Callable[[], Sequence[Doubt]] | None = None,
) -> Progress:
    """Make what is missing, within the budget.

    Parameters
    ----------
    planned : Plan
    reporter : Reporter
    wanted : Options, optional
        How the runs are made; ``fresh`` holds for what is measured beside the sweeps as well.
    doubts : callable, optional
        Returns the open bounds, which get the time that is left once every cell has its repeats.
    """
    # Ratios are of pairs, which have to be made side by side.
    wanted = replace(wanted or Options(), whole_blocks=True)
    progress = Progress()
    begun, budget = time.monotonic(), planned.budget
    end = math.inf if budget is None else begun + budget - min(WRITING, WRITING_SHARE * budget)
    early = math.inf if budget is None else begun + BESIDE_SHARE * budget
    try:
        _make(planned.tasks, planned.parts, reporter, progress, early, end, wanted.fresh)
        left = None if budget is None else max(1.0, end - time.monotonic())
        progress.sweeps = run_series(planned.jobs, reporter, wanted, budget=left, doubts=doubts)
    except KeyboardInterrupt:
        progress.sweeps.interrupted = True
    return progress


def _make(
    tasks: list[Task],
    folder: Path,
    reporter: Reporter,
    progress: Progress,
    latest: float,
    end: float,
    fresh: bool,
) -> None:
    """Make tasks; none is begun after ``latest``, and none goes on beyond ``end``."""
    for task in tasks:
        if time.monotonic() >= latest:
            progress.tasks[task.name] = "left"
            continue
        reporter.stage(task.name)
        try:
            progress.tasks[task.name] = run_task(task, folder, end, fresh)
        except DataError as error:
            progress.faults.append(f"{task.name}: {error}")
