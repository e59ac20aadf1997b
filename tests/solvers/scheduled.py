"""What the tests of sgd, svmsgd2 and both forms of sgd-qn share: starts, twins, comparisons."""

from __future__ import annotations

import numpy as np
import pytest

from problems import assert_close, dense, labels, ordinary_problems
from svmbench.names import LOSSES

every_loss = pytest.mark.parametrize("loss", LOSSES)
ordinary = pytest.mark.parametrize("name", ordinary_problems())


def twin_of(twin, problem, seed=1, **parameters):
    """Its twin at the start of the same run."""
    X, y = dense(problem.data), labels(problem.data)
    return twin(X, y, problem.lam, problem.loss, seed, **parameters)


def assert_keeps_to(run, plain, steps, tolerance, scaling=None):
    """Take the steps one by one: updates and w agree after each, and B if its twin is given."""
    for _ in range(steps):
        run.advance(1)
        plain.step()
        assert run.counters.updates == plain.updates
        size = 1.0 + np.max(np.abs(plain.w))
        assert_close(run.w, plain.w, rtol=0.0, atol=tolerance * size)
        if scaling is not None:
            assert_close(run.scaling, scaling(plain), rtol=1e-9)


def assert_equals(run, plain, tolerance, scaling=None):
    """A run and its twin agree from the start on, for four passes and a little more."""
    assert (run.t0, run._skip) == (plain.t0, plain.skip)
    assert_keeps_to(run, plain, 4 * len(plain.y) + 3, tolerance, scaling)
