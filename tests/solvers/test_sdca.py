"""sdca against its twin, dcd without shrinking, and what the theory says of its iterates."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    all_losses,
    assert_close,
    at_start,
    dense,
    dyadic_problems,
    every_problem,
    labels,
    with_loss,
)
from svmbench.names import LOSSES
from svmbench.problem import Problem
from svmbench.solvers.checked import checked
from svmbench.solvers.dual.sdca import Sdca, SdcaParameters
from twins import objective
from twins.iterates import mean_from
from twins.optimum import optimum
from twins.sdca import Sdca as Twin

SAMPLINGS = ("random", "perm", "fixed", "cyclic")
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_sampling = pytest.mark.parametrize("sampling", SAMPLINGS)
started = partial(at_start, Sdca)


def twin_of(problem, seed=1, sampling="random"):
    X, y = dense(problem.data), labels(problem.data)
    return Twin(X, y, problem.lam, problem.loss, seed, sampling)


@every_sampling
@every_loss
@every_problem
def test_equals_its_twin(name, loss, sampling):
    problem, seed = with_loss(PROBLEMS[name], loss), 31
    steps = 3 * problem.data.n_samples + 1
    begins = {"last": 0, "average": steps // 2}
    runs = {
        kind: started(problem, seed, sampling=sampling, output=kind, begin=begin)
        for kind, begin in begins.items()
    }
    plain = twin_of(problem, seed, sampling)
    size = 1.0 + np.max(np.abs(plain.X)) / problem.lam
    for step in range(1, steps + 4):
        plain.step()
        for kind, run in runs.items():
            run.advance(1)
            assert (run.counters.presentations, run.counters.updates) == (step, plain.updates), kind
            w, alpha = plain.w, plain.alpha
            if kind == "average":
                w, alpha = (
                    mean_from(steps // 2, [pair[part] for pair in plain.iterates], (w, alpha)[part])
                    for part in (0, 1)
                )
            assert_close(run.alpha, alpha, rtol=0.0, atol=1e-12, err_msg=kind)
            assert_close(run.w, w, rtol=0.0, atol=1e-12 * size, err_msg=kind)


@every_sampling
@given(
    problem=dyadic_problems(),
    loss=all_losses,
    seed=st.integers(0, 2**64 - 1),
    steps=st.integers(1, 300),
)
def test_the_mean_is_feasible_and_certifies_itself(sampling, problem, loss, seed, steps):
    problem = Problem(problem.data, problem.lam, loss)
    mean = started(problem, seed, sampling=sampling, output="average", begin=steps // 2)
    mean.advance(steps)
    last = started(problem, seed, sampling=sampling)
    last.advance(steps // 2)
    iterates = []
    for _ in range(steps - steps // 2):
        iterates.append((last.w, last.alpha, last.dual()))
        last.advance(1)
    ws, alphas, duals = (np.array(part) for part in zip(*iterates, strict=True))
    alpha = mean.alpha
    assert np.all(alpha >= 0.0)
    assert np.all(alpha <= objective.upper_bound(loss))
    assert_close(alpha, alphas.mean(axis=0), rtol=1e-12, atol=1e-12)
    size = 1.0 + np.abs(ws).max()
    assert_close(mean.w, ws.mean(axis=0), rtol=0.0, atol=1e-12 * size)
    assert_close(mean.w, problem.weights(alpha), rtol=0.0, atol=1e-12 * size)
    # D is concave; what certifies the mean is a true bound all the same.
    dual = mean.dual()
    assert dual >= duals.mean() - 1e-12 * (1.0 + abs(duals.mean()))
    assert dual <= optimum(problem).upper * (1.0 + 1e-9)


@pytest.mark.parametrize("bad", [{"begin": 3}, {"begin": -1, "output": "average"}])
def test_a_beginning_without_a_mean_is_refused(bad):
    with pytest.raises(ValueError, match="begin"):
        checked(SdcaParameters, bad)
