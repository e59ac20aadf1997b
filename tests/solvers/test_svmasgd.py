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
    dense,
    every_precision,
    labels,
    ordinary_problems,
)
from svmbench.errors import ConfigError
from svmbench.problem import Loss
from svmbench.solvers.stochastic.svmasgd import SvmAsgd
from twins.decaying import Decaying
from twins.rng import shuffled

TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
SEVERAL = (*ordinary_problems(), "zero-rows")
started = partial(at_start, SvmAsgd)


def twin_of(problem, seed, eta0, loss, rate):
    order = shuffled(problem.data.n_samples, seed)
    X, y, lam = dense(problem.data), labels(problem.data), problem.lam
    return Decaying(X, y, lam, eta0, lam * eta0, 0.75, cycle(order), bias_rate=rate, loss=loss)


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
@pytest.mark.parametrize(
    ("name", "loss", "rate"),
    [
        *((name, "hinge", 0.0) for name in (*SEVERAL, "one-row", "one-class")),
        *((name, "hinge", 0.2) for name in SEVERAL),
        *((name, "logistic", 0.0) for name in SEVERAL),
    ],
)
def test_equals_its_twin_step_by_step(name, loss, rate, after, precision):
    problem = replace(PROBLEMS[name], loss=Loss(loss), bias="free" if rate else "none")
    run = started(problem, 17, precision=precision, average_after=after, bias_rate=rate or None)
    plain = twin_of(problem, 17, run._eta0, loss, rate)
    averaged = Averaged(plain, math.ceil(after * problem.data.n_samples))
    close = {"rtol": 0.0, "atol": TOLERANCE[precision] / np.sqrt(problem.lam)}
    for _ in range(500):
        averaged.step()
        run.advance(1)
        assert run.counters.updates == plain.updates
        assert_close(run.w, averaged.average, **close)
        assert_close(run.bias, averaged.average_b, **close)
    assert (run.bias != plain.b) == bool(rate)


def test_a_first_step_of_inverse_lambda_or_more_is_refused():
    with pytest.raises(ConfigError, match=r"svmasgd: eta0 16 is not below 1/lambda = 16; lower"):
        started(PROBLEMS["one-row"], eta0=16.0)
