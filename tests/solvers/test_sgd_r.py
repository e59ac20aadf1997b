"""sgd-r against its twin and against pegasos, whose steps it takes in another form."""

import numpy as np
import pytest

from problems import (
    dataset,
    dense,
    dyadic,
    every_precision,
    labels,
    ordinary_problems,
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


def test_its_dual_variables_leave_the_box():
    problem = ordinary_problems()["overlapping"]
    m = problem.data.n_samples
    plain = RandomRows(dense(problem.data), labels(problem.data), problem.lam, 0)
    largest = []
    for t in range(1, 100 * m + 1):
        plain.step()
        if t % m == 0:
            largest.append(plain.alpha.max())
    assert min(largest) > 1.0
    np.testing.assert_allclose(problem.weights(plain.alpha), plain.w, rtol=1e-12, atol=1e-12)


def test_a_margin_of_one_is_an_error_unlike_in_pegasos():
    # x = 1, lam = 1: w = 1 after the first step, whose margin is exactly one at the second.
    problem = Problem(dataset([[1.0]], [1]), 1.0)
    run, other = started(SgdR, problem, 0), started(Pegasos, problem, 0)
    for solver, updates in ((run, 2), (other, 1)):
        solver.advance(2)
        assert solver.counters.updates == updates
        assert solver.w.tolist() == [updates / 2]
