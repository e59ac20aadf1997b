"""sgd, svmsgd2 and both forms of sgd-qn against their twins, step by step."""

import numpy as np
import pytest

from problems import PROBLEMS, assert_close, at_start, dense, every_problem, labels, with_loss
from svmbench.names import LOSSES
from svmbench.solvers.stochastic.sgd import Sgd
from svmbench.solvers.stochastic.sgd_qn import SgdQn
from svmbench.solvers.stochastic.sgd_qn_corrected import SgdQnCorrected
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2
from twins import sgd_qn as twins

every_loss = pytest.mark.parametrize("loss", LOSSES)
every_sampling = pytest.mark.parametrize("sampling", ["fixed", "permuted"])


def started(solver, twin, name, loss, **options):
    """A run and its twin at their start."""
    problem = with_loss(PROBLEMS[name], loss)
    X, y = dense(problem.data), labels(problem.data)
    plain = twin(X, y, problem.lam, problem.loss, 31, **options)
    return at_start(solver, problem, 31, **options), plain


def assert_equal(run, plain, tolerance, scaling=None):
    """For four passes and a little more, updates and w agree, and B if its twin is given."""
    assert (run.t0, run._skip) == (plain.t0, plain.skip)
    for _ in range(4 * len(plain.y) + 3):
        run.advance(1)
        plain.step()
        assert run.counters.updates == plain.updates
        size = 1.0 + np.max(np.abs(plain.w))
        assert_close(run.w, plain.w, rtol=0.0, atol=tolerance * size)
        if scaling is not None:
            assert_close(run.scaling, scaling(plain), rtol=1e-9)


@every_sampling
@every_loss
@every_problem
def test_sgd(name, loss, sampling):
    assert_equal(*started(Sgd, twins.Sgd, name, loss, sampling=sampling), 1e-12)


@every_sampling
@pytest.mark.parametrize("skip", [None, 1, 5])
@every_loss
@every_problem
def test_svmsgd2(name, loss, skip, sampling):
    options = {"skip": skip, "sampling": sampling}
    assert_equal(*started(Svmsgd2, twins.Svmsgd2, name, loss, **options), 1e-12)


@pytest.mark.parametrize("averaging", ["printed", "released"])
@every_sampling
@pytest.mark.parametrize("skip", [None, 1, 4])
@every_loss
@every_problem
def test_sgd_qn(name, loss, skip, sampling, averaging):
    options = {"skip": skip, "sampling": sampling, "averaging": averaging}
    run, plain = started(SgdQn, twins.SgdQn, name, loss, **options)
    # The twin's ratios are of differences that cancel; the kernel's have a closed form.
    assert_equal(run, plain, 1e-10, lambda plain: plain.B)


@every_loss
@every_problem
def test_sgd_qn_with_the_released_t0(name, loss):
    run, plain = started(SgdQn, twins.SgdQn, name, loss, t0_rule="released")
    assert run.t0 == pytest.approx(plain.t0, rel=1e-15)
    plain.t0 = run.t0
    assert_equal(run, plain, 1e-10, lambda plain: plain.B)


@every_sampling
@pytest.mark.parametrize("skip", [None, 1, 4])
@every_loss
@every_problem
def test_sgd_qn_corrected(name, loss, skip, sampling):
    options = {"skip": skip, "sampling": sampling}
    run, plain = started(SgdQnCorrected, twins.Corrected, name, loss, **options)
    assert_equal(run, plain, 1e-10, lambda plain: 1.0 / plain.inverse)
