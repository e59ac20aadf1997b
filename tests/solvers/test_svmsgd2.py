"""svmsgd2's search for t0, its skip, and what its schedule promises."""

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
    ordinary_problems,
    with_loss,
)
from svmbench.names import LOSSES
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2

started = partial(at_start, Svmsgd2)


@pytest.mark.parametrize("name", ["sparse", "zero-rows", "more-features-than-rows"])
def test_skip_comes_from_the_share_of_nonzeros(name):
    data = PROBLEMS[name].data
    share = np.mean(dense(data) != 0.0)
    assert started(PROBLEMS[name])._skip == round(16.0 / share)
    assert started(PROBLEMS[name], skip=3)._skip == 3


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ordinary_problems())
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
