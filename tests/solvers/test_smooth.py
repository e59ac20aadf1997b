"""Newton steps for smooth losses begin on a sample where there are many rows."""

import numpy as np
import pytest

from problems import dataset
from svmbench.problem import Loss, Problem, relative_gap
from svmbench.solvers.pairs import WorkCount
from svmbench.solvers.second_order import newton_systems, smooth


def many_rows(m=30_000, d=5, seed=0, positive=0.5):
    """Noisy rows of two classes, the positive one with this share."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    scores = X @ rng.normal(size=d) + rng.normal(size=m)
    y = np.where(scores > np.quantile(scores, 1.0 - positive), 1, -1)
    return dataset(X, y, "dense float64")


def trained(problem, wanted, start=None):
    """The gap at the end, and the work."""
    count, primal, dual = WorkCount(), np.inf, 0.0
    for w, b, alpha in smooth.newton(problem, start=start, wanted=wanted, count=count):
        primal, dual = min(primal, problem.primal(w, b)), max(dual, problem.dual(alpha))
        if relative_gap(primal, dual) <= wanted:
            break
    return relative_gap(primal, dual), count


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_conjugate_gradients_alone_reach_the_optimum(loss, bias, monkeypatch):
    monkeypatch.setattr(newton_systems, "MOST_FEATURES", 0)
    problem = Problem(many_rows(m=1000, d=30), 1e-4, Loss(loss), bias)
    gap, count = trained(problem, 1e-9)
    assert gap <= 1e-9
    assert count.steps <= 20
    assert count.entries <= 20 * 30 * problem.data.nnz


@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_a_start_far_from_the_optimum_is_left(loss):
    problem = Problem(many_rows(m=1000), 1e-4, Loss(loss), "free")
    gap, _ = trained(problem, 1e-9, (np.full(5, -300.0), 10.0))
    assert gap <= 1e-9


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_columns_of_any_scales_reach_the_wanted_gap(loss, bias, seed):
    # P is at its least, as far as rounding shows, long before alpha balances the largest column.
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 31))
    X = rng.normal(size=(300, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=300) > 0.0, 1, -1)
    X += rng.normal(size=d)
    weights = rng.uniform(0.1, 3.0, size=300)
    data = dataset(X * 10.0 ** rng.uniform(-10.0, 10.0, size=d), y, "dense float64")
    lam = 10.0 ** rng.uniform(-6.0, -1.0)
    for c in (None, weights / weights.mean()):
        gap, count = trained(Problem(data, lam, Loss(loss), bias, row_weights=c), 1e-4)
        assert gap <= 1e-4
        assert count.steps <= 100
