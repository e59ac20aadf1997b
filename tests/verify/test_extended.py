"""The recomputed figures against exact rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from problems import PRECISIONS, STORAGES, dataset, dense
from svmbench.names import HINGES
from svmbench.problem import Loss, Problem
from svmbench.verify import extended
from svmbench.verify.extended import Bounded, Facts


def exact(values):
    return [Fraction(float(value)) for value in values]


def exact_loss(problem, margin):
    short, nu = max(Fraction(0), 1 - margin), Fraction(problem.loss.nu)
    if problem.loss.name == "hinge":
        return short
    if problem.loss.name == "smoothed-hinge" and short >= nu:
        return short - nu / 2
    return short * short / (2 * nu)


def exact_primal(problem, w, bias):
    rows, weights = dense(problem.data), exact(w)
    total = Fraction(0)
    for row, label in zip(rows, problem.data.labels.tolist(), strict=True):
        score = sum((x * v for x, v in zip(exact(row), weights, strict=True)), Fraction(bias))
        total += exact_loss(problem, label * score)
    square = sum((v * v for v in weights), Fraction(0))
    return Fraction(problem.lam) * square / 2 + total / len(rows)


def exact_dual(problem, alpha):
    """Without a ball; of alpha balanced exactly where the bias is free."""
    rows, labels = dense(problem.data), problem.data.labels.tolist()
    variables, m = exact(alpha), len(rows)
    if problem.bias == "free":
        sums = {
            s: sum(a for a, y in zip(variables, labels, strict=True) if y == s) for s in (1, -1)
        }
        factor = {s: min(sums.values()) / sums[s] for s in sums}
        variables = [a * factor[y] for a, y in zip(variables, labels, strict=True)]
    u = [Fraction(0)] * rows.shape[1]
    for a, y, row in zip(variables, labels, rows, strict=True):
        for j, x in enumerate(exact(row)):
            u[j] += a * y * x
    lam, nu = Fraction(problem.lam), Fraction(problem.loss.nu)
    linear = sum((a - nu * a * a / 2 for a in variables), Fraction(0)) / m
    return linear - sum((v * v for v in u), Fraction(0)) / (2 * lam * m * m)


def made(seed, storage="dense float64", loss="hinge", bias="none"):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 5)) * 10.0 ** rng.uniform(-6.0, 6.0, size=5)
    X[3] = 0.0
    data = dataset(X, rng.permutation([1, -1] * 6), storage)
    problem = Problem(data, 10.0 ** rng.uniform(-6.0, 1.0), Loss(loss, 0.3), bias)
    w = rng.normal(size=5) / 10.0 ** rng.uniform(-6.0, 6.0, size=5)
    alpha = rng.random(12) * (rng.random(12) < 0.7)
    return problem, w, float(rng.normal()) if bias == "free" else 0.0, problem.repaired(alpha)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", HINGES)
@pytest.mark.parametrize("storage", STORAGES)
def test_figures_lie_within_their_bounds_of_the_exact_ones(storage, loss, bias):
    for seed in range(4):
        problem, w, b, alpha = made(seed, storage, loss, bias)
        facts = Facts.of(problem.facts())
        for found, truth, recorded in (
            (
                extended.evaluate(problem.data, facts, w, b).primal,
                exact_primal(problem, w, b),
                problem.primal(w, b),
            ),
            (
                extended.dual(problem.data, facts, alpha),
                exact_dual(problem, alpha),
                problem.dual(alpha),
            ),
        ):
            assert abs(Fraction(found.value) - truth) <= Fraction(found.rounding)
            assert found.agrees(recorded)
            # A bound that allowed anything would not be one.
            assert found.rounding <= 1e-12 * (1.0 + abs(found.value))
            assert not found.agrees(recorded + 3.0 * found.rounding)
            assert not found.agrees(recorded - 3.0 * found.rounding)


@pytest.mark.parametrize("loss", HINGES)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_a_ball_has_the_bound_of_its_projection(loss, bias):
    problem, w, b, alpha = made(5, "int32+float64", loss, bias)
    free = Facts.of(problem.facts())
    radius = 0.3 * float(np.abs(problem.weights(alpha)).sum())
    ball = Problem(problem.data, problem.lam, problem.loss, bias, radius)
    found = extended.dual(ball.data, Facts.of(ball.facts()), alpha)
    assert found.agrees(ball.dual(alpha))
    assert found.value > extended.dual(problem.data, free, alpha).value
    inside = w * (0.5 * radius / np.abs(w).sum())
    just_outside, outside = inside * 2.0 * (1.0 + 1e-6), inside * 2.1
    for weights in (inside, inside * 2.0, just_outside):
        assert extended.evaluate(ball.data, Facts.of(ball.facts()), weights, b).primal.agrees(
            ball.primal(weights, b)
        )
    told = extended.evaluate(ball.data, Facts.of(ball.facts()), outside, b).primal
    assert told.value == np.inf
    assert told.agrees(None)
    assert not told.agrees(1.0)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_errors_on_the_border_are_left_open_and_others_are_not(precision):
    X = np.array([[1.0, 1.0], [1.0, -1.0], [0.0, 0.0], [3.0, 1.0]], dtype=precision)
    data = dataset(X, [1, 1, 1, -1])
    assert extended.count_errors(data, np.array([1.0, 2.0]), 0.0) == (3, 3)
    third = np.array([0.1, 0.1 * (1.0 + 2e-16)])  # the second row's margin is rounding
    assert extended.count_errors(data, third, 0.0) == (2, 3)


def test_what_is_not_finite_agrees_with_none_alone():
    problem, w, _, alpha = made(1)
    facts = Facts.of(problem.facts())
    found = extended.evaluate(problem.data, facts, w * np.nan, 0.0).primal
    assert found.agrees(None)
    assert not found.agrees(1.0)
    assert not Bounded(1.0, 0.1).agrees(None)
    alpha[0] = 1.5
    assert extended.dual(problem.data, facts, alpha).value == -np.inf


OVERFLOWING = {
    "products that cancel each other": ([1e10, 1e10], 0.1),
    "products that nearly cancel each other": ([1e10 + 1e5, 1e10], 0.1),
    "the others that do": ([1e10 - 1e5, 1e10], 0.1),
    "products that add up": ([1e10, -1e10], 0.1),
    "a product alone": ([1e9, 0.0], 0.1),
    "the square of w": ([1e155, 1e155], 1e-300),
}


@pytest.mark.parametrize("loss", [*HINGES, "logistic"])
@pytest.mark.parametrize("storage", ["dense float64", "int32+float64"])
@pytest.mark.parametrize(("w", "lam"), OVERFLOWING.values(), ids=OVERFLOWING)
def test_what_leaves_double_precision_on_its_way_may_be_recorded_as_not_finite(
    loss, storage, w, lam
):
    X = np.array([[1e300, -1e300], [-1e300, 1e300], [0.0, 0.0]])
    problem = Problem(dataset(X, [1, -1, 1], storage), lam, Loss(loss, 0.3))
    weights = np.array(w)
    made = problem.evaluate(weights)
    found = extended.evaluate(problem.data, Facts.of(problem.facts()), weights, 0.0)
    assert found.primal.agrees(made.primal if np.isfinite(made.primal) else None)
    assert found.least_errors <= made.errors <= found.most_errors


def test_large_numbers_that_stay_in_double_precision_are_not_recorded_as_not_finite():
    data = dataset(np.array([[1e200, 0.0], [0.0, 1e-5]]), [1, 1], "dense float64")
    problem, w = Problem(data, 0.1), np.array([-1e5, 1e100])
    found = extended.evaluate(data, Facts.of(problem.facts()), w, 0.0)
    assert found.primal.agrees(problem.primal(w))
    assert not found.primal.agrees(None)


@pytest.mark.skipif(extended.LONG(1.0) + 2.0**-60 == 1.0, reason="long doubles are doubles")
def test_margins_keep_more_digits_than_doubles_have():
    data = dataset([[1.0, 2.0**-60]], [1], "dense float64")
    facts = Facts(2.0**-200, "hinge", 1.0, False, np.inf)
    primal = extended.evaluate(data, facts, np.array([1.0, -1.0]), 0.0).primal
    assert primal.value == 2.0**-60
