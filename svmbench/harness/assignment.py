"""What a run is, apart from the machine that carries it out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from svmbench.harness.checkpoints import CHECKPOINT_RATIO
from svmbench.harness.plan import Run
from svmbench.reference.regret import REPLAY_SECONDS, SECONDS
from svmbench.solvers.checked import as_plain
from svmbench.solvers.registry import find_solver
from svmbench.solvers.single_file import address, is_ours, text_hash

#: The process that brief runs of our own solvers share.
BRIEF = "brief"


@dataclass(frozen=True)
class Assignment:
    """Everything that must be known to carry out a run, in numbers, text, lists and dictionaries.

    Rows are named by their keys in the cache, so that a machine finds them in a cache of its own.
    The only paths are those that the user gave: of a solver in a single file, or of a program.
    """

    header: dict[str, Any]  # the first line of the trace (`svmbench.harness.supervise.header_of`)
    work: dict[str, Any]  # the solver, the problem and the stopping rules, as a worker reads them
    solver: str  # name of the solver
    rows: str  # key of the rows
    test_rows: str | None  # key of the test rows
    dataset: str  # label of the data set
    repeat: int
    threads: int
    # equal for the runs that may share a process: those of one ladder, and brief ones. None for a
    # run that has a process of its own.
    process: str | None
    patience: float  # seconds without a checkpoint after which its process is killed


def assignment_of(run: Run, header: dict[str, Any], brief: bool = False) -> Assignment:
    """The assignment of a planned run, which may share a process with others if it is brief."""
    instance = run.instance
    return Assignment(
        header=header,
        work=_work(run, header),
        solver=run.solver.name,
        rows=instance.train_path.name,
        test_rows=instance.test_path.name if instance.test_path else None,
        dataset=run.cell[0],
        repeat=run.repeat,
        threads=run.threads,
        process=_process(run, brief),
        # Between two checkpoints a run grows by this ratio.
        patience=CHECKPOINT_RATIO * header["time_limit"]
        + run.stop.grace
        + (REPLAY_SECONDS + SECONDS) * run.regret,
    )


def own_solvers(runs: Iterable[Run]) -> dict[str, dict[str, Any]]:
    """The solvers of ours among those of the runs, by their address, with parameters of a run."""
    specs = {run.solver.name: run.solver for run in runs}
    found = {address(find_solver(name)): spec for name, spec in specs.items()}
    return {at: as_plain(spec.parameters) for at, spec in found.items() if is_ours(at)}


def own_solver_of(assignment: Assignment) -> dict[str, dict[str, Any]]:
    """The same of one run, as its work says it."""
    at = assignment.work["solver_class"]
    return {at: assignment.work["parameters"]} if is_ours(at) else {}


def _process(run: Run, brief: bool) -> str | None:
    if run.rung is not None:
        return repr((*run.cell, run.repeat, run.threads))
    shares = brief and run.threads == 1 and run.stop.memory_limit is None
    return BRIEF if shares and is_ours(address(find_solver(run.solver.name))) else None


def _work(run: Run, header: dict[str, Any]) -> dict[str, Any]:
    problem, solver = run.instance.problem, find_solver(run.solver.name)
    return {
        "solver_class": address(solver),
        "solver_text": text_hash(solver),
        "parameters": as_plain(run.solver.parameters),
        "lambda": problem.lam,
        "loss": {"name": problem.loss.name, "gamma": problem.loss.gamma},
        "bias": problem.bias,
        "l1_radius": problem.facts()["l1_radius"],
        "stop": run.stop.model_dump(mode="json", exclude={"max_steps"})
        | {"time_limit": header["time_limit"], "max_epochs": run.max_epochs},
        "regret": run.regret,
        "keep_weights": header["keep_weights"],
        "reference_dual": header["reference_dual"],
        "reference_primal": header["reference_primal"],
        "seed": run.seed,
        "threads": run.threads,
        "reuses": run.rung is not None,
    }
