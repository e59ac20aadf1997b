"""sgd-bias, minibatch-bias and gd-bias against plain steps, their defaults and their two forms."""

from dataclasses import replace

import numpy as np
import pytest

import problems
from problems import (
    assert_close,
    dataset,
    dense,
    every_precision,
    labels,
)
from svmbench.problem import Problem
from svmbench.solvers.stochastic.gd_bias import GdBias
from svmbench.solvers.stochastic.minibatch_bias import MinibatchBias
from svmbench.solvers.stochastic.sgd_bias import SgdBias
from twins.optimum import optimum
from twins.sgd_bias import Subgradient

PROBLEMS = {
    name: replace(problem, bias="free")
    for name, problem in problems.PROBLEMS.items()
    if len(np.unique(problem.data.labels)) == 2
}
METHODS = {
    "sgd": (SgdBias, {}, 1),
    "minibatch": (MinibatchBias, {"batch": 7}, 7),
    "gd": (GdBias, {}, 10**6),
}
TOLERANCE = {"float64": 1e-11, "float32": 1e-4}
THE_SOURCES = {"mu0": 100.0, "increment": 1.0}
every_method = pytest.mark.parametrize("method", METHODS)
every_problem = pytest.mark.parametrize("name", PROBLEMS)


def started(method, problem, seed=1, **parameters):
    solver, given, _ = METHODS[method]
    run = solver(solver.schema(**{**given, **parameters}))
    run.start(problem, seed)
    return run


def twin_of(method, problem, run, seed=1, printed=False, per_epoch=False):
    X, y = dense(problem.data), labels(problem.data)
    batch = min(METHODS[method][2], len(y))
    steps = (batch, run._mu0, run._increment)
    return Subgradient(
        X, y, problem.lam, seed, *steps, printed, shuffles=method != "gd", per_epoch=per_epoch
    )


@every_precision
@pytest.mark.parametrize("parameters", [{}, THE_SOURCES, {"mu0": 3.0, "increment": 0.1}], ids=str)
@every_method
@every_problem
def test_equals_its_twin_step_by_step(name, method, parameters, precision):
    problem = PROBLEMS[name]
    run = started(method, problem, 17, precision=precision, **parameters)
    plain = twin_of(method, problem, run, 17)
    size = 1.0 / np.sqrt(problem.lam)
    for _ in range(200):
        plain.step()
        run.advance(1)
        counters = run.counters
        assert (counters.steps, counters.presentations) == (plain.t, plain.presentations)
        close = {"rtol": 0.0, "atol": TOLERANCE[precision] * size}
        if precision == "float32" and counters.updates != plain.updates:
            break  # a margin within rounding of one is an error to one of them only
        assert counters.updates == plain.updates
        assert counters.nonzeros == plain.nonzeros or problem.data.indices is None
        assert_close(run.w, plain.w, **close)
        assert_close(run.bias, plain.b, **close)
    assert counters.steps >= 10


@every_precision
@pytest.mark.parametrize(
    ("lam", "form", "mu_grows", "steps"),
    [
        (2.0**-12, "printed", "per-step", {"mu0": 10.0, "increment": 0.01}),
        (2.0**-6, "consistent", "per-epoch", {"mu0": 2.0, "increment": 1.5}),
    ],
)
@pytest.mark.parametrize("method", ["sgd", "minibatch"])
def test_other_forms_equal_their_twins(method, lam, form, mu_grows, steps, precision):
    problem = Problem(PROBLEMS["sparse"].data, lam, bias="free")
    run = started(method, problem, 5, precision=precision, form=form, mu_grows=mu_grows, **steps)
    plain = twin_of(method, problem, run, 5, form == "printed", mu_grows == "per-epoch")
    for _ in range(300):
        plain.step()
        run.advance(1)
        atol = 8.0 * TOLERANCE[precision]
        assert_close(run.w, plain.w, rtol=0.0, atol=atol)
        assert_close(run.bias, plain.b, rtol=0.0, atol=atol)
    assert (run._mu0, run._increment) == (steps["mu0"], steps["increment"])
    assert 0 < plain.updates < plain.presentations


def test_a_margin_of_one_is_an_error():
    # Rows +1 and -1 of the same label's opposite: after one full step w = 1, both margins one.
    problem = Problem(dataset([[1.0], [-1.0]], [1, -1]), 0.5, bias="free")
    run = started("gd", problem, mu0=2.0, increment=0.0)
    run.advance(1)
    assert (run.w.tolist(), run.bias) == ([1.0], 0.0)
    run.advance(1)
    assert run.counters.updates == 4
    assert run.w.tolist() == [1.5]


@every_method
@every_problem
def test_the_default_steps_come_from_the_longest_row_and_lambda(name, method):
    problem = PROBLEMS[name]
    run = started(method, problem)
    rows = min(METHODS[method][2], problem.data.n_samples)
    longest = np.sum(dense(problem.data) ** 2, axis=1).max()
    assert run._mu0 == pytest.approx(rows * (problem.lam + 1.0 + longest), rel=1e-12)
    assert run._increment == pytest.approx(rows * problem.lam, rel=1e-15)
    chosen = started(method, problem, **THE_SOURCES)
    assert (chosen._mu0, chosen._increment) == (100.0, 1.0)


@pytest.mark.parametrize("method", ["sgd", "minibatch"])
def test_the_default_steps_of_the_printed_form_do_not_turn_w_round_either(method):
    problem = Problem(PROBLEMS["overlapping"].data, 4.0, bias="free")
    run = started(method, problem, form="printed")
    whole = problem.lam * problem.data.n_samples
    rows = METHODS[method][2]
    longest = np.sum(dense(problem.data) ** 2, axis=1).max()
    assert run._increment == whole
    assert run._mu0 == pytest.approx(rows * (1.0 + longest) + whole, rel=1e-12)
    run.advance(5 * problem.data.n_samples)
    assert problem.primal(run.w, run.bias) < 2.0 * optimum(problem).upper
