"""A run as its trace describes it, and the checks that need nothing but the trace."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from svmbench.config import SolverSpec, Stop, Sweep
from svmbench.data.dataset import Dataset
from svmbench.errors import ConfigError
from svmbench.harness.accounts import CLOCK_RULES, hidden_work, impossible_pace
from svmbench.harness.plan import Instance, Run, for_each_horizon
from svmbench.harness.supervise import CIRCUMSTANCES
from svmbench.harness.trace import COUNTS, Trace
from svmbench.problem import Loss, Problem, accuracy_of, relative_gap
from svmbench.records.bounds import lies_below
from svmbench.reference.optimum import Reference
from svmbench.solvers.base import Solver
from svmbench.solvers.checked import checked
from svmbench.solvers.registry import find_solver
from svmbench.verify.outcome import ContradictionError, MissingError

#: Counts that all points of a trace have, or, in traces of earlier versions, none.
ON_ALL_POINTS = ("visits", "switches")

#: Counts of which one grows from each checkpoint to the next, unless the run can only end.
PROGRESS = ("presentations", "updates", "nonzeros", "visits")

#: Ends that a worker records itself, after it has kept the weights if it was asked to.
ENDED_BY_ITSELF = ("converged", "max_steps", "diverged")


@dataclass(frozen=True, eq=False)
class Recorded(Run):
    """A run with the facts of its trace in place of those of this machine and this version."""

    header: dict[str, Any] = field(default_factory=dict)  # the first line of the trace

    def facts(self) -> dict[str, Any]:
        """What the run's id is a hash of, as the trace has it."""
        facts = {key: value for key, value in self.header.items() if key not in CIRCUMSTANCES}
        return facts | {"repeat": self.repeat}


def recorded_run(header: dict[str, Any], data: Dataset, test: Dataset | None) -> Recorded:
    """The run that a header describes.

    Raises MissingError if this version does not know its solver or the solver's parameters. Raises
    ContradictionError if it is not a header that a run writes.
    """
    try:
        solver = find_solver(header["solver"])
    except ConfigError:
        raise MissingError(
            f"its solver {header['solver']!r:.80} is not known here; give its plug-in with --plugin"
        ) from None
    try:
        parameters = checked(solver.schema, header["parameters"])
        spec = SolverSpec(name=header["solver"], label=header["label"], parameters=parameters)
        # A solver that has been told its horizon may not say any more that it needs one.
        told = getattr(parameters, solver(parameters).horizon_parameter or "precision")
        named = isinstance(told, float) and f"-h{told:g}-" in header["id"]
        return Recorded(
            Instance(_problem(header["problem"], data), test, Path(), None, _reference(header)),
            spec,
            Stop.model_validate(header["stop"]),
            header["reference_gap_asked"],
            header["repeat"],
            header["threads"],
            contended=header["contended"],
            horizon=told if named else None,
            regret=bool(header.get("regret", False)),
            header=header,
        )
    except (KeyError, TypeError, ValueError, ArithmeticError) as error:
        reason = " ".join(str(error).split())
        raise ContradictionError(f"its first line is not that of a run ({reason})") from error


def _problem(facts: dict[str, Any], data: Dataset) -> Problem:
    gamma, radius = facts["gamma"], facts["l1_radius"]
    return Problem(
        data,
        facts["lambda"],
        Loss(facts["loss"], 1.0 if gamma is None else gamma),
        facts["bias"],
        math.inf if radius is None else radius,
    )


def _reference(header: dict[str, Any]) -> Reference:
    upper, nothing = header["reference_primal"], np.empty(0)
    return Reference(
        nothing, nothing, math.inf if upper is None else upper, header["reference_dual"], 0.0
    )


def check_identity(run: Recorded, name: str) -> None:
    """Check that a trace is the one of its name, which ends in a hash of its facts."""
    header = run.header
    if name != header["id"] or name != run.id:
        raise ContradictionError(f"its id is not that of its facts, which is {run.id}")
    if header["seed"] != run.seed or header["dataset"] != run.cell[0]:
        raise ContradictionError("its seed or its data set is not the one of its facts")
    gap = _reference(header).gap
    if header["reference_gap"] != (gap if math.isfinite(gap) else None):
        raise ContradictionError(f"its reference's gap is {gap!r}")
    if not 0.0 < header["time_limit"] <= run.stop.time_limit:
        raise ContradictionError(f"its time limit is {header['time_limit']!r}")


