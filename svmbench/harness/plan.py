"""The plan of a sweep: its runs, their identities and their order."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any

from svmbench.config import SolverSpec, Stop, Sweep
from svmbench.data.dataset import Dataset
from svmbench.errors import ConfigError
from svmbench.harness.accounts import CLOCK_RULES
from svmbench.harness.checkpoints import CHECKPOINT_RATIO, EACH_ITERATION, EACH_PASS
from svmbench.harness.environment import fingerprint
from svmbench.harness.trace import SCHEMA_VERSION
from svmbench.problem import Problem
from svmbench.records.spelling import in_file_names
from svmbench.reference.optimum import Reference
from svmbench.solvers.checked import as_plain
from svmbench.solvers.registry import find_solver

#: Characters of a run's id before its hash: with the endings of files, a name has at most 255.
LONGEST_NAME = 190

#: A data set's label, a lambda and a solver's label.
Cell = tuple[str, float, str]


@dataclass(frozen=True)
class Origin:
    """Where the rows of a data set come from, in words that another machine understands."""

    source: Any  # the argument of `svmbench.data.load.load`; it names no file of the user's own
    stand_in: float | None  # scale of the stand-in, if that is used


@dataclass(frozen=True, eq=False)
class Instance:
    """A problem with its test rows and its certified optimum."""

    problem: Problem
    test: Dataset | None
    train_path: Path  # train_path, test_path: where workers find the rows in the cache
    test_path: Path | None
    reference: Reference
    # whether a deadline stopped the reference before the gap that the sweep asks for
    hurried: bool = False
    origin: Origin | None = None  # None if the rows are of the user's own files


@dataclass(frozen=True, eq=False)
class Run:
    """One training run: an instance, a solver and a repeat."""

    instance: Instance
    solver: SolverSpec
    stop: Stop
    reference_gap: float  # relative gap that the sweep asks of its references
    # from 0; repeats with the same number share their seed across solvers, so that comparisons are
    # paired
    repeat: int
    threads: int
    contended: bool = False  # whether other runs share the machine
    horizon: float | None = None  # epochs or accuracy of this run, if its solver needs to know
    regret: bool = False  # whether its regret is computed
    # position of the horizon among its solver's, if they form a ladder; 0 is the cheapest
    rung: int | None = None
    machine: str = ""  # fingerprint of the machine that is to carry it out; empty for this machine

    @property
    def cell(self) -> Cell:
        problem = self.instance.problem
        return problem.data.name, problem.lam, self.solver.label

    @property
    def seed(self) -> int:
        digest = hashlib.sha256(f"svmbench repeat {self.repeat}".encode()).digest()
        return int.from_bytes(digest[:8], "little")

    @property
    def max_epochs(self) -> float | None:
        """Its limit of epochs, or of steps in epochs if that is less; None if it has neither."""
        m = self.instance.problem.data.n_samples
        rows = find_solver(self.solver.name)(self.solver.parameters).step_rows(m)
        limits = [self.stop.max_epochs]
        if self.stop.max_steps is not None and rows is not None:
            limits.append(self.stop.max_steps * rows / m)
        return min((limit for limit in limits if limit is not None), default=None)

    @cached_property
    def build(self) -> dict[str, Any]:
        """The solver's build when the run was planned; a program's files may change later."""
        found = find_solver(self.solver.name).build_with(self.solver.parameters)
        try:
            fits = json.loads(json.dumps(found, allow_nan=False)) == found
        except (TypeError, ValueError, RecursionError):
            fits = False
        if not fits:  # it is part of the run's identity
            raise ConfigError(
                f"solver {self.solver.name!r}: build() is wrong; add to super().build() names with "
                "texts, finite numbers, lists or mappings"
            )
        return found

    def facts(self) -> dict[str, Any]:
        """Everything that could change what this run measures."""
        solver = find_solver(self.solver.name)
        return {
            "schema_version": SCHEMA_VERSION,
            "solver": self.solver.name,
            "parameters": as_plain(self.solver.parameters),
            "problem": self.instance.problem.facts(),
            "test": self.instance.test.identity if self.instance.test else None,
            # The patience with a silent worker does not change what it measures.
            "stop": self.stop.model_dump(mode="json", exclude=self._not_in_facts()),
            "reference_gap_asked": self.reference_gap,
            "clock_rules": CLOCK_RULES,
            "checkpoint_ratio": CHECKPOINT_RATIO,
            **({"each_pass": EACH_PASS} if self.stop.checkpoints == "passes" else {}),
            **({"each_iteration": EACH_ITERATION} if solver.step == "iteration" else {}),
            "repeat": self.repeat,
            "threads": self.threads,
            "contended": self.contended,
            # Only if asked for, so that runs without it keep their identity.
            **({"regret": True} if self.regret else {}),
            "build": self.build,
            "machine": self.machine or fingerprint(),
        }

    def _not_in_facts(self) -> set[str]:
        # Usual checkpoints are left out, so that runs with them keep their identity.
        usual = self.stop.checkpoints == type(self.stop).model_fields["checkpoints"].default
        return {"grace", "checkpoints"} if usual else {"grace"}

    @cached_property
    def id(self) -> str:
        """Readable name that ends in a hash of `facts`; runs with the same id are the same run."""
        facts = json.dumps(self.facts(), sort_keys=True).encode()
        dataset, lam, label = self.cell
        horizon = "" if self.horizon is None else f"-h{self.horizon:g}"
        end = f"-{lam:g}-r{self.repeat}{horizon}"
        readable = f"{dataset}-{label}"
        if len(readable) + len(end) > LONGEST_NAME:
            digest = hashlib.sha256(readable.encode()).hexdigest()[:8]
            readable = f"{readable[: LONGEST_NAME - len(end) - len(digest)]}{digest}"
        return f"{in_file_names(readable + end)}-{hashlib.sha256(facts).hexdigest()[:16]}"


def plan_runs(
    sweep: Sweep,
    instances: Sequence[Instance],
    contended: bool = False,
    machine: str = "",
    order: int = 0,
) -> list[Run]:
    """All runs that a sweep may ask for, in the order in which they run.

    Repeats are interleaved: each block holds one repeat of every cell in a random order of the seed
    ``order``. A ladder of horizons stays together, from its lowest rung up: one worker climbs it.
    """
    runs: list[Run] = []
    for repeat in range(sweep.at_most):
        block = [
            unit
            for instance in instances
            for spec in sweep.solvers
            for unit in _units(sweep, spec, instance, repeat, contended, machine)
        ]
        random.Random(f"{order} {repeat}").shuffle(block)
        runs += chain.from_iterable(block)
    return runs


def _units(
    sweep: Sweep,
    spec: SolverSpec,
    instance: Instance,
    repeat: int,
    contended: bool,
    machine: str,
) -> list[list[Run]]:
    """The runs of one repeat of a cell: those of a ladder together, others separately."""
    ladder = find_solver(spec.name).ladder
    runs = [
        Run(
            instance,
            solver,
            sweep.stop,
            sweep.reference.gap,
            repeat,
            sweep.threads,
            contended=contended,
            horizon=horizon,
            regret=sweep.regret,
            rung=rung if ladder else None,
            machine=machine,
        )
        for rung, (solver, horizon) in enumerate(for_each_horizon(spec, sweep.stop))
    ]
    return [runs] if ladder else [[run] for run in runs]


def for_each_horizon(spec: SolverSpec, stop: Stop) -> list[tuple[SolverSpec, float | None]]:
    """The solver once for each of its horizons, which it knows; None without a horizon."""
    solver = find_solver(spec.name)(spec.parameters)
    if solver.horizon == "none":
        return [(spec, None)]
    given = getattr(spec.parameters, solver.horizon_parameter)
    horizons = solver.horizons(stop.accuracy, stop.max_epochs) if given is None else (given,)
    name = solver.horizon_parameter
    return [(_with_parameter(spec, name, value), value) for value in horizons]


def _with_parameter(spec: SolverSpec, name: str, value: float) -> SolverSpec:
    changed: dict[str, Any] = {name: value}
    parameters = replace(spec.parameters, **changed)
    return spec.model_copy(update={"parameters": parameters})
