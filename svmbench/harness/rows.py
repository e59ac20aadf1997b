"""What the tables of a results folder say of a run: its rows of runs.csv, traces.csv, regret.csv.

They follow from the run and its trace alone, so that `svmbench verify` can write them again.
"""

from __future__ import annotations

import math
from typing import Any

from svmbench.harness.plan import Run
from svmbench.harness.trace import OFF_CLOCK, Trace
from svmbench.records.columns import SCHEMA_VERSION
from svmbench.records.disturbance import disturbances
from svmbench.records.off_clock import off_clock
from svmbench.solvers.registry import find_solver


def run_row(run: Run, trace: Trace) -> dict[str, Any]:
    """One row of runs.csv; units are in the column names, nothing is inf."""
    problem, reference = run.instance.problem, run.instance.reference
    assert reference is not None
    data = problem.data
    # What the run was judged by: a search for an optimum may have found a better one since.
    bounds = {
        "reference_dual": reference.dual,
        "reference_primal": reference.primal,
        "reference_gap": reference.gap if math.isfinite(reference.gap) else None,
    }
    bounds = {name: trace.header.get(name, bound) for name, bound in bounds.items()}
    solver = find_solver(run.solver.name)
    last = trace.points[-1] if trace.points else {}
    row = {
        "schema_version": SCHEMA_VERSION,
        "id": run.id,
        "dataset": data.name,
        "data_source": data.provenance.source,
        "data_sha256": data.provenance.sha256,
        "data_transforms": "; ".join(data.provenance.transforms),
        "stand_in": data.provenance.stand_in,
        "solver": run.solver.name,
        "label": run.solver.label,
        "colour": solver.colour,
        "loss": problem.loss.name,
        "bias": problem.bias,
        "l1_radius": problem.facts()["l1_radius"],
        "lambda": problem.lam,
        "C": 1.0 / (problem.lam * data.n_samples),
        "repeat": run.repeat,
        "horizon": run.horizon,
        "seed": run.seed,
        "precision": run.solver.parameters.precision,
        "state": trace.state,
        "reason": trace.end.get("reason"),
        "remark": trace.end.get("remark"),
        "m": data.n_samples,
        "d": data.n_features,
        "nnz": data.nnz,
        "data_bytes": data.nbytes + (run.instance.test.nbytes if run.instance.test else 0),
        "step_rows": solver(run.solver.parameters).step_rows(data.n_samples),
        "threads": run.threads,
        "contended": run.contended,
        **bounds,
        "setup_seconds": trace.points[0].get("setup_wall") if trace.points else None,
        "train_seconds": last.get("wall"),
        "train_cpu_seconds": last.get("cpu"),
        "conversion_seconds": trace.points[0].get("conversion_wall") if trace.points else None,
        "pass_seconds": trace.points[0].get("pass_wall") if trace.points else None,
        "involuntary_switches": last.get("switches"),
        "elapsed_seconds": trace.end.get("elapsed_seconds"),
        "stolen_seconds": trace.end.get("stolen_seconds"),
        "others_cpu_seconds": trace.end.get("others_cpu_seconds"),
        **{name: trace.end.get(name) for name in OFF_CLOCK},
        "process_cpu_seconds": trace.end.get("process_cpu_seconds"),
        "load_average": trace.header.get("load_average"),
        "limit_seconds": trace.header.get("time_limit", run.stop.time_limit),
        "max_epochs": run.max_epochs,
        "presentations": last.get("presentations"),
        "epochs": last["presentations"] / data.n_samples if last else None,
        "data_passes": _data_passes(last, data.n_samples),
        "updates": last.get("updates"),
        "nonzeros": last.get("nonzeros"),
        "largest_scaling": max(
            (point["largest_scaling"] for point in trace.points if "largest_scaling" in point),
            default=None,
        ),
        "t0": trace.end.get("t0"),
        "primal": last.get("primal"),
        "accuracy": last.get("accuracy"),
        "dual": last.get("dual"),
        "gap": last.get("gap"),
        "train_error": last.get("train_error"),
        "test_error": last.get("test_error"),
        "evaluation_seconds": trace.end.get("evaluation_seconds"),
        "peak_memory_bytes": trace.end.get("peak_memory_bytes"),
        "started": trace.header.get("started"),
        "node": trace.header.get("node"),
    }
    known = {name: math.nan if value is None else value for name, value in row.items()}
    row["disturbed"] = "; ".join(disturbances(known)) or None
    row["off_clock"] = "; ".join(off_clock(known)) or None
    for threshold in run.stop.accuracy:
        row |= _hit(trace.reached, threshold, data.n_samples)
    return row


def trace_rows(run: Run, trace: Trace) -> list[dict[str, Any]]:
    """A run's rows of traces.csv; none if the run was refused."""
    dataset, lam, label = run.cell
    m = run.instance.problem.data.n_samples
    return [
        {
            "id": run.id,
            "dataset": dataset,
            "solver": run.solver.name,
            "label": label,
            "lambda": lam,
            "repeat": run.repeat,
            "point": number,
            "presentations": point["presentations"],
            "epochs": point["presentations"] / m,
            "updates": point["updates"],
            "nonzeros": point["nonzeros"],
            "wall_seconds": point["wall"],
            "cpu_seconds": point["cpu"],
            "primal": point["primal"],
            "accuracy": point["accuracy"],
            "dual": point["dual"],
            "gap": point["gap"],
            "train_error": point["train_error"],
            "test_error": point["test_error"],
        }
        for number, point in enumerate(trace.reached)
    ]


def regret_rows(run: Run, trace: Trace) -> list[dict[str, Any]]:
    """A run's rows of regret.csv; none if the run was refused."""
    dataset, lam, label = run.cell
    return [
        {
            "id": run.id,
            "dataset": dataset,
            "solver": run.solver.name,
            "label": label,
            "lambda": lam,
            "repeat": run.repeat,
            "presentations": record["presentations"],
            "online_cost": record["online_cost"],
            "regret_low": record["regret_low"],
            "regret_high": record["regret_high"],
            "regret_bound": record["regret_bound"],
        }
        for record in ([] if trace.end.get("refused") else trace.regrets)
    ]


def _data_passes(point: dict[str, Any] | None, m: int) -> float | None:
    """Passes over the data at a point; None without a point, and for traces that lack them."""
    visits = (point or {}).get("visits")
    return None if visits is None else visits / m


def _hit(points: list[dict[str, Any]], threshold: float, m: int) -> dict[str, Any]:
    """First checkpoint that reached the accuracy, and the last that did not."""
    within = [p["accuracy"] is not None and p["accuracy"] <= threshold for p in points]
    first = points[within.index(True)] if True in within else None
    above = [p["wall"] for p, reached in zip(points, within, strict=True) if not reached]
    return {
        f"seconds_to_{threshold!r}": first and first["wall"],
        f"cpu_seconds_to_{threshold!r}": first and first["cpu"],
        f"epochs_to_{threshold!r}": first and first["presentations"] / m,
        f"data_passes_to_{threshold!r}": _data_passes(first, m),
        f"primal_at_{threshold!r}": first and first["primal"],
        f"last_above_seconds_{threshold!r}": above[-1] if above else None,
    }