def check_points(run: Recorded, trace: Trace) -> None:
    """Check what the points of a trace say of each other, of the bounds and of its end."""
    lower = trace.header["reference_dual"]
    for number, point in enumerate(trace.points):
        primal, dual = point["primal"], point["dual"]
        if primal is None:
            continue
        below = lies_below(primal, lower)
        refused = trace.state == "failed" and point["accuracy"] is None
        if not refused and run.instance.problem.is_below(lower, primal, None):
            raise ContradictionError(f"P is {primal!r} at point {number}, below D_ref {lower!r}")
        known = {
            "accuracy": 0.0 if below else accuracy_of(primal, lower, run.stop.distance),
            "gap": math.nan if dual is None else relative_gap(primal, dual),
        }
        for what, value in known.items():
            if below and what == "accuracy" and point[what] is None:
                continue  # it has reached no accuracy
            if point[what] != (value if math.isfinite(value) else None):
                raise ContradictionError(
                    f"its {what} is {value!r} at point {number}, recorded as {point[what]!r}"
                )
    _check_optional(trace.points)
    _check_refusal(trace)
    _check_times(run, trace)
    for before, after in pairwise(trace.reached):  # a run may have been refused for this
        for what in (*COUNTS, *ON_ALL_POINTS):
            if what in before and after[what] < before[what]:
                raise ContradictionError(f"{what} decreases, to {after[what]!r}")
    _check_end(run, trace)


def _check_optional(points: list[dict[str, Any]]) -> None:
    """Check the fields of points that enter no table everywhere: all points have them, or none."""
    for point in points:
        if point.get("kind") != "point":
            raise ContradictionError(f"it has a line of kind {point.get('kind')!r:.80}")
        for what in (*ON_ALL_POINTS, "stopped"):
            if (what in point) != (what in points[0]):
                raise ContradictionError(f"some of its points have {what}, and others have not")
        if any(what in point and point[what] is None for what in ON_ALL_POINTS):
            raise ContradictionError("some of its points have an empty count")
        if not isinstance(point.get("stopped"), bool | None):
            raise ContradictionError(f"its points have {point['stopped']!r:.80} as stopped")


def _check_refusal(trace: Trace) -> None:
    """Check that only a run that has failed for a reason is refused: its points do not count."""
    refused = trace.end.get("refused", False)
    if not isinstance(refused, bool):
        raise ContradictionError(f"it has {refused!r:.80} as refused")
    if refused and not (trace.state == "failed" and trace.end.get("reason")):
        raise ContradictionError(f"it is refused, and recorded as {trace.state} or without reason")


def _check_times(run: Recorded, trace: Trace) -> None:
    """Check that a run would not have been refused for its own times and counts."""
    points, end = trace.reached, trace.end
    if not points:
        return
    for what in COUNTS:
        if points[0][what] < 0:
            raise ContradictionError(f"{what} is negative")
    if trace.header.get("clock_rules") != CLOCK_RULES:  # it was judged by others
        return
    foreign = find_solver(run.solver.name).foreign
    m, one_pass = run.instance.problem.data.n_samples, points[0].get("pass_wall")
    for point in points:
        visits = point.get("visits", point["presentations"]) / m
        pace = "" if foreign or not one_pass else impossible_pace(visits, point["wall"], one_pass)
        if pace:
            raise ContradictionError(f"it {pace}, and was not refused")
    trained, known = points[-1]["wall"], end.get("elapsed_seconds") is not None
    if end.get("background_cpu_seconds") is not None and (hidden := hidden_work(end, trained)):
        raise ContradictionError(f"it {hidden}, and was not refused")
    own = trained - (end.get("charged_seconds") or 0.0)
    if known and not foreign and own > end["elapsed_seconds"] * (1.0 + 1e-9) + 1e-6:
        raise ContradictionError(
            f"it has trained for {own!r} s, and has taken {end['elapsed_seconds']!r} s"
        )


