"""newton against its twin, and the optimum that it reaches exactly."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import problems
from problems import (
    at_start,
    dense,
    dyadic_problems,
    labels,
    ordinary_problems,
    with_loss,
)
from svmbench.problem import Loss, Problem
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.second_order import newton
from svmbench.solvers.second_order.ipm import Ipm
from svmbench.solvers.second_order.newton import Newton
from twins.newton import Newton as Twin
from twins.optimum import optimum

PROBLEMS = {
    name: with_loss(problem, "squared-hinge") for name, problem in problems.PROBLEMS.items()
}
PROBLEMS |= {
    f"{name}, bias free": replace(problem, bias="free")
    for name, problem in PROBLEMS.items()
    if len(np.unique(problem.data.labels)) == 2
}
SOLUTIONS = ("cholesky", "cg")
every_problem = pytest.mark.parametrize("name", PROBLEMS)
every_solution = pytest.mark.parametrize("solution", SOLUTIONS)
started = partial(at_start, Newton)


def ended(problem, **parameters):
    run = started(problem, **parameters)
    iterations = 0
    while not run.stopped and iterations < 500:
        run.advance(1)
        iterations += 1
    assert run.stopped
    return run, iterations


def certified(problem, run):
    """P - D at the run's w, b and alpha, as a sum of non-negative terms."""
    return problem.gap(run.w, problem.repaired(run.alpha), run.bias)


@every_solution
@every_problem
def test_equals_its_twin(name, solution):
    problem = PROBLEMS[name]
    X, y = dense(problem.data), labels(problem.data)
    free, d = problem.bias == "free", X.shape[1]
    run, plain = started(problem, solution=solution), Twin(X, y, problem.lam, solution, free=free)
    for _ in range(20):
        run.advance(1)
        plain.iterate()
        both = [*run.w, run.bias][: d + free]
        np.testing.assert_allclose(both, plain.w, rtol=0.0, atol=1e-9)
        assert free or run.bias == 0.0
        assert run.counters.updates == plain.updates
        if plain.stopped or certified(problem, run) < 1e-13:
            break  # whether rounding hides the fall of P is not the same for both
    else:
        pytest.fail("twenty iterations did not end it")
    assert run.stopped == plain.stopped or solution == "cg"


@every_solution
@every_problem
def test_ends_at_the_certified_optimum(name, solution):
    problem = PROBLEMS[name]
    run, iterations = ended(problem, solution=solution)
    assert iterations <= 20
    allowed = 1e-12 * max(optimum(problem).upper, 1e-3)
    assert certified(problem, run) <= allowed
    assert problem.primal(run.w, run.bias) - run.dual() <= allowed


@every_solution
@pytest.mark.parametrize("name", ordinary_problems())
def test_its_end_is_that_of_other_methods(name, solution):
    problem = PROBLEMS[name]
    run, _ = ended(problem, solution=solution)
    interior, descent = Ipm(), Dcd()
    interior.start(problem, 0)
    interior.advance(60)
    descent.start(problem, 0)
    descent.advance(5000 * problem.data.n_samples)
    np.testing.assert_allclose(run.w, interior.w, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run.w, descent.w, rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(run.alpha, descent.alpha, rtol=0.0, atol=1e-9)


@given(dyadic_problems(), st.sampled_from(SOLUTIONS), st.booleans())
def test_invariants(problem, solution, free):
    free = free and len(np.unique(problem.data.labels)) == 2
    bias = "free" if free else "none"
    problem = Problem(problem.data, problem.lam, Loss("squared-hinge"), bias)
    best = optimum(problem)
    run = started(problem, solution=solution)
    last = problem.primal(run.w, run.bias)
    for _ in range(12):
        run.advance(1)
        now = problem.primal(run.w, run.bias)
        assert now <= last * (1.0 + 1e-14)
        assert run.dual() <= best.upper * (1.0 + 1e-12)
        last = now
    assert last <= best.upper * (1.0 + 1e-8) + 1e-14


def test_after_the_stop_it_rests_and_counts_its_epochs():
    run, iterations = ended(PROBLEMS["overlapping"])
    w, presentations, m = run.w, run.counters.presentations, PROBLEMS["overlapping"].data.n_samples
    run.advance(4)
    assert np.array_equal(run.w, w)
    assert run.counters.presentations == presentations + 4 * m
    halting = started(PROBLEMS["overlapping"])
    halting.halts = True
    halting.advance(100)
    assert halting.stopped
    assert halting.counters.presentations == presentations
    assert iterations < 100


def test_a_system_that_cannot_be_factored_is_left_to_conjugate_gradients(monkeypatch):
    problem = PROBLEMS["overlapping"]
    monkeypatch.setattr(newton, "factor_of", lambda system: None)
    run, iterations = ended(problem, solution="cholesky")
    assert problem.gap(run.w, run.alpha) <= 1e-12 * optimum(problem).upper
    assert iterations > 2  # a full step of theirs is no proof of the optimum
