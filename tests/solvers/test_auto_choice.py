"""How auto chooses: by expected costs, by a trial on a few rows, and by the work spent so far."""

import math
import re

import numpy as np
import pytest

from problems import dataset
from svmbench.kernels.counters import Counters
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem
from svmbench.solvers import samples
from svmbench.solvers.champion import choice
from svmbench.solvers.champion.auto import Auto, AutoParameters
from svmbench.solvers.champion.dual_phase import DescentOptions, DualPhase
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
    monkeypatch.setattr(samples, "SAMPLE_ROWS", 10)
    monkeypatch.setattr(samples, "SAMPLE_ROWS_A_FEATURE", 1)


def passes_of_dual_descent(problem):
    options = DescentOptions(early=True, greedy=True)
    phase = DualPhase(problem.data.rows, problem.lam, Generator(3), GAP, options)
    while phase.gap == math.inf:
        phase.iterate()
    return phase.passes


def costs_of(problem, samples=()):
    rows = problem.data.rows
    return choice.ExpectedCosts(rows, rows.m, list(samples))


def test_a_pass_costs_its_calls_its_visits_and_its_entries():
    costs = costs_of(made(m=400, d=6))
    one = choice.PASS_COST + 400 * choice.VISIT_COST + 2400 * choice.TOUCH_COST
    assert costs.descent(1, 400, 2400) == pytest.approx(one)
    # Passes over a tenth of the rows tell what passes over all would have cost.
    tenth = choice.ExpectedCosts(made(m=40, d=6).data.rows, 400, [])
    assert tenth.descent(1, 40, 240) == pytest.approx(one)


@pytest.mark.parametrize(("storage", "filled", "outer"), [
    ("dense float64", 6, choice.BLAS_OUTER_COST * 6**2),
    ("uint16+float32", 6, choice.BLAS_OUTER_COST * 6**2),
    ("uint16+float32", 1, choice.SPARSE_OUTER_COST / 2.0),
])  # fmt: skip
def test_a_newton_step_costs_a_factor_and_a_visit_of_each_row(storage, filled, outer):
    rows = dataset(np.tile(np.arange(6) < filled, (400, 1)), np.ones(400), storage).rows
    costs = choice.ExpectedCosts(rows, 400, [])
    step = choice.STEP_COST + factor_cost(6) + 400 * choice.ROW_COST
    step += 400 * filled * choice.TOUCH_COST
    products = choice.OUTER_PRODUCTS * 400 * outer
    assert costs.newton(1e-4) == pytest.approx(costs.steps(400, 1e-4) * step + products)


def test_more_steps_are_expected_of_many_features_and_of_a_small_dual():
    costs = costs_of(made(m=400, d=6))
    assert costs.steps(10**9, 1.0) == choice.LEAST_STEPS
    assert costs.steps(12, 1.0) > choice.LEAST_STEPS
    assert costs.steps(12, 0.0) > costs.steps(12, 1e-3) > costs.steps(12, 1.0)


def test_samples_pay_where_they_cost_less_than_they_save():
    m, rows = 40_000, made().data.rows
    alone = choice.ExpectedCosts(rows, m, []).newton(1.0)
    for sizes, pay in (([400], True), ([400, 30_000], False)):
        costs = choice.ExpectedCosts(rows, m, sizes)
        on_samples = sum(choice.ExpectedCosts(rows, size, []).newton(1.0) for size in sizes)
        assert (on_samples < choice.SAVED * alone) == pay == costs.samples_pay(1.0)
        expected = min(alone, on_samples + (1.0 - choice.SAVED) * alone)
        assert costs.newton(1.0) == pytest.approx(expected)


def test_dual_descent_alone_where_features_are_many(monkeypatch):
    monkeypatch.setattr(choice, "MOST_FEATURES", 6)
    assert choose(made()).method != "dual"
    monkeypatch.setattr(choice, "MOST_FEATURES", 5)
    chosen = choose(made())
    assert chosen == ("dual", "6 features are more than 5")


def test_dual_descent_where_no_row_has_an_entry():
    empty = Problem(dataset(np.zeros((4, 3)), [1, -1, 1, 1]), 1.0)
    assert choose(empty) == ("dual", "no row has an entry")


