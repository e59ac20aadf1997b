"""auto: every method reaches its certificate, whatever device is off, and its choice of method."""

import math
from functools import partial
from typing import get_args, get_type_hints

import numpy as np
import pytest

from problems import at_start, dataset, dyadic, edge_problems, ordinary_problems
from svmbench.problem import Problem
from svmbench.solvers import samples
from svmbench.solvers.champion import dual_phase
from svmbench.solvers.champion.auto import Auto, AutoParameters
from twins.objective import gap_of
from twins.optimum import optimum

METHODS = get_args(get_type_hints(AutoParameters)["method"])
ACCURACY = 1e-8
MOST = 5000


def _made():
    X, y = dyadic(5, 90, 6)
    by_label = np.argsort(y, kind="stable")
    many, many_y = dyadic(7, 240, 4)
    return {
        "sorted-by-label": Problem(dataset(X[by_label], y[by_label]), 2.0**-6),
        "badly-scaled": Problem(dataset(X * 10.0 ** np.arange(-3, 3), y), 2.0**-6),
        "many-rows": Problem(dataset(many, many_y, "uint16+float32"), 2.0**-7),
    }


MADE = _made()
PROBLEMS = {**ordinary_problems(), **edge_problems(), **MADE}

every_method = pytest.mark.parametrize("method", METHODS)
every_problem = pytest.mark.parametrize("name", PROBLEMS)


@pytest.fixture
def small(monkeypatch):
    """Samples, blocks and handovers where tests are small."""
    monkeypatch.setattr(samples, "SAMPLE_ROWS", 10)
    monkeypatch.setattr(samples, "SAMPLE_ROWS_A_FEATURE", 1)
    monkeypatch.setattr(samples, "SAMPLE_SHARE", 0.5)
    monkeypatch.setattr(dual_phase, "CACHED_BYTES", 0.0)


started = partial(at_start, Auto)


def true_gap(problem, run):
    """(P - D)/D of w and the dual it shows."""
    lower = run.dual()
    return (problem.primal(run.w) - lower) / lower if lower > 0.0 else math.inf


def assert_certified(problem, run):
    """Run to its stop, which holds to the accuracy, by its own dual and by the optimum's."""
    run.halts = True
    run.advance(MOST)
    assert run.stopped
    best = optimum(problem)
    assert true_gap(problem, run) <= ACCURACY * (1.0 + 1e-6)
    assert run.dual() <= best.upper * (1.0 + 1e-12)
    assert problem.primal(run.w) - best.lower <= 1.2 * ACCURACY * best.lower


def reachable(name, method):
    """Dual descent alone needs very long on columns of very different scales."""
    return name != "badly-scaled" or method != "dual"


@every_method
@every_problem
def test_every_method_reaches_its_certificate(name, method):
    if reachable(name, method):
        for seed in (1, 2):
            run = started(PROBLEMS[name], seed, method=method, tolerance=ACCURACY)
            assert_certified(PROBLEMS[name], run)
    else:
        run = started(PROBLEMS[name], method=method)
        run.advance(200)
        assert run.dual() <= optimum(PROBLEMS[name]).upper * (1.0 + 1e-12)


@every_method
@pytest.mark.parametrize("tolerance", [1.0, 0.1, 1e-3, 1e-6])
@every_problem
def test_it_stops_where_the_gap_is_within_the_tolerance(name, method, tolerance, small):
    problem = PROBLEMS[name]
    if reachable(name, method):
        run = started(problem, 6, method=method, tolerance=tolerance)
        was = run.stopped
        for _ in range(MOST):
            if was:
                break
            run.advance(1)
            was = run.stopped
        assert was
        assert true_gap(problem, run) <= tolerance * (1.0 + 1e-6) + 1e-13


def _noisy(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(50) < 0.5, 1, -1)
    X = 0.3 * y[:, None] * rng.normal(size=8) + rng.normal(size=(50, 8))
    return Problem(dataset(X * rng.exponential(size=(50, 1)), y), 2.0**-12)


