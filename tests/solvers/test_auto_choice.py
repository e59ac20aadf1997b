"""How auto chooses: by expected costs, by a trial on a few rows, and by the work spent so far."""

import math

import numpy as np
import pytest

from problems import dataset
from svmbench.kernels.counters import Counters
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem
from svmbench.solvers.champion import choice, newton_phase
from svmbench.solvers.champion.auto import Auto, AutoParameters
from svmbench.solvers.champion.dual_phase import DualPhase
from svmbench.solvers.cholesky import factor_cost

GAP = 1e-3


def made(m=400, d=6, lam=2.0**-4, noise=0.5, seed=9):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(X @ rng.normal(size=d) + noise * rng.normal(size=m) > 0.0, 1, -1)
    return Problem(dataset(X, y, "dense float64"), lam)


def choose(problem, wanted="choose", sampling=True, counters=None):
    counters = Counters() if counters is None else counters
    rows = problem.data.rows
    return choice.chosen(rows, problem.lam, wanted, sampling, Generator(1), GAP, counters)


@pytest.fixture
def small(monkeypatch):
    """Samples where tests are small, so that there is a trial."""
    monkeypatch.setattr(newton_phase, "SAMPLE_ROWS", 10)
    monkeypatch.setattr(newton_phase, "SAMPLE_ROWS_A_FEATURE", 1)


def passes_of_dual_descent(problem):
    phase = DualPhase(problem.data.rows, problem.lam, Generator(3), 1, True, GAP)
    while phase.gap == math.inf:
        phase.iterate()
    return phase.passes


def test_costs_are_counted_in_passes():
    rows = made(m=400, d=6).data.rows
    one = factor_cost(6) / (2400 + choice.CALL_COST)
    assert choice.factorisation_passes(rows) == pytest.approx(one)
    cost = choice.NEWTON_PASSES + choice.FACTORISATIONS * one
    outer = 0.5 * choice.OUTER_PRODUCTS * 6
    assert choice.newton_passes(rows) == pytest.approx(cost + outer * choice.DENSE_OUTER_COST)
    sparse = dataset(np.ones((400, 6)), np.ones(400), "uint16+float32").rows
    assert choice.newton_passes(sparse) == pytest.approx(cost + outer * choice.SPARSE_OUTER_COST)


def test_dual_descent_alone_where_features_are_many(monkeypatch):
    monkeypatch.setattr(choice, "MOST_FEATURES", 6)
    assert choose(made()).method != "dual"
    monkeypatch.setattr(choice, "MOST_FEATURES", 5)
    chosen = choose(made())
    assert (chosen.method, chosen.budget) == ("dual", math.inf)
    assert chosen.reason == "6 features are more than 5"


def test_dual_descent_where_no_row_has_an_entry():
    empty = Problem(dataset(np.zeros((4, 3)), [1, -1, 1, 1]), 1.0)
    assert choose(empty) == ("dual", math.inf, math.inf, "no row has an entry")


def test_without_samples_descent_comes_first_and_takes_a_quarter_of_the_cost():
    problem, counters = made(), Counters()
    chosen = choose(problem, counters=counters)
    assert chosen.method == "dual-newton"
    assert chosen.budget == pytest.approx(choice.newton_passes(problem.data.rows) / 4.0)
    assert counters.presentations == 0
    run = Auto(AutoParameters(tolerance=1e-12))
    run.start(Problem(problem.data, 2.0**-20), 1)
    for _ in range(100):
        run.advance(1)
        if "Newton steps since" in run.remark:
            break
    passes = float(run.remark.split("pass ")[1])
    assert chosen.budget - 1.0 <= passes <= chosen.budget + 3.0


def test_descent_follows_a_trial_that_ends_early(small):
    problem, counters = made(lam=1.0), Counters()
    chosen = choose(problem, counters=counters)
    assert chosen.method == "dual-newton"
    taken = float(chosen.reason.rsplit(" ", 1)[1])
    most = max(choice.newton_passes(problem.data.rows) / 4.0, taken + 0.5)
    assert taken - 0.5 <= chosen.budget <= most
    assert counters.nonzeros > 0
    assert choose(problem, sampling=False).budget < math.inf


def test_newton_steps_follow_a_trial_that_takes_too_many_passes(small):
    problem, counters = made(lam=2.0**-20), Counters()
    assert choose(problem, counters=counters).method == "newton"
    cost = choice.newton_passes(problem.data.rows)
    # A survey and two passes of inner products and updates may come on top.
    assert counters.nonzeros <= (cost + 5.0) * problem.data.nnz


def test_samples_are_left_out_where_factorisations_are_dear(small, monkeypatch):
    problem = made(lam=2.0**-20)
    dear = (
        choice.NEWTON_PASSES
        / choice.FACTORISATIONS
        / choice.factorisation_passes(problem.data.rows)
    )
    monkeypatch.setattr(choice, "factor_cost", lambda d: 1.01 * dear * factor_cost(d))
    chosen = choose(problem)
    assert chosen.method == "dual-newton"
    assert chosen.budget == pytest.approx(choice.newton_passes(problem.data.rows) / 4.0)
    monkeypatch.setattr(choice, "factor_cost", lambda d: 0.99 * dear * factor_cost(d))
    assert choose(problem).method == "newton"


