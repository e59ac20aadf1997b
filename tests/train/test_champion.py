"""auto on the hinge with a free bias, held against methods that know one."""

import numpy as np
import pytest

from problems import dataset
from svmbench.engine import fit
from svmbench.problem import Problem
from svmbench.solvers.second_order import newton_systems


def shifted(m=2000, d=6, positive=0.3, seed=0):
    """Noisy rows far from the origin, which no plane through it divides."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    scores = X @ rng.normal(size=d) + rng.normal(size=m)
    y = np.where(scores > np.quantile(scores, 1.0 - positive), 1, -1)
    return dataset(X + 3.0, y, "dense float64")


@pytest.mark.slow
def test_the_optimum_is_that_of_methods_that_know_a_bias(monkeypatch):
    problem = Problem(shifted(), 1e-4, bias="free")
    found = fit.fit(problem, 1e-6)
    monkeypatch.setattr(newton_systems, "MOST_FEATURES", 0)
    other = fit.fit(problem, 1e-6)
    assert found.method == "newton"
    assert other.method in ("dcd", "ipm")
    assert found.primal == pytest.approx(other.primal, rel=2e-6)
    assert found.bias == pytest.approx(other.bias, abs=0.05)


@pytest.mark.parametrize("seed", [2, 11, 15, 16, 23, 26, 100, 106])
def test_columns_of_all_scales_are_trained_on(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(20, 80)), int(rng.integers(5, 40))
    X = rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-7, 7, size=d)
    y = np.where(rng.random(m) < 0.5, 1, -1)
    problem = Problem(dataset(X, y, "dense float64"), 10.0 ** rng.uniform(-8, 0), bias="free")
    assert fit.fit(problem, 1e-7).gap <= 1e-7
