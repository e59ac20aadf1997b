"""sgd-bias, minibatch-bias and gd-bias against plain steps, their defaults and their two forms."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import problems
from problems import (
    assert_close,
    dataset,
    dense,
    dyadic,
    dyadic_problems,
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


def twin_of(method, problem, run, seed=1, printed=False):
    X, y = dense(problem.data), labels(problem.data)
    batch = min(METHODS[method][2], len(y))
    steps = (batch, run.mu0, run.increment)
    return Subgradient(X, y, problem.lam, seed, *steps, printed, shuffles=method != "gd")


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
@pytest.mark.parametrize("method", ["sgd", "minibatch"])
def test_the_printed_form_equals_its_twin(method, precision):
    problem = Problem(PROBLEMS["sparse"].data, 2.0**-12, bias="free")
    steps = {"mu0": 10.0, "increment": 0.01}
    run = started(method, problem, 5, precision=precision, form="printed", **steps)
    plain = twin_of(method, problem, run, 5, printed=True)
    for _ in range(300):
        plain.step()
        run.advance(1)
        atol = 8.0 * TOLERANCE[precision]
        assert_close(run.w, plain.w, rtol=0.0, atol=atol)
        assert_close(run.bias, plain.b, rtol=0.0, atol=atol)
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


def test_without_both_classes_there_is_a_bias_of_their_difference():
    problem = Problem(dataset([[0.0], [0.0], [0.0]], [1, 1, -1]), 0.5, bias="free")
    run = started("gd", problem, mu0=4.0, increment=0.0)
    run.advance(1)
    assert (run.w.tolist(), run.bias) == ([0.0], 0.25)


@every_method
@every_problem
def test_the_default_steps_come_from_the_longest_row_and_lambda(name, method):
    problem = PROBLEMS[name]
    run = started(method, problem)
    rows = min(METHODS[method][2], problem.data.n_samples)
    longest = np.sum(dense(problem.data) ** 2, axis=1).max()
    assert run.mu0 == pytest.approx(rows * (problem.lam + 1.0 + longest), rel=1e-12)
    assert run.increment == pytest.approx(rows * problem.lam, rel=1e-15)
    chosen = started(method, problem, **THE_SOURCES)
    assert (chosen.mu0, chosen.increment) == (100.0, 1.0)


@pytest.mark.parametrize("method", ["sgd", "minibatch"])
def test_the_default_steps_of_the_printed_form_do_not_turn_w_round_either(method):
    problem = Problem(PROBLEMS["overlapping"].data, 4.0, bias="free")
    run = started(method, problem, form="printed")
    whole = problem.lam * problem.data.n_samples
    rows = METHODS[method][2]
    longest = np.sum(dense(problem.data) ** 2, axis=1).max()
    assert run.increment == whole
    assert run.mu0 == pytest.approx(rows * (1.0 + longest) + whole, rel=1e-12)
    run.advance(5 * problem.data.n_samples)
    assert problem.primal(run.w, run.bias) < 2.0 * optimum(problem).upper


@given(dyadic_problems(), st.sampled_from(sorted(METHODS)), st.integers(0, 2**64 - 1))
def test_no_default_step_moves_a_margin_by_more_than_one(problem, method, seed):
    if len(np.unique(problem.data.labels)) < 2:
        problem = Problem(dataset([[1.0], [0.5]], [1, -1]), problem.lam)
    problem = replace(problem, bias="free")
    X, lam = dense(problem.data), problem.lam
    run = started(method, problem, seed)
    for t in range(30):
        w, b, before = run.w, run.bias, run.counters.presentations
        run.advance(1)
        rows = run.counters.presentations - before
        shrunk = (1.0 - lam * rows / (run.mu0 + run.increment * t)) * w
        assert lam * rows < run.mu0
        moved = np.abs(X @ (run.w - shrunk) + run.bias - b)
        assert np.all(moved <= 1.0 + 1e-9)


def test_the_printed_form_leads_to_another_minimum():
    # lambda/2 ||w||^2 + M/m mean loss is the problem of lambda m/M.
    data = PROBLEMS["overlapping"].data
    problem = Problem(data, 2.0**-5, bias="free")
    heavier = Problem(data, problem.lam * data.n_samples / 5, bias="free")
    mine, its = optimum(problem), optimum(heavier)
    there = problem.primal(its.w, its.bias)
    assert there > 1.1 * mine.upper
    ends = {}
    for form in ("printed", "consistent"):
        run = started("minibatch", problem, batch=5, form=form, increment=0.2, mu0=100.0)
        run.advance(20_000 * data.n_samples)
        ends[form] = run
    assert problem.primal(ends["consistent"].w, ends["consistent"].bias) <= 1.001 * mine.lower
    printed = ends["printed"]
    assert heavier.primal(printed.w, printed.bias) <= 1.001 * its.lower
    assert problem.primal(printed.w, printed.bias) == pytest.approx(there, rel=0.01)


def test_a_batch_of_all_rows_is_both_forms_and_the_full_gradient():
    problem = PROBLEMS["overlapping"]
    full = started("gd", problem)
    full.advance(50)
    for form in ("printed", "consistent"):
        run = started("minibatch", problem, batch=1000, form=form)
        run.advance(50 * problem.data.n_samples)
        assert_close(run.w, full.w, rtol=0.0, atol=1e-11)
        assert run.bias == pytest.approx(full.bias, abs=1e-11)


def test_a_batch_of_one_is_sgd():
    problem = PROBLEMS["sparse"]
    one, batched = started("sgd", problem, 4), started("minibatch", problem, 4, batch=1)
    for run in (one, batched):
        run.advance(333)
    assert one.w.tobytes() == batched.w.tobytes()
    assert one.bias == batched.bias


@every_precision
@pytest.mark.parametrize("mu0", [0.5, 1.0, 2.0])
def test_steps_that_turn_w_round_are_taken_as_they_are(mu0, precision):
    # gamma lam = 2, 1 and 1/2: the sign flips, w is wiped out, w is halved.
    problem = Problem(dataset(*dyadic(8, 12, 4)), 1.0, bias="free")
    run = started("sgd", problem, 2, precision=precision, mu0=mu0, increment=0.0)
    plain = twin_of("sgd", problem, run, 2)
    for _ in range(12):
        plain.step()
        run.advance(1)
        assert_close(run.w, plain.w, rtol=0.0, atol=1e-4)
        assert run.bias == plain.b


def test_an_exploding_run_is_no_error_but_no_number_either():
    problem = Problem(PROBLEMS["overlapping"].data, 1000.0, bias="free")
    run = started("sgd", problem, mu0=100.0, increment=0.0)
    run.advance(100_000)
    assert not problem.primal(run.w, run.bias) < 1e300


@every_precision
def test_taking_the_scale_in_does_not_move_w(precision):
    problem = PROBLEMS["overlapping"]
    run = started("sgd", problem, 6, precision=precision, mu0=0.2, increment=0.0)
    plain = twin_of("sgd", problem, run, 6)
    scales = []
    for _ in range(100):
        plain.step()
        run.advance(1)
        scales.append(run.counters.scale)
        atol = 200.0 * TOLERANCE[precision]
        assert_close(run.w, plain.w, rtol=0.0, atol=atol)
    smallest = 1e-5 if precision == "float64" else 1e-2
    assert smallest <= min(scales) < 10 * smallest
    assert 1.0 in scales


def test_the_last_batch_holds_the_rows_that_are_left():
    run = started("minibatch", PROBLEMS["overlapping"], batch=20)
    sizes = []
    for _ in range(6):
        before = run.counters.presentations
        run.advance(1)
        sizes.append(run.counters.presentations - before)
    assert sizes == [20, 20, 10, 20, 20, 10]


def test_full_gradients_depend_on_no_seed():
    runs = [started("gd", PROBLEMS["sparse"], seed) for seed in (1, 2)]
    for run in runs:
        run.advance(7)
    assert runs[0].w.tobytes() == runs[1].w.tobytes()


@every_precision
@pytest.mark.parametrize("method", ["sgd", "minibatch"])
def test_mu_that_grows_per_epoch_equals_its_twin(method, precision):
    problem = PROBLEMS["sparse"]
    steps = {"mu0": 2.0, "increment": 1.5}
    run = started(method, problem, 5, precision=precision, mu_grows="per-epoch", **steps)
    X, y = dense(problem.data), labels(problem.data)
    plain = Subgradient(X, y, problem.lam, 5, METHODS[method][2], **steps, per_epoch=True)
    while plain.epoch < 3:
        plain.step()
        run.advance(1)
        atol = 8.0 * TOLERANCE[precision]
        assert_close(run.w, plain.w, rtol=0.0, atol=atol)
        assert_close(run.bias, plain.b, rtol=0.0, atol=atol)
    assert (run.mu0, run.increment) == (2.0, 1.5)
    assert 0 < plain.updates < plain.presentations


def test_mu_grows_by_default_as_much_in_an_epoch_whether_per_step_or_per_epoch():
    problem = PROBLEMS["sparse"]
    m = problem.data.n_samples
    step, epoch = (
        started("minibatch", problem, mu_grows=grows) for grows in ("per-step", "per-epoch")
    )
    assert epoch.mu0 == step.mu0
    assert epoch.increment == step.increment * -(-m // 7)