def test_what_is_wanted_is_taken_without_a_trial(small):
    for method in ("newton", "dual", "dual-newton"):
        counters = Counters()
        chosen = choose(made(), method, counters=counters)
        assert (chosen.method, chosen.reason) == (method, "as configured")
        assert counters.presentations == 0


@pytest.mark.parametrize(("lam", "noise"), [(1e-3, 0.3), (1e-4, 0.0), (1e-4, 0.3), (1e-4, 3.0)])
def test_the_trial_takes_about_as_many_passes_as_all_rows(lam, noise):
    problem = made(m=30_000, d=5, lam=lam, noise=noise)
    rows, counters = problem.data.rows, Counters()
    trial = choice.tried(rows, lam, Generator(2), GAP, 1e9, counters)
    assert 1700 <= trial.rows <= 2000
    whole = passes_of_dual_descent(problem)
    assert whole / 3.0 <= trial.passes <= 3.0 * whole
    assert counters.nonzeros <= 1.01 * trial.passes * trial.rows * 5


def test_a_trial_that_takes_too_long_ends():
    problem = made(m=30_000, d=5, lam=1e-7)
    trial = choice.tried(problem.data.rows, 1e-7, Generator(2), GAP, 5.0, Counters())
    assert trial.passes == math.inf


def test_auto_accelerates_by_itself_and_needs_less_work():
    # Sparse rows, many columns and a small lambda, as of text.
    rng = np.random.default_rng(11)
    often = (1.0 + np.arange(6000)) ** -0.9
    X = (rng.random((2000, 6000)) < np.minimum(1.0, 60.0 * often / often.sum())).astype(float)
    X *= np.log(1.0 / often)
    X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
    y = np.where(X @ rng.normal(size=6000) + 0.7 * rng.normal(size=2000) > 0.0, 1, -1)
    problem = Problem(dataset(X, y, "uint16+float32"), 1e-6)
    work = {}
    for switches in ({}, {"acceleration": False}):
        spent = []
        for seed in (1, 2, 3):
            run = Auto(AutoParameters(subspace=False, **switches))
            run.halts = True
            run.start(problem, seed)
            run.advance(2000)
            assert run.stopped
            spent.append(run.counters.nonzeros / problem.data.nnz)
        work[len(switches)] = np.median(spent)
    assert work[0] < 0.8 * work[1]


def test_descent_ends_what_it_has_begun_where_newton_steps_would_cost_more():
    work = {}
    problem = made(m=3000, d=120, lam=1.0)
    for tolerance in (1e-3, 1e-6):
        run = Auto(AutoParameters(tolerance=tolerance))
        run.halts = True
        run.start(problem, 1)
        run.advance(500)
        assert run.stopped
        assert "Newton steps since" not in run.remark
        work[tolerance] = run.counters.nonzeros / problem.data.nnz
    left = choice.newton_passes(problem.data.rows)  # of a fall from 1e-3 to 1e-6
    assert work[1e-6] - work[1e-3] <= choice.FIRST_SHARE * left + 3.0


class Expecting:
    """A dual phase that has made so many passes, with what it expects."""

    def __init__(self, passes, gap, passes_a_tenth):
        self.passes, self.expected_gap, self.each = passes, gap, passes_a_tenth

    def expected_passes(self, wanted):
        return self.each * math.log10(self.expected_gap / wanted)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
def test_newton_steps_begin_once_descent_is_expected_to_cost_a_quarter_of_them(tolerance):
    run = Auto(AutoParameters(method="dual-newton", tolerance=tolerance))
    run.start(made(), 1)
    budget = run._choice.budget
    quarter = run._choice.newton * choice.FIRST_SHARE / 3.0  # for a tenth of the gap
    # Not before the budget is spent, unless the gap is small.
    assert not run._falls_behind(Expecting(0.99 * budget, 2e-3, 1e9))
    assert not run._falls_behind(Expecting(0.5 * budget, 0.51e-3, 1e9))
    if tolerance < 1e-3:
        assert run._falls_behind(Expecting(0.5 * budget, 0.49e-3, 1.01 * quarter))
        assert not run._falls_behind(Expecting(0.5 * budget, 0.49e-3, 0.99 * quarter))
    # Where a survey may certify the tolerance, nothing changes before it.
    assert not run._falls_behind(Expecting(0.5 * budget, 0.49 * tolerance, 1e9))
    run._stopped = True
    for gap in (0.49 * tolerance, 1e-7):
        assert run._falls_behind(Expecting(0.5 * budget, gap, 1.01 * quarter))
        assert not run._falls_behind(Expecting(0.5 * budget, gap, 0.99 * quarter))
    # Afterwards it goes on where little remains, but never beyond twice the budget.
    run._stopped = False
    for gap in (0.5, 1e-2, 1.1e-3):
        assert run._falls_behind(Expecting(1.01 * budget, gap, 1.01 * quarter))
        assert not run._falls_behind(Expecting(1.99 * budget, gap, 0.99 * quarter))
        assert run._falls_behind(Expecting(2.01 * budget, gap, 0.0))
    run._stopped = True
    assert not run._falls_behind(Expecting(budget, 0.0, 1.0))  # all active rows are at rest
