"""smo against its twin, the optimality conditions, and LIBSVM by way of scikit-learn."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import problems
from problems import (
    all_losses,
    assert_close,
    at_start,
    dataset,
    dense,
    dyadic_problems,
    has_both_classes,
    labels,
    losses,
    ordinary_problems,
    with_loss,
)
from svmbench.kernels.smo import WorkingSet
from svmbench.names import HINGES
from svmbench.problem import Loss, Problem
from svmbench.solvers.dual.bias import best_bias
from svmbench.solvers.dual.smo import Smo
from twins.objective import gap_of
from twins.smo import Smo as Twin


def freed(problem, loss="hinge"):
    return replace(with_loss(problem, loss), bias="free")


ORDINARY = ordinary_problems()
PROBLEMS = {
    name: problem for name, problem in problems.PROBLEMS.items() if has_both_classes(problem)
}
SIZES = (2, 3, 8, 21, 256)
every_loss = pytest.mark.parametrize("loss", HINGES)
every_problem = pytest.mark.parametrize("name", PROBLEMS)
every_size = pytest.mark.parametrize("size", SIZES)
started = partial(at_start, Smo)


def stopped(problem, **parameters):
    run = started(problem, **parameters)
    iterations = 0
    while not run.stopped and iterations < 100_000:
        run.advance(1)
        iterations += 1
    assert run.stopped
    return run


def twin_of(problem, size=256):
    return Twin(dense(problem.data), labels(problem.data), problem.lam, problem.loss, size)


@every_loss
@pytest.mark.parametrize("name", ORDINARY)
def test_every_pair_is_the_twins(name, loss):
    problem = freed(ORDINARY[name], loss)
    plain = twin_of(problem)
    y = plain.y
    kernel = WorkingSet(problem.data.rows, problem.lam, problem.loss)
    kernel.choose(np.arange(len(y)), np.zeros(len(y)), y)
    alpha, f = kernel.alpha, kernel.f
    pairs = 0
    while plain.violation() > 1e-6 and pairs < 300:
        assert kernel.advance(0.0, 1) == 1
        if plain.decided():
            plain.pair(range(len(y)))
            assert_close(alpha, plain.alpha, rtol=0.0, atol=1e-10)
            assert_close(f, plain.f(), rtol=0.0, atol=1e-9)
            pairs += 1
        plain.alpha = alpha.copy()
    assert pairs > 30


@pytest.mark.parametrize("size", SIZES[:-1])
@every_loss
@pytest.mark.parametrize("name", ORDINARY)
def test_every_working_set_is_the_twins(name, loss, size):
    problem = freed(ORDINARY[name], loss)
    run, plain = started(problem, working_set=size), twin_of(problem, size)
    plain.iterate()
    run.advance(1)
    if size > 2:
        assert run._set.tolist() == plain.set
    for _ in range(25):
        plain.alpha, plain.set = run.alpha, run._set.tolist()
        before = plain.violation()
        assert run._violation == pytest.approx(before, abs=1e-9)
        if before < 1e-6:
            break
        rows = plain.choose()
        f = plain.f()
        run.advance(1)
        # Rows that the last set left with the same f, but for rounding, may stand in for others.
        assert_close(np.sort(f[run._set]), np.sort(f[rows]), rtol=0.0, atol=1e-7)
        plain.alpha = run.alpha
        assert plain.violation(run._set) <= 0.1 * before + 1e-9


@every_size
@every_loss
@every_problem
def test_when_it_stops_the_optimality_conditions_hold(name, loss, size):
    problem = freed(PROBLEMS[name], loss)
    for tolerance in (1e-1, 1e-3, 1e-7):
        run = stopped(problem, tolerance=tolerance, working_set=size)
        plain = twin_of(problem)
        plain.alpha = run.alpha
        assert plain.violation() <= tolerance + 1e-10
        # A row of up, 1 - s <= V where alpha < 1, and one of low, s - 1 <= V where alpha > 0,
        # make each row's term of the certificate at most max(1, alpha) V, whatever the loss.
        most = tolerance * max(1.0, run.alpha.max())
        feasible = problem.repaired(run.alpha)
        assert gap_of(problem, run.w, feasible, run.bias) <= most + 1e-9
        assert problem.primal(run.w, run.bias) - run.dual() <= most + 1e-9


@given(dyadic_problems(), losses, st.sampled_from(SIZES))
def test_invariants(problem, loss, size):
    if not has_both_classes(problem):
        problem = Problem(dataset([[1.0], [0.5], [0.5]], [1, -1, 1]), problem.lam)
    problem = Problem(problem.data, problem.lam, loss, bias="free")
    y = labels(problem.data)
    upper = np.inf if loss.name == "squared-hinge" else 1.0
    run = started(problem, working_set=size)
    last = 0.0
    for _ in range(15):
        run.advance(1)
        alpha = run.alpha
        assert np.all(alpha >= 0.0)
        assert np.all(alpha <= upper)
        assert abs(alpha @ y) <= 1e-12 * alpha.sum()
        dual = run.dual()
        assert dual >= last - 1e-12 * (1.0 + abs(last))
        assert dual <= problem.primal(run.w, run.bias) + 1e-12
        last = dual


@given(dyadic_problems(), all_losses, st.integers(0, 1000))
def test_the_bias_is_the_best_for_its_weights(problem, loss, seed):
    if not has_both_classes(problem):
        problem = Problem(dataset([[1.0], [0.5], [0.5]], [1, -1, 1]), problem.lam)
    problem = Problem(problem.data, problem.lam, loss, bias="free")
    X = dense(problem.data)
    w = np.random.default_rng(seed).normal(size=X.shape[1])
    found = problem.primal(w, best_bias(problem, X @ w))
    kinks = np.unique(np.concatenate([(labels(problem.data) - X @ w), [0.0]]))
    tried = np.concatenate([kinks, (kinks[1:] + kinks[:-1]) / 2.0, kinks - 1e-3, kinks + 1e-3])
    assert found <= min(problem.primal(w, b) for b in tried) + 1e-12 * (1.0 + found)


def test_the_bias_is_found_far_in_the_tails_of_the_logistic_loss():
    # Newton steps of about 1 would have to cross a million.
    scores = np.array([2e6, 1.0, -3e6])
    problem = Problem(dataset(scores[:, None], [1, -1, -1]), 1.0, Loss("logistic"), bias="free")
    found = best_bias(problem, scores)
    assert problem.primal(np.ones(1), found) == pytest.approx(problem.primal(np.ones(1), -1e6))


def test_the_hinges_bias_is_the_middle_of_those_as_good():
    problem = Problem(dataset([[2.0], [-4.0]], [1, -1]), 1.0, bias="free")
    assert best_bias(problem, np.array([2.0, -4.0])) == 1.0  # from -1 to 3, no loss
    assert best_bias(replace(problem, bias="none"), np.array([2.0, -4.0])) == 0.0


def test_a_pair_takes_the_step_of_the_exact_maximum():
    # x = +1 and -1 with their labels, K = 1/(lam m) = 1: alpha = 1/2 each, w = 1, b = 0.
    problem = Problem(dataset([[1.0], [-1.0]], [1, -1]), 0.5, bias="free")
    run = started(problem)
    run.advance(1)
    assert run.alpha.tolist() == [0.5, 0.5]
    assert (run.w.tolist(), run.bias) == ([1.0], 0.0)
    assert (run._violation, run.stopped) == (0.0, True)
    assert run.dual() == problem.primal(run.w, run.bias) == 0.25
