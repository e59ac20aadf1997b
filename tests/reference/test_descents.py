"""Dual descent that certifies what it yields, where the last feature is a constant."""

from itertools import islice

import numpy as np
import pytest

from problems import dataset
from svmbench.data.derived import with_constant
from svmbench.engine import descents
from svmbench.names import TRAINED_LOSSES
from svmbench.problem import Loss, Problem, relative_gap
from svmbench.solvers.pairs import WorkCount


def text(m=400, d=900, constant=1.0, seed=0, positive=0.3):
    """Sparse rows of length one, as of text, with a constant feature."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((m, d)) < 0.03, rng.random((m, d)), 0.0)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    scores = X @ rng.normal(size=d) + 0.1 * rng.normal(size=m)
    y = np.where(scores > np.quantile(scores, 1.0 - positive), 1, -1)
    return with_constant(dataset(X, y, "uint16+float64"), constant)


def certified(problem, wanted, start=None):
    """The first pair within the wanted gap, and its work."""
    count, primal, dual = WorkCount(), np.inf, 0.0
    for w, b, alpha in islice(descents.descent(problem, start=start, count=count), 3000):
        assert b == 0.0
        assert problem.feasible(alpha)
        primal, dual = min(primal, problem.primal(w)), max(dual, problem.dual(alpha))
        if relative_gap(primal, dual) <= wanted:
            return (w, b, alpha), primal, count.entries
    raise AssertionError("not certified")


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("constant", [0.7, 1.0, 30.0])
@pytest.mark.parametrize("loss", TRAINED_LOSSES)
def test_a_constant_feature_has_the_optimum_of_plain_descent(monkeypatch, loss, constant, weighted):
    data = text(constant=constant)
    c = np.random.default_rng(1).uniform(0.1, 1.9, size=data.n_samples)
    problem = Problem(data, 1e-3, Loss(loss), row_weights=c / c.mean() if weighted else None)
    _, primal, _ = certified(problem, 1e-5)
    monkeypatch.setattr(descents, "LARGE_CONSTANT", np.inf)
    _, plain, _ = certified(problem, 1e-5)
    assert primal == pytest.approx(plain, rel=1e-5)


@pytest.mark.parametrize("loss", TRAINED_LOSSES)
def test_a_start_with_a_constant_feature_is_where_the_descent_goes_on(loss):
    problem = Problem(text(), 1e-3, Loss(loss))
    best, primal, work = certified(problem, 1e-4)
    _, again, less = certified(problem, 1e-4, best)
    assert less < 0.5 * work
    assert again == pytest.approx(primal, rel=2e-4)
