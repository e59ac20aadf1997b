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


@pytest.mark.parametrize(
    ("loss", "share"), [("hinge", 0.7), ("squared-hinge", 0.7), ("logistic", 0.9)]
)
def test_a_smaller_constant_takes_less_work(monkeypatch, loss, share):
    problem = Problem(text(), 1e-3, Loss(loss))
    _, _, work = certified(problem, 1e-4)
    monkeypatch.setattr(descents, "LARGE_CONSTANT", np.inf)
    assert work < share * certified(problem, 1e-4)[2]


@pytest.mark.parametrize("loss", TRAINED_LOSSES)
def test_a_start_with_a_constant_feature_is_where_the_descent_goes_on(loss):
    problem = Problem(text(), 1e-3, Loss(loss))
    best, primal, work = certified(problem, 1e-4)
    _, again, less = certified(problem, 1e-4, best)
    assert less < 0.5 * work
    assert again == pytest.approx(primal, rel=2e-4)


@pytest.mark.parametrize(("constant", "replaced"), [(1.0, True), (0.5, False)])
def test_only_a_large_constant_is_replaced(monkeypatch, constant, replaced):
    used, smaller = [], descents._with_smaller_constant

    def recorded(*given):
        used.append(given)
        return smaller(*given)

    monkeypatch.setattr(descents, "_with_smaller_constant", recorded)
    next(descents.descent(Problem(text(constant=constant), 1e-3)))
    assert bool(used) == replaced


@pytest.mark.parametrize("positive", [0.01, 0.5])
@pytest.mark.parametrize("lam", [100.0, 1.0, 0.1])
@pytest.mark.parametrize("loss", TRAINED_LOSSES)
def test_a_bias_that_its_own_penalty_decides_takes_few_passes(monkeypatch, loss, lam, positive):
    """Proximal steps alone would take up to 80 times the work of plain descent there."""
    problem = Problem(text(positive=positive), lam, Loss(loss))
    _, _, work = certified(problem, 1e-4)
    monkeypatch.setattr(descents, "LARGE_CONSTANT", np.inf)
    assert work <= 1.5 * certified(problem, 1e-4)[2]


def test_descent_tells_once_that_it_has_fallen_behind():
    problem, passes = Problem(text(), 1e-5, Loss("squared-hinge")), 3.0
    asked, count = [], WorkCount()

    def rival(share):
        asked.append(share)
        return passes * problem.data.nnz

    pairs = descents.descent(problem, wanted=1e-12, count=count, rival=rival)
    _, _, alpha = next(pairs)
    assert count.rival == passes * problem.data.nnz
    assert count.entries > count.rival or count.remaining > count.rival
    assert asked[-1] == np.count_nonzero(alpha) / len(alpha)
    told = len(asked)
    next(pairs)
    assert len(asked) == told


@pytest.mark.parametrize("work", [np.inf, 1e12])
def test_descent_with_a_slow_rival_yields_as_without_one(work):
    problem, counts = Problem(text(), 1e-3, Loss("squared-hinge")), (WorkCount(), WorkCount())
    _, _, alone = next(descents.descent(problem, wanted=1e-6, count=counts[0]))
    pairs = descents.descent(problem, wanted=1e-6, count=counts[1], rival=lambda share: work)
    _, _, beside = next(pairs)
    np.testing.assert_array_equal(beside, alone)
    assert counts[1] == counts[0]
    assert counts[1].rival == np.inf