def test_without_samples_descent_comes_first_and_is_left_once_it_stalls():
    problem, counters = made(), Counters()
    chosen = choose(problem, counters=counters)
    assert chosen.method == "dual-newton"
    assert counters.presentations == 0
    run = Auto(AutoParameters(tolerance=1e-12))
    run.start(made(m=20_000, lam=2.0**-20), 1)
    run.advance(choice.FIRST_PASSES)
    assert "Newton steps since" not in run.remark
    run.advance(1)
    assert "Newton steps since" in run.remark


def test_descent_follows_a_trial_that_ends_early(small):
    problem, counters = made(lam=1.0), Counters()
    chosen = choose(problem, counters=counters)
    assert chosen.method == "dual-newton"
    assert re.fullmatch(r"descent on \d+ rows took \d+ passes", chosen.reason)
    assert counters.nonzeros > 0
    assert choose(problem, sampling=False).reason == "Newton steps may follow"


def test_newton_steps_follow_a_trial_that_falls_behind(monkeypatch):
    problem, counters = made(m=20_000, lam=2.0**-20), Counters()
    monkeypatch.setattr(choice, "sample_sizes", lambda m, d: [400])
    assert choose(problem, counters=counters).method == "newton"
    # It ends at once: three passes, with visits of some rows again.
    assert counters.nonzeros <= 2 * 2 * choice.FIRST_PASSES * problem.data.nnz


def test_samples_are_left_out_where_they_cost_more_than_they_save(monkeypatch):
    problem = made(m=20_000, lam=2.0**-20)
    monkeypatch.setattr(choice, "sample_sizes", lambda m, d: [15_000])
    chosen = choose(problem)
    assert chosen.method == "dual-newton"
    assert chosen.reason.endswith("samples would cost too much")


def test_what_is_wanted_is_taken_without_a_trial(small):
    for method in ("newton", "dual", "dual-newton"):
        counters = Counters()
        chosen = choose(made(), method, counters=counters)
        assert (chosen.method, chosen.reason) == (method, "as configured")
        assert counters.presentations == 0


@pytest.mark.parametrize(("lam", "noise"), [(1e-3, 0.3), (1e-4, 0.0), (1e-4, 0.3), (1e-4, 3.0)])
def test_the_trial_takes_about_as_many_passes_as_all_rows(lam, noise, monkeypatch):
    monkeypatch.setattr(choice.ExpectedCosts, "falls_behind", lambda *_: False)
    problem = made(m=30_000, d=5, lam=lam, noise=noise)
    rows, counters = problem.data.rows, Counters()
    trial = choice.tried(rows, lam, Generator(2), GAP, counters)
    assert 1700 <= trial.rows <= 2000
    whole = passes_of_dual_descent(problem)
    assert whole / 3.0 <= trial.passes <= 3.0 * whole
    assert counters.nonzeros <= 1.01 * trial.passes * trial.rows * 5


def test_a_trial_that_falls_behind_ends():
    problem = made(m=30_000, d=5, lam=1e-7)
    trial = choice.tried(problem.data.rows, 1e-7, Generator(2), GAP, Counters())
    assert trial.behind
    assert trial.passes <= 4 * choice.FIRST_PASSES


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


class Expecting:
    """A dual phase that has made ten passes, with what it expects."""

    passes = 10.0

    def __init__(self, gap, passes_a_tenth, bound=0.5):
        self.expected_gap, self.each, self._bound = gap, passes_a_tenth, bound

    def expected_passes(self, wanted):
        return self.each and self.each * math.log10(self.expected_gap / wanted)

    def bound(self):
        return self._bound


