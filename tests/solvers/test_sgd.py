"""sgd against its twin, exact steps, and the running mean that 1/t steps keep."""

from functools import partial

import pytest

from problems import (
    PROBLEMS,
    at_start,
    every_problem,
    with_loss,
)
from svmbench.solvers.stochastic.sgd import Sgd
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
