"""svmasgd against plain steps and the program's own recursion for the mean."""

import math
from dataclasses import replace
from functools import partial
from itertools import cycle

import numpy as np
import pytest

from problems import (
    PROBLEMS,
    assert_close,
    at_start,
    dataset,
    dense,
    dyadic,
    every_precision,
    labels,
    ordinary_problems,
)
from svmbench.errors import ConfigError
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.svmasgd import SvmAsgd
from svmbench.solvers.stochastic.svmsgd import SvmSgd
from twins.decaying import Decaying, searched
from twins.rng import Generator, shuffled

TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
started = partial(at_start, SvmAsgd)


def twin_of(problem, seed, eta0, loss="hinge"):
    order = shuffled(problem.data.n_samples, seed)
    X, y, lam = dense(problem.data), labels(problem.data), problem.lam
    return Decaying(X, y, lam, eta0, lam * eta0, 0.75, cycle(order), loss=loss)


class Averaged:
    """The program's recursion: a twin's steps, and the average of what they lead to."""

    def __init__(self, plain, t_start):
        self.plain, self.t_start = plain, t_start
        self.average, self.average_b = plain.w, plain.b

    def step(self):
        t = self.plain.t
        mu = 1.0 if t <= self.t_start else 1.0 / (1.0 + t - self.t_start)
        self.plain.step()
        self.average = self.average + mu * (self.plain.w - self.average)
        self.average_b = self.average_b + mu * (self.plain.b - self.average_b)


@every_precision
@pytest.mark.parametrize("after", [0.0, 0.03, 1.0, 2.5])
@pytest.mark.parametrize("name", [*ordinary_problems(), "zero-rows", "one-row", "one-class"])
def test_equals_its_twin_step_by_step(name, after, precision):
    problem = PROBLEMS[name]
    run = started(problem, 17, precision=precision, average_after=after)
    plain = twin_of(problem, 17, run.eta0)
    averaged = Averaged(plain, math.ceil(after * problem.data.n_samples))
    size = 1.0 / np.sqrt(problem.lam)
    for _ in range(500):
        averaged.step()
        run.advance(1)
        assert run.counters.updates == plain.updates
        assert_close(run.w, averaged.average, rtol=0.0, atol=TOLERANCE[precision] * size)


@every_precision
@pytest.mark.parametrize("name", [*ordinary_problems(), "zero-rows"])
def test_the_logistic_losses_mean_equals_its_twins(name, precision):
    problem = replace(PROBLEMS[name], loss=Loss("logistic"))
    run = started(problem, 17, precision=precision)
    averaged = Averaged(twin_of(problem, 17, run.eta0, "logistic"), problem.data.n_samples)
    close = {"rtol": 0.0, "atol": TOLERANCE[precision] / np.sqrt(problem.lam)}
    for _ in range(300):
        averaged.step()
        run.advance(1)
        assert_close(run.w, averaged.average, **close)


@every_precision
@pytest.mark.parametrize("after", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("name", [*ordinary_problems(), "zero-rows"])
def test_a_free_bias_is_averaged_alike(name, after, precision):
    problem = replace(PROBLEMS[name], bias="free")
    run = started(problem, 17, precision=precision, average_after=after, bias_rate=0.2)
    plain = twin_of(problem, 17, run.eta0)
    plain.bias_rate = 0.2
    averaged = Averaged(plain, math.ceil(after * problem.data.n_samples))
    close = {"rtol": 0.0, "atol": TOLERANCE[precision] / np.sqrt(problem.lam)}
    for _ in range(300):
        averaged.step()
        run.advance(1)
        assert run.counters.updates == plain.updates
        assert_close(run.w, averaged.average, **close)
        assert_close(run.bias, averaged.average_b, **close)
    assert run.bias != plain.b


def test_the_mean_is_that_of_the_last_iterates_of_the_same_run():
    problem = PROBLEMS["sparse"]
    last = started(problem, 4, average_after=1e9)
    iterates = []
    for _ in range(240):
        last.advance(1)
        iterates.append(last.w)
    run = started(problem, 4)
    run.advance(60)
    assert run.w.tobytes() == iterates[59].tobytes()
    run.advance(1)
    assert run.w.tobytes() == iterates[60].tobytes()
    run.advance(179)
    assert_close(run.w, np.mean(iterates[60:], axis=0), rtol=0.0, atol=1e-12)


def test_the_first_step_is_that_of_svmsgd():
    # One pass of constant steps does not depend on how steps decay.
    problem = PROBLEMS["overlapping"]
    other = SvmSgd()
    other.start(problem, 9)
    order = list(range(50))
    Generator(9).shuffle(order)
    X, y = dense(problem.data)[order], labels(problem.data)[order]
    assert started(problem, 9).eta0 == other.eta0 == searched(X, y, problem.lam)


@every_precision
def test_mean_and_iterates_stay_in_their_ball(precision):
    for problem in PROBLEMS.values():
        radius = np.sqrt(problem.data.rows.norms2().max()) / problem.lam
        run = started(problem, 3, precision=precision, average_after=0.5)
        for _ in range(100):
            run.advance(1)
            assert np.linalg.norm(run.w) <= radius * (1.0 + TOLERANCE[precision])


def test_a_step_of_the_mean_touches_its_row_once_more_at_an_error():
    problem = Problem(dataset(*dyadic(2, 30, 400, density=0.02)), 2.0**-4)
    X = dense(problem.data)
    run = started(problem, 6)
    plain = twin_of(problem, 6, run.eta0)
    expected = 0
    for t in range(90):
        before = plain.updates
        plain.step()
        run.advance(1)
        vectors = 2 if t > 30 else 1  # the mean begins with the iterate after 31 steps
        touched = 1 + vectors * (plain.updates - before)
        expected += touched * np.count_nonzero(X[plain.picked[-1]])
        assert run.counters.nonzeros == expected
    assert 0 < plain.updates < 90


def test_a_first_step_of_inverse_lambda_or_more_is_refused():
    with pytest.raises(ConfigError, match=r"svmasgd: eta0 16 is not below 1/lambda = 16; lower"):
        started(PROBLEMS["one-row"], eta0=16.0)
