"""Lower bounds on P* that rounding leaves true, held against rational numbers."""

from fractions import Fraction

import numpy as np
import pytest

from problems import dataset, longest, scaled
from svmbench.problem import Loss, Problem
from svmbench.proof import proven_by_norms, proven_dual
from svmbench.reference.search import interior
from twins.exact import exact_dual


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("scale", [1.0, 1e9, 1e13, 1e14, 1e15])
def test_what_is_proven_is_no_more_than_the_exact_dual(loss, scale):
    problem = Problem(scaled(60, scale), 1.0 / 60.0, Loss(loss))
    for _, _, alpha in interior(problem):
        exact, proven = exact_dual(problem, alpha), proven_dual(problem, alpha)
        by_norms = proven_by_norms(problem, alpha, problem.dual(alpha), longest(problem))
        assert proven <= exact
        assert by_norms <= exact
        if scale == 1.0:
            assert proven == pytest.approx(float(exact), rel=1e-12, abs=1e-12)
            assert by_norms == pytest.approx(float(exact), rel=1e-10, abs=1e-10)


def test_the_dual_in_double_precision_exceeds_the_exact_one_where_rows_are_huge():
    problem = Problem(scaled(60, 1e15), 1.0 / 60.0)
    duals = [(problem.dual(alpha), exact_dual(problem, alpha)) for _, _, alpha in interior(problem)]
    assert any(computed > exact + Fraction(1, 1000) for computed, exact in duals)


@pytest.mark.parametrize("storage", ["uint16+float64", "int32+float32", "int32+ones"])
def test_what_is_proven_does_not_depend_on_storage(storage):
    rng = np.random.default_rng(0)
    X = rng.integers(-8, 9, size=(90, 7)) * (rng.random((90, 7)) < 0.5)
    y = rng.choice([-1, 1], size=90)
    X = (X != 0).astype(float) if storage == "int32+ones" else X
    dense, sparse = (Problem(dataset(X, y, each), 0.1) for each in ("dense float64", storage))
    alpha = rng.random(90)
    whole = proven_dual(dense, alpha)
    assert whole <= dense.dual(alpha)
    assert proven_dual(sparse, alpha) == pytest.approx(whole, rel=1e-15)


def test_nothing_is_proven_where_squares_overflow_together():
    problem = Problem(dataset([[1.0, 1.0], [-1.0, -1.0]], [1, -1], "dense float64"), 0.9e-154)
    assert proven_dual(problem, np.ones(2)) == -np.inf


def test_a_free_bias_is_proven_with_alpha_that_rounding_unbalances():
    problem = Problem(scaled(60, 1.0), 0.1, bias="free")
    alpha = problem.repaired(0.1 * np.random.default_rng(0).random(60))
    proven, dual = proven_dual(problem, alpha), problem.dual(alpha)
    assert dual * (1.0 - 1e-11) < proven < dual
    assert dual * (1.0 - 1e-9) < proven_by_norms(problem, alpha, dual, longest(problem)) < proven
    alpha[0] += 0.5
    assert proven_dual(problem, alpha) == -np.inf


def tiny(loss, size, weighted):
    """A problem with lambda of this size, and dual variables that make w of about 1."""
    light = (np.arange(20) % 2 == 1) & weighted
    weights = np.where(light, size, 1.0)
    alpha = np.clip(np.random.default_rng(3).random(20), 1e-3, 1.0) * np.where(light, 1.0, size)
    weights = weights / weights.mean() if weighted else None
    return Problem(scaled(20, 1.0, 3), size, Loss(loss), row_weights=weights), alpha


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [1e-200, 1e-290, 1e-300, 1e-305, 1e-307, 3e-308])
def test_what_is_proven_is_no_more_than_the_exact_dual_where_products_underflow(
    loss, weighted, size
):
    problem, alpha = tiny(loss, size, weighted)
    for times in (0.01, 0.1, 1.0):
        dual = problem.dual(times * alpha)
        proven = proven_dual(problem, times * alpha)
        by_norms = proven_by_norms(problem, times * alpha, dual, longest(problem))
        exact = exact_dual(problem, times * alpha)
        assert proven <= exact
        assert by_norms <= exact
        if size <= 1e-300:
            continue
        assert proven == pytest.approx(float(exact), rel=1e-12, abs=0.0)
        assert by_norms == pytest.approx(float(exact), rel=1e-10, abs=0.0)


def test_the_dual_in_double_precision_exceeds_the_exact_one_where_products_underflow():
    problem, alpha = tiny("hinge", 3e-308, weighted=True)
    all_times = np.linspace(0.01, 1.0, 30)
    assert any(problem.dual(t * alpha) > exact_dual(problem, t * alpha) for t in all_times)


def test_nothing_is_proven_where_lambda_has_not_all_its_digits():
    problem, alpha = tiny("hinge", 1e-312, weighted=False)
    assert proven_dual(problem, alpha) == -np.inf
    assert proven_by_norms(problem, alpha, problem.dual(alpha), longest(problem)) == -np.inf


@pytest.mark.parametrize("radius", [1e-6, 0.1, 1.0, 1e3])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("scale", [1.0, 1e9, 1e13, 1e15])
def test_what_is_proven_in_a_ball_is_no_more_than_the_exact_dual(loss, scale, radius):
    problem = Problem(scaled(60, scale), 1.0 / 60.0, Loss(loss), l1_radius=radius)
    for _, _, alpha in interior(problem):
        exact, proven = exact_dual(problem, alpha), proven_dual(problem, alpha)
        assert proven <= exact
        if scale == 1.0:
            assert proven == pytest.approx(float(exact), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("radius", [1e-6, 0.1, 1.0, 1e3])
def test_the_exact_dual_in_a_ball_is_the_least_over_all_multipliers(radius):
    problem = Problem(scaled(60, 1.0), 0.1, l1_radius=radius)
    alpha = np.random.default_rng(2).random(60)
    u = Problem(problem.data, problem.lam).weights(alpha)
    taus = np.linspace(0.0, np.abs(u).max(), 10_001)[:, None]
    bounds = 0.5 * (np.maximum(np.abs(u) - taus, 0.0) ** 2).sum(axis=1) + taus[:, 0] * radius
    least = alpha.mean() - problem.lam * bounds.min()
    assert float(exact_dual(problem, alpha)) == pytest.approx(least, rel=1e-6)
    assert float(exact_dual(problem, alpha)) >= least - 1e-12