def _check_end(run: Recorded, trace: Trace) -> None:
    """Check that a run ended where its points say that it had to end."""
    points, state = trace.points, trace.state
    if trace.end.get("refused") or not points:
        return
    shows_bound = any(point["dual"] is not None for point in points)
    met = [_meets_targets(run, point, shows_bound) for point in points]
    last = points[-1]
    if any(met[:-1]):
        raise ContradictionError(f"its targets are met at point {met.index(True)}, and it went on")
    if state == "converged" and not (met[-1] and last["primal"] is not None):
        raise ContradictionError(
            f"it is recorded as converged, with an accuracy of {last['accuracy']!r}"
        )
    if state == "diverged" and last["primal"] is not None:
        raise ContradictionError(f"it is recorded as diverged, with P = {last['primal']!r}")
    by_itself = "evaluation_seconds" in trace.end  # the sweep has not killed its worker
    if state in ("max_steps", "time_limit") and met[-1] and by_itself:
        raise ContradictionError(f"it is recorded as {state}, and its targets are met")
    if state == "max_steps" and by_itself and not _meets_limit(run, points):
        raise ContradictionError("it is recorded as max_steps, and has met no limit of steps")
    limit = trace.header["time_limit"]
    if state == "time_limit" and by_itself and last["wall"] < limit * (1.0 - 1e-9):
        raise ContradictionError(
            f"it is recorded as time_limit, after {last['wall']!r} s of {limit!r}"
        )


def _meets_limit(run: Recorded, points: list[dict[str, Any]]) -> bool:
    """Whether a run has met a limit of its steps, or may have been unable to go on."""
    if find_solver(run.solver.name).exhausted is not Solver.exhausted:
        return True
    m, last = run.instance.problem.data.n_samples, points[-1]
    epochs, updates = run.max_epochs, run.stop.max_updates
    counts = [{key: point.get(key) for key in PROGRESS} for point in points[-2:]]
    return (
        (epochs is not None and last["presentations"] >= _presentations(epochs, m))
        or (updates is not None and last["updates"] >= updates * m)
        or (len(counts) == 2 and counts[0] == counts[1])
    )


def _presentations(epochs: float, m: int) -> float:
    """How many presentations a limit of epochs is; +inf if they exceed all numbers."""
    wanted = round(epochs * m, 6)
    return math.ceil(wanted) if math.isfinite(wanted) else math.inf


def _meets_targets(run: Recorded, point: dict[str, Any], shows_bound: bool) -> bool:
    """Whether a run ends at a point because of its targets, or of its horizon."""
    stop, solver = run.stop, find_solver(run.solver.name)(run.solver.parameters)
    stopped = point.get("stopped")
    if solver.horizon != "none" and not solver.anytime:
        if solver.horizon == "accuracy":
            return stopped is True
        epochs = getattr(solver.parameters, solver.horizon_parameter)
        m = run.instance.problem.data.n_samples
        return bool(point["presentations"] >= _presentations(epochs, m))
    targets = []
    if stop.accuracy:
        accuracy = point["accuracy"]
        targets.append(accuracy is not None and accuracy <= min(stop.accuracy))
    if stop.gap is not None and shows_bound:
        targets.append(point["gap"] is not None and point["gap"] <= stop.gap)
    if stop.own and stopped is not None:
        targets.append(stopped)
    return bool(targets) and all(targets)


def lacks_weights(trace: Trace) -> bool:
    """Whether a run was asked for its weights, ended by itself, and names none."""
    ended = trace.state in ENDED_BY_ITSELF or "evaluation_seconds" in trace.end
    return bool(trace.header.get("keep_weights")) and ended and not trace.weights


def misfit(run: Run, sweep: Sweep) -> str:
    """In a word, what in a run its sweep does not ask for; empty if it is a run of the sweep."""
    problem = run.instance.problem
    cells = [spec for spec in sweep.solvers if spec.label == run.solver.label]
    asked = [each for cell in cells for each in for_each_horizon(cell, sweep.stop)]
    wanted = {
        "data set": run.cell[0] in [dataset.label for dataset in sweep.datasets],
        "lambda": problem.lam in sweep.lambdas_for(problem.data.n_samples),
        "loss": _has_class(problem, sweep),
        "solver": (run.solver, run.horizon) in asked,
        "stop": run.stop.model_dump(exclude={"grace"}) == sweep.stop.model_dump(exclude={"grace"}),
        "reference": run.reference_gap == sweep.reference.gap,
        "threads": run.threads == sweep.threads,
        "regret": run.regret == sweep.regret,
        "repeat": 0 <= run.repeat < sweep.at_most,
    }
    return ", ".join(what for what, fits in wanted.items() if not fits)


def _has_class(problem: Problem, sweep: Sweep) -> bool:
    """Whether a problem has the loss, the bias and the constraint that its sweep asks for."""
    radius = math.inf if sweep.constraint is None else sweep.constraint.l1
    try:
        asked = Problem(problem.data, problem.lam, sweep.loss.loss, sweep.bias, radius)
    except ValueError:  # no problem of these rows, as a free bias is none of a single class
        return False
    return problem.facts() == asked.facts()
