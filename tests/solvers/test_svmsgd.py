"""svmsgd against plain steps, its search for the first step, and the bounds of its analysis."""

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
    every_problem,
    labels,
    ordinary_problems,
)
from svmbench.errors import ConfigError
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic import decaying
from svmbench.solvers.stochastic.svmsgd import SvmSgd
from twins.decaying import Decaying, searched
from twins.optimum import optimum
from twins.rng import shuffled

TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
SEVERAL = (*ordinary_problems(), "zero-rows")
started = partial(at_start, SvmSgd)


def twin_of(problem, order, rate=0.0, eta0=None):
    """Its twin, with the first step that the twin's search finds unless given."""
    X, y, lam, loss = dense(problem.data), labels(problem.data), problem.lam, problem.loss.name
    eta0 = eta0 or searched(X[order], y[order], lam, rate, loss)
    return Decaying(X, y, lam, eta0, lam * eta0, 1.0, cycle(order), bias_rate=rate, loss=loss)


@every_precision
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize(
    ("name", "rate"),  # 0: no bias; None: its own rate
    [
        *((name, 0.0) for name in (*SEVERAL, "one-row", "one-class")),
        *((name, rate) for name in SEVERAL for rate in (None, 0.01, 0.5)),
    ],
)
def test_equals_its_twin_step_by_step(name, rate, loss, precision):
    bias = "none" if rate == 0.0 else "free"
    problem = replace(PROBLEMS[name], loss=Loss(loss), bias=bias)
    run = started(problem, 17, precision=precision, bias_rate=rate or None)
    rate = max(0.01, min(1.0, problem.lam)) if rate is None else rate
    plain = twin_of(problem, shuffled(problem.data.n_samples, 17), rate)
    assert run._eta0 == plain.eta0
    close = {"rtol": 0.0, "atol": TOLERANCE[precision] / np.sqrt(problem.lam)}
    for _ in range(600):
        plain.step()
        run.advance(1)
        assert run.counters.updates == plain.updates
        assert_close(run.w, plain.w, **close)
        assert_close(run.bias, plain.b, **close)
    assert (run.bias != 0.0) == (bias == "free")


def test_stored_takes_the_rows_as_they_are():
    problem = PROBLEMS["overlapping"]
    run = started(problem, 5, order="stored")
    plain = twin_of(problem, range(50), eta0=run._eta0)
    for _ in range(130):
        plain.step()
    run.advance(130)
    assert_close(run.w, plain.w, rtol=0.0, atol=1e-12)
    other = started(problem, 6, order="stored")
    other.advance(130)
    assert run.w.tobytes() == other.w.tobytes()


def test_the_search_looks_at_its_rows_only(monkeypatch):
    X, y = dyadic(4, 60, 5)
    problem = Problem(dataset(X, y), 2.0**-6)
    run = started(problem, order="stored")
    assert run._eta0 == searched(X, y, problem.lam)
    monkeypatch.setattr(decaying, "SEARCH_ROWS", 20)
    assert started(problem, order="stored")._eta0 == searched(X[:20], y[:20], problem.lam)
    assert (run.counters.presentations, run.counters.updates, run.counters.nonzeros) == (0, 0, 0)


@pytest.mark.parametrize("lam", [0.5, 1.0, 3.0, 1000.0])
def test_a_large_lambda_keeps_steps_below_its_inverse(lam):
    problem = Problem(PROBLEMS["overlapping"].data, lam)
    best = optimum(problem)
    run = started(problem)
    assert run._eta0 * lam < 1.0
    run.advance(100_000)
    assert problem.primal(run.w) - best.lower <= 0.01 * best.lower


@pytest.mark.parametrize("eta0", [None, 0.25, 4.0])
@every_problem
def test_regret_is_within_its_bound(name, eta0):
    # lambda-strongly convex f_t, 1/eta_t = lam t + 1/eta0:
    # sum f_t(w_t) - f_t(u) <= (1/eta0 - lam) ||u||^2/2 + sum eta_t ||g_t||^2/2 for every u.
    problem = PROBLEMS[name]
    lam, u = problem.lam, optimum(problem).w
    run = started(problem, 8, eta0=eta0)
    order = shuffled(problem.data.n_samples, 8)
    X, y = dense(problem.data), labels(problem.data)
    bound = (1.0 / run._eta0 - lam) * np.sum(u**2) / 2.0
    regret = 0.0
    for t in range(400):
        i, w = order[t % len(order)], run.w
        losses = [max(0.0, 1.0 - y[i] * (X[i] @ point)) for point in (w, u)]
        regret += lam / 2.0 * (np.sum(w**2) - np.sum(u**2)) + losses[0] - losses[1]
        gradient = lam * w - (y[i] * (X[i] @ w) <= 1.0) * y[i] * X[i]
        bound += run._eta0 / (1.0 + lam * run._eta0 * t) * np.sum(gradient**2) / 2.0
        run.advance(1)
        assert regret <= bound + 1e-9


@pytest.mark.parametrize("eta0", [16.0, 1e300])
def test_a_first_step_of_inverse_lambda_or_more_is_refused(eta0):
    with pytest.raises(ConfigError, match=r"svmsgd: eta0 .* is not below 1/lambda = 16; lower"):
        started(PROBLEMS["one-row"], eta0=eta0)
