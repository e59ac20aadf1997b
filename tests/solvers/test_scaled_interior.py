"""Interior points by least squares: ordinary optima, and scales that Gram matrices lose."""

import numpy as np
import pytest

from problems import PROBLEMS, dataset
from svmbench.kernels.counters import Counters
from svmbench.problem import Problem
from svmbench.solvers.champion.interior_phase import InteriorPhase
from svmbench.solvers.second_order import scaled_interior
from svmbench.solvers.second_order.ipm import Ipm
from svmbench.solvers.second_order.scaled_interior import LeastSquares, ScaledInterior, fits
from twins.optimum import optimum


def ended(problem):
    run = ScaledInterior(problem)
    for iterations in range(200):
        run.advance(1)
        if run.exhausted:
            return run, iterations
    raise AssertionError("it does not end")


@pytest.mark.parametrize("name", PROBLEMS)
def test_ends_at_the_optimum_of_ordinary_problems(name):
    problem = PROBLEMS[name]
    run, iterations = ended(problem)
    assert iterations < 100
    P = problem.primal(run.w)
    assert np.all((run.alpha >= 0.0) & (run.alpha <= 1.0))
    assert problem.gap(run.w, run.alpha) <= 1e-10 * max(P, 1e-3)
    best = optimum(problem)
    assert best.lower - 1e-12 <= P <= best.upper * (1.0 + 1e-9) + 1e-12


def scaled(m, d, seed, largest=9.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * 10.0 ** rng.uniform(0.0, largest, size=d)
    return Problem(dataset(X, rng.choice([-1, 1], size=m), "dense float64"), 1e-3)


@pytest.mark.parametrize(("m", "d"), [(40, 12), (12, 12), (30, 29), (13, 30), (1, 5), (5, 1)])
@pytest.mark.parametrize("in_features", [False, True])
def test_both_forms_of_the_system_solve_features_of_any_scale(m, d, in_features):
    problem = scaled(m, d, m + d)
    run = ScaledInterior(problem)
    run._in_features = in_features
    primal, dual = np.inf, 0.0
    for _ in range(100):
        run.advance(1)
        primal = min(primal, problem.primal(run.w))
        dual = max(dual, problem.dual(run.alpha))
    assert run.exhausted
    assert primal - dual <= max(1e-6 * dual, 1e-12)


def test_least_squares_keep_the_digits_of_small_rows():
    rng = np.random.default_rng(5)
    for _ in range(20):
        scales = 10.0 ** rng.uniform(-9.0, 9.0, size=12)
        # Small integers: the right-hand side of the known solution is exact, but for the scales.
        A, x = rng.integers(-9, 10, size=(12, 6)).astype(float), rng.integers(1, 9, size=6)
        if np.linalg.matrix_rank(A[np.argsort(-scales)[:6]]) < 6:
            continue
        found, residual = LeastSquares(A * scales[:, None]).solve((A @ x) * scales)
        np.testing.assert_allclose(found, x, rtol=1e-11)
        assert np.all(np.abs(residual) <= 1e-12 * scales * 81)


def test_least_squares_find_the_residual():
    rng = np.random.default_rng(6)
    A, b = rng.normal(size=(9, 4)), rng.normal(size=9)
    x, residual = LeastSquares(A).solve(b)
    np.testing.assert_allclose(x, np.linalg.lstsq(A, b, rcond=None)[0], rtol=1e-10)
    np.testing.assert_allclose(residual, b - A @ x, atol=1e-13)


def test_a_singular_matrix_has_no_solution_in_numbers():
    x, _ = LeastSquares(np.zeros((3, 2))).solve(np.ones(3))
    assert np.isnan(x).all()


def test_equal_rows_are_merged():
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(8, 3)), rng.choice([-1, 1], size=8)
    repeated = Problem(dataset(np.tile(X, (5, 1)), np.tile(y, 5), "dense float64"), 1e-2)
    once = Problem(dataset(X, y, "dense float64"), 1e-2)
    runs = ScaledInterior(repeated), ScaledInterior(once)
    for run in runs:
        run.advance(8)
    assert runs[0].counters.presentations == runs[1].counters.presentations
    np.testing.assert_allclose(runs[0].w, runs[1].w, rtol=1e-6)
    np.testing.assert_allclose(runs[0].alpha, np.tile(runs[1].alpha, 5), atol=1e-6)


@pytest.mark.parametrize(
    ("m", "d", "small"),
    [
        (1, 1, True),
        (100_000, 100, True),
        (100, 100_000, True),
        (5, 0, False),
        (100_000, 1000, False),
        (10**7, 2, False),
        (4000, 4000, False),
    ],
)
def test_the_matrix_is_dense_and_must_be_small(m, d, small):
    assert fits(m, d) == small


def test_larger_problems_are_left_to_the_normal_equations(monkeypatch):
    problem = scaled(10, 3, 0)
    state = np.zeros(3), np.zeros(10), Counters()
    assert isinstance(InteriorPhase(problem, *state)._solver, ScaledInterior)
    monkeypatch.setattr(scaled_interior, "fits", lambda m, d: False)
    assert isinstance(InteriorPhase(problem, *state)._solver, Ipm)
