"""sgd-qn-corrected against its twin, the limits of its scaling, and an ill-conditioned set."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    at_start,
    dataset,
    dyadic_problems,
    every_precision,
    every_problem,
    losses,
    with_loss,
)
from svmbench.kernels.sgd_qn import SgdQnCorrected as Kernel
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.sgd_qn import SgdQn
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


def test_a_feature_that_did_not_move_gains_101_times_lambda():
    # Two rows without common features and a shrinking at w = 0: the second row's own feature
    # has not moved, but its margin has not either, so its pull is what it was: nothing gained.
    # With the first feature shared and moved, the second one is new to both.
    problem = Problem(dataset([[1.0, 0.0], [1.0, 2.0]], [1, 1]), 0.5, Loss("squared-hinge"))
    order = np.arange(2, dtype=np.int32)
    kernel = Kernel(problem.data.rows, order, 0.5, 8.0, 1, problem.loss)
    kernel.advance(1)
    assert kernel.w.tolist() == [0.25, 0.0]  # 1/(lam t0) times the loss's slope
    kernel.advance(2)
    # The row's slope fell by 0.25 over a change of 0.25: curvature 1 + lam for the first.
    np.testing.assert_allclose(1.0 / kernel.b, [8.0 + 2.0 * 3.0, 8.0 + 2.0 * 101.0], rtol=1e-14)


@every_precision
@given(
    problem=dyadic_problems(),
    loss=losses,
    skip=st.integers(1, 3),
    t0=st.integers(0, 20).map(lambda k: 2.0**k),
    seed=st.integers(0, 2**64 - 1),
)
def test_its_inverse_grows_within_limits(precision, problem, loss, skip, t0, seed):
    problem = Problem(problem.data, problem.lam, loss)
    run = started(problem, seed, precision=precision, skip=skip, t0=t0)
    start = problem.lam * t0
    last = 1.0 / run.scaling
    np.testing.assert_array_equal(last, start)
    rounding = {"float64": 1e-12, "float32": 1e-5}[precision]
    for _ in range(30):
        run.advance(1)
        inverse = 1.0 / run.scaling
        assert np.all(inverse >= last)
        t, moved = run.counters.presentations, run.counters.moved
        assert moved <= t
        assert np.all(inverse >= (start + 0.1 * problem.lam * moved) * (1.0 - rounding))
        assert np.all(inverse <= (start + 101.0 * problem.lam * moved) * (1.0 + rounding))
        last = inverse


def test_it_tells_features_apart_where_the_published_form_cannot():
    # Dense rows whose features' sizes span a factor of 100, and labels that all depend on.
    rng = np.random.default_rng(8)
    Z = rng.normal(size=(2000, 10))
    y = np.where(Z.sum(axis=1) + 0.5 * rng.normal(size=2000) > 0.0, 1, -1)
    rows = dataset(Z * np.logspace(0.0, -2.0, 10), y, "dense float64")
    problem = Problem(rows, 2.0**-7, Loss("squared-hinge"))
    for seed in range(3):
        published, corrected = SgdQn(), SgdQnCorrected()
        for run in (published, corrected):
            run.start(problem, seed)
            run.advance(10_000)
        assert len(set(published.scaling)) == 1
        # The steps are shortest along the feature of most curvature.
        assert corrected.scaling[-1] > 2.0 * corrected.scaling[0]
