"""svmsgd2 against its twin, its search for t0, and what its schedule promises."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PRECISIONS,
    PROBLEMS,
    at_start,
    dataset,
    dense,
    dyadic,
    dyadic_problems,
    every_precision,
    every_problem,
    labels,
    losses,
    with_loss,
)
from svmbench.kernels.sgd_qn import Svmsgd2 as Kernel
from svmbench.kernels.sgd_qn import mean_loss
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2
from twins.objective import loss_values
from twins.sgd_qn import Svmsgd2 as Twin
from twins.sgd_qn import minus_slope

from . import scheduled

started = partial(at_start, Svmsgd2)
twin_of = partial(scheduled.twin_of, Twin)


def one_step(problem, w, t, t0, skip=1, precision="float64"):
    """The kernel's step from w at t on the first row, shrinking if skip is 1."""
    steps = (problem.lam, t0, skip, problem.loss, precision)
    kernel = Kernel(problem.data.rows, np.zeros(1, np.int32), *steps)
    kernel.presentations, kernel.w[:] = t, w
    kernel.advance(t + 1)
    return kernel.w


@pytest.mark.parametrize("sampling", ["fixed", "permuted"])
@pytest.mark.parametrize("skip", [None, 1, 5])
@scheduled.every_loss
@every_problem
def test_equals_its_twin_step_by_step(name, loss, skip, sampling):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(problem, 31, skip=skip, sampling=sampling)
    scheduled.assert_equals(run, twin_of(problem, 31, skip=skip, sampling=sampling), 1e-12)


@given(problem=dyadic_problems(max_rows=1), t=st.integers(0, 99), loss=losses)
def test_with_skip_1_a_step_is_dense_sgds_with_the_rows_part_shrunk_as_well(problem, t, loss):
    # From the same w, with eta = 1/(lam (t+t0)): SGD goes to (1 - lam eta) w + eta g y x, this
    # to (1 - lam eta)(w + eta g y x). They differ by lam eta^2 g y x and by nothing else.
    problem = Problem(problem.data, problem.lam, loss)
    x, y = dense(problem.data)[0], labels(problem.data)[0]
    w = np.cos(np.arange(len(x)))
    eta = 1.0 / (problem.lam * (t + 8.0))
    pull = minus_slope(loss, y * (x @ w))
    sgd = w - eta * (problem.lam * w - pull * y * x)
    difference = problem.lam * eta**2 * pull * y * x
    found = one_step(problem, w, t, 8.0)
    size = 1.0 + np.max(np.abs(sgd))
    np.testing.assert_allclose(sgd - found, difference, rtol=0.0, atol=1e-14 * size)


@pytest.mark.parametrize("t", [0, 3, 63, 64, 500])
def test_shrinking_never_turns_a_weight_round(t):
    # A zero row leaves the shrinking alone: 1 - 16/(t+t0), or its power below 0.8.
    problem = Problem(dataset(np.zeros((1, 2)), [1]), 0.5)
    kernel = Kernel(problem.data.rows, np.zeros(1, np.int32), 0.5, 1.0, 16, Loss("hinge"))
    kernel.count, kernel.presentations, kernel.w[:] = 1, t, [1.0, -2.0]
    kernel.advance(t + 1)
    printed = 1.0 - 16.0 / (t + 1.0)
    factor = printed if printed >= 0.8 else (1.0 - 1.0 / (t + 1.0)) ** 16
    assert 0.0 <= factor < 1.0
    np.testing.assert_allclose(kernel.w, [factor, -2.0 * factor], rtol=1e-15)


@pytest.mark.parametrize("name", ["sparse", "zero-rows", "more-features-than-rows"])
def test_skip_comes_from_the_share_of_nonzeros(name):
    data = PROBLEMS[name].data
    share = np.mean(dense(data) != 0.0)
    assert started(PROBLEMS[name]).skip == round(16.0 / share)
    assert started(PROBLEMS[name], skip=3).skip == 3


@scheduled.every_loss
@scheduled.ordinary
def test_the_search_keeps_the_steps_from_exploding(name, loss):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(problem)
    # The search sees a tenth of the rows, six of "sparse": one pass may end above P(0).
    run.advance(3 * problem.data.n_samples)
    found = problem.primal(run.w)
    assert found < problem.primal(np.zeros(problem.data.n_features))
    assert run.t0 in [10.0**k for k in range(11)]
    assert started(problem, t0=7.5).t0 == 7.5


def test_a_t0_far_too_small_shows_in_the_weights_and_crashes_nothing():
    X, y = dyadic(5, 400, 9, largest=4000)
    problem = Problem(dataset(X, y), 1e-4, Loss("squared-hinge"))
    for precision in PRECISIONS:
        run = started(problem, t0=1.0, precision=precision)
        run.advance(400)
        primal = problem.primal(run.w)
        assert not primal < 1e20
        assert started(problem, precision=precision).t0 >= 1e4


def test_the_search_is_not_in_the_counters_and_does_not_touch_the_rows_order():
    problem = PROBLEMS["overlapping"]
    searched = started(problem, 4)
    given = started(problem, 4, t0=searched.t0)
    for run in (searched, given):
        run.advance(120)
    assert searched.w.tobytes() == given.w.tobytes()
    assert searched.counters.presentations == given.counters.presentations == 120


def test_fixed_is_one_permutation_and_permuted_many():
    for sampling in ("fixed", "permuted"):
        run = started(PROBLEMS["overlapping"], sampling=sampling)
        first = run._order.tolist()
        run.advance(51)
        second = run._order.tolist()
        assert sorted(first) == sorted(second) == list(range(50))
        assert (first == second) == (sampling == "fixed")
    assert first != list(range(50))


@every_precision
@scheduled.every_loss
def test_mean_loss_is_that_of_the_rows_named(loss, precision):
    problem = with_loss(PROBLEMS["overlapping"], loss)
    X, y = dense(problem.data), labels(problem.data)
    w, order = np.cos(np.arange(8)), np.array([4, 0, 4, 9], dtype=np.int32)
    expected = np.mean(loss_values(problem.loss, (y * (X @ w))[order]))
    found = mean_loss(problem.data.rows, w.astype(precision), order, problem.loss)
    assert found == pytest.approx(expected, rel=1e-5)
