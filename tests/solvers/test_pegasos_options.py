"""pegasos's options: batches, orders, projection and outputs, alone and together."""

import math
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PRECISIONS,
    PROBLEMS,
    assert_close,
    at_start,
    dense,
    dyadic_problems,
    every_precision,
    labels,
)
from svmbench.errors import ConfigError
from svmbench.solvers.checked import checked
from svmbench.solvers.stochastic.pegasos import Pegasos, PegasosParameters
from twins.iterates import output
from twins.pegasos_options import Pegasos as Twin

TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
SAMPLINGS = ("iid", "without-replacement", "permuted", "fixed")
OUTPUTS = ("last", "average", "tail-average", "random")
WITH_HORIZON = ("tail-average", "random")
every_output = pytest.mark.parametrize("kind", OUTPUTS)
every_sampling = pytest.mark.parametrize("sampling", SAMPLINGS)
projection = pytest.mark.parametrize("project", [False, True])
started = partial(at_start, Pegasos)


def twin_of(problem, seed, **parameters):
    return Twin(dense(problem.data), labels(problem.data), problem.lam, seed, **parameters)


def steps_of(sampling, m, batch, presentations):
    """Steps that reach a number of presentations: a permuted epoch ends with a short batch."""
    batch = min(batch, m)
    if sampling in ("iid", "without-replacement"):
        return math.ceil(presentations / batch)
    epochs, rest = divmod(presentations, m)
    return epochs * math.ceil(m / batch) + math.ceil(rest / batch)


def shown(plain, kind, steps, seed):
    """The output that the twin's iterates give."""
    if kind == "random":
        return output(plain.iterates, plain.w, "random", steps, seed)
    first = {"average": 0, "tail-average": steps // 2}.get(kind, 0)
    return output(plain.iterates, plain.w, "last" if kind == "last" else "mean", steps, 0, first)


@every_output
@every_sampling
@projection
@pytest.mark.parametrize("batch", [1, 3, 8, 1000])
def test_equals_its_twin_step_by_step(kind, sampling, project, batch):
    for name, epochs in (("sparse", 4.3), ("overlapping", 5.0), ("zero-rows", 12.7)):
        problem, seed = PROBLEMS[name], 17
        options = {"project": project, "batch": batch, "sampling": sampling}
        horizon = {"epochs": epochs} if kind in WITH_HORIZON else {}
        runs = {
            each: started(problem, seed, precision=each, output=kind, **options, **horizon)
            for each in PRECISIONS
        }
        plain = twin_of(problem, seed, **options)
        size = 1.0 / np.sqrt(problem.lam)
        m = problem.data.n_samples
        steps = steps_of(sampling, m, batch, math.ceil(epochs * m))
        for _ in range(steps + 2):  # and a little further
            plain.step()
            expected = shown(plain, kind, steps, seed)
            for precision, run in runs.items():
                run.advance(1)
                assert run.counters.presentations == plain.presentations
                assert run.counters.updates == plain.updates
                assert_close(run.w, expected, rtol=0.0, atol=TOLERANCE[precision] * size)
        norms = [np.linalg.norm(w) for w in plain.iterates[1:]]
        assert max(norms) <= (1.0 + 1e-12) * size or not project


@every_precision
@given(
    dyadic_problems(),
    st.integers(0, 2**64 - 1),
    st.integers(1, 9),
    st.sampled_from(SAMPLINGS),
    st.sampled_from(["last", "average"]),
)
def test_projection_keeps_the_ball(precision, problem, seed, batch, sampling, kind):
    options = {"batch": batch, "sampling": sampling, "output": kind}
    run = started(problem, seed, precision=precision, project=True, **options)
    radius = 1.0 / np.sqrt(problem.lam)
    for _ in range(120):
        run.advance(1)
        assert np.linalg.norm(run.w) <= radius * (1.0 + TOLERANCE[precision])


@every_sampling
@pytest.mark.parametrize("batch", [1, 8])
def test_a_mean_can_begin_at_any_step(sampling, batch):
    problem = PROBLEMS["sparse"]
    options = {"batch": batch, "sampling": sampling}
    run = started(problem, 4, output="tail-average", begin=31, **options)
    plain = twin_of(problem, 4, **options)
    assert run.horizon == "none"
    for _ in range(80):
        plain.step()
        run.advance(1)
        assert run.counters.presentations == plain.presentations
        expected = np.mean(plain.iterates[31:], axis=0) if len(plain.iterates) > 31 else plain.w
        assert_close(run.w, expected, rtol=0.0, atol=1e-10 / problem.lam)


@pytest.mark.parametrize("kind", WITH_HORIZON)
def test_an_output_of_a_run_of_unknown_length_is_refused(kind):
    run = Pegasos(PegasosParameters(output=kind))
    with pytest.raises(ConfigError, match=f"pegasos: output {kind} .*set 'epochs'"):
        run.start(PROBLEMS["sparse"], 0)


def test_epochs_that_the_output_does_not_use_are_refused():
    unused = "'epochs' is for output tail-average or random, not last; leave it out"
    with pytest.raises(ValueError, match=unused):
        checked(PegasosParameters, {"epochs": 3.0})
