"""norma against plain steps, its orders, and the bounds of its analysis."""

from functools import partial

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
from svmbench.problem import Problem
from svmbench.solvers.stochastic.norma import Norma
from twins.decaying import Decaying
from twins.iterates import output
from twins.optimum import optimum
from twins.rng import Generator

TOLERANCE = {"float64": 1e-12, "float32": 3e-5}
every_sampling = pytest.mark.parametrize("sampling", ["iid", "permuted", "stored"])
started = partial(at_start, Norma)


def rows_of(m, seed, sampling):
    rng = Generator(seed)
    order = list(range(m))
    while True:
        if sampling == "iid":
            order = [rng.below(m) for _ in range(m)]
        elif sampling == "permuted":
            rng.shuffle(order)
        yield from list(order)


def twin_of(problem, seed, eta0, sampling="iid"):
    X, y = dense(problem.data), labels(problem.data)
    rows = rows_of(len(y), seed, sampling)
    return Decaying(X, y, problem.lam, eta0, 1.0, 0.5, rows, ties=False)


@every_precision
@every_sampling
@pytest.mark.parametrize("kind", ["last", "average"])
@pytest.mark.parametrize("name", [*ordinary_problems(), "zero-rows", "one-row", "one-class"])
def test_equals_its_twin_step_by_step(name, kind, sampling, precision):
    problem = PROBLEMS[name]
    run = started(problem, 17, precision=precision, sampling=sampling, output=kind)
    plain = twin_of(problem, 17, run.eta0, sampling)
    size = 1.0 / np.sqrt(problem.lam)
    for _ in range(300):
        plain.step()
        run.advance(1)
        assert run.counters.updates == plain.updates
        shown = output(plain.iterates, plain.w, "mean" if kind == "average" else "last", 300)
        assert_close(run.w, shown, rtol=0.0, atol=TOLERANCE[precision] * size)


def test_a_margin_of_one_is_no_error():
    # x = 1, lam = 1/2, eta0 = 1: w = 1 after the first step, margin exactly one at the second.
    run = started(Problem(dataset([[1.0]], [1]), 0.5), eta0=1.0)
    run.advance(2)
    assert run.counters.updates == 1
    assert run.w.tolist() == pytest.approx([1.0 - 0.5 / np.sqrt(2.0)])


@pytest.mark.parametrize("lam", [1e-4, 0.01, 1.0, 100.0])
def test_the_default_first_step_is_the_best_of_the_bound(lam):
    problem = Problem(dataset(*dyadic(5, 30, 4)), lam)
    longest = np.max(np.linalg.norm(dense(problem.data), axis=1))
    eta0 = started(problem).eta0
    assert eta0 * lam <= 0.5
    if eta0 * lam < 0.5:
        candidates = eta0 * np.array([0.9, 1.0, 1.1])
        bounds = 1.0 / (2.0 * lam * candidates) + candidates * longest**2
        assert bounds.argmin() == 1


def test_rows_of_zeros_alone_have_a_first_step():
    assert started(PROBLEMS["only-zero-rows"]).eta0 == 8.0  # 1/(2 lambda)


@every_precision
@every_problem
def test_weights_stay_in_their_ball(name, precision):
    # Each step is a convex combination of w and y x / lam.
    problem = PROBLEMS[name]
    radius = np.sqrt(problem.data.rows.norms2().max()) / problem.lam
    for kind in ("last", "average"):
        run = started(problem, 3, precision=precision, output=kind, eta0=0.99 / problem.lam)
        for _ in range(300):
            run.advance(1)
            assert np.linalg.norm(run.w) <= radius * (1.0 + TOLERANCE[precision])


@pytest.mark.parametrize("eta0", [None, 0.5])
@every_problem
def test_regret_is_within_its_bound(name, eta0):
    # sum f_t(w_t) - f_t(u) <= D^2 sqrt(T)/(2 eta0) + sum eta_t ||g_t||^2/2, D the largest
    # distance of an iterate from u.
    problem = PROBLEMS[name]
    lam, u = problem.lam, optimum(problem).w
    run = started(problem, 8, eta0=eta0)
    X, y = dense(problem.data), labels(problem.data)
    rows = rows_of(len(y), 8, "iid")
    regret = steps = apart = 0.0
    for t in range(1, 401):
        i, w = next(rows), run.w
        losses = [max(0.0, 1.0 - y[i] * (X[i] @ point)) for point in (w, u)]
        regret += lam / 2.0 * (np.sum(w**2) - np.sum(u**2)) + losses[0] - losses[1]
        gradient = lam * w - (y[i] * (X[i] @ w) < 1.0) * y[i] * X[i]
        steps += run.eta0 / np.sqrt(t) * np.sum(gradient**2) / 2.0
        apart = max(apart, np.sum((w - u) ** 2))
        run.advance(1)
        assert regret <= apart * np.sqrt(t) / (2.0 * run.eta0) + steps + 1e-9


def test_a_first_step_of_inverse_lambda_or_more_is_refused():
    with pytest.raises(ConfigError, match=r"norma: eta0 17 is not below 1/lambda = 16; lower it"):
        started(PROBLEMS["one-row"], eta0=17.0)