@pytest.mark.parametrize("tolerance", [1.0, 3.0])
@pytest.mark.parametrize("rows", [0, 1, 2])
def test_a_dual_that_rose_since_all_rows_were_seen_is_no_reason_to_stop(rows, tolerance):
    problem = _noisy(rows)
    for seed in range(8):
        run = started(problem, seed, method="dual", tolerance=tolerance)
        run.halts = True
        run.advance(MOST)
        assert run.stopped
        assert true_gap(problem, run) <= tolerance * (1.0 + 1e-6)


@pytest.mark.parametrize("method", ["newton", "dual-newton"])
@pytest.mark.parametrize("name", [name for name in PROBLEMS if PROBLEMS[name].data.nnz])
def test_newton_steps_end_where_rounding_rules(name, method, small):
    problem = PROBLEMS[name]
    run = started(problem, 7, method=method)
    for _ in range(2000):
        assert not run.exhausted
        run.advance(1)
        if run.exhausted:
            break
    assert run.exhausted
    assert run.stopped
    assert true_gap(problem, run) <= 1e-12
    w, work, dual = run.w, run.counters.presentations, run.dual()
    run.advance(5)
    assert run.exhausted
    assert np.array_equal(run.w, w)
    assert run.dual() == dual
    assert run.counters.presentations > work


@pytest.mark.parametrize("lam", [1e-3, 1e-5])
def test_columns_ten_orders_of_magnitude_apart_do_not_stop_newton_steps(lam):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 10)) * 10.0 ** np.linspace(-5, 5, 10)
    problem = Problem(dataset(X, rng.choice([-1, 1], size=80)), lam)
    run = started(problem, method="newton", tolerance=1e-6)
    run.halts = True
    run.advance(150)
    assert run.stopped
    assert true_gap(problem, run) <= 1e-6 * (1.0 + 1e-3)


@pytest.mark.parametrize("name", ["sorted-by-label", "badly-scaled", "many-rows"])
def test_a_start_near_the_optimum_saves_passes(name):
    problem = MADE[name]
    cold = Auto(AutoParameters(tolerance=1e-6))
    cold.start(problem, seed=1)
    while not cold.stopped:
        cold.advance(1)
    warm = Auto(AutoParameters(tolerance=1e-6))
    warm.resume(problem, 1, cold.alpha)
    assert np.array_equal(warm.alpha, cold.alpha)
    assert warm.dual() == cold.dual()
    while not warm.stopped:
        warm.advance(1)
    assert warm.counters.nonzeros < 0.5 * cold.counters.nonzeros
    assert gap_of(problem, warm.w, warm.alpha) <= 1e-6 * problem.dual(warm.alpha)


@pytest.mark.parametrize("name", PROBLEMS)
def test_any_feasible_start_leads_to_the_optimum(name):
    problem = PROBLEMS[name]
    alpha = np.random.default_rng(2).random(problem.data.n_samples)
    solver = Auto(AutoParameters(tolerance=1e-6))
    solver.resume(problem, 1, alpha)
    for _ in range(MOST):
        solver.advance(1)
        if solver.stopped or solver.exhausted:
            break
    assert gap_of(problem, solver.w, solver.alpha) <= 1e-6 * problem.primal(solver.w)


@pytest.mark.parametrize("d", [150, 40_000])
@pytest.mark.parametrize("method", ["choose", "newton", "dual"])
def test_empty_columns_change_nothing(method, d):
    """Few columns have entries: what is trained is the same as without the others."""
    rng = np.random.default_rng(6)
    X, places = rng.normal(size=(80, 20)), np.sort(rng.choice(d, 20, replace=False))
    X[rng.random(X.shape) < 0.5] = 0.0
    wide = np.zeros((80, d))
    wide[:, places] = X
    y = np.where(X.sum(axis=1) + rng.normal(size=80) > 0.0, 1, -1)
    found = []
    for rows in (X, wide):
        problem = Problem(dataset(rows, y, "int32+float64"), 1e-3)
        solver = Auto(AutoParameters(method=method, tolerance=1e-9))
        solver.halts = True
        solver.start(problem, seed=3)
        while not solver.stopped:
            solver.advance(1)
        assert problem.primal(solver.w) - solver.dual() <= 1e-9 * solver.dual()
        found.append((solver.w, solver.alpha))
    assert np.array_equal(found[1][0][places], found[0][0])
    assert np.count_nonzero(found[1][0]) <= 20
    assert np.array_equal(found[1][1], found[0][1])
