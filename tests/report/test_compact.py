"""`svmbench table`: the medians of the sweep's own tables, in a column of a paper."""

from __future__ import annotations

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.records.read import read_results
from svmbench.report.compact import as_latex, compact_table


@pytest.fixture(scope="module")
def folder(make_results, tmp_path_factory):
    return make_results(
        tmp_path_factory.mktemp("compact") / "r", repeats=3, lambdas=(1e-4, 1e-5),
        labels=("pegasos", "sgd-m", "sgd-m(schedule=blocks)", "dcd", "svmperf"),
    )  # fmt: skip


def table(folder, *arguments):
    return CliRunner().invoke(main, ["table", str(folder), *map(str, arguments)])


def test_the_numbers_are_the_medians_of_the_runs(folder):
    said = table(folder, "--accuracy", "1e-2", "--json")
    assert said.exit_code == 0, said.output
    seconds = json.loads(said.stdout)["seconds"]
    runs = pd.read_csv(folder / "runs.csv").query("label == 'dcd' and dataset == 'adult'")
    medians = runs.groupby("lambda")["seconds_to_0.01"].median()
    assert seconds["dcd"]["adult, λ = 1e-4"] == pytest.approx(medians[1e-4])
    assert set(seconds["dcd"]) == {
        f"{name}, λ = {lam}" for name in ("adult", "covtype (STAND-IN)") for lam in ("1e-4", "1e-5")
    }


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--accuracy", "0.5"), "no ε = 0.5; there are 0.1, 0.01, 0.001"),
        (("--solvers", "dcf"), "no solver 'dcf'; did you mean 'dcd'?"),
        (("--datasets", "adlut"), "no data set 'adlut'; did you mean 'adult'?"),
        (("-o", "t.csv"), "t.csv: ends in neither .tex nor .md"),
    ],
)
def test_what_there_is_not_is_one_line(folder, arguments, said):
    done = table(folder, *arguments)
    assert done.exit_code == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("width", [None, "3.3in", "84mm"])
def test_it_fits_the_column(folder, width, tmp_path, assert_compiles):
    found = compact_table(read_results(folder))
    said = assert_compiles([as_latex(found, width)], tmp_path, "twocolumn")
    assert "Overfull" not in said


def test_the_file_is_the_suffix(folder, tmp_path):
    for suffix, first in (("tex", "% \\usepackage"), ("md", "| solver")):
        out = tmp_path / f"t.{suffix}"
        assert table(folder, "-o", out).exit_code == 0
        assert out.read_text(encoding="utf-8").startswith(first)
