"""sgd-s and sgd-m against single presentations, their duals, and their stopping rule."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    dataset,
    dense,
    dyadic,
    dyadic_problems,
    every_precision,
    labels,
    ordinary_problems,
)
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.stochastic.sgd_m import SgdM, SgdMParameters
from svmbench.solvers.stochastic.sgd_s import SgdS
from twins import sgd as twin
from twins.optimum import optimum

METHODS = {
    "sgd-s": (SgdS, {}, twin.single),
    "sgd-m 4/9": (SgdM, {"schedule": "4/9"}, twin.four_ninths),
    "sgd-m blocks": (SgdM, {"schedule": "blocks"}, twin.blocks),
}
every_method = pytest.mark.parametrize("method", METHODS)


def pair(method, problem, seed, **parameters):
    """A started solver and its twin."""
    solver, settings, multiplicity = METHODS[method]
    run = solver(solver.schema(**settings, **parameters))
    run.start(problem, seed)
    X, y = dense(problem.data), labels(problem.data)
    return run, twin.PermutedPasses(X, y, problem.lam, seed, multiplicity)


def advance_both(run, plain):
    """One pass of each."""
    plain.whole_pass()
    run.advance(plain.t - run.counters.presentations)
    assert run.counters.presentations == plain.t


@every_precision
@every_method
@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_equals_its_twin_exactly_on_dyadic_data(method, precision, seed):
    problem = Problem(dataset(*dyadic(seed % 97, 37, 7)), 2.0**-3)
    run, plain = pair(method, problem, seed, precision=precision)
    for _ in range(20):
        advance_both(run, plain)
        assert run.counters.updates == plain.M
        np.testing.assert_array_equal(run.w, plain.w)
    assert 0 < plain.M < plain.t


@every_precision
@every_method
@given(problem=dyadic_problems(), seed=st.integers(0, 2**64 - 1))
def test_after_every_pass_the_duals_are_feasible_and_enclose_the_optimum(
    method, precision, problem, seed
):
    best = optimum(problem)
    run, plain = pair(method, problem, seed, precision=precision)
    duals = []
    for _ in range(19):
        advance_both(run, plain)
        alpha = plain.alpha
        assert np.all(alpha >= 0.0)
        assert np.all(alpha <= 1.0)
        np.testing.assert_allclose(problem.weights(alpha), plain.w, rtol=1e-12, atol=1e-12)
        # the solver's D from M, t and ||a||^2 is the D of that alpha
        duals.append(problem.dual(alpha))
        assert run.dual() == pytest.approx(max(duals), rel=1e-10, abs=1e-10 * problem.lam)
        assert run.dual() <= best.upper * (1.0 + 1e-9)
        assert best.lower * (1.0 - 1e-9) <= problem.primal(run.w)


@every_method
def test_no_dual_before_the_first_complete_pass(method):
    run, _ = pair(method, PROBLEMS["overlapping"], 3)
    run.advance(49 * run.multiplicity(1))
    assert run.dual() == -np.inf
    run.advance(1)
    assert run.dual() > -np.inf


@every_method
@pytest.mark.parametrize("epsilon", [0.3, 0.05])
@pytest.mark.parametrize("coefficient", [0.5, 1.2, 10.0])
def test_stops_after_the_first_pass_that_satisfies_its_rule(method, epsilon, coefficient):
    problem = Problem(dataset(*dyadic(6, 30, 5)), 2.0**-1)
    run, plain = pair(method, problem, 4, epsilon=epsilon, comparison_coefficient=coefficient)
    assert run.stopped is False
    for _ in range(2000):
        advance_both(run, plain)
        dual = problem.dual(plain.alpha)
        estimate = problem.lam / 2.0 * np.sum(plain.w**2) + np.mean(plain.losses)
        primal = problem.primal(plain.w)
        holds = (
            relative_gap(estimate, dual) <= coefficient * epsilon
            and relative_gap(primal, dual) <= epsilon
        )
        assert run.stopped == holds
        if holds:
            break
    assert run.stopped
    assert 0.0 <= primal - optimum(problem).lower <= epsilon * optimum(problem).upper
    run.advance(100)  # it goes on all the same
    assert run.stopped


@every_precision
@every_method
@pytest.mark.parametrize("name", [*ordinary_problems(), "zero-rows", "one-row", "one-class"])
def test_when_it_stops_the_true_gap_is_within_epsilon(method, precision, name):
    problem = PROBLEMS[name]
    run, _ = pair(method, problem, 9, precision=precision, epsilon=0.05)
    while not run.stopped and run.counters.presentations < 10**5:
        run.advance(1)
    assert run.stopped
    assert problem.primal(run.w) <= 1.05 * run.dual() * (1.0 + 1e-12)
    assert problem.primal(run.w) <= 1.05 * optimum(problem).upper


def test_schedules():
    assert [SgdS().multiplicity(k) for k in range(1, 30)] == [1] * 29
    ninths = SgdM()
    assert {ninths.multiplicity(k) for k in range(1, 100)} == {1, 5}
    expected = [1, 2, 3, 4, 10, 11, 12, 13, 19, 20, 21, 22, 28, 29]
    assert [k for k in range(1, 30) if ninths.multiplicity(k) == 5] == expected
    doubled = SgdM(SgdMParameters(schedule="blocks"))
    expected = [4, 5, 6, 8, 9, 10, 11, 12, 13, *range(16, 28)]
    assert [k for k in range(1, 32) if doubled.multiplicity(k) == 2] == expected
