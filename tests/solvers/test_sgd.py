"""sgd against its twin, exact steps, and the running mean that 1/t steps keep."""

from functools import partial

import numpy as np
import pytest

from problems import (
    PROBLEMS,
    at_start,
    every_precision,
    every_problem,
    with_loss,
)
from svmbench.solvers.checked import checked
from svmbench.solvers.stochastic.sgd import Sgd
from svmbench.solvers.stochastic.sgd_s import SgdS
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2
from twins.sgd_qn import Sgd as Twin

from . import scheduled

started = partial(at_start, Sgd)
twin_of = partial(scheduled.twin_of, Twin)


@pytest.mark.parametrize("sampling", ["fixed", "permuted"])
@scheduled.every_loss
@every_problem
def test_equals_its_twin_step_by_step(name, loss, sampling):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(problem, 31, sampling=sampling)
    scheduled.assert_equals(run, twin_of(problem, 31, sampling=sampling), 1e-12)


@every_precision
@scheduled.ordinary
def test_with_t0_1_and_fresh_permutations_it_is_the_perceptron_form(name, precision):
    # The same rows in the same order: start shuffles once, sgd-s once a pass.
    problem = PROBLEMS[name]
    run = started(problem, 6, t0=1.0, sampling="permuted", precision=precision)
    other = SgdS()
    other.start(problem, 6)
    tolerance = {"float64": 1e-12, "float32": 1e-4}[precision]
    size = 1.0 + 1.0 / problem.lam
    for _ in range(4 * problem.data.n_samples):
        run.advance(1)
        other.advance(1)
        np.testing.assert_allclose(run.w, other.w, rtol=0.0, atol=tolerance * size)


@scheduled.every_loss
@scheduled.ordinary
def test_svmsgd2_with_skip_1_is_its_equal_in_the_end(name, loss):
    problem = with_loss(PROBLEMS[name], loss)
    dense_run = started(problem, 2)
    other = Svmsgd2(Svmsgd2.schema(skip=1, t0=dense_run.t0))
    other.start(problem, 2)
    for run in (dense_run, other):
        run.advance(2000 * problem.data.n_samples)
    np.testing.assert_allclose(other.w, dense_run.w, rtol=0.0, atol=2e-2)
    assert other.w.tobytes() != dense_run.w.tobytes()


def test_it_has_no_skip():
    with pytest.raises(ValueError, match="skip"):
        checked(Sgd.schema, {"skip": 3})
