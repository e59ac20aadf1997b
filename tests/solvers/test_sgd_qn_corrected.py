"""sgd-qn-corrected against its twin, the limits of its scaling, and an ill-conditioned set."""

from functools import partial

import pytest

from problems import (
    PROBLEMS,
    at_start,
    every_problem,
    with_loss,
)
from svmbench.solvers.stochastic.sgd_qn_corrected import SgdQnCorrected
from twins.sgd_qn import Corrected as Twin

from . import scheduled

started = partial(at_start, SgdQnCorrected)
twin_of = partial(scheduled.twin_of, Twin)


@pytest.mark.parametrize("sampling", ["fixed", "permuted"])
@pytest.mark.parametrize("skip", [None, 1, 4])
@scheduled.every_loss
@every_problem
def test_equals_its_twin_step_by_step(name, loss, skip, sampling):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(problem, 31, skip=skip, sampling=sampling)
    plain = twin_of(problem, 31, skip=skip, sampling=sampling)
    scheduled.assert_equals(run, plain, 1e-10, lambda plain: 1.0 / plain.inverse)
