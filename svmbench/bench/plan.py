"""Plans a benchmark: the sweeps of its parts, and the measurements beside them."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

from svmbench.bench.champion import named
from svmbench.bench.profile import Growth, Names, Profile, SetSpec
from svmbench.bench.rows import caches, drop_rows, made_rows, plain_text, rows_path, sizes
from svmbench.bench.tasks import Task, solver_job
from svmbench.data.libsvm import read_libsvm
from svmbench.data.load import Loaded, load
from svmbench.harness.environment import fingerprint
from svmbench.harness.series import PlannedSweep
from svmbench.harness.sources import Source, source_of
from svmbench.problem import Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.registry import find_solver

#: Relative gap of a text's optimum, as a share of the accuracy.
OPTIMUM_GAP_SHARE = 0.01

#: Said if the sweeps are carried out on another kind of machine.
LEFT_OUT = (
    "The measurements outside the sweeps are left out: they would be made on this machine, which is"
    " of another kind than the nodes."
)


@dataclass(frozen=True)
class Plan:
    """Everything that a profile asks for.

    Parameters
    ----------
    root : Path
        Folder of the results.
    budget : float, optional
        Seconds for everything.
    sources : dict
        The source of each set's rows, by label.
    tasks : list of Task
        The measurements outside the sweeps.
    sweeps : list of PlannedSweep
        The sweeps, one for each part and set.
    elsewhere : bool
        Whether their runs are carried out on another kind of machine than this one, so that there
        are no tasks.
    """

    profile: Profile
    root: Path
    budget: float | None
    sources: dict[str, Source]
    tasks: list[Task]
    sweeps: list[PlannedSweep]
    elsewhere: bool = False

    @property
    def parts(self) -> Path:
        """Folder of the measurements outside the sweeps."""
        return self.root / "parts"

    @property
    def longest(self) -> float:
        """Seconds that everything takes if every limit is reached."""
        tasks = sum(task.longest for task in self.tasks)
        return tasks + sum(each.longest for each in self.sweeps)


def plan(profile: Profile, root: Path, budget: float | None, machine: str = "") -> Plan:
    """Plan a benchmark."""
    # Stand-ins are scaled to the profile's own budget, so that a shorter call reuses the rows.
    sources = {
        each.label: source_of(
            each.data, profile.budget, scale=each.scale, pace=profile.entries_a_second
        )
        for each in profile.sets
    }
    elsewhere = machine not in ("", fingerprint())
    tasks = [] if elsewhere else list(_tasks(profile, sources))
    sweeps = _sweeps(profile, root, sources, machine)
    return Plan(profile, root, budget, sources, tasks, sweeps, elsewhere)


def _tasks(profile: Profile, sources: dict[str, Source]) -> Iterator[Task]:
    data = _Data(profile, sources)
    yield from _physics(profile)
    yield from _epochs(profile, data)
    yield from _reading(profile, data)
    yield from _growth(profile)
    yield from _texts(profile, data)


def _sweeps(
    profile: Profile, root: Path, sources: dict[str, Source], machine: str
) -> list[PlannedSweep]:
    return [
        PlannedSweep(
            "bench",
            each.label,
            name,
            profile.sweep(name, each),
            root / "sweeps" / name / each.file_name,
            (sources[each.label],),
            machine=machine,
        )
        for name, part in profile.sweeps.items()
        for each in profile.chosen(part.sets)
    ]


class _Data:
    """The sets of a profile, each opened when it is first needed."""

    def __init__(self, profile: Profile, sources: dict[str, Source]) -> None:
        self._profile, self._sources = profile, sources
        self._loaded: dict[str, Loaded] = {}

    def available(self, labels: Names) -> list[SetSpec]:
        """The sets of these labels that have rows; of all sets if there are no labels."""
        return [
            each
            for each in self._profile.chosen(labels)
            if not self._sources[each.label].unavailable
        ]

    def texts(self) -> list[SetSpec]:
        """The sets that are read as text and have rows."""
        return [each for each in self.available(()) if each.text]

    def rows(self, spec: SetSpec) -> Loaded:
        """Its rows."""
        if spec.label not in self._loaded:
            scale = self._sources[spec.label].scale
            self._loaded[spec.label] = load(spec.data.source, offline=True, stand_in=scale)
        return self._loaded[spec.label]

    def facts(self, spec: SetSpec) -> dict[str, Any]:
        """The part of a job that identifies its set."""
        scale = self._sources[spec.label].scale
        return {"set": spec.label, "stand_in": scale is not None, "scale": scale}

    def text(self, spec: SetSpec) -> dict[str, Any]:
        """The part of a job that says how its set's text is read."""
        real = self._sources[spec.label].scale is None
        path, entry = plain_text(spec.data, self.rows(spec), real)
        return self.facts(spec) | {
            "path": str(path),
            "n_features": entry.n_features,
            "positive": list(entry.positive) if entry.positive else None,
        }


