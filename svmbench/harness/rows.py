"""What the tables of a results folder say of a run: its rows of runs.csv, traces.csv, regret.csv.

They follow from the run and its trace alone, so that `svmbench verify` can write them again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from svmbench.harness.plan import Run
from svmbench.harness.trace import Trace
from svmbench.records.columns import (
    OF_ACCURACY,
    REGRETS,
    RUNS,
    SCHEMA_VERSION,
    TRACES,
    Column,
    fields,
    of_accuracy,
    recorded,
)
from svmbench.records.disturbance import disturbances, off_clock
from svmbench.solvers.registry import find_solver

_HEADER, _END = fields(RUNS, "header"), fields(RUNS, "end")
_FIRST, _LAST = fields(RUNS, "first point"), fields(RUNS, "last point")
_POINT, _REGRET = fields(TRACES, "own"), fields(REGRETS, "own")


def run_row(run: Run, trace: Trace) -> dict[str, Any]:
    """One row of runs.csv; units are in the column names, nothing is inf."""
    m = run.instance.problem.data.n_samples
    last = trace.points[-1] if trace.points else {}
    # The header has what the run was judged by: a search for an optimum may have found a better
    # one since.
    row = _in_order(
        RUNS,
        _facts(run)
        | recorded(_HEADER, trace.header)
        | recorded(_FIRST, trace.points[0] if trace.points else {})
        | recorded(_LAST, last)
        | recorded(_END, trace.end)
        | {
            "state": trace.state,
            "epochs": last["presentations"] / m if last else None,
            "data_passes": _data_passes(last, m),
        },
    )
    known = {name: math.nan if value is None else value for name, value in row.items()}
    row["disturbed"] = "; ".join(disturbances(known)) or None
    row["off_clock"] = "; ".join(off_clock(known)) or None
    for accuracy in run.stop.accuracy:
        row |= _hit(trace.reached, accuracy, m)
    return row


def _facts(run: Run) -> dict[str, Any]:
    """What is known of a run without its trace."""
    problem, reference = run.instance.problem, run.instance.reference
    data = problem.data
    solver = find_solver(run.solver.name)
    return {
        **_whose(run),
        "schema_version": SCHEMA_VERSION,
        "data_source": data.provenance.source,
        "data_sha256": data.provenance.sha256,
        "data_transforms": "; ".join(data.provenance.transforms),
        "stand_in": data.provenance.stand_in,
        "loss": problem.loss.name,
        "bias": problem.bias,
        "l1_radius": problem.facts()["l1_radius"],
        "C": 1.0 / (problem.lam * data.n_samples),
        "horizon": run.horizon,
        "seed": run.seed,
        "precision": run.solver.parameters.precision,
        "m": data.n_samples,
        "d": data.n_features,
        "nnz": data.nnz,
        "data_bytes": data.nbytes + (run.instance.test.nbytes if run.instance.test else 0),
        "step_rows": solver(run.solver.parameters).step_rows(data.n_samples),
        "threads": run.threads,
        "contended": run.contended,
        "reference_dual": reference.dual,
        "reference_primal": reference.primal,
        "reference_gap": reference.gap if math.isfinite(reference.gap) else None,
        "limit_seconds": run.stop.time_limit,
        "max_epochs": run.max_epochs,
    }


def _whose(run: Run) -> dict[str, Any]:
    """The columns that identify a run in every table of points."""
    dataset, lam, label = run.cell
    return {
        "id": run.id,
        "dataset": dataset,
        "solver": run.solver.name,
        "label": label,
        "lambda": lam,
        "repeat": run.repeat,
    }


def trace_rows(run: Run, trace: Trace) -> list[dict[str, Any]]:
    """A run's rows of traces.csv; none if the run was refused."""
    m = run.instance.problem.data.n_samples
    whose = _in_order(TRACES, _whose(run))
    return [
        whose | recorded(_POINT, point) | {"point": number, "epochs": point["presentations"] / m}
        for number, point in enumerate(trace.reached)
    ]


def regret_rows(run: Run, trace: Trace) -> list[dict[str, Any]]:
    """A run's rows of regret.csv; none if the run was refused."""
    return [
        _in_order(REGRETS, _whose(run) | recorded(_REGRET, record))
        for record in ([] if trace.end.get("refused") else trace.regrets)
    ]


def _in_order(columns: Sequence[Column], facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts as a row of a table: None where one is unknown."""
    return {column.name: facts.get(column.name) for column in columns}


def _data_passes(point: dict[str, Any] | None, m: int) -> float | None:
    """Passes over the data at a point; None without a point."""
    return point["visits"] / m if point else None


def _hit(points: list[dict[str, Any]], accuracy: float, m: int) -> dict[str, Any]:
    """First checkpoint that reached the accuracy, and the last that did not."""
    within = [p["accuracy"] is not None and p["accuracy"] <= accuracy for p in points]
    first = points[within.index(True)] if True in within else None
    above = [p["wall"] for p, reached in zip(points, within, strict=True) if not reached]
    facts = {
        "seconds_to": first and first["wall"],
        "cpu_seconds_to": first and first["cpu"],
        "epochs_to": first and first["presentations"] / m,
        "data_passes_to": _data_passes(first, m),
        "primal_at": first and first["primal"],
        "last_above_seconds": above[-1] if above else None,
    }
    return {
        of_accuracy(name, accuracy): value for name, value in _in_order(OF_ACCURACY, facts).items()
    }