@pytest.mark.parametrize(("gap", "wanted"), [(0.5, 5e-4), (1e-2, 5e-4), (1e-3, 1e-7)])
def test_descent_falls_behind_once_it_needs_more_than_half_of_what_newton_steps_cost(gap, wanted):
    costs = costs_of(made())
    tenths = math.log10(gap / wanted)
    newton = costs.newton(0.5) * (choice.BEGINNING + (1.0 - choice.BEGINNING) * tenths / 3.0)
    a_pass = 1000.0
    equal = newton / choice.SLOWING / a_pass / tenths
    assert costs.falls_behind(Expecting(gap, 1.01 * equal), 10.0 * a_pass, wanted)
    assert not costs.falls_behind(Expecting(gap, 0.99 * equal), 10.0 * a_pass, wanted)
    # Dearer passes, or a smaller D, change the balance.
    assert costs.falls_behind(Expecting(gap, 0.99 * equal), 11.0 * a_pass, wanted)
    assert not costs.falls_behind(Expecting(gap, 1.01 * equal, 0.01), 10.0 * a_pass, wanted)


def test_a_gap_beyond_that_of_zero_counts_as_one():
    costs = costs_of(made())
    newton = costs.newton(0.5)
    for gap in (1.0, 1e3, 1e6):
        each = newton / choice.SLOWING / 1000.0 / math.log10(gap / GAP)
        assert costs.falls_behind(Expecting(gap, 1.01 * each), 10_000.0, GAP)
        assert not costs.falls_behind(Expecting(gap, 0.99 * each), 10_000.0, GAP)


def test_descent_that_is_there_falls_behind_only_once_it_has_cost_as_much_as_newton_steps():
    costs = costs_of(made())
    whole = costs.newton(0.5) * (choice.BEGINNING + (1.0 - choice.BEGINNING) * 4.0 / 3.0)
    for gap in (1e-4, 0.0, 0.5):
        assert not costs.falls_behind(Expecting(gap, 0.0), 0.99 * whole, 1e-4)
        assert costs.falls_behind(Expecting(gap, 0.0), 1.01 * whole, 1e-4)
    assert not costs.falls_behind(Expecting(0.0, 1.0), whole, 0.0)  # all active rows are at rest


def test_what_descent_has_cost_leaves_out_the_trial(monkeypatch):
    """The trial's work is in the counters of the run, but not in what its passes have cost."""
    seen = []
    monkeypatch.setattr(
        choice.ExpectedCosts, "falls_behind", lambda self, dual, spent, wanted: seen.append(spent)
    )
    spent = {}
    for wanted in ("choose", "dual-newton"):
        monkeypatch.setattr(
            choice, "sample_sizes", lambda m, d, yes=wanted == "choose": [40] if yes else []
        )
        run = Auto(AutoParameters(method=wanted, tolerance=1e-9))
        run.start(made(m=4000, d=6, lam=0.1), 1)
        seen.clear()
        run.advance(choice.FIRST_PASSES + 1)
        spent[wanted] = seen[-1]
    assert spent["choose"] == pytest.approx(spent["dual-newton"], rel=0.3)


def test_steps_on_free_rows_are_possible_where_a_newton_step_costs_more_than_the_first_passes():
    for m, dear in ((200, True), (20_000, False)):
        problem = made(m=m, d=120)
        assert costs_of(problem).dear == dear
        run = Auto(AutoParameters(method="dual-newton"))
        run.start(problem, 1)
        assert (run._phase._subspace is not None) == dear


def test_the_first_passes_are_plain_where_newton_steps_are_near():
    for problem, near in ((made(m=4000), True), (made(m=200, d=120), False)):
        rows = problem.data.rows
        per_row = choice.VISIT_COST + 2.0 * rows.d * choice.TOUCH_COST
        first = choice.FIRST_PASSES * (choice.PASS_COST + rows.m * per_row)
        costs = costs_of(problem)
        assert costs.near == near == (costs.newton(1.0) < choice.NEAR * first)
        for method in ("choose", "dual", "dual-newton"):
            run = Auto(AutoParameters(method=method))
            run.start(problem, 1)
            expected = choice.FIRST_PASSES if near and method != "dual" else 0
            assert run._phase._plain == expected
        run.resume(problem, 1, np.zeros(rows.m))
        assert run._phase._plain == 0


def test_the_first_passes_are_not_plain_where_a_trial_has_foretold_what_follows(small):
    problem = made(m=4000, lam=1.0)
    run = Auto()
    run.start(problem, 1)
    assert costs_of(problem).near
    assert run.remark.startswith("dual-newton: descent on")
    assert run._phase._plain == 0
