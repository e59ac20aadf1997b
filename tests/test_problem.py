"""Problem: P, D and errors against the definitions, weak duality, odd data."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    STORAGES,
    dataset,
    dense,
    dyadic,
    dyadic_problems,
    every_problem,
    has_both_classes,
    labels,
    losses,
    with_class,
    with_loss,
)
from svmbench.names import BIASES, CONSTRAINTS, HINGES, LOSSES
from svmbench.problem import HINGE, Loss, Problem, count_errors
from twins import objective as twin
from twins.optimum import optimum, variant

every_loss = pytest.mark.parametrize("loss", LOSSES)
every_hinge = pytest.mark.parametrize("loss", HINGES)
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


def points(problem, seed):
    """A random w and a random alpha of the box, alpha on its bounds here and there."""
    rng = np.random.default_rng(seed)
    w = rng.normal(size=problem.data.n_features)
    alpha = np.clip(rng.normal(0.5, 0.7, size=problem.data.n_samples), 0.0, 1.0)
    return w, alpha


@given(problem=dyadic_problems(), seed=st.integers(0, 2**64 - 1))
def test_around_zero_the_hinge_objective_has_a_gradient(problem, seed):
    X, y = dense(problem.data), labels(problem.data)
    w, _ = points(problem, seed)
    w /= 2.0 * (1.0 + np.linalg.norm(w) * np.linalg.norm(X, axis=1).max())
    expected = 1.0 - w @ (y @ X) / len(y) + problem.lam / 2.0 * (w @ w)
    assert problem.primal(w) == pytest.approx(expected, rel=1e-12)


@every_loss
@every_problem
def test_values_are_those_of_the_definitions(name, loss):
    problem = with_loss(PROBLEMS[name], loss)
    X, y = dense(problem.data), labels(problem.data)
    w, alpha = points(problem, 41)
    evaluation = problem.evaluate(w)
    P = twin.primal(X, y, problem.lam, problem.loss, w)
    D = twin.dual(X, y, problem.lam, problem.loss, alpha)
    assert problem.primal(w) == evaluation.primal == pytest.approx(P, rel=1e-13)
    assert evaluation.errors == np.sum(y * (X @ w) <= 0.0)
    assert problem.dual(alpha) == pytest.approx(D, rel=1e-12, abs=1e-13 * P)
    expected = twin.weights(X, y, problem.lam, alpha)
    np.testing.assert_allclose(problem.weights(alpha), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("storage", STORAGES)
def test_values_do_not_depend_on_the_storage(storage):
    X, y = dyadic(42, 30, 9)
    pattern = np.where(X == 0.0, 0.0, 1.0) if storage.endswith("ones") else X
    problem = Problem(dataset(X, y, storage), 0.125)
    plain = Problem(dataset(pattern, y, "dense float64"), 0.125)
    w, alpha = dyadic(43, 1, 9)[0][0], np.linspace(0.0, 1.0, 31)[:30]
    assert problem.evaluate(w) == plain.evaluate(w)
    np.testing.assert_allclose(problem.weights(alpha), plain.weights(alpha), rtol=1e-15)


@given(dyadic_problems(), losses, st.data())
def test_weak_duality(problem, loss, data):
    problem = Problem(problem.data, problem.lam, loss)
    m, d = problem.data.n_samples, problem.data.n_features
    w = np.array(data.draw(st.lists(st.floats(-50.0, 50.0), min_size=d, max_size=d)))
    largest = 20.0 if loss.name == "squared-hinge" else 1.0
    alpha = data.draw(st.lists(st.floats(0.0, largest), min_size=m, max_size=m))
    alpha = np.array(alpha)
    P, D = problem.primal(w), problem.dual(alpha)
    assert -1e-13 * (1.0 + abs(P) + abs(D) + np.max(alpha) ** 2) <= P - D


@every_hinge
@every_problem_of_its_class
def test_the_optimum_closes_the_gap(name, bias, constraint, loss):
    problem = variant(PROBLEMS[name], loss, bias, constraint)
    best = optimum(problem)
    P, D = problem.primal(best.w, best.bias), problem.dual(best.alpha)
    assert abs(P - D) <= 1e-12
    w, alpha = points(problem, 44)
    assert problem.dual(problem.repaired(alpha)) <= best.upper
    assert problem.primal(problem.project(w), 0.5 * (bias == "free")) >= best.lower


@every_hinge
@every_problem_of_its_class
def test_values_with_a_bias_and_a_ball_are_those_of_the_definitions(name, bias, constraint, loss):
    problem = variant(PROBLEMS[name], loss, bias, constraint)
    X, y = dense(problem.data), labels(problem.data)
    w, alpha = points(problem, 48)
    b = -0.375 if bias == "free" else 0.0
    w, alpha = problem.project(w), problem.repaired(alpha)
    P = twin.primal(X, y, problem.lam, problem.loss, w, b)
    D = twin.dual(X, y, problem.lam, problem.loss, alpha, problem.l1_radius)
    assert problem.primal(w, b) == pytest.approx(P, rel=1e-13)
    assert problem.evaluate(w, b).errors == np.sum(y * (X @ w + b) <= 0.0)
    assert problem.dual(alpha) == pytest.approx(D, rel=1e-11, abs=1e-12 * P)
    u = twin.weights(X, y, problem.lam, alpha)
    expected = twin.project_l1(u, problem.l1_radius)
    np.testing.assert_allclose(problem.weights(alpha), expected, rtol=1e-11, atol=1e-11)


def test_the_dual_with_a_ball_is_the_least_of_the_lagrangian():
    # D(alpha) = min over the ball of lam/2 ||w||^2 - lam w.u + mean q: here on a fine grid.
    data = dataset([[1.0, 0.0], [0.5, -2.0], [0.25, 1.0]], [1, -1, 1])
    problem = Problem(data, 0.25, HINGE, "none", 0.75)
    alpha = np.array([1.0, 0.5, 0.25])
    u = twin.weights(dense(data), labels(data), 0.25, alpha)
    assert np.sum(np.abs(u)) > 0.75
    first, second = np.meshgrid(np.linspace(-0.75, 0.75, 1501), np.linspace(-0.75, 0.75, 1501))
    inside = np.abs(first) + np.abs(second) <= 0.75
    values = 0.125 * (first**2 + second**2) - 0.25 * (first * u[0] + second * u[1])
    least = values[inside].min() + alpha.mean()
    assert problem.dual(alpha) <= least + 1e-12
    assert problem.dual(alpha) == pytest.approx(least, abs=1e-5)


@pytest.mark.parametrize("lam", 10.0 ** -np.arange(4, 17, 3))
def test_the_dual_with_a_ball_keeps_its_digits_where_lambda_is_small(lam):
    # w(alpha) is of the size of 1/lambda then, and D(alpha) of that of the losses.
    problem = PROBLEMS["overlapping"]
    X, y, z = dense(problem.data), labels(problem.data), 0.75
    _, alpha = points(problem, 50)
    largest = np.sort(np.abs(X.T @ (alpha * y)) / len(y))[::-1]
    assert largest[0] - largest[1] > lam * z  # so that w = z times one unit vector is the nearest
    expected = np.mean(alpha) - z * largest[0] + 0.5 * lam * z**2
    confined = Problem(problem.data, lam, HINGE, "none", z)
    assert confined.dual(alpha) == pytest.approx(expected, rel=1e-13)


@given(dyadic_problems(), losses, st.sampled_from(BIASES), st.floats(1e-3, 1e3), st.data())
def test_weak_duality_with_a_bias_and_a_ball(problem, loss, bias, radius, data):
    if not has_both_classes(problem):
        bias = "none"
    problem = Problem(problem.data, problem.lam, loss, bias, radius)
    m, d = problem.data.n_samples, problem.data.n_features
    w = data.draw(st.lists(st.floats(-50.0, 50.0), min_size=d, max_size=d))
    w = problem.project(np.array(w))
    b = data.draw(st.floats(-50.0, 50.0)) if bias == "free" else 0.0
    largest = 20.0 if loss.name == "squared-hinge" else 1.0
    alpha = data.draw(st.lists(st.floats(0.0, largest), min_size=m, max_size=m))
    alpha = problem.repaired(np.array(alpha))
    assert problem.admits(w)
    P, D = problem.primal(w, b), problem.dual(alpha)
    assert math.isfinite(D)
    assert -1e-13 * (1.0 + abs(P) + abs(D) + np.max(alpha) ** 2) <= P - D


@given(dyadic_problems(), losses, st.data())
def test_a_repaired_alpha_is_feasible_and_a_feasible_one_stays(problem, loss, data):
    bias = "free" if has_both_classes(problem) else "none"
    problem = Problem(problem.data, problem.lam, loss, bias)
    m = problem.data.n_samples
    alpha = np.array(data.draw(st.lists(st.floats(-2.0, 3.0), min_size=m, max_size=m)))
    given_alpha = alpha.copy()
    repaired = problem.repaired(alpha)
    assert problem.dual(repaired) > -math.inf
    assert np.array_equal(alpha, given_alpha)
    np.testing.assert_allclose(problem.repaired(repaired), repaired, rtol=1e-12, atol=0.0)
    upper = math.inf if loss.name == "squared-hinge" else 1.0
    assert np.all(repaired <= np.clip(alpha, 0.0, upper))


def test_an_alpha_out_of_balance_proves_nothing_where_the_bias_is_free():
    problem = with_class(PROBLEMS["overlapping"], bias="free")
    _, alpha = points(problem, 49)
    assert with_loss(problem, "hinge").dual(alpha) > -math.inf
    assert problem.dual(alpha) == -math.inf


@pytest.mark.parametrize("size", [1e-6, 0.5])
def test_a_billionth_out_of_balance_is_no_rounding(size):
    problem = with_class(PROBLEMS["overlapping"], bias="free")
    alpha = problem.repaired(np.full(problem.data.n_samples, size))
    for share, proves in ((1e-15, True), (1e-9, False), (-1e-9, False)):
        other = alpha.copy()
        other[0] += share * alpha.sum()
        assert (problem.dual(other) > -math.inf) == proves


def test_weights_outside_the_ball_are_not_admitted_but_for_rounding():
    problem = with_class(PROBLEMS["separable"], l1_radius=2.0)
    inside = np.full(10, 0.2)
    assert problem.admits(inside)
    for more in (1.0 + 2e-6, np.float32(1.0 + 2e-6)):
        assert problem.primal(inside * more) == pytest.approx(problem.primal(inside), rel=1e-14)
    assert not problem.admits(inside * 1.001)
    assert problem.primal(inside * 1.001) == math.inf
    assert not problem.admits(inside * math.nan)


def test_a_free_bias_needs_both_classes():
    with pytest.raises(ValueError, match="rows of one class only; a free bias needs both"):
        with_class(PROBLEMS["one-class"], bias="free")
    with pytest.raises(ValueError, match="unknown bias 'regular'; known: none, free"):
        with_class(PROBLEMS["sparse"], bias="regular")


@pytest.mark.parametrize("radius", [0.0, -1.0, math.nan])
def test_the_radius_must_be_positive(radius):
    with pytest.raises(ValueError, match="radius must be positive"):
        with_class(PROBLEMS["sparse"], l1_radius=radius)


@every_loss
def test_an_alpha_outside_its_box_proves_nothing(loss):
    problem = with_loss(PROBLEMS["overlapping"], loss)
    _, alpha = points(problem, 45)
    outside = [-1e-9, math.nan, math.inf]
    if loss != "squared-hinge":
        outside.append(1.0 + 1e-9)
    for bad in outside:
        alpha[7] = bad
        assert problem.dual(alpha) == -math.inf


@every_loss
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf, 1e200])
def test_weights_that_diverged_have_no_value(loss, bad):
    problem = with_loss(PROBLEMS["zero-rows"], loss)
    w, _ = points(problem, 46)
    w[2] = bad
    primal = problem.primal(w)
    assert math.isnan(primal) if math.isnan(bad) else primal == math.inf


def test_zero_rows_and_ties_are_errors():
    data = dataset([[0.0, 0.0], [1.0, 1.0], [2.0, 0.0], [-1.0, 0.0]], [1, -1, 1, 1])
    assert count_errors(data, np.array([1.0, -1.0])) == 3  # a zero row, a tie, an error
    assert Problem(data, 1.0).evaluate(np.zeros(2)).errors == 4
    assert Problem(data, 1.0).primal(np.zeros(2)) == 1.0


def test_only_zero_rows():
    problem = PROBLEMS["only-zero-rows"]
    ones = np.ones(4)
    assert problem.primal(np.zeros(3)) == problem.dual(ones) == 1.0


def test_no_features():
    problem = Problem(dataset(np.zeros((3, 0)), [1, 1, -1]), 1.0)
    assert problem.evaluate(np.zeros(0)).primal == 1.0
    assert problem.dual(np.ones(3)) == 1.0


def test_one_row_by_hand():
    # min w^2/4 + max(0, 1 - 2w): w = 1/2, P = 1/16; alpha = lam w / x = 1/8.
    problem = Problem(dataset([[2.0]], [1]), 0.5)
    assert problem.primal(np.array([0.5])) == 0.0625
    assert problem.weights(np.array([0.125])).tolist() == [0.5]
    assert problem.dual(np.array([0.125])) == 0.0625


@pytest.mark.parametrize("lam", [0.0, -1.0, math.inf, math.nan])
def test_lambda_must_be_positive(lam):
    with pytest.raises(ValueError, match="lambda must be positive and finite"):
        Problem(PROBLEMS["sparse"].data, lam)


@pytest.mark.parametrize("gamma", [0.0, -1.0, math.inf, math.nan])
def test_gamma_must_be_positive(gamma):
    with pytest.raises(ValueError, match="gamma must be positive and finite"):
        Loss("smoothed-hinge", gamma)


def test_dual_variables_that_change_in_place_are_read_again():
    problem = PROBLEMS["sparse"]
    alpha = np.full(problem.data.n_samples, 0.5)
    before = problem.dual(alpha), problem.conjugate_sum(alpha), problem.weights(alpha)
    alpha[::2] = 1.0
    fresh = Problem(problem.data, problem.lam)
    assert problem.dual(alpha) == fresh.dual(alpha) != before[0]
    assert problem.conjugate_sum(alpha) == fresh.conjugate_sum(alpha) != before[1]
    assert (problem.weights(alpha) == fresh.weights(alpha)).all()
    alpha[::2] = 0.5
    assert problem.dual(alpha) == before[0]


def test_an_unknown_loss_is_refused_with_the_known_ones():
    with pytest.raises(ValueError, match=r"'ramp'.*hinge, squared-hinge, smoothed-hinge, logistic"):
        Loss("ramp")


def test_a_problem_needs_a_row():
    with pytest.raises(ValueError, match="at least one row"):
        Problem(dataset(np.zeros((0, 3)), []), 1.0)


def test_vectors_of_another_length_are_refused():
    problem = PROBLEMS["sparse"]
    with pytest.raises(ValueError, match="w has 3 entries, the rows 40 features"):
        problem.primal(np.zeros(3))
    with pytest.raises(ValueError, match="alpha has 3 entries for 60 rows"):
        problem.dual(np.zeros(3))


def test_facts_tell_problems_apart():
    base = PROBLEMS["overlapping"]
    others = [
        base,
        PROBLEMS["sparse"],
        Problem(base.data, base.lam * 2.0),
        Problem(base.data, base.lam, Loss("squared-hinge")),
        Problem(base.data, base.lam, Loss("logistic")),
        Problem(base.data, base.lam, Loss("smoothed-hinge", 0.5)),
        Problem(base.data, base.lam, Loss("smoothed-hinge", 0.25)),
        Problem(base.data, base.lam, HINGE, "free"),
        Problem(base.data, base.lam, HINGE, "none", 2.0),
        Problem(base.data, base.lam, HINGE, "none", 3.0),
    ]
    assert len({str(problem.facts()) for problem in others}) == len(others)
    assert base.facts() == Problem(base.data, base.lam, HINGE).facts()
    # gamma is no fact of a loss that has none
    assert base.facts() == Problem(base.data, base.lam, Loss("hinge", 3.0)).facts()
