"""sgd against its twin, exact steps, and the running mean that 1/t steps keep."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    at_start,
    dense,
    dyadic_problems,
    every_precision,
    every_problem,
    every_storage,
    labels,
    losses,
    with_loss,
)
from svmbench.kernels.sgd_qn import Sgd as Kernel
from svmbench.problem import Loss
from svmbench.solvers.checked import checked
from svmbench.solvers.stochastic.sgd import Sgd
from svmbench.solvers.stochastic.sgd_s import SgdS
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2
from twins.sgd_qn import Sgd as Twin
from twins.sgd_qn import minus_slope

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


@every_storage
@every_precision
def test_every_storage_follows_the_twin(storage, precision):
    problem = scheduled.small_problem(storage)
    run = started(problem, 3, precision=precision, t0=100.0)
    plain = twin_of(problem, 3, t0=100.0)
    scheduled.assert_keeps_to(run, plain, 60, {"float64": 1e-12, "float32": 1e-4}[precision])


@given(problem=dyadic_problems(max_rows=1), k=st.integers(3, 13), loss=losses)
def test_a_step_is_exact_where_arithmetic_is(problem, k, loss):
    loss = loss if loss.name != "smoothed-hinge" else Loss("smoothed-hinge", 0.5)
    x, y = dense(problem.data)[0], labels(problem.data)[0]
    w = np.round(4.0 * np.cos(np.arange(len(x)))) / 4.0
    pull = minus_slope(loss, y * (x @ w))
    expected = w - (problem.lam * w - pull * y * x) / (problem.lam * 2.0**k)
    kernel = Kernel(problem.data.rows, np.zeros(1, np.int32), problem.lam, 2.0**k - 5, loss)
    kernel.presentations, kernel.w[:] = 5, w
    kernel.advance(6)
    assert kernel.w.tolist() == expected.tolist()


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
