"""Newton steps for smooth losses begin on a sample where there are many rows."""

import numpy as np
import pytest

from problems import dataset
from svmbench.problem import Loss, Problem, relative_gap
from svmbench.reference import smooth


def many_rows(m=30_000, d=5, seed=0, positive=0.5):
    """Noisy rows of two classes, the positive one with this share."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    scores = X @ rng.normal(size=d) + rng.normal(size=m)
    y = np.where(scores > np.quantile(scores, 1.0 - positive), 1, -1)
    return dataset(X, y, "dense float64")


def trained(problem, wanted, start=None):
    """The gap at the end, and the work."""
    count, primal, dual = smooth.WorkCount(), np.inf, 0.0
    for w, b, alpha in smooth.newton(problem, start=start, wanted=wanted, count=count):
        primal, dual = min(primal, problem.primal(w, b)), max(dual, problem.dual(alpha))
        if relative_gap(primal, dual) <= wanted:
            break
    return relative_gap(primal, dual), count


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_a_sample_saves_passes_over_all_rows(loss, bias, weighted):
    data = many_rows()
    weights = np.random.default_rng(1).uniform(0.1, 1.9, size=data.n_samples)
    weights = weights / weights.mean() if weighted else None
    problem = Problem(data, 1e-4, Loss(loss), bias, row_weights=weights)
    gap, count = trained(problem, 1e-6)
    from_zeros, all_rows = trained(problem, 1e-6, (np.zeros(5), 0.0))
    assert max(gap, from_zeros) <= 1e-6
    assert count.entries < 0.8 * all_rows.entries


@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_a_sample_of_one_class_is_not_a_start(loss):
    rare = many_rows(positive=3e-5)
    assert np.count_nonzero(rare.labels > 0) == 1
    problem = Problem(rare, 1e-4, Loss(loss), "free")
    assert smooth._from_sample(problem, smooth.never, smooth.WorkCount()) is None
    assert trained(problem, 1e-6)[0] <= 1e-6


def test_few_rows_have_no_sample():
    problem = Problem(many_rows(m=20_000), 1e-4, Loss("logistic"))
    assert smooth._from_sample(problem, smooth.never, smooth.WorkCount()) is None
