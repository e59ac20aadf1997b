"""The step along a dual variable of the logistic loss, against the exact maximum."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import entr, expit

from problems import dataset
from svmbench.problem import Loss, Problem
from svmbench.solvers.dual.dcd import Dcd, DcdParameters


def rise(alpha, new, s, q):
    """m times the rise of D: of the entropies, less what w costs."""
    entropies = entr([new, 1.0 - new]).sum() - entr([alpha, 1.0 - alpha]).sum()
    return entropies - s * (new - alpha) - 0.5 * q * (new - alpha) ** 2


def exact(alpha, s, q):
    """The alpha that maximises it, by bisection on the margin."""

    def excess(t):
        return t - s - q * (expit(-t) - alpha)

    return expit(-brentq(excess, s - q * alpha - 1.0, s + q * (1.0 - alpha) + 1.0, xtol=1e-13))


@given(st.floats(-30.0, 30.0), st.floats(1e-6, 1e6), st.floats(0.0, 1.0))
def test_a_step_gains_nearly_all_that_it_can(s, q, alpha):
    # One row of length 1 with lambda = 1/q, whose margin is set to s.
    run = Dcd(DcdParameters())
    run.start(Problem(dataset([[1.0]], [1]), 1.0 / q, Loss("logistic")), 0)
    run._kernel.alpha[0], run._kernel.w[0] = alpha, s
    run.advance(1)
    new = float(run.alpha[0])
    assert 0.0 <= new <= 1.0
    most = rise(alpha, exact(alpha, s, q), s, q)
    assert rise(alpha, new, s, q) >= 0.95 * most - 1e-12 * (1.0 + q + abs(s))
    if most > 1e-9 * (1.0 + q):
        assert np.sign(new - alpha) == np.sign(exact(alpha, s, q) - alpha)
