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


def test_limits_and_parameters_hold():
    short = svmbench.fit_path("sgd-s", X, y, 0.01, accuracy=1e-9, max_epochs=2)
    assert (short.state, short.points["epochs"].iloc[-1]) == ("max_steps", 2.0)
    with pytest.raises(ValueError, match="no_such"):
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
