"""Training on rows that do not fit into memory: read in order, certified like any other fit."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from problems import assert_bounds
from svmbench.cli import main
from svmbench.data import storage
from svmbench.errors import DataError
from svmbench.problem import Problem, relative_gap
from svmbench.train import classes
from svmbench.train.classes import train
from svmbench.train.examples import read_examples
from svmbench.train.objective import Objective

MEMORY = 700_000


@pytest.fixture
def large(tmp_path, monkeypatch):
    """A file of some megabytes; its rows take twice the memory that there is said to be."""
    rng = np.random.default_rng(5)
    plane = rng.normal(size=400)
    path = tmp_path / "large.libsvm"
    with path.open("w") as file:
        for columns in np.cumsum(rng.integers(1, 44, (40_000, 9)), axis=1):
            label = 1 if plane[columns].sum() + rng.normal() > 0 else -1
            file.write(f"{label} {' '.join(f'{j + 1}:1' for j in columns)}\n")
    monkeypatch.setattr(storage, "_OF_MEMORY", ())  # wherever the folders of tests are
    monkeypatch.setattr(storage, "available_memory", lambda: MEMORY)
    monkeypatch.setattr(classes, "available_memory", lambda: MEMORY)
    return path


def test_a_fit_in_chunks_is_certified_on_the_same_rows_in_memory(large, monkeypatch):
    examples = read_examples(large)
    assert examples.rows.mapped_bytes > 2 * MEMORY / 3
    (fit,) = train(examples, Objective(C=0.1), tolerance=1e-3).fits
    assert fit.method == "dcd in chunks"
    monkeypatch.undo()
    again = read_examples(large)
    assert again.rows.mapped_bytes == 0
    problem = Problem(again.against_rest(1)[0], fit.lam)
    assert_bounds(fit.primal, problem, fit.w)
    assert fit.dual <= problem.dual(fit.alpha)
    assert relative_gap(problem.primal(fit.w), fit.dual) <= 1e-3
    (whole,) = train(again, Objective(C=0.1), tolerance=1e-3).fits
    assert whole.dual <= fit.primal
    assert fit.dual <= whole.primal


@pytest.mark.parametrize("objective", [Objective("squared-hinge"), Objective(bias="free")])
def test_what_has_to_read_rows_at_random_is_refused(large, monkeypatch, objective):
    examples = read_examples(large)
    monkeypatch.setattr("svmbench.memory.available_memory", lambda: MEMORY)
    with pytest.raises(DataError, match="the hinge without bias and weights needs less"):
        train(examples, objective)


def test_folds_of_rows_in_a_file_need_memory_for_a_copy(large, monkeypatch):
    examples = read_examples(large)
    monkeypatch.setattr("svmbench.memory.available_memory", lambda: MEMORY // 2)
    with pytest.raises(DataError, match=r"a copy of 39,000 rows needs"):
        examples.chosen(np.arange(39_000))


@pytest.mark.parametrize("how", [("--path",), ("--cv", "2"), ("--path", "--cv", "2")])
def test_many_values_of_c_are_refused_before_the_rows_are_looked_at(
    large, tmp_path, monkeypatch, how
):
    monkeypatch.setattr("svmbench.memory.available_memory", lambda: MEMORY)
    monkeypatch.setattr("svmbench.train.path.combination", None)  # the first look
    done = CliRunner().invoke(main, ["train", str(large), *how, "-o", str(tmp_path / "m")])
    assert done.exit_code == 3
    assert done.stderr.count("\n") == 1
    assert "training with 25 values of C on 40,000 rows needs 0.00" in done.stderr
    assert list(tmp_path.iterdir()) == [large]


def test_the_command_trains_beyond_memory(large, tmp_path):
    model = tmp_path / "m"
    words = ["train", str(large), "-C", "0.1", "--tol", "1e-2", "-o", str(model), "--json"]
    done = CliRunner().invoke(main, words)
    assert done.exit_code == 0, done.output
    (fit,) = json.loads(done.stdout)["fits"]
    assert fit["method"] == "dcd in chunks"
    assert fit["relative_gap"] <= 1e-2
