"""mpu against single units of learning, its promise, and its proof that it ends."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    at_start,
    dataset,
    dense,
    dyadic,
    dyadic_problems,
    every_problem,
    labels,
)
from svmbench.errors import ConfigError
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.stochastic.mpu import Mpu
from twins.mpu import Mpu as Twin
from twins.objective import gap_of
from twins.optimum import optimum

started = partial(at_start, Mpu)


def values_of(problem, delta):
    """N: the least integer with 2g/(1 - g) <= delta, g = max n / (N lam m)."""
    longest2 = np.max(np.sum(dense(problem.data) ** 2, axis=1))
    scale = problem.lam * problem.data.n_samples
    return max(1, math.ceil((2.0 + delta) * longest2 / (delta * scale)))


def twin_of(problem, seed=1, delta=0.01):
    X, y = dense(problem.data), labels(problem.data)
    return Twin(X, y, problem.lam, seed, values_of(problem, delta))


@pytest.mark.parametrize("delta", [4.0, 0.5, 0.0625])
@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_equals_its_twin_exactly_on_dyadic_data(delta, seed):
    learnt = unlearnt = 0
    for lam in (2.0**-3, 2.0**-6):
        problem = Problem(dataset(*dyadic(seed % 97, 37, 7, largest=8)), lam)
        run, plain = started(problem, seed, delta=delta), twin_of(problem, seed, delta)
        assert run.stopped is False
        while plain.changed:
            plain.whole_pass()
            run.advance(len(plain.order))
            np.testing.assert_array_equal(run.alpha, plain.alpha)
            np.testing.assert_array_equal(run.w, plain.w)
            assert run.counters.presentations == plain.presentations
            assert run.counters.updates == plain.updates
            assert run.stopped is not plain.changed
        learnt, unlearnt = learnt + plain.learnt, unlearnt + plain.unlearnt
    assert learnt > 0
    assert unlearnt > 0


def integer_problem(m, d, seed, lam):
    """Few small integers: margins of exactly b and b + n abound, where a cycle would start."""
    rng = np.random.default_rng(seed)
    return Problem(dataset(rng.integers(-2, 3, size=(m, d)), rng.choice([-1, 1], size=m)), lam)


@given(
    st.integers(1, 6),
    st.integers(1, 3),
    st.integers(0, 10**6),
    st.sampled_from([8.0, 2.0, 0.5, 0.1]),
    st.integers(-4, 1),
)
def test_with_integer_rows_it_ends_and_its_potential_grows(m, d, seed, delta, exponent):
    problem = integer_problem(m, d, seed, 2.0**exponent)
    run, plain = started(problem, seed, delta=delta), twin_of(problem, seed, delta)
    while plain.changed:
        plain.rng.shuffle(plain.order)
        before = plain.updates
        for i in plain.order:
            updates, potential = plain.updates, plain.potential
            plain.present(i)
            run.advance(1)
            assert plain.potential > potential or plain.updates == updates
            np.testing.assert_array_equal(run.alpha, plain.alpha)
        plain.changed = plain.updates > before
        assert plain.presentations < 10**5
    if plain.order:
        assert run.stopped is True


@given(dyadic_problems(), st.integers(0, 2**64 - 1), st.sampled_from([1.0, 0.1, 1e-3]))
def test_the_promise_holds_at_a_pass_without_change(problem, seed, delta):
    run = started(problem, seed, delta=delta)
    run.halts = True
    run.advance(10**6)
    assert run.stopped
    assert relative_gap(problem.primal(run.w), run.dual()) <= delta * (1.0 + 1e-9)
    assert problem.primal(run.w) <= (1.0 + delta) * optimum(problem).upper * (1.0 + 1e-9)


@pytest.mark.parametrize("delta", [0.3, 0.03, 1e-3, 1e-6])
@every_problem
def test_when_it_stops_the_true_gap_is_within_delta(name, delta):
    problem = PROBLEMS[name]
    run = started(problem, 5, delta=delta)
    run.halts = True
    run.advance(10**6)
    assert run.stopped
    assert gap_of(problem, run.w, run.alpha) <= delta * run.dual() * (1.0 + 1e-9)


def test_the_promise_is_attained():
    # One row whose alpha is below 1: p = b + n is where it stops, with a gap of 2g/(1 - g).
    problem = Problem(dataset([[1.0]], [1]), 2.0**-2)
    gaps = []
    for delta in (0.1, 0.01):
        run = started(problem, delta=delta)
        run.advance(10)
        assert run.stopped
        gaps.append(relative_gap(problem.primal(run.w), run.dual()) / delta)
    assert min(gaps) > 0.9


def test_a_delta_that_asks_for_too_many_values_is_refused():
    with pytest.raises(ConfigError, match=r"mpu: delta 1e-17 .* more than 2\^53; raise delta"):
        started(PROBLEMS["overlapping"], delta=1e-17)