def _physics(profile: Profile) -> Iterator[Task]:
    """One task for the speeds of the machine."""
    if (part := profile.physics) is None:
        return
    job = {
        "kind": "physics",
        "label": "physics",
        "set": "this machine",
        "stand_in": False,
        "caches": caches(),
        "first": 0,
        "repeats": part.repeats,
        "limit": part.limit,
    }
    yield Task("physics", part.limit, part.repeats, lambda first, count: [job])


def _epochs(profile: Profile, data: _Data) -> Iterator[Task]:
    """A task for each set: epochs of all solvers, in one process."""
    if (part := profile.epochs) is None:
        return

    def jobs(spec: SetSpec, first: int, count: int) -> list[dict[str, Any]]:
        solvers = [solver_job(named(entry)) for entry in part.solvers]
        job = data.facts(spec) | {
            "kind": "epochs",
            "label": spec.label,
            "path": str(data.rows(spec).train_path),
            "lambda": part.lambda_,
            "solvers": [each for each in solvers if find_solver(each["name"]).missing() is None],
            "first": first,
            "repeats": count,
            "limit": part.limit,
        }
        return [job]

    for each in data.available(part.sets):
        yield Task(f"epochs-{each.file_name}", part.limit, part.repeats, partial(jobs, each))


def _reading(profile: Profile, data: _Data) -> Iterator[Task]:
    """A task for each text: opening its rows, and one process for each reading."""
    if (part := profile.reading) is None:
        return
    readers = [(reader, 1) for reader in part.readers]
    if "svmbench" in part.readers:
        readers.append(("svmbench", 2))
    readings = [
        {
            "kind": "reading",
            "label": reader if threads == 1 else f"{reader}, {threads} threads",
            "reader": reader,
            "threads": threads,
        }
        for reader, threads in readers
    ]

    def jobs(spec: SetSpec, first: int, count: int) -> list[dict[str, Any]]:
        rows = str(data.rows(spec).train_path)
        opening: dict[str, Any] = {"kind": "opening", "label": "cache", "path": rows}
        opening |= {"first": first, "repeats": count}
        common = data.text(spec) | {"limit": part.limit}
        return [common | job for job in (opening, *_shuffled(readings, first, count))]

    longest = part.limit * part.repeats * len(readers)
    for each in data.texts():
        yield Task(f"reading-{each.file_name}", longest, part.repeats, partial(jobs, each))


def _growth(profile: Profile) -> Iterator[Task]:
    """A task for each kind of generated rows, which exist only while it is executed."""
    if (part := profile.growth) is None:
        return
    solver = solver_job(named(part.solver))

    def jobs(growth: Growth, first: int, count: int) -> list[dict[str, Any]]:
        return [
            {
                "kind": "growth",
                "set": growth.name,
                "stand_in": False,
                "label": f"{m:,} x {d:,}",
                "point": at,
                "path": str(rows_path(growth, m, d)),
                "solver": solver,
                "lambda": part.lambda_,
                "first": first,
                "repeats": count,
                "limit": part.limit,
            }
            for at, (m, d) in enumerate(sizes(growth))
        ]

    def prepare(growth: Growth) -> None:
        for m, d in sizes(growth):
            made_rows(growth, m, d)

    def clean(growth: Growth) -> None:
        for m, d in sizes(growth):
            drop_rows(growth, m, d)

    for growth in part.rows:
        yield Task(
            f"growth-{growth.name}",
            part.limit * len(sizes(growth)),
            part.repeats,
            partial(jobs, growth),
            partial(prepare, growth),
            partial(clean, growth),
        )


def _texts(profile: Profile, data: _Data) -> Iterator[Task]:
    """A task for each text: one process for each program, from the text to the accuracy."""
    if (part := profile.text) is None:
        return

    programs = [
        {
            "label": program.label,
            "reader": program.reader,
            "solver": solver_job(named(program.solver)),
            "threads": program.threads,
        }
        for program in part.programs
    ]

    @cache
    def common(spec: SetSpec) -> dict[str, Any]:
        text = data.text(spec)
        parsed = read_libsvm(
            Path(text["path"]), n_features=text["n_features"], positive=text["positive"]
        )
        problem = Problem(parsed, part.lambda_)
        optimum = certified_optimum(problem, OPTIMUM_GAP_SHARE * part.accuracy, part.limit)
        return text | {
            "kind": "text",
            "lambda": part.lambda_,
            "accuracy": part.accuracy,
            "reference_dual": optimum.dual,
            "reference_primal": optimum.primal,
            "limit": part.limit,
        }

    def jobs(spec: SetSpec, first: int, count: int) -> list[dict[str, Any]]:
        return [common(spec) | job for job in _shuffled(programs, first, count)]

    longest = part.limit * part.repeats * len(part.programs)
    for each in data.texts():
        yield Task(f"text-{each.file_name}", longest, part.repeats, partial(jobs, each))


def _shuffled(jobs: Sequence[dict[str, Any]], first: int, count: int) -> Iterator[dict[str, Any]]:
    """The jobs once for each repeat, in an order drawn anew each time."""
    for repeat in range(first, first + count):
        block = [job | {"first": repeat} for job in jobs]
        random.Random(repeat).shuffle(block)
        yield from block
