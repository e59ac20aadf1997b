"""One table of columns, for who writes results and who reads them; and the entry of a measure."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from small_sweep import run_sweep, sweep

from svmbench.records.columns import OF_ACCURACY, REGRETS, RUNS, TRACES
from svmbench.records.measures import Asked
from svmbench.records.read import read_results
from svmbench.records.samples import samples

ACCURACIES = (0.1, 0.01)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small sweep as it is really made; steps of 1 row, of 4, and of all."""
    solvers = ["pegasos", {"name": "pegasos", "batch": 4}, "gd", "sgd-qn"]
    stop = {"accuracy": list(ACCURACIES), "max_epochs": 50}
    wanted = sweep(solvers=solvers, stop=stop, regret=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SVMBENCH_CACHE", str(tmp_path_factory.mktemp("cache")))
        return run_sweep(wanted, tmp_path_factory.mktemp("results")).folder


def header(path: Path) -> list[str]:
    return list(pd.read_csv(path, nrows=0).columns)


def test_a_sweep_writes_the_columns_of_the_table(folder):
    of_accuracy = [f"{column.name}_{at!r}" for at in ACCURACIES for column in OF_ACCURACY]
    assert header(folder / "runs.csv") == [column.name for column in RUNS] + of_accuracy
    assert header(folder / "traces.csv") == [column.name for column in TRACES]
    assert header(folder / "regret.csv") == [column.name for column in REGRETS]


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
