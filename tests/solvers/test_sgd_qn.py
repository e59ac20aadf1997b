"""sgd-qn as published against its twin, svmsgd2, and the bound on its scaling."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    assert_close,
    at_start,
    dataset,
    dense,
    dyadic,
    dyadic_problems,
    every_precision,
    every_problem,
    every_storage,
    labels,
    losses,
    with_loss,
)
from svmbench.kernels.sgd_qn import SgdQn as Kernel
from svmbench.kernels.sgd_qn import Svmsgd2 as Svmsgd2Kernel
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.scheduled import SkipParameters
from svmbench.solvers.stochastic.sgd_qn import SgdQn, SgdQnParameters
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2
from twins.sgd_qn import SgdQn as Twin

from . import scheduled

started = partial(at_start, SgdQn)
twin_of = partial(scheduled.twin_of, Twin)


every_averaging = pytest.mark.parametrize("averaging", ["printed", "released"])


@every_averaging
@pytest.mark.parametrize("sampling", ["fixed", "permuted"])
@pytest.mark.parametrize("skip", [None, 1, 4])
@scheduled.every_loss
@every_problem
def test_equals_its_twin_step_by_step(name, loss, skip, sampling, averaging):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(problem, 31, skip=skip, sampling=sampling, averaging=averaging)
    plain = twin_of(problem, 31, skip=skip, sampling=sampling, averaging=averaging)
    # The twin's ratios are of differences that cancel; the kernel's have a closed form.
    scheduled.assert_equals(run, plain, 1e-10, lambda plain: plain.B)


@scheduled.every_loss
@every_problem
def test_with_the_released_t0_it_equals_its_twin(name, loss):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(problem, 31, t0_rule="released")
    plain = twin_of(problem, 31, t0_rule="released")
    assert run.t0 == pytest.approx(plain.t0, rel=1e-15)
    plain.t0 = run.t0
    scheduled.assert_equals(run, plain, 1e-10, lambda plain: plain.B)


@pytest.mark.parametrize(
    ("loss", "lam", "t0"),
    [
        ("hinge", 1e-4, 1e3),  # u = 10: η0 = 10
        ("squared-hinge", 1e-4, 1.1e4),  # -loss'(-10) = 11: η0 = 10/11
        ("smoothed-hinge", 1e-4, 1e3),
        ("logistic", 1e-4, 1e3),
        ("hinge", 16.0, 1.0),  # 1/8 by the formula; less than 1 is no t0
    ],
)
def test_the_released_t0_follows_from_lambda_and_the_loss(loss, lam, t0):
    problem = with_loss(PROBLEMS["overlapping"], loss)
    run = started(Problem(problem.data, lam, problem.loss), t0_rule="released")
    assert run.t0 == pytest.approx(t0, rel=1e-12)


def test_a_given_t0_needs_no_rule():
    assert started(PROBLEMS["overlapping"], t0=7.0, t0_rule="released").t0 == 7.0


@given(
    problem=dyadic_problems(),
    loss=st.sampled_from([Loss("hinge"), Loss("squared-hinge"), Loss("smoothed-hinge", 0.5)]),
    skip=st.integers(1, 3),
    k=st.integers(0, 8),
    averaging=st.sampled_from(["printed", "released"]),
)
def test_the_closed_ratios_are_those_of_the_differences_in_exact_arithmetic(
    problem, loss, skip, k, averaging
):
    problem = Problem(problem.data, problem.lam, loss)
    m = problem.data.n_samples
    X = np.array([[Fraction(v) for v in row] for row in dense(problem.data)], dtype=object)
    y = [int(v) for v in labels(problem.data)]
    plain = Twin(
        X, y, Fraction(problem.lam), loss, t0=Fraction(2**k), skip=skip, averaging=averaging
    )
    order = np.arange(m, dtype=np.int32)
    kernel = Kernel(problem.data.rows, order, problem.lam, 2.0**k, skip, loss)
    kernel.released = averaging == "released"
    for t in range(1, m + 1):
        before = [plain.y[t - 1] * (plain.X[t - 1] @ plain.w), plain.updates]
        plain.step()
        margins = [before[0], plain.y[t - 1] * (plain.X[t - 1] @ plain.w)]
        if any(0 < abs(s - kink) < 1e-9 for s in margins for kink in (1, 1 - loss.gamma)):
            return  # rounding would put the row on the other side
        if any(s in (1, 1 - loss.gamma) for s in margins):
            return  # a tie, which rounded arithmetic may miss
        kernel.advance(t)
        assert kernel.updates == plain.updates
        size = 1.0 + float(max(abs(v) for v in plain.w))
        assert_close(kernel.w, plain.w.astype(float), rtol=0.0, atol=1e-12 * size)
        assert_close(kernel.b, (plain.B * plain.lam).astype(float), rtol=1e-11)


@every_averaging
@every_precision
@given(
    problem=dyadic_problems(),
    loss=losses,
    skip=st.integers(1, 3),
    t0=st.floats(1.0, 1e6),
    seed=st.integers(0, 2**64 - 1),
)
def test_the_scaling_never_exceeds_one_over_lambda(
    precision, averaging, problem, loss, skip, t0, seed
):
    problem = Problem(problem.data, problem.lam, loss)
    run = started(problem, seed, precision=precision, skip=skip, t0=t0, averaging=averaging)
    for _ in range(30):
        run.advance(1 + seed % 3)
        assert np.all(run.scaling <= 1.0 / problem.lam)
        floor = 0.01 * (1.0 - 1e-6)
        assert np.all(run.scaling >= floor / problem.lam)


@scheduled.every_loss
def test_on_dense_rows_the_published_scaling_is_the_same_for_all_features(loss):
    # x_j drops out of the ratio, so that only zeros tell features apart: the published form
    # rescales dense data as a whole, and what the erratum corrects shows here.
    run = started(with_loss(PROBLEMS["overlapping"], loss))
    assert (run.scaling == 32.0).all()
    run.advance(200)
    assert (run.scaling < 32.0).all()
    assert len(set(run.scaling)) == 1
    run = started(with_loss(PROBLEMS["sparse"], loss), skip=4)
    run.advance(200)
    assert len(set(run.scaling)) > 10


def test_the_scaling_has_a_floor():
    # t0 = 1e6 and a hinge that is passed in one step: the ratio is next to nothing, and with
    # r = 2 it replaces B at once.
    problem = Problem(dataset([[1e5, 1.0], [1e5, 1.0]], [1, 1]), 0.5)
    run = started(problem, t0=1e6, skip=1)
    run.advance(1)
    run._kernel.w[:] = 0.0
    run.advance(1)
    assert run.scaling.tolist() == [0.02, 0.02]


@pytest.mark.parametrize(("t0", "share"), [(2.0, 0.8), (32.0, 0.2), (9992.0, 0.0008)])
def test_by_the_released_weights_the_scaling_moves_as_slowly_as_the_steps_fall(t0, share):
    # The fifth row's step takes all of its loss away: with λB = 1 and t = 4 the ratio is
    # 1/(1 + t + t0). Its weight is 2 * 4/(4 + t0 + 4).
    problem = Problem(dataset([[1e5, 1e5]] * 6, [1] * 6), 0.5, Loss("squared-hinge"))
    run = started(problem, t0=t0, skip=4, averaging="released")
    run.advance(4)
    run._kernel.w[:] = 0.0
    assert run.scaling.tolist() == [2.0, 2.0]
    run.advance(1)
    moved = 1.0 + share * (1.0 / (5.0 + t0) - 1.0)
    assert_close(run.scaling, 2.0 * moved, rtol=1e-12)


def test_by_the_released_weights_a_row_without_loss_leaves_the_scaling():
    problem = Problem(dataset([[1.0, 0.5]] * 4, [1] * 4), 0.5, Loss("squared-hinge"))
    for averaging, moved in (("printed", True), ("released", False)):
        run = started(problem, t0=1e3, skip=1, averaging=averaging)
        run.advance(1)
        run._kernel.b[:] = 0.25
        run._kernel.w[:] = 100.0  # no row has loss here
        run.advance(1)
        assert (run.scaling != 0.5).all() == moved


@every_storage
@every_precision
@scheduled.every_loss
def test_with_its_scaling_kept_at_one_over_lambda_it_is_svmsgd2_bit_for_bit(
    loss, precision, storage
):
    X, y = dyadic(6, 40, 7)
    problem = with_loss(Problem(dataset(X, y, storage), 2.0**-5), loss)
    order = np.arange(40, dtype=np.int32)
    steps = (problem.lam, 11.0, 3, problem.loss, precision)
    first, second = (k(problem.data.rows, order, *steps) for k in (Kernel, Svmsgd2Kernel))
    first.r = np.inf  # the weight of a ratio is 2/r
    for t in range(1, 41):
        first.advance(t)
        second.advance(t)
        assert first.w.tobytes() == second.w.tobytes()
        assert first.updates == second.updates
    assert (first.b == 1.0).all()
    assert second.w.any()


@scheduled.every_loss
@every_precision
def test_until_its_scaling_moves_it_is_svmsgd2(precision, loss):
    problem = with_loss(PROBLEMS["overlapping"], loss)
    options = {"skip": 20, "t0": 100.0, "precision": precision}
    ours, theirs = SgdQn(SgdQnParameters(**options)), Svmsgd2(SkipParameters(**options))
    for run in (ours, theirs):
        run.start(problem, 8)
        run.advance(21)  # the row after the first shrinking still steps by the old scaling
    assert ours.w.tobytes() == theirs.w.tobytes()
