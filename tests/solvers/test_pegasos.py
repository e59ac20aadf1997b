"""pegasos against plain steps, the perceptron form, and its ball."""

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
    ordinary_problems,
)
from svmbench.errors import ConfigError
from svmbench.kernels.pegasos import Pegasos as Kernel
from svmbench.problem import Problem
from svmbench.solvers.stochastic.pegasos import Pegasos
from twins.pegasos import Pegasos as Twin

TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
projection = pytest.mark.parametrize("project", [False, True])
started = partial(at_start, Pegasos)


def twin_of(problem, seed, project=False):
    return Twin(dense(problem.data), labels(problem.data), problem.lam, seed, project)


@projection
@every_precision
@pytest.mark.parametrize("name", [*ordinary_problems(), "zero-rows", "one-row", "one-class"])
def test_equals_its_twin_step_by_step(name, precision, project):
    problem = PROBLEMS[name]
    run = started(problem, 17, precision=precision, project=project)
    plain = twin_of(problem, 17, project)
    size = 1.0 / np.sqrt(problem.lam)
    for _ in range(600):  # past the first folding of float32's scale, at t = 100 or so
        plain.step()
        run.advance(1)
        assert run.counters.updates == plain.updates
        assert_close(run.w, plain.w, rtol=0.0, atol=TOLERANCE[precision] * size)


@projection
@pytest.mark.parametrize("name", [*ordinary_problems(), "zero-rows", "one-row", "one-class"])
def test_without_rescaling_it_is_the_same_method(name, project):
    problem = PROBLEMS[name]
    run = started(problem, 17, project=project, rescale=False)
    plain = twin_of(problem, 17, project)
    size = 1.0 / np.sqrt(problem.lam)
    for _ in range(600):
        plain.step()
        run.advance(1)
        assert run.counters.updates == plain.updates
        assert_close(run.w, plain.w, rtol=0.0, atol=1e-12 * size)


def test_without_rescaling_projections_underflow_where_lambda_is_small():
    # Each projected margin error divides the scale by ||x||/(t sqrt(lam)): e^-2000 or so in all.
    rng = np.random.default_rng(5)
    X = rng.normal(size=(400, 40))
    y = np.where(rng.random(400) < 0.5, 1, -1)
    problem = Problem(dataset(X, y, "dense float64"), 4e-6)
    released = started(problem, 3, project=True, rescale=False)
    rescaled = started(problem, 3, project=True)
    released.advance(20_000)
    rescaled.advance(20_000)
    assert not np.isfinite(released.w).all()
    assert np.isfinite(rescaled.w).all()
    assert problem.lam * np.sum(rescaled.w**2) <= 1.0 + 1e-9
    unprojected = started(problem, 3, rescale=False)
    unprojected.advance(20_000)
    assert np.isfinite(unprojected.w).all()


@pytest.mark.parametrize("bad", [{"batch": 2}, {"radius": 1.0}])
def test_without_rescaling_only_single_rows_without_a_ball(bad):
    problem = PROBLEMS["overlapping"]
    if "radius" in bad:
        problem = Problem(problem.data, problem.lam, l1_radius=bad.pop("radius"))
    with pytest.raises(ConfigError, match="'rescale: false' is for batches of one row"):
        started(problem, 0, rescale=False, **bad)


@pytest.mark.parametrize("name", ordinary_problems())
def test_without_projection_equals_the_perceptron_form(name):
    problem = PROBLEMS[name]
    run, plain = started(problem, 23), twin_of(problem, 23)
    a = np.zeros(problem.data.n_features)
    for t in range(1, 1001):
        i = plain.rng.below(problem.data.n_samples)
        if t == 1 or plain.y[i] * (plain.X[i] @ a) < problem.lam * (t - 1):
            a += plain.y[i] * plain.X[i]
        run.advance(1)
        assert_close(run.w, a / (problem.lam * t), rtol=0.0, atol=1e-12)


def test_a_margin_of_one_is_no_error():
    # x = 1, lam = 1: w = 1 after the first step, whose margin is exactly one at the second.
    run = started(Problem(dataset([[1.0]], [1]), 1.0), 0)
    run.advance(1)
    assert run.w.tolist() == [1.0]
    run.advance(1)
    assert run.w.tolist() == [0.5]
    assert run.counters.updates == 1


@every_precision
@given(dyadic_problems(), st.integers(0, 2**64 - 1))
def test_projection_keeps_the_ball(precision, problem, seed):
    run = started(problem, seed, precision=precision, project=True)
    radius = 1.0 / np.sqrt(problem.lam)
    for _ in range(250):
        run.advance(1)
        # ||w|| is known by recurrence between foldings, so float32 may pass the edge a little.
        assert np.linalg.norm(run.w) <= radius * (1.0 + TOLERANCE[precision])


def test_projection_acts():
    problem = PROBLEMS["separable"]
    free, kept = started(problem, 2), started(problem, 2, project=True)
    free.advance(1)
    kept.advance(1)
    radius = 1.0 / np.sqrt(problem.lam)
    assert np.linalg.norm(free.w) > radius
    assert np.linalg.norm(kept.w) == pytest.approx(radius, rel=1e-14)


@projection
@every_precision
def test_folding_the_scale_does_not_move_w(precision, project):
    problem = PROBLEMS["overlapping"]
    rows, d = problem.data.rows, problem.data.n_features
    smallest = 1e-5 if precision == "float64" else 1e-2
    w = np.random.default_rng(3).normal(size=d)
    w /= np.linalg.norm(w)
    kernel = Kernel(rows, np.zeros(1, dtype=np.int32), problem.lam, project, precision)
    kernel.steps = kernel.presentations = 50
    kernel.scale, kernel.norm2 = 1.05 * smallest, 1.0
    kernel.v[:] = w / kernel.scale
    plain = twin_of(problem, 9, project)
    plain.w, plain.t = kernel.iterate, 50
    scales = []
    for t in range(51, 151):
        plain.step()
        kernel.order[:] = plain.picked[-1:]
        kernel.position = 0
        kernel.advance(t)
        scales.append(kernel.scale)
        close = {"rtol": 0.0, "atol": 5 * TOLERANCE[precision]}
        assert_close(kernel.iterate, plain.w, **close)
    assert scales[0] < 1.05 * smallest
    assert max(scales) > 0.5  # it was folded on the way
    assert min(scales) >= smallest * 0.9
