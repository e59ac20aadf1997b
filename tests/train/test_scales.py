"""Columns of very different size: C is found nevertheless, they are named, and can be scaled."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import MaxAbsScaler

from problems import dataset
from svmbench import LinearSVC, LinearSVCCV
from svmbench.cli import main
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective
from svmbench.train.path import MOST, grid
from svmbench.train.validation import SELECTION, cross_validate


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def invoke(*args):
    result = CliRunner().invoke(main, [str(arg) for arg in args], prog_name="svmbench")
    assert result.exit_code == 0, result.stderr
    return result


def drawn(column, size):
    """One column of another size; the classes differ by the first."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((300, 6))
    y = np.where(X[:, 0] + 0.1 * rng.standard_normal(300) > 0.0, 1, -1)
    X[:, column] *= size
    return X, y


def incomes():
    X, y = drawn(5, 1.0)
    X[:, 5] = np.random.default_rng(2).uniform(12e3, 60e3, 300)
    return X, y


def write(X, y):
    with Path("rows").open("w") as file:
        for label, row in zip(y, X, strict=True):
            entries = " ".join(f"{j + 1}:{value:.9g}" for j, value in enumerate(row))
            file.write(f"{label} {entries}\n")


@pytest.mark.parametrize(
    ("rows", "most", "named"),
    [
        (incomes(), 0.08, "column 6 has values up to"),
        (drawn(0, 1e-4), 0.08, "column 1 only up to"),
        (load_breast_cancer(return_X_y=True), 0.045, "column 24 has values up to 4254"),
    ],
    ids=["incomes", "a tiny column", "breast cancer"],
)
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_c_is_chosen_among_all_values_that_matter(rows, most, named, loss):
    write(*rows)
    result = invoke("train", "rows", "--cv", "3", "--loss", loss, "-o", "m")
    facts = json.loads(Path("m.json").read_text())
    found = facts["cross_validation"]
    assert min(each["error"] for each in found["values"]) < most
    assert not found["no_better_than_larger_class"]
    assert found["chosen_is"] is None
    assert len(found["values"]) <= MOST
    assert named in result.stderr
    assert result.stderr.endswith("; add --scale, and choose C again (--cv 5)\n")


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_columns_far_from_zero_need_a_large_c(loss):
    X, y = drawn(0, 1.0)
    write(X + 1e6, y)
    invoke("train", "rows", "--cv", "3", "--loss", loss, "-o", "m")
    found = json.loads(Path("m.json").read_text())["cross_validation"]
    assert not found["no_better_than_larger_class"]
    assert min(each["error"] for each in found["values"]) < 0.3


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_errors_that_fall_at_the_last_values_let_the_search_go_on(loss):
    X, y = drawn(0, 1.0)
    examples = Examples(dataset(X, np.ones(300), "dense float64"), (y > 0).astype(int))
    objective = Objective(loss)
    values = grid(examples, objective)[:5]
    found = cross_validate(examples, objective, 3, values, SELECTION)
    before, last = np.split(found.errors.sum(axis=0), [-4])
    assert len(found.values) > 5
    assert last.min() >= 0.95 * before.min()
    alone = cross_validate(examples, objective, 3, values, SELECTION, complete=True)
    assert alone.values == values
    # Below the first value nothing changes: the search has no reason to go there.
    below = tuple(values[0] / 2.0**k for k in (20, 6, 3, 0))
    errors = cross_validate(examples, objective, 3, below, 1e-6, complete=True).errors
    assert np.ptp(errors.sum(axis=0)) <= 1.0


@pytest.mark.parametrize("bias", ["none", "regularised", "free"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_scaled_model_predicts_rows_as_they_are(bias, classes):
    X, y = incomes()
    y = np.where(y < 0, 0, 1 + (np.arange(300) % 2 if classes == 3 else 0))
    X[:, 2] = 0.0
    write(X, y)
    args = "--loss", "squared-hinge", "--bias", bias, "--tol", "1e-9"
    result = invoke("train", "rows", *args, "--scale", "-o", "m")
    assert result.stderr == ""
    assert "columns scaled: P is of these" in result.stdout
    facts = json.loads(Path("m.json").read_text())
    assert "divided by its largest absolute value" in facts["problem"]
    assert facts["data"]["transforms"] == ["max-abs"]
    share = json.loads(invoke("predict", "m", "rows", "--json").stdout)["accuracy"]
    assert share == pytest.approx(1.0 - facts["training_error"], abs=1e-12)
    if bias != "regularised":
        scaled = MaxAbsScaler().fit_transform(X.round(9))
        ours = LinearSVC(fit_intercept=bias == "free", tol=1e-9)
        ours.fit(scaled, y)
        assert ours.score(scaled, y) == pytest.approx(share, abs=1e-12)
    if shutil.which("liblinear-predict"):
        told = ["liblinear-predict", "rows", "m", "out"]
        theirs = subprocess.run(told, capture_output=True, text=True, check=True).stdout
        assert f"Accuracy = {100.0 * share:g}%" in theirs


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("-C", "1e-12"), "training errors: "),
        (("--cv", "3", "--Cs", "1e-12,1e-11"), "cross-validation: at no C are the errors"),
    ],
)
def test_a_model_that_predicts_one_class_is_called_that(args, said):
    X, y = drawn(5, 1.0)
    write(np.abs(X), np.where(np.arange(300) % 3, y, 1))
    result = invoke("train", "rows", "-o", "m", *args)
    assert result.stderr.startswith(said)
    assert "for every row" in result.stderr
    assert json.loads(Path("m.json").read_text())["no_better_than_larger_class"]


def test_values_that_are_given_are_those_that_are_tried():
    write(*drawn(0, 1.0))
    facts = json.loads(invoke("train", "rows", "--cv", "3", "--Cs", "1,0.01,1", "--json").stdout)
    assert [each["C"] for each in facts["cross_validation"]["values"]] == [0.01, 1.0]
    facts = json.loads(invoke("train", "rows", "--path", "--Cs", "1,9", "--json").stdout)
    assert [each["C"] for each in facts["values"]] == [1.0, 9.0]


@pytest.mark.parametrize(
    "given", [("--Cs", "1"), ("--cv", "3", "--Cs", "0"), ("--cv", "3", "--Cs", "a")]
)
def test_values_that_make_no_sense(given):
    write(*drawn(0, 1.0))
    result = CliRunner().invoke(main, ["train", "rows", *given])
    assert result.exit_code == 2
    assert "Cs" in result.stderr or "is not a" in result.stderr


def test_the_estimator_warns_as_the_command_does():
    X, y = incomes()
    with pytest.warns(UserWarning, match="column 6 has values up to .*MaxAbsScaler"):
        assert LinearSVCCV(cv=3).fit(X, y).score(X, y) > 0.9
    with pytest.warns(UserWarning, match="errors shown to be fewer than those of the larger class"):
        LinearSVCCV(cv=3).fit(X[:, 1:5], y)
