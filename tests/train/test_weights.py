"""Weights of rows and classes: the weighted problem, its certificate, and other programs."""

import math
from itertools import islice

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import linear_model, svm
from sklearn.utils.class_weight import compute_class_weight

from problems import dataset, longest
from svmbench import LinearSVC, LogisticRegression
from svmbench.engine import multipliers
from svmbench.engine.descents import balanced_descent, descent
from svmbench.engine.methods import interior
from svmbench.errors import ConfigError, DataError
from svmbench.names import TRAINED_LOSSES
from svmbench.problem import Loss, Problem
from svmbench.proof import proven_by_norms, proven_dual
from svmbench.solvers.second_order import smooth
from svmbench.train.classes import train
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective

every_loss = pytest.mark.parametrize("loss", TRAINED_LOSSES)
every_bias = pytest.mark.parametrize("bias", ["none", "free"])


def noisy(m=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) + 0.3 > 0.0, 1, -1)
    return X, y, rng


def weighted(loss="hinge", bias="none", lam=0.02, seed=0, storage="dense float64"):
    X, y, rng = noisy(seed=seed)
    c = rng.exponential(size=len(y)) + 0.05
    return Problem(dataset(X, y, storage), lam, Loss(loss), bias, row_weights=c / c.mean())


def by_definition(problem, w, b):
    X, y = np.asarray(problem.data.values, dtype=float), problem.data.labels
    s = y * (X @ w + b)
    losses = {
        "hinge": np.maximum(0.0, 1.0 - s),
        "squared-hinge": 0.5 * np.maximum(0.0, 1.0 - s) ** 2,
        "logistic": np.logaddexp(0.0, -s),
    }[problem.loss.name]
    return 0.5 * problem.lam * w @ w + (problem.row_weights * losses).mean()


@every_bias
@every_loss
def test_the_primal_is_the_definition(loss, bias):
    problem = weighted(loss, bias)
    w = np.random.default_rng(3).normal(size=4)
    assert problem.primal(w, 0.3) == pytest.approx(by_definition(problem, w, 0.3), rel=1e-13)


@every_bias
@every_loss
def test_weak_duality_of_a_weighted_problem(loss, bias):
    problem, rng = weighted(loss, bias), np.random.default_rng(5)
    for _ in range(20):
        w, b = rng.normal(size=4), 0.0 if bias == "none" else rng.normal()
        alpha = problem.repaired(rng.random(60))
        primal, dual = problem.primal(w, b), problem.dual(alpha)
        assert dual <= primal
        assert proven_dual(problem, alpha) <= dual
        assert proven_dual(problem, alpha) == pytest.approx(dual, rel=1e-12)
        by_norms = proven_by_norms(problem, alpha, dual, longest(problem))
        assert by_norms <= proven_dual(problem, alpha)
        assert by_norms == pytest.approx(dual, rel=1e-10)


@pytest.mark.parametrize(
    ("method", "loss", "bias"),
    [
        (descent, "hinge", "none"),
        (descent, "squared-hinge", "none"),
        (balanced_descent, "hinge", "free"),
        *((multipliers.newton, "hinge", bias) for bias in ("none", "free")),
        (balanced_descent, "squared-hinge", "free"),
        *((interior, loss, bias) for loss in TRAINED_LOSSES[:2] for bias in ("none", "free")),
        *((smooth.newton, loss, bias) for loss in smooth.LOSSES for bias in ("none", "free")),
    ],
)
@pytest.mark.parametrize("storage", ["dense float64", "int32+float64"])
def test_every_method_finds_the_weighted_optimum(method, loss, bias, storage):
    problem = weighted(loss, bias, storage=storage)
    best, least = math.inf, -math.inf
    for w, b, alpha in islice(method(problem), 100):
        best, least = min(best, problem.primal(w, b)), max(least, problem.dual(alpha))
        if best - least <= 1e-8 * best:
            break
    assert best - least <= 1e-8 * best


@pytest.mark.parametrize("wrong", [[1.0, 2.0], [1.0, 1.0, 0.0], [1.0, -1.0, 3.0], [2.0, 2.0, 2.0]])
def test_a_problem_refuses_wrong_weights(wrong):
    with pytest.raises(ValueError, match="one positive weight for each row"):
        Problem(dataset(np.ones((3, 1)), [1, -1, 1]), 0.1, row_weights=np.array(wrong))


