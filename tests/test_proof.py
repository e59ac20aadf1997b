"""Lower bounds on P* that rounding leaves true, held against rational numbers."""

import random
from fractions import Fraction

import numpy as np
import pytest

from problems import dataset, longest, scaled
from svmbench.engine.effort import Effort
from svmbench.engine.fit import fit
from svmbench.engine.methods import interior
from svmbench.problem import Loss, Problem
from svmbench.proof import proven_by_norms, proven_dual, proven_primal
from svmbench.train.classes import train
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective
from twins.exact import exact_dual, exact_primal


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


def random_problem(seed, loss, bias, weighted):
    """Rows of one to three scales between 1e-10 and 1e12, some of which a plane separates."""
    rng = np.random.default_rng(seed)
    m, d = int(rng.integers(3, 40)), int(rng.integers(1, 6))
    X = rng.normal(size=(m, d)) * 10.0 ** rng.choice(rng.uniform(-10.0, 12.0, 3), size=d)
    y = rng.permutation(np.resize([-1, 1], m))
    if rng.random() < 0.5:
        X[:, 0] = y * (np.abs(X[:, 0]) + np.abs(X[:, 0]).max())
    weights = rng.uniform(0.1, 10.0, m) if weighted else None
    C = 10.0 ** rng.uniform(-9.0, 12.0)
    weights = weights if weights is None else weights / weights.mean()
    return Problem(dataset(X, y, "dense float64"), 1.0 / (C * m), loss, bias, row_weights=weights)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "smoothed-hinge", "logistic"])
def test_what_is_proven_is_no_less_than_the_exact_primal(loss, bias, weighted):
    for seed in range(20):
        problem = random_problem(seed, Loss(loss, 0.3), bias, weighted)
        rng = np.random.default_rng(seed)
        w = rng.normal(size=problem.data.n_features)
        with np.errstate(all="ignore"):
            largest = np.abs(problem.margins(w)).max()
        w, b = w / largest * 10.0 ** rng.uniform(-2.0, 2.0), float(rng.normal())
        upper = proven_primal(problem, w, b)
        exact = exact_primal(problem, upper.w, upper.bias)
        assert exact <= upper.primal <= float(exact_primal(problem, w, b)) * (1.0 + 1e-12)
        rough = problem.primal(w, b)
        assert exact_primal(problem, w, b) <= rough + 1.01 * problem.rounding(rough, w, b)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_a_fit_states_no_smaller_gap_than_it_has(loss, bias, weighted):
    for seed in range(12):
        problem = random_problem(100 + seed, Loss(loss), bias, weighted)
        found = fit(problem, 1e-4, Effort(time_limit=0.5))
        exact = exact_primal(problem, found.w, found.bias)
        assert exact <= found.primal
        if loss != "logistic" and bias == "none":
            assert found.dual <= exact_dual(problem, found.alpha)


@pytest.mark.parametrize(("scale", "C"), [(1e9, 1e3), (1e3, 1e10), (1e12, 1e12)])
def test_margins_that_round_to_1_hide_no_loss(scale, C):
    # Two fits of six at 1e9 stated gaps of 1e-13, and had gaps of 7e4.
    for seed in range(6):
        drawn = random.Random(seed)
        X, y = np.zeros((60, 3)), np.zeros(60, dtype=np.int8)
        for i in range(60):
            y[i] = 1 if drawn.random() < 0.5 else -1
            X[i] = [drawn.gauss(0, 1) * scale for _ in range(3)]
            X[i, 0] = y[i] * (abs(X[i, 0]) + scale)
        data = dataset(X, y, "dense float64")
        (found,) = train(Examples(data, data.labels), Objective(C=C)).fits
        assert exact_primal(Problem(data, found.lam), found.w) <= found.primal
        assert found.gap <= 1e-4


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
    w = rng.normal(size=7)
    assert proven_primal(sparse, w).primal == pytest.approx(proven_primal(dense, w).primal)


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


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
@pytest.mark.parametrize("lam", [1e-6, 1.0])
@pytest.mark.parametrize("rows", [[1.0, 1.0], [3.0, 1.0], [1000.0, 999.0], [0.1, -0.1]])
@pytest.mark.parametrize("off", [1.9e-12, -1.9e-12])
def test_what_balances_alpha_exactly_outweighs_other_rounding(off, rows, lam, loss):
    data = dataset([[each] for each in rows], [1, -1], "dense float64")
    problem = Problem(data, lam, Loss(loss), "free")
    alpha = np.array([0.5, 0.5 * (1.0 + off)])
    exact, dual = exact_dual(problem, [Fraction(alpha.min())] * 2), problem.dual(alpha)
    assert proven_dual(problem, alpha) <= exact
    assert proven_by_norms(problem, alpha, dual, longest(problem)) <= exact


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
