"""sgd-r against its twin and against pegasos, whose steps it takes in another form."""

import numpy as np
import pytest

from problems import (
    dataset,
    dense,
    dyadic,
    every_precision,
    labels,
)
from svmbench.problem import Problem
from svmbench.solvers.stochastic.pegasos import Pegasos
from svmbench.solvers.stochastic.sgd_r import SgdR
from twins.sgd_r import RandomRows


def started(solver, problem, seed, precision="float64"):
    run = solver(solver.schema(precision=precision))
    run.start(problem, seed)
    return run


@every_precision
@pytest.mark.parametrize("seed", [0, 1, 2**63])
def test_equals_its_twin_exactly_on_dyadic_data(precision, seed):
    problem = Problem(dataset(*dyadic(seed % 97, 37, 7)), 2.0**-3)
    run = started(SgdR, problem, seed, precision)
    plain = RandomRows(dense(problem.data), labels(problem.data), problem.lam, seed)
    for _ in range(20 * 37):
        run.advance(1)
        plain.step()
        assert (run.counters.presentations, run.counters.updates) == (plain.t, plain.M)
        np.testing.assert_array_equal(run.w, plain.w)
    assert 0 < plain.M < plain.t


def test_a_margin_of_one_is_an_error_unlike_in_pegasos():
    # x = 1, lam = 1: w = 1 after the first step, whose margin is exactly one at the second.
    problem = Problem(dataset([[1.0]], [1]), 1.0)
    run, other = started(SgdR, problem, 0), started(Pegasos, problem, 0)
    for solver, updates in ((run, 2), (other, 1)):
        solver.advance(2)
        assert solver.counters.updates == updates
        assert solver.w.tolist() == [updates / 2]
