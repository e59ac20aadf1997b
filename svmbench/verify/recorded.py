"""A run as its trace describes it, the checks that need nothing else, and their outcome."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import ValidationError

from svmbench.config import SolverSpec, Stop
from svmbench.data.dataset import Dataset
from svmbench.errors import ConfigError
from svmbench.harness.plan import Instance, Run
from svmbench.harness.supervise import CIRCUMSTANCES
from svmbench.harness.trace import COUNTS, Trace
from svmbench.problem import Loss, Problem, accuracy_of, relative_gap
from svmbench.records.bounds import lies_below
from svmbench.reference.optimum import Reference
from svmbench.solvers.checked import checked
from svmbench.solvers.registry import find_solver

Status = Literal["holds", "does not hold", "not verified"]
Kind = Literal["run", "reference", "file", "replay"]


@dataclass(frozen=True)
class Verification:
    """The outcome for one run, one reference, one file or one run that was trained again."""

    kind: Kind
    # the run's id, the data set and lambda of the reference, or the file's place in its folder
    name: str
    verdict: Status
    reason: str = ""  # what is wrong or missing; empty if it holds
    # relative deviation of the recorded P (of a run) or D (of a reference)
    deviation: float | None = None
    allowed: float | None = None  # the relative deviation that rounding may cause
    with_weights: bool = False  # whether there were weights to recompute anything from


class MissingError(Exception):
    """Something that a verification needs is missing or damaged."""


class ContradictionError(Exception):
    """A recorded figure differs from the recomputed one."""


@dataclass(frozen=True, eq=False)
class Recorded(Run):
    """A run with the facts of its trace in place of those of this machine and this version."""

    header: dict[str, Any] = field(default_factory=dict)  # the first line of the trace

    def facts(self) -> dict[str, Any]:
        """What the run's id is a hash of, as the trace has it."""
        facts = {key: value for key, value in self.header.items() if key not in CIRCUMSTANCES}
        return facts | {"repeat": self.repeat}


def recorded_run(header: dict[str, Any], rows: Callable[[str], Dataset]) -> Recorded:
    """The run that a header describes, its rows found by their identity."""
    try:
        solver = find_solver(header["solver"])
        parameters = checked(solver.schema, header["parameters"])
        # A solver that has been told its horizon may not say any more that it needs one.
        told = getattr(parameters, solver(parameters).horizon_parameter or "precision")
        named = isinstance(told, float) and f"-h{told:g}-" in header["id"]
        facts = header["problem"]
        gamma, radius = facts["gamma"], facts["l1_radius"]
        problem = Problem(
            rows(facts["data"]),
            facts["lambda"],
            Loss(facts["loss"], 1.0 if gamma is None else gamma),
            facts["bias"],
            math.inf if radius is None else radius,
        )
        lower, upper, nothing = header["reference_dual"], header["reference_primal"], np.empty(0)
        bounds = Reference(nothing, nothing, math.inf if upper is None else upper, lower, 0.0)
        test = None if header["test"] is None else rows(header["test"])
        return Recorded(
            Instance(problem, test, Path(), None, bounds),
            SolverSpec(name=header["solver"], label=header["label"], parameters=parameters),
            Stop.model_validate(header["stop"]),
            header["reference_gap_asked"],
            header["repeat"],
            header["threads"],
            contended=header["contended"],
            horizon=told if named else None,
            regret=bool(header.get("regret", False)),
            header=header,
        )
    except ConfigError:
        raise MissingError(
            f"its solver {header['solver']!r:.80} is not known here; give its plug-in with --plugin"
        ) from None
    except ValidationError as error:
        what = ", ".join(".".join(map(str, each["loc"])) for each in error.errors())
        raise MissingError(
            f"its solver does not take its {what:.80} here: another version may have made the run"
        ) from None
    except (KeyError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        reason = " ".join(str(error).split())
        raise ContradictionError(f"its first line is not that of a run ({reason})") from error


def check_identity(run: Recorded, name: str) -> None:
    """Check that a trace is the one of its name, which ends in a hash of its facts."""
    header = run.header
    if name != header["id"] or name != run.id:
        raise ContradictionError(f"its id is not that of its facts, which is {run.id}")
    if header["seed"] != run.seed or header["dataset"] != run.cell[0]:
        raise ContradictionError("its seed or its data set is not the one of its facts")
    gap = run.instance.reference.gap
    if header["reference_gap"] != (gap if math.isfinite(gap) else None):
        raise ContradictionError(f"its reference's gap is {gap!r}")


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
    for what in COUNTS if trace.points else ():
        if trace.points[0][what] < 0:
            raise ContradictionError(f"{what} is negative")
    for before, after in pairwise(trace.reached):
        for what in COUNTS:
            if after[what] < before[what]:
                raise ContradictionError(f"{what} decreases, to {after[what]!r}")
