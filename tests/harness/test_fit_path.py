"""A solver that is run from Python, on rows in memory."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from click.testing import CliRunner

import svmbench
from svmbench.cli import main
from svmbench.errors import ConfigError

rng = np.random.default_rng(3)
X = rng.normal(size=(200, 5))
y = np.where(X @ rng.normal(size=5) + rng.normal(size=200) > 0.0, "yes", "no")


@pytest.mark.parametrize("rows", [X, X.tolist(), sp.csr_matrix(X), sp.coo_matrix(X)])
def test_the_path_ends_where_it_is_asked_to(rows):
    found = svmbench.fit_path("dcd", rows, y, 0.01, accuracy=1e-3, seed=1)
    assert found.state == "converged"
    points = found.points
    assert (points["dual"] <= points["primal"] * (1.0 + 1e-12)).all()
    assert points["seconds"].is_monotonic_increasing
    assert points["accuracy"].iloc[-1] <= 1e-3 < points["accuracy"].iloc[-2]
    # The last weights have the last objective.
    losses = np.maximum(0.0, 1.0 - np.where(y == "yes", 1.0, -1.0) * (X @ found.w))
    assert points["primal"].iloc[-1] == pytest.approx(0.005 * found.w @ found.w + losses.mean())


def test_another_set_of_the_same_shape_has_its_own_optimum():
    with pytest.warns(UserWarning, match="the optimum is known only to"):
        svmbench.fit_path("dcd", X, y, 0.01, accuracy=1e-15, max_epochs=1, time_limit=0.001)
    other = svmbench.fit_path("dcd", X[:, ::-1], np.roll(y, 1), 0.01)
    assert other.points["accuracy"].iloc[0] < np.inf
    zero = svmbench.fit_path("dcd", np.zeros_like(X), y, 0.01)
    assert zero.points["accuracy"].iloc[-1] == pytest.approx(0.0, abs=1e-3)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"loss": "logistic"}, "pegasos does not train the loss 'logistic'"),
        ({"bias": "free"}, "pegasos does not train the bias 'free'"),
        ({"solver": "seg-pm"}, "seg-pm does not train the constraint 'none', only l1"),
        ({"y": y[:-1]}, r"y has the shape \(199,\)"),
        ({"y": np.where(y == "no", np.nan, 1.0)}, "not numbers"),
        ({"X": X[0]}, "X has the shape"),
        ({"X": X * 1j}, "complex"),
        ({"accuracy": 0.0}, "accuracy is 0.0"),
        ({"time_limit": float("nan")}, "time_limit is nan"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_what_cannot_be_run_is_refused(changed, said):
    with pytest.raises(ValueError, match=said):
        svmbench.fit_path(**({"solver": "pegasos", "X": X, "y": y, "lam": 0.01} | changed))


def test_limits_and_parameters_hold():
    short = svmbench.fit_path("sgd-s", X, y, 0.01, accuracy=1e-9, max_epochs=2)
    assert (short.state, short.points["epochs"].iloc[-1]) == ("max_steps", 2.0)
    with pytest.raises(ValueError, match="dcd has no parameter 'no_such', only "):
        svmbench.fit_path("dcd", X, y, 0.01, no_such=1)
    with pytest.raises(ConfigError, match="did you mean"):
        svmbench.fit_path("dcdd", X, y, 0.01)
    with pytest.raises(ValueError, match="y has 1 classes"):
        svmbench.fit_path("dcd", X, np.ones(200), 0.01)
    with pytest.raises(ValueError, match="not finite"):
        svmbench.fit_path("dcd", X * np.inf, y, 0.01)


def test_a_new_solver_runs_as_it_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written = CliRunner().invoke(main, ["new-solver", "my-method"])
    assert written.exit_code == 0, written.stderr
    shown = CliRunner().invoke(main, ["solvers", "my-method", "--plugin", "my_method.py"])
    assert "eta0" in shown.stdout
    again = CliRunner().invoke(main, ["new-solver", "my-method"])
    assert "exists and is not replaced" in again.stderr
    assert "small letters" in CliRunner().invoke(main, ["new-solver", "My"]).stderr
    for name in ("sgd-s", "none", "counters"):
        assert "is taken" in CliRunner().invoke(main, ["new-solver", name]).stderr
