"""Interior points by least squares: ordinary optima, and scales that Gram matrices lose."""

import numpy as np
import pytest

from problems import PROBLEMS, dataset
from svmbench.kernels.counters import Counters
from svmbench.problem import Problem
from svmbench.solvers.champion.interior_phase import InteriorPhase
from svmbench.solvers.second_order.scaled_interior import ScaledInterior
from twins.objective import gap_of
from twins.optimum import optimum


def ended(problem):
    zeros = np.zeros(problem.data.n_features), np.zeros(problem.data.n_samples)
    run = InteriorPhase(problem, *zeros, Counters())
    assert type(run._solver) is ScaledInterior
    for iterations in range(200):
        run.iterate()
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
    assert gap_of(problem, run.w, run.alpha) <= 1e-10 * max(P, 1e-3)
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
    run = ScaledInterior()
    run.start(problem, 0)
    run._in_features = in_features
    primal, dual = np.inf, 0.0
    for _ in range(100):
        run.advance(1)
        primal = min(primal, problem.primal(run.w))
        dual = max(dual, problem.dual(run.alpha))
    assert run.exhausted
    assert primal - dual <= max(1e-6 * dual, 1e-12)
