"""A free bias and the l1 ball, from the configuration to what is recorded of a run."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from small_sweep import ONE_RUN, run_sweep, sweep

import plugins
from problems import dataset
from svmbench.cli import main
from svmbench.data.load import load
from svmbench.harness.measurement import Measurement, Terms
from svmbench.harness.trace import TraceWriter, read_trace
from svmbench.problem import Problem
from svmbench.reference.optimum import certified_optimum
from twins import objective as twin

STOP = {
    "accuracy": [],
    "gap": None,
    "own": False,
    "max_epochs": 1,
    "max_updates": None,
    "time_limit": 60.0,
}
X = np.array([[1.0, 0.0], [0.5, -2.0], [0.25, 1.0], [-1.0, 0.5]])
Y = np.array([1, -1, 1, -1])


class Still(plugins.Idle):
    """Stays where it is put."""

    def __init__(self, w, bias=0.0):
        super().__init__()
        self._w, self._bias = np.array(w), bias

    @property
    def w(self):
        return self._w

    @property
    def bias(self):
        return self._bias


def measured(solver, problem, tmp_path, test=None):
    """State, first point and what ends the trace."""
    measurement = Measurement(solver, Terms(problem, test, STOP, 0.0, math.inf))
    with TraceWriter(tmp_path / "trace", {}) as writer:
        state = measurement.run(1, writer)
    return state, read_trace(tmp_path / "trace").points[0], measurement.closing()


def test_objective_and_errors_are_those_of_the_weights_and_the_bias(tmp_path):
    problem = Problem(dataset(X, Y), 0.25, bias="free")
    w, b = np.array([0.5, -0.25]), -0.625
    test = dataset(X[:3], -Y[:3])
    _, point, closing = measured(Still(w, b), problem, tmp_path, test)
    assert point["primal"] == twin.primal(X, Y, 0.25, problem.loss, w, b)
    wrong = Y * (X @ w + b) <= 0.0
    assert point["train_error"] == np.mean(wrong)
    assert point["test_error"] == np.mean(~wrong[:3])
    # The bias decides: without it other rows would err.
    assert np.sum(wrong) != np.sum(Y * (X @ w) <= 0.0)
    assert (closing["weights"], closing["bias"]) == (w.tolist(), b)


def test_a_solver_that_leaves_the_ball_has_failed(tmp_path):
    problem = Problem(dataset(X, Y), 0.25, l1_radius=0.75)
    state, _, _ = measured(Still([0.5, -0.25]), problem, tmp_path)
    assert state == "max_steps"
    state, _, closing = measured(Still([0.5, -0.26]), problem, tmp_path)
    assert (state, closing["reason"]) == ("failed", "leaves the ball: ||w||_1 = 0.76")


@pytest.mark.parametrize(
    ("solver", "asked", "of_class"),
    [
        ("smo", {"bias": "free"}, {"bias": "free"}),
        ("pegasos", {"constraint": {"l1": 0.5}}, {"l1_radius": 0.5}),
        (
            "ipm",
            {"bias": "free", "constraint": {"l1": 0.5}},
            {"bias": "free", "l1_radius": 0.5},
        ),
    ],
)
def test_a_sweep_trains_and_certifies_its_class(solver, asked, of_class, tmp_path):
    stop = {"accuracy": [0.1], "max_epochs": 3000, "time_limit": 10.0}
    wanted = sweep(datasets=["tiny-dense"], solvers=[solver], stop=stop, **asked)
    outcome = run_sweep(wanted, tmp_path)
    row = pd.read_csv(outcome.folder / "runs.csv").iloc[0]
    plain = Problem(load("tiny-dense", offline=True).train, 0.01)
    problem = replace(plain, **of_class)
    assert row["bias"] == problem.bias
    assert row["l1_radius"] == problem.facts()["l1_radius"] or problem.constraint == "none"
    optima = [certified_optimum(p, 1e-9, 10.0) for p in (plain, problem)]
    # Another class has another optimum, which tells them apart.
    assert abs(optima[0].primal - optima[1].primal) > 0.01 * optima[1].primal
    assert row["reference_dual"] <= optima[1].primal
    assert row["reference_primal"] >= optima[1].dual
    assert row["state"] == "converged"
    assert 0.0 <= row["primal"] / optima[1].dual - 1.0 <= 0.1 + 1e-6


def test_rows_of_one_class_and_a_free_bias_are_refused_in_a_line(tmp_path):
    (tmp_path / "one.svm").write_text("+1 1:1\n+1 2:1\n+1 1:2 2:1\n")
    own = {"datasets": [{"path": "one.svm"}], "solvers": ["smo"], "bias": "free"}
    (tmp_path / "sweep.yaml").write_text(json.dumps(ONE_RUN | own))
    arguments = ["run", str(tmp_path / "sweep.yaml"), "--out", str(tmp_path / "out"), "--quiet"]
    result = CliRunner().invoke(main, arguments, prog_name="svmbench")
    assert result.exit_code == 3
    assert result.stderr.splitlines() == [
        "svmbench: data set one.svm: rows of one class only; a free bias needs both, bias none "
        "does not"
    ]
