"""ipm: certified optima in few iterations, merged rows, and the forms of its system."""

import math

import numpy as np
import pytest

from problems import PROBLEMS, dataset, dense, has_both_classes, with_class, with_loss
from svmbench.names import BIASES, CONSTRAINTS, HINGES
from svmbench.problem import Problem
from svmbench.solvers.second_order import ipm
from svmbench.solvers.second_order.ipm import Ipm, merged
from twins.objective import gap_of
from twins.optimum import optimum, variant

every_loss = pytest.mark.parametrize("loss", HINGES)
every_problem_of_its_class = pytest.mark.parametrize(
    ("name", "bias", "constraint"),
    [
        (name, bias, constraint)
        for name, problem in PROBLEMS.items()
        for bias in BIASES
        for constraint in CONSTRAINTS
        if bias == "none" or has_both_classes(problem)
    ],
)


def ended(problem):
    run = Ipm()
    run.start(problem, 0)
    iterations = 0
    while not run.stopped and iterations < 200:
        run.advance(1)
        iterations += 1
    return run, iterations


@every_loss
@every_problem_of_its_class
def test_ends_by_itself_at_the_certified_optimum(name, bias, constraint, loss):
    problem = variant(PROBLEMS[name], loss, bias, constraint)
    run, iterations = ended(problem)
    assert iterations < 150
    alpha = run.alpha
    assert np.all(alpha >= 0.0)
    assert loss == "squared-hinge" or np.all(alpha <= 1.0)
    P = problem.primal(run.w, run.bias)
    assert gap_of(problem, run.w, alpha, run.bias) <= 1e-9 * max(P, 1e-3)
    best = optimum(problem)
    # lam/2 ||w - w*||^2 is at most what P exceeds P* by: 1e-9 of P is 1e-4 or so of w.
    np.testing.assert_allclose(run.w, best.w, rtol=0.0, atol=1e-4 * (1.0 + np.abs(best.w).max()))


@every_loss
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("lam", [1e-2, 1e-6])
@pytest.mark.parametrize("share", [1e-3, 0.1, 0.9, 1.1, 1e6])
def test_a_ball_of_any_size_is_no_hindrance(loss, bias, lam, share):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 12)) * 10.0 ** np.linspace(-2, 2, 12)
    y = np.where(X[:, 6] / np.abs(X[:, 6]).mean() + rng.normal(size=200) > 0.5, 1, -1)
    whole = with_class(Problem(dataset(X, y, "dense float64"), lam), loss, bias)
    without, _ = ended(whole)
    size = float(np.abs(without.w).sum())
    problem = with_class(whole, loss, bias, share * size)
    run, _ = ended(problem)
    P = problem.primal(run.w, run.bias)
    assert P - run.dual() <= 1e-8 * run.dual()
    assert np.abs(run.w).sum() <= share * size * (1.0 + 1e-12)
    if share > 1.0:
        assert abs(P - whole.primal(without.w, without.bias)) <= 1e-8 * P


@every_loss
@pytest.mark.parametrize("lam", [1e-2, 1e-5, 1e-8])
def test_columns_of_very_different_scales_do_not_matter(loss, lam):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 10)) * 10.0 ** np.linspace(-3, 4, 10)
    y = np.where(X[:, 2] / np.abs(X[:, 2]).mean() + rng.normal(size=300) > 0, 1, -1)
    problem = with_loss(Problem(dataset(X, y, "dense float64"), lam), loss)
    run, _ = ended(problem)
    assert problem.primal(run.w) - run.dual() <= 1e-8 * run.dual()


@every_loss
def test_merging_equal_rows_changes_nothing_but_the_work(loss, monkeypatch):
    rng = np.random.default_rng(2)
    base = rng.integers(-8, 9, size=(12, 4)) / 4.0
    X = base[rng.integers(0, 12, size=200)]
    y = np.where(rng.random(200) < 0.4, -1, 1)
    problem = with_loss(Problem(dataset(X, y), 0.05), loss)
    merging, _ = ended(problem)
    monkeypatch.setattr(ipm, "WORTH_MERGING", 1.0)
    plain, _ = ended(problem)
    monkeypatch.undo()
    np.testing.assert_allclose(merging.w, plain.w, rtol=0.0, atol=1e-7)
    assert merging.counters.nonzeros < plain.counters.nonzeros / 4
    distinct, counts, group = merged(problem.data)
    assert counts.sum() == 200
    assert np.array_equal(dense(distinct)[group], X)
    assert np.array_equal(distinct.labels[group], y)


@pytest.mark.parametrize("radius", [math.inf, 30.0])
@pytest.mark.parametrize("bias", BIASES)
def test_many_rows_at_the_kink_are_no_hindrance(bias, radius):
    # Nearly separable, most rows alike: steps on all variables at once stall here for hundreds
    # of iterations; in a ball, so do predictor and corrector without the path.
    rng = np.random.default_rng(3)
    X = (rng.random((3000, 12)) < 0.3) * rng.choice([0.1, 0.5, 1.0], size=(3000, 12))
    y = np.where(X @ rng.normal(size=12) > 0.1, 1, -1)
    y = np.where(rng.random(3000) < 0.002, -y, y)
    problem = with_class(Problem(dataset(X, y), 1e-6), "hinge", bias, radius)
    run, iterations = ended(problem)
    assert iterations < 200
    assert problem.primal(run.w, run.bias) - run.dual() <= 1e-9 * run.dual()
