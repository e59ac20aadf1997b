"""pegasos in the l1 ball: against plain steps, and its options there."""

from functools import partial

import numpy as np
import pytest

from problems import (
    PROBLEMS,
    assert_close,
    at_start,
    dense,
    every_precision,
    labels,
    with_class,
)
from svmbench.errors import ConfigError
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


def test_the_two_balls_exclude_each_other():
    problem = with_class(PROBLEMS["overlapping"], l1_radius=1.0)
    with pytest.raises(ConfigError, match="'project' and the constraint l1 are two balls"):
        started(problem, project=True)
