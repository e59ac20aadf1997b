"""sgd against its twin, exact steps, and the running mean that 1/t steps keep."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PRECISIONS,
    STORAGES,
    dataset,
    dense,
    dyadic,
    dyadic_problems,
    edge_problems,
    labels,
    losses,
    ordinary_problems,
    with_loss,
)
from svmbench.kernels.sgd_qn import ScheduleState, advance_sgd
from svmbench.problem import LOSSES, Loss, Problem
from svmbench.solvers.stochastic.scheduled import ScheduledParameters
from svmbench.solvers.stochastic.sgd import Sgd
from svmbench.solvers.stochastic.sgd_s import SgdS
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2
from twins.optimum import optimum
from twins.sgd_qn import Sgd as Twin
from twins.sgd_qn import minus_slope

PROBLEMS = {**ordinary_problems(), **edge_problems()}
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_precision = pytest.mark.parametrize("precision", PRECISIONS)
every_problem = pytest.mark.parametrize("name", PROBLEMS)


def started(problem, seed=1, **parameters):
    run = Sgd(ScheduledParameters(**parameters))
    run.start(problem, seed)
    return run


def twin_of(problem, seed=1, **parameters):
    X, y = dense(problem.data), labels(problem.data)
    return Twin(X, y, problem.lam, problem.loss, seed, **parameters)


@pytest.mark.parametrize("sampling", ["fixed", "permuted"])
@every_loss
@every_problem
def test_equals_its_twin_step_by_step(name, loss, sampling):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(problem, 31, sampling=sampling)
    plain = twin_of(problem, 31, sampling=sampling)
    assert run.t0 == plain.t0
    for _ in range(4 * problem.data.n_samples + 3):
        run.advance(1)
        plain.step()
        assert run.counters.updates == plain.updates
        size = 1.0 + np.max(np.abs(plain.w))
        np.testing.assert_allclose(run.w, plain.w, rtol=0.0, atol=1e-12 * size)


@pytest.mark.parametrize("storage", STORAGES)
@every_precision
def test_every_storage_follows_the_twin(storage, precision):
    X, y = dyadic(5, 20, 9)
    problem = Problem(dataset(X, y, storage), 2.0**-4, Loss("squared-hinge"))
    run = started(problem, 3, precision=precision, t0=100.0)
    plain = twin_of(problem, 3, t0=100.0)
    tolerance = {"float64": 1e-12, "float32": 1e-4}[precision]
    for _ in range(60):
        run.advance(1)
        plain.step()
        size = 1.0 + np.max(np.abs(plain.w))
        np.testing.assert_allclose(run.w, plain.w, rtol=0.0, atol=tolerance * size)


@given(problem=dyadic_problems(max_rows=1), k=st.integers(3, 13), loss=losses)
def test_a_step_is_exact_where_arithmetic_is(problem, k, loss):
    loss = loss if loss.name != "smoothed-hinge" else Loss("smoothed-hinge", 0.5)
    x, y = dense(problem.data)[0], labels(problem.data)[0]
    w = np.round(4.0 * np.cos(np.arange(len(x)))) / 4.0
    pull = minus_slope(loss, y * (x @ w))
    expected = w - (problem.lam * w - pull * y * x) / (problem.lam * 2.0**k)
    state, moved = ScheduleState(1), w.copy()
    state.presentations = 5
    order = np.zeros(1, np.int32)
    advance_sgd(
        problem.data.rows, moved, order, state, problem.lam, 2.0**k - 5, loss.code, loss.gamma, 6
    )
    assert moved.tolist() == expected.tolist()


@every_precision
@pytest.mark.parametrize("name", ordinary_problems())
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


@every_loss
@pytest.mark.parametrize("name", ordinary_problems())
def test_svmsgd2_with_skip_1_is_its_equal_in_the_end(name, loss):
    problem = with_loss(PROBLEMS[name], loss)
    dense_run = started(problem, 2)
    other = Svmsgd2(Svmsgd2.schema(skip=1, t0=dense_run.t0))
    other.start(problem, 2)
    for run in (dense_run, other):
        run.advance(2000 * problem.data.n_samples)
    np.testing.assert_allclose(other.w, dense_run.w, rtol=0.0, atol=2e-2)
    assert other.w.tobytes() != dense_run.w.tobytes()


@every_precision
@every_loss
@pytest.mark.parametrize("name", ordinary_problems())
def test_converges(name, loss, precision):
    problem = with_loss(PROBLEMS[name], loss)
    best = optimum(problem)
    run = started(problem, precision=precision)
    run.advance(2000 * problem.data.n_samples)
    assert problem.primal(run.w) - best.lower <= 0.03 * best.lower


def test_it_has_no_skip():
    with pytest.raises(ValueError, match="skip"):
        Sgd.schema(skip=3)


def test_arrays_of_other_lengths_are_refused():
    rows, order = PROBLEMS["overlapping"].data.rows, np.zeros(1, dtype=np.int32)
    with pytest.raises(ValueError, match="do not belong together"):
        advance_sgd(rows, np.zeros(7), order, ScheduleState(1), 1.0, 1.0, 0, 1.0, 1)
