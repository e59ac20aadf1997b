"""One table of columns, for who writes results and who reads them; and the entry of a measure."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from svmbench.config import Sweep
from svmbench.harness.sweeps import run_sweep
from svmbench.records.columns import OF_ACCURACY, REGRETS, RUNS, TRACES
from svmbench.records.measures import MEASURES, Asked, Measure
from svmbench.records.read import read_results
from svmbench.records.samples import samples
from svmbench.solvers.registry import find_solver

PAPERS = Path(__file__).resolve().parents[2] / "docs" / "papers.md"
ACCURACIES = (0.1, 0.01)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small sweep as it is really made; steps of 1 row, of 4, and of all."""
    sweep = Sweep.model_validate(
        {
            "version": 1,
            "name": "small",
            "datasets": ["tiny-separable"],
            "lambda": [0.01],
            "solvers": ["pegasos", {"name": "pegasos", "batch": 4}, "gd", "sgd-qn"],
            "stop": {"accuracy": list(ACCURACIES), "max_epochs": 50},
            "repeats": 1,
            "regret": True,
        }
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVMBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        return run_sweep(sweep, tmp_path_factory.mktemp("results")).folder


def header(path: Path) -> list[str]:
    return list(pd.read_csv(path, nrows=0).columns)


def test_a_sweep_writes_the_columns_of_the_table(folder):
    of_accuracy = [f"{column.name}_{at!r}" for at in ACCURACIES for column in OF_ACCURACY]
    assert header(folder / "runs.csv") == [column.name for column in RUNS] + of_accuracy
    assert header(folder / "traces.csv") == [column.name for column in TRACES]
    assert header(folder / "regret.csv") == [column.name for column in REGRETS]


@pytest.mark.parametrize("table", [RUNS, OF_ACCURACY, TRACES, REGRETS])
def test_every_column_is_named_once_and_described(table):
    names = [column.name for column in table]
    assert len(names) == len(set(names))
    assert all(column.meaning for column in table)
    assert all(column.unit for column in table if column.name.endswith(("_seconds", "_bytes")))


def test_a_mini_batch_is_one_step_in_what_a_sweep_writes(folder):
    results = read_results(folder)
    (groups,) = results.groups.values()
    runs = {group.label: group.runs.iloc[0] for group in groups}
    rows = {label: run["step_rows"] for label, run in runs.items()}
    m = runs["gd"]["m"]
    assert rows == {"pegasos": 1.0, "pegasos(batch=4)": 4.0, "gd": m, "sgd-qn": 1.0}
    for group in groups:
        steps = samples(group, Asked("train_steps"))[0]
        assert steps == pytest.approx(float(runs[group.label]["presentations"]) / rows[group.label])


def test_only_a_method_with_such_a_schedule_records_its_t0(folder):
    (groups,) = read_results(folder).groups.values()
    found = {group.label: list(samples(group, Asked("t0")).values()) for group in groups}
    [t0] = found.pop("sgd-qn")
    assert t0 in [10.0**k for k in range(11)]  # one of the candidates of its search
    assert not any(np.isfinite(values).any() for values in found.values())


@pytest.mark.parametrize(
    ("name", "parameters", "m", "rows"),
    [
        ("dcd", {}, 100, 1),
        ("asdca", {}, 100, 8),
        ("asdca", {}, 24, 3),
        ("minibatch-bias", {"batch": 10}, 100, 10),
        ("minibatch-bias", {"batch": 10}, 7, 7),
        ("gd-bias", {}, 100, 100),
        ("sgd-bias", {}, 100, 1),
        ("newton", {}, 100, None),
    ],
)
def test_rows_of_a_step(name, parameters, m, rows):
    solver = find_solver(name)
    assert solver(solver.schema(**parameters)).step_rows(m) == rows


def test_groups_are_made_once(folder):
    results = read_results(folder)
    assert results.groups is results.groups


def test_the_documented_entry_of_a_measure_is_the_real_one():
    text = PAPERS.read_text(encoding="utf-8")
    entry = re.search(r"```python\n(Measure\(.*?\n\))\n```", text, flags=re.DOTALL)
    assert entry
    shown = eval(entry.group(1), {"Measure": Measure})
    real = MEASURES[shown.name]
    for field in fields(Measure):
        if field.name != "formula":
            assert getattr(shown, field.name) == getattr(real, field.name)
    columns = {"epochs_to": 2.0, "m": 100.0, "step_rows": 10.0}
    assert shown.formula(columns) == real.formula(columns) == 20.0
