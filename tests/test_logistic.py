"""The logistic loss: its dual, its certificate, its optima, and what cannot train it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import PROBLEMS, dataset, dense, dyadic_problems, has_both_classes, labels, with_class
from svmbench.kernels.objective import conjugate_sum, loss_and_errors
from svmbench.names import BIASES
from svmbench.problem import Loss, Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.verify import extended
from svmbench.verify.extended import Facts
from twins import objective as twin
from twins.objective import gap_of
from twins.optimum import optimum

LOGISTIC = Loss("logistic")
of_each_class = pytest.mark.parametrize(
    ("name", "bias"),
    [
        (name, bias)
        for name, problem in PROBLEMS.items()
        for bias in BIASES
        if bias == "none" or has_both_classes(problem)
    ],
)


def one_row(s):
    """A row whose margin at w = [1] is s."""
    return dataset([[s]], [1], "dense float64").rows


@pytest.mark.parametrize("s", [-1e4, -800.0, -30.0, -0.5, 0.0, 0.5, 30.0, 800.0, 1e4])
def test_the_loss_is_exact_far_out(s):
    value, errors = loss_and_errors(one_row(s), np.ones(1), LOGISTIC.code)
    assert value == pytest.approx(np.logaddexp(0.0, -s), rel=1e-15, abs=0.0)
    assert errors == (s <= 0.0)


@given(st.floats(0.0, 1.0))
def test_the_conjugate_is_the_lower_envelope(alpha):
    # q(alpha) = min over s of loss(s) + alpha s, attained where the slope is -alpha.
    q = conjugate_sum(np.array([alpha]), LOGISTIC.code)
    s = np.linspace(-40.0, 40.0, 4001)
    values = np.logaddexp(0.0, -s) + alpha * s
    assert q <= values.min() + 1e-14
    if 1e-12 < alpha < 1.0 - 1e-12:
        best = math.log((1.0 - alpha) / alpha)
        assert q == pytest.approx(np.logaddexp(0.0, -best) + alpha * best, abs=1e-12)


@of_each_class
def test_values_are_those_of_the_definitions(name, bias):
    problem = with_class(PROBLEMS[name], "logistic", bias)
    X, y = dense(problem.data), labels(problem.data)
    rng = np.random.default_rng(41)
    w, b = rng.normal(size=X.shape[1]), 0.5 * (bias == "free")
    alpha = problem.repaired(rng.normal(0.5, 0.7, size=len(y)))
    P = twin.primal(X, y, problem.lam, LOGISTIC, w, b)
    D = twin.dual(X, y, problem.lam, LOGISTIC, alpha)
    assert problem.primal(w, b) == pytest.approx(P, rel=1e-13)
    assert problem.dual(alpha) == pytest.approx(D, rel=1e-12, abs=1e-13 * P)


@given(dyadic_problems(), st.sampled_from(BIASES), st.data())
def test_weak_duality(problem, bias, data):
    bias = bias if has_both_classes(problem) else "none"
    problem = Problem(problem.data, problem.lam, LOGISTIC, bias)
    m, d = problem.data.n_samples, problem.data.n_features
    w = np.array(data.draw(st.lists(st.floats(-50.0, 50.0), min_size=d, max_size=d)))
    b = data.draw(st.floats(-50.0, 50.0)) if bias == "free" else 0.0
    alpha = data.draw(st.lists(st.floats(0.0, 1.0), min_size=m, max_size=m))
    alpha = problem.repaired(np.array(alpha))
    P, D = problem.primal(w, b), problem.dual(alpha)
    assert -1e-13 * (1.0 + abs(P) + abs(D)) <= P - D


@of_each_class
def test_its_optimum_is_certified_and_found_independently(name, bias, own_cache):
    problem = with_class(PROBLEMS[name], "logistic", bias)
    best, found = optimum(problem), certified_optimum(problem, 1e-10, 20.0)
    assert found.gap <= 1e-10
    assert found.primal >= best.lower * (1.0 - 1e-12)
    assert found.dual <= best.upper * (1.0 + 1e-12)
    assert gap_of(problem, found.w, found.alpha, found.bias) <= 1e-10 * max(found.dual, 1e-3)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("seed", range(4))
def test_extended_precision_agrees_within_its_bounds(seed, bias):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 5)) * 10.0 ** rng.uniform(-6.0, 6.0, size=5)
    data = dataset(X, rng.permutation([1, -1] * 6), "int32+float64")
    problem = Problem(data, 10.0 ** rng.uniform(-6.0, 1.0), LOGISTIC, bias)
    w = rng.normal(size=5) / 10.0 ** rng.uniform(-6.0, 6.0, size=5)
    b = float(rng.normal()) if bias == "free" else 0.0
    alpha = problem.repaired(rng.random(12) * (rng.random(12) < 0.7))
    facts = Facts.of(problem.facts())
    for found, recorded in (
        (extended.evaluate(data, facts, w, b).primal, problem.primal(w, b)),
        (extended.dual(data, facts, alpha), problem.dual(alpha)),
    ):
        assert found.agrees(recorded)
        assert found.rounding <= 1e-12 * (1.0 + abs(found.value))
        assert not found.agrees(recorded + 3.0 * found.rounding)
        assert not found.agrees(recorded - 3.0 * found.rounding)


def test_it_has_no_ball():
    with pytest.raises(ValueError, match="no method certifies the logistic loss in a ball"):
        with_class(PROBLEMS["sparse"], "logistic", "none", 1.0)
