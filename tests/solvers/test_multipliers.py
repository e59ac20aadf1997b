"""Multipliers of dual methods stay in their box, make the weights, and bound P from below."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import all_losses, assert_close, at_start, dense, dyadic_problems, labels
from svmbench.problem import Loss, Problem
from svmbench.solvers.dual.asdca import Asdca
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.dual.sdca import Sdca
from svmbench.solvers.stochastic.mpu import Mpu
from twins import objective
from twins.optimum import optimum

SAMPLINGS = [(Sdca, {"sampling": sampling}) for sampling in ("random", "perm", "fixed", "cyclic")]
DESCENTS = [(Dcd, {}), (Dcd, {"shrinking": False}), *SAMPLINGS]
UNITS = [(Mpu, {"delta": delta}) for delta in (2.0, 0.1)]
SMOOTHED = [
    (Asdca, {"precision": precision, "batch": batch, "theta": theta})
    for precision in ("float32", "float64")
    for batch, theta in ((1, None), (4, None), (9, 1.0), (3, 1e-6))
]


@pytest.mark.parametrize(("solver", "parameters"), DESCENTS + UNITS + SMOOTHED, ids=str)
@given(dyadic_problems(), all_losses, st.integers(0, 2**64 - 1))
def test_multipliers_are_feasible_and_certify(solver, parameters, problem, loss, seed):
    if solver is Asdca:
        loss = Loss("smoothed-hinge", (2.0**-20, 0.125, 1.0, 7.5)[seed % 4])
    loss = Loss("hinge") if solver is Mpu else loss
    problem = Problem(problem.data, problem.lam, loss)
    best, last = optimum(problem), -np.inf
    run = at_start(solver, problem, seed, **parameters)
    for _ in range(30):
        run.advance(1 + seed % 5)
        alpha, dual = run.alpha, run.dual()
        assert np.all(alpha >= 0.0)
        assert np.all(alpha <= objective.upper_bound(loss))
        assert dual <= best.upper * (1.0 + 1e-9)
        if solver is Asdca:  # its weights are not those of alpha
            assert dual == problem.dual(alpha)
            continue
        X = dense(problem.data)
        expected = objective.weights(X, labels(problem.data), problem.lam, alpha)
        size = 1.0 + np.max(np.abs(X)) * np.max(alpha) / problem.lam
        assert_close(run.w, expected, rtol=0.0, atol=(1e-11 if solver is Mpu else 1e-13) * size)
        if solver is not Mpu:
            assert dual >= last - 1e-13 * (1.0 + abs(last))
        last = dual
