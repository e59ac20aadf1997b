"""svmsgd2 against its twin, its search for t0, and what its schedule promises."""

from functools import partial

import numpy as np
import pytest

from problems import (
    PRECISIONS,
    PROBLEMS,
    at_start,
    dataset,
    dense,
    dyadic,
    every_problem,
    with_loss,
)
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2
from twins.sgd_qn import Svmsgd2 as Twin

from . import scheduled

started = partial(at_start, Svmsgd2)
twin_of = partial(scheduled.twin_of, Twin)


@pytest.mark.parametrize("sampling", ["fixed", "permuted"])
@pytest.mark.parametrize("skip", [None, 1, 5])
@scheduled.every_loss
@every_problem
def test_equals_its_twin_step_by_step(name, loss, skip, sampling):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(problem, 31, skip=skip, sampling=sampling)
    scheduled.assert_equals(run, twin_of(problem, 31, skip=skip, sampling=sampling), 1e-12)


@pytest.mark.parametrize("name", ["sparse", "zero-rows", "more-features-than-rows"])
def test_skip_comes_from_the_share_of_nonzeros(name):
    data = PROBLEMS[name].data
    share = np.mean(dense(data) != 0.0)
    assert started(PROBLEMS[name])._skip == round(16.0 / share)
    assert started(PROBLEMS[name], skip=3)._skip == 3


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