def certified(X, labels, objective, weights=None, tolerance=1e-6):
    found = train(
        Examples(dataset(X, np.ones(len(X))), labels, weights), objective, tolerance
    ).fits[0]
    assert found.gap <= tolerance
    return found.primal / found.lam, found.dual / found.lam


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from(TRAINED_LOSSES),
    st.sampled_from(["none", "regularised", "free"]), st.sampled_from([0.01, 1.0, 30.0]),
)  # fmt: skip
def test_weight_2_is_a_row_twice_and_weight_0_a_row_less(seed, loss, bias, C):
    X, y, rng = noisy(30, seed=seed)
    times = rng.integers(0, 4, size=30)
    times[[np.argmax(y), np.argmin(y)]] = 1  # rows of both classes
    objective = Objective(loss, C, bias)
    P, D = certified(X, y, objective, times.astype(float))
    repeated, below = certified(np.repeat(X, times, axis=0), np.repeat(y, times), objective)
    assert below <= P * (1.0 + 1e-12)
    assert repeated * (1.0 + 1e-12) >= D


@pytest.mark.parametrize("wrong", [-1.0, math.nan, math.inf])
def test_weights_of_rows_out_of_range(wrong):
    X, y, _ = noisy(4)
    with pytest.raises(ConfigError, match="weights of rows"):
        Examples(dataset(X, y), y, np.array([1.0, 1.0, wrong, 1.0]))


@pytest.mark.parametrize("wrong", [0.0, -1.0, math.nan, math.inf])
def test_weights_of_classes_out_of_range(wrong):
    X, y, _ = noisy()
    with pytest.raises(ConfigError, match="weight of class 1 must be positive"):
        Examples(dataset(X, y), y, class_weights={1: wrong})


def test_a_class_whose_rows_all_have_weight_0_is_named():
    X, y, _ = noisy()
    with pytest.raises(DataError, match="all rows of class -1 have weight 0"):
        train(Examples(dataset(X, y), y, (y > 0).astype(float)), Objective())


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_scikit_learn_s_weighted_optimum_lies_between_the_bounds(loss):
    X, y, rng = noisy(200)
    weights, of_class = rng.random(200), {-1: 2.0, 1: 0.25}
    ours = LinearSVC(C=0.7, loss=loss, fit_intercept=False, tol=1e-7, class_weight=of_class)
    P, D, _ = ours.fit(X, y, sample_weight=weights).certificate_
    theirs = svm.LinearSVC(
        C=0.7, loss=loss, fit_intercept=False, tol=1e-10, class_weight=of_class, max_iter=10**6,
        random_state=0,
    ).fit(X, y, sample_weight=weights)  # fmt: skip
    w = theirs.coef_[0]
    short = np.maximum(0.0, 1.0 - y * (X @ w))
    counts = weights * np.where(y > 0, 0.25, 2.0)
    total = 0.5 * w @ w + 0.7 * (counts * (short**2 if "sq" in loss else short)).sum()
    assert total * (1.0 + 1e-12) >= D
    assert total <= P * (1.0 + 1e-6)


def three_classes():
    X, _, rng = noisy(150)
    return X, np.digitize(X[:, 0] + 0.5 * rng.normal(size=150), [-0.5, 0.8])


@pytest.mark.parametrize("of_class", [{0: 5.0, 2: 0.1}, "balanced"])
def test_logistic_class_weights_are_weights_of_rows_in_every_problem(of_class):
    X, y = three_classes()
    each = compute_class_weight(of_class, classes=np.arange(3), y=y)[y]
    ours = LogisticRegression(tol=1e-12, class_weight=of_class).fit(X, y)
    same = LogisticRegression(tol=1e-12).fit(X, y, sample_weight=each)
    assert np.abs(ours.coef_ - same.coef_).max() < 1e-9
    for k in range(3):
        theirs = linear_model.LogisticRegression(tol=1e-12, max_iter=10**5)
        theirs.fit(X, y == k, sample_weight=each)
        assert ours.coef_[k] == pytest.approx(theirs.coef_[0], abs=1e-5)


@pytest.mark.parametrize("wrong", [[-1.0] * 60, [np.nan] * 60, [1.0] * 59, [0.0] * 60])
def test_estimators_refuse_wrong_sample_weights(wrong):
    X, y, _ = noisy()
    with pytest.raises(ValueError, match=r"weight|NaN"):
        LinearSVC().fit(X, y, sample_weight=wrong)
