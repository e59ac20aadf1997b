"""What a run is, apart from the machine that carries it out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from svmbench.harness.checkpoints import CHECKPOINT_RATIO
from svmbench.harness.plan import Run
from svmbench.solvers.checked import as_plain
from svmbench.solvers.registry import find_solver
from svmbench.solvers.single_file import address, text_hash


@dataclass(frozen=True)
class Assignment:
    """Everything that must be known to carry out a run, in numbers, text, lists and dictionaries.

    Rows are named by their keys in the cache, so that a machine finds them in a cache of its own.
    The only paths are those that the user gave: of a solver in a single file, or of a program.

    Parameters
    ----------
    header : dict
        The first line of the trace (`svmbench.harness.supervise.header_of`).
    work : dict
        The solver, the problem and the stopping rules, as a worker reads them.
    solver : str
        Name of the solver.
    rows : str
        Key of the rows.
    test_rows : str or None
        Key of the test rows.
    dataset : str
        Label of the data set.
    ladder : str or None
        Equal for the runs that share a process, because their horizons form a ladder; None for a
        run that shares none.
    patience : float
        Seconds without a checkpoint after which its process is killed.
    """

    header: dict[str, Any]
    work: dict[str, Any]
    solver: str
    rows: str
    test_rows: str | None
    dataset: str
    repeat: int
    threads: int
    ladder: str | None
    patience: float


def assignment_of(run: Run, header: dict[str, Any]) -> Assignment:
    """The assignment of a planned run."""
    instance = run.instance
    dataset, lam, label = run.cell
    return Assignment(
        header=header,
        work=_work(run, header),
        solver=run.solver.name,
        rows=instance.train_path.name,
        test_rows=instance.test_path.name if instance.test_path else None,
        dataset=dataset,
        repeat=run.repeat,
        threads=run.threads,
        ladder=None if run.rung is None else repr((dataset, lam, label, run.repeat, run.threads)),
        # Between two checkpoints a run grows by this ratio.
        patience=CHECKPOINT_RATIO * header["time_limit"] + run.stop.grace,
    )


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
    }
