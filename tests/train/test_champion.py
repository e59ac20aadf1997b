"""auto on the hinge with a free bias, held against methods that know one."""

import numpy as np
import pytest

from problems import dataset
from svmbench.problem import Loss, Problem
from svmbench.solvers.second_order import newton_systems
from svmbench.train import champion, fit


def shifted(m=2000, d=6, positive=0.3, seed=0):
    """Noisy rows far from the origin, which no plane through it divides."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    scores = X @ rng.normal(size=d) + rng.normal(size=m)
    y = np.where(scores > np.quantile(scores, 1.0 - positive), 1, -1)
    return dataset(X + 3.0, y, "dense float64")


@pytest.mark.parametrize("tolerance", [1e-2, 1e-4, 1e-7])
@pytest.mark.parametrize("C", [1e-5, 1e-2, 1.0, 1e4])
@pytest.mark.parametrize("positive", [0.01, 0.5])
def test_a_free_bias_is_certified_soon(C, positive, tolerance):
    data = shifted(positive=positive)
    problem = Problem(data, 1.0 / (C * data.n_samples), bias="free")
    found = fit.fit(problem, tolerance)
    assert found.gap <= tolerance
    # Without auto they take up to 90 certificates.
    assert found.certificates <= 30


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


@pytest.mark.parametrize("C", [1e-4, 1.0])
def test_the_constant_feature_leaves_little_to_balance(C):
    data, tolerance = shifted(positive=0.05), 1e-4
    problem = Problem(data, 1.0 / (C * data.n_samples), bias="free")
    posed = champion.posed(problem, champion.first_value(problem, tolerance))
    found = fit.fit(posed, 1e-9)
    bias = found.w[-1] * posed.data.values[0, -1]
    imbalance = abs(float(found.alpha @ data.labels))
    fewer = float(found.alpha[data.labels > 0].sum())
    assert imbalance <= champion.UNBALANCED_SHARE * tolerance * max(1.0, abs(bias) / 2.0) * fewer


@pytest.mark.parametrize(
    ("loss", "bias", "weighted", "d"),
    [
        ("squared-hinge", "free", False, 6),
        ("hinge", "free", True, 6),
        ("hinge", "free", False, 6000),
        ("hinge", "none", True, 6),
    ],
)
def test_auto_leaves_what_it_does_not_know(loss, bias, weighted, d):
    data = shifted(m=40, d=d)
    weights = np.tile([0.5, 1.5], 20) if weighted else None
    assert not champion.knows(Problem(data, 1e-3, Loss(loss), bias, row_weights=weights))


@pytest.mark.parametrize("seed", [2, 11, 15, 16, 23, 26, 100, 106])
def test_columns_of_all_scales_are_trained_on(seed):
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(20, 80)), int(rng.integers(5, 40))
    X = rng.normal(size=(m, d)) * 10.0 ** rng.uniform(-7, 7, size=d)
    y = np.where(rng.random(m) < 0.5, 1, -1)
    problem = Problem(dataset(X, y, "dense float64"), 10.0 ** rng.uniform(-8, 0), bias="free")
    assert fit.fit(problem, 1e-7).gap <= 1e-7
