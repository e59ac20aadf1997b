"""Several runs a repeat, one for each horizon, make one value and one curve."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from svmbench.records.groups import Group
from svmbench.records.measures import MEASURES
from svmbench.records.read import Results, read_results
from svmbench.report.curves import median_curve, points_of, trajectories
from svmbench.report.markup import to_markdown
from svmbench.report.tables import build_tables

HORIZONS = (1.0, 8.0, 64.0)

#: Accuracy at the end of each horizon's run, by repeat. None: it diverged.
ENDS = {0: (0.2, 0.05, 0.0005), 1: (0.09, 0.008, 0.02), 2: (0.3, 0.05, None)}


@pytest.fixture
def results(make_results, tmp_path: Path) -> Results:
    """'sgd-m' beside the others, as a solver that is run once for each horizon."""
    folder = make_results(
        tmp_path / "r",
        repeats=3,
        lambdas=(1e-4,),
        labels=("dcd", "sgd-m"),
        datasets=(("adult", False),),
    )
    runs, points = pd.read_csv(folder / "runs.csv"), pd.read_csv(folder / "traces.csv")
    runs["horizon"] = math.nan
    rows, ends = [], []
    for _, run in runs[runs["label"] == "sgd-m"].iterrows():
        for epochs, accuracy in zip(HORIZONS, ENDS[run["repeat"]], strict=True):
            rows.append(_run_for(run.copy(), epochs, accuracy))
            start = points[points["id"] == run["id"]].iloc[0]
            ends += [_point(start.copy(), rows[-1], 0), _point(start.copy(), rows[-1], 1)]
    pd.concat([runs[runs["label"] != "sgd-m"], pd.DataFrame(rows)]).to_csv(
        folder / "runs.csv", index=False
    )
    pd.concat([points[points["label"] != "sgd-m"], pd.DataFrame(ends)]).to_csv(
        folder / "traces.csv", index=False
    )
    return read_results(folder)


def _run_for(run: pd.Series, epochs: float, accuracy: float | None) -> pd.Series:
    run["id"] = f"{run['id']}-h{epochs:g}"
    run["horizon"], run["epochs"], run["train_seconds"] = epochs, epochs, epochs / 100
    run["train_cpu_seconds"] = epochs / 100
    run["state"] = "converged" if accuracy else "diverged"
    run["accuracy"], run["primal"] = accuracy, accuracy and 0.35 * (1 + accuracy)
    for asked in (0.1, 0.01, 0.001):
        reached = accuracy is not None and accuracy <= asked
        run[f"seconds_to_{asked!r}"] = epochs / 100 if reached else math.nan
        run[f"epochs_to_{asked!r}"] = epochs if reached else math.nan
        run[f"last_above_seconds_{asked!r}"] = 0.5
    return run


def _point(point: pd.Series, run: pd.Series, number: int) -> pd.Series:
    point["id"], point["point"] = run["id"], number
    point["epochs"], point["wall_seconds"] = number * run["epochs"], number * run["train_seconds"]
    point["accuracy"] = run["accuracy"] if number else 1.9
    point["primal"] = run["primal"] if number else 1.0
    return point


@pytest.fixture
def group(results) -> Group:
    (group,) = (g for g in results.groups["adult", False] if g.label == "sgd-m")
    return group


def test_value_of_a_repeat_is_the_least_over_its_horizons(group):
    assert group.separate_runs
    assert len(group.runs) == 9
    assert list(group.repeats["repeat"]) == [0, 1, 2]
    assert group.column("seconds_to_0.1") == [0.08, 0.01, 0.08]
    assert group.column("epochs_to_0.01")[:2] == [64.0, 8.0]
    assert math.isnan(group.column("epochs_to_0.01")[2])
    assert group.column("accuracy") == [0.0005, 0.008, 0.05]
    assert group.column("train_seconds") == [0.64] * 3
    assert group.column("train_cpu_seconds") == [0.64] * 3


def test_state_of_a_repeat_is_of_the_whole(group):
    assert list(group.repeats["state"]) == ["converged", "horizon", "horizon"]


def test_tables_count_repeats_and_say_how(results):
    tables = {table.kind: table for table in build_tables(results)}
    record = tables["time"].records.query("label == 'sgd-m' and accuracy == 0.001").iloc[0]
    assert (record["reached"], record["runs"], record["horizons"]) == (1, 3, 3)
    assert record["relapsed_runs"] == 0
    text = to_markdown(tables["time"])
    rows = [line for line in text.splitlines() if line.startswith("|") and "sgd-m" in line]
    assert "not reached, 1 of 3" in " ".join(rows)
    assert "sgd-m: the steps depend on where the run is to end" in text
    assert "of 4 rows" not in text  # no row lacks a repeat
    assert "9 runs" not in text
    objective = to_markdown(tables["objective"])
    assert "8 converged, 1 diverged" in objective
    assert "sgd-m: each repeat is several runs" in objective


def test_curve_joins_the_ends_of_the_runs(results, group):
    points = points_of(results.traces, group)
    traces = trajectories(points, group, "epochs", MEASURES["accuracy"])
    assert [list(trace.x) for trace in traces] == [[1, 8, 64], [1, 8, 64], [1, 8]]
    assert [list(trace.y) for trace in traces] == [
        [0.2, 0.05, 0.0005],
        [0.09, 0.008, 0.02],
        [0.3, 0.05],
    ]
    curve = median_curve(traces)
    assert curve is not None
    assert curve.fate == "limit"


def test_a_limit_met_on_the_way_is_the_state_of_the_repeat(results, group):
    runs = group.runs.copy()
    runs.loc[(runs["repeat"] == 1) & (runs["horizon"] == 64.0), "state"] = "time_limit"
    changed = Group("adult", False, 1e-4, "sgd-m", "sgd-m", runs)
    assert list(changed.repeats["state"]) == ["converged", "time_limit", "horizon"]


@pytest.mark.parametrize(
    ("column", "value"),
    [
        *[(f"{what}_to_0.01", 2.0) for what in ("seconds", "cpu_seconds", "epochs", "data_passes")],
        *[(what, 4.0) for what in ("train_seconds", "train_cpu_seconds", "epochs")],
        ("data_passes", 4.0),
        ("last_above_seconds_0.01", math.nan),
        ("setup_seconds", 3.0),
        ("primal", 3.0),
    ],
)
def test_what_a_repeat_of_several_runs_has_in_each_column(column, value):
    runs = pd.DataFrame(
        {
            "repeat": 0, "state": "horizon", "horizon": [1.0, 2.0, 4.0],
            "accuracy": [0.3, 0.1, 0.2], column: [4.0, 3.0, 2.0],
        }
    )  # fmt: skip
    (found,) = Group("adult", False, 1e-3, "pegasos", "pegasos", runs).column(column)
    assert found == value or (math.isnan(found) and math.isnan(value))
