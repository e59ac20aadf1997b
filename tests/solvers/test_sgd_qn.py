"""The scaling of sgd-qn as published: its ratios in exact arithmetic, its bounds; its first t0."""

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
    dyadic_problems,
    every_precision,
    labels,
    losses,
    ordinary_problems,
    with_loss,
)
from svmbench.kernels.sgd_qn import SgdQn as Kernel
from svmbench.names import LOSSES
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.olbfgs import Olbfgs
from svmbench.solvers.stochastic.sgd_qn import SgdQn
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2
from twins.sgd_qn import SgdQn as Twin

started = partial(at_start, SgdQn)
every_averaging = pytest.mark.parametrize("averaging", ["printed", "released"])


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


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ordinary_problems())
@pytest.mark.parametrize("solver", [Svmsgd2, SgdQn, Olbfgs])
def test_single_precision_gives_the_cost_of_double(solver, name, loss):
    problem = with_loss(PROBLEMS[name], loss)
    costs = []
    for precision in ("float64", "float32"):
        run = at_start(solver, problem, 5, precision=precision)
        run.advance(10 * problem.data.n_samples)
        costs.append(problem.primal(run.w))
    assert costs[1] == pytest.approx(costs[0], rel=1e-4)


def test_the_scaling_has_a_floor():
    # t0 = 1e6 and a hinge that is passed in one step: the ratio is next to nothing, and with
    # r = 2 it replaces B at once.
    problem = Problem(dataset([[1e5, 1.0], [1e5, 1.0]], [1, 1]), 0.5)
    run = started(problem, t0=1e6, skip=1)
    run.advance(1)
    run._kernel.w[:] = 0.0
    run.advance(1)
    assert run.scaling.tolist() == [0.02, 0.02]
