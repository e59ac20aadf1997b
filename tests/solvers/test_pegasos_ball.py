"""pegasos in the l1 ball: against plain steps, and its options there."""

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
    labels,
    with_class,
)
from svmbench.errors import ConfigError
from svmbench.kernels.ball import ProjectedSubgradient
from svmbench.problem import Problem
from svmbench.solvers.stochastic.pegasos import Pegasos
from twins import online
from twins.optimum import variant

TOLERANCE = {"float64": 1e-11, "float32": 3e-5}
started = partial(at_start, Pegasos)


def twin_of(problem, seed, batch=1):
    X, y = dense(problem.data), labels(problem.data)
    twin = online.Pegasos(X, y, problem.lam, problem.l1_radius, seed)
    twin.batch = batch
    return twin


@every_precision
@pytest.mark.parametrize("kind", ["last", "average"])
@pytest.mark.parametrize("batch", [1, 4])
@pytest.mark.parametrize("name", ["sparse", "overlapping", "zero-rows", "one-class"])
def test_equals_its_twin_step_by_step(name, batch, kind, precision):
    problem = variant(PROBLEMS[name], constraint="l1")
    run = started(problem, 17, batch=batch, output=kind, precision=precision)
    plain = twin_of(problem, 17, batch)
    steps = 600 // batch
    for _ in range(steps):
        plain.step()
        run.advance(1)
        assert run.counters.updates == plain.updates
        shown = plain.w if kind == "last" else np.mean(plain.iterates, axis=0)
        size = max(1.0, problem.l1_radius)
        assert_close(run.w, shown, rtol=0.0, atol=TOLERANCE[precision] * size)
    assert run.counters.presentations == steps * batch


def test_a_ball_that_holds_every_iterate_changes_no_more_than_rounding():
    problem = PROBLEMS["overlapping"]
    free, confined = started(problem, 3), started(with_class(problem, l1_radius=1e4), 3)
    for _ in range(300):
        free.advance(1)
        confined.advance(1)
        assert free.counters.nonzeros == confined.counters.nonzeros
        assert_close(confined.w, free.w, rtol=0.0, atol=1e-11)


@every_precision
@given(dyadic_problems(), st.integers(0, 2**64 - 1), st.floats(2.0**-6, 8.0), st.integers(1, 4))
def test_iterates_and_means_keep_the_ball(precision, problem, seed, radius, batch):
    problem = Problem(problem.data, problem.lam, l1_radius=radius)
    for kind in ("last", "average"):
        run = started(problem, seed, precision=precision, batch=batch, output=kind)
        for _ in range(60):
            run.advance(batch)
            assert problem.admits(run.w)


@every_precision
def test_taking_the_scale_in_moves_neither_w_nor_the_sum(precision):
    problem = with_class(PROBLEMS["overlapping"], l1_radius=2.0)
    rows, d = problem.data.rows, problem.data.n_features
    smallest = 1e-5 if precision == "float64" else 1e-2
    plain = twin_of(problem, 9)
    constants = (problem.lam, problem.l1_radius, 1.0 / problem.lam, False, 1, precision)
    kernel = ProjectedSubgradient(rows, np.zeros(1, dtype=np.int32), *constants)
    kernel.steps, kernel.scale = 50, 1.05 * smallest
    w = np.random.default_rng(3).normal(size=d)
    kernel.v[:] = w / np.sum(np.abs(w)) / kernel.scale
    kernel.begin_sum()
    plain.w, plain.t = kernel.iterate, 50
    scales = []
    for t in range(1, 101):
        plain.step()
        kernel.order[:] = plain.picked[-1:]
        kernel.position = 0
        kernel.advance(t)
        scales.append(kernel.scale)
        close = {"rtol": 0.0, "atol": 5 * TOLERANCE[precision]}
        assert_close(kernel.iterate, plain.w, **close)
        assert kernel.summed == t
        assert_close(kernel.total / t, np.mean(plain.iterates, axis=0), **close)
    assert scales[0] < 1.05 * smallest
    assert max(scales) > 0.5  # it was taken in on the way
    assert min(scales) >= smallest * 0.9


def test_a_step_without_an_error_touches_its_rows_and_nothing_else():
    problem = Problem(dataset(*dyadic(2, 30, 400, density=0.02)), 2.0**-4, l1_radius=3.0)
    X = dense(problem.data)
    run, plain = started(problem, 6, output="average"), twin_of(problem, 6)
    expected = 0
    for _ in range(90):
        before = plain.updates
        plain.step()
        run.advance(1)
        expected += (1 + 2 * (plain.updates - before)) * np.count_nonzero(X[plain.picked[-1]])
        assert run.counters.nonzeros == expected


def test_the_two_balls_exclude_each_other():
    problem = with_class(PROBLEMS["overlapping"], l1_radius=1.0)
    with pytest.raises(ConfigError, match="'project' and the constraint l1 are two balls"):
        started(problem, project=True)
