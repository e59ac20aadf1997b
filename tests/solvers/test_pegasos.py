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
from svmbench.problem import Problem
from svmbench.solvers.stochastic.pegasos import Pegasos
from twins.pegasos import Pegasos as Twin

TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
projection = pytest.mark.parametrize("project", [False, True])
started = partial(at_start, Pegasos)


def twin_of(problem, seed, project=False):
    return Twin(dense(problem.data), labels(problem.data), problem.lam, seed, project)


@projection
@pytest.mark.parametrize(
    ("precision", "rescale"), [("float64", True), ("float32", True), ("float64", False)]
)
@pytest.mark.parametrize("name", [*ordinary_problems(), "zero-rows", "one-row", "one-class"])
def test_equals_its_twin_step_by_step(name, precision, rescale, project):
    problem = PROBLEMS[name]
    run = started(problem, 17, precision=precision, project=project, rescale=rescale)
    plain = twin_of(problem, 17, project)
    size = 1.0 / np.sqrt(problem.lam)
    for _ in range(600):  # past the first folding of float32's scale, at t = 100 or so
        plain.step()
        run.advance(1)
        assert run.counters.updates == plain.updates
        assert_close(run.w, plain.w, rtol=0.0, atol=TOLERANCE[precision] * size)


@pytest.mark.parametrize("bad", [{"batch": 2}, {"radius": 1.0}])
def test_without_rescaling_only_single_rows_without_a_ball(bad):
    problem = PROBLEMS["overlapping"]
    if "radius" in bad:
        problem = Problem(problem.data, problem.lam, l1_radius=bad.pop("radius"))
    with pytest.raises(ConfigError, match="'rescale: false' is for batches of one row"):
        started(problem, 0, rescale=False, **bad)


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
