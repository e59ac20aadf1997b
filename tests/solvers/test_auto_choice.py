"""How auto chooses: by expected costs, by a trial on a few rows, and by the work spent so far."""

import numpy as np
import pytest

from problems import dataset
from svmbench.kernels.counters import Counters
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem
from svmbench.solvers import samples
from svmbench.solvers.champion import choice
from svmbench.solvers.champion.auto import Auto, AutoParameters

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


def test_what_is_wanted_is_taken_without_a_trial(small):
    for method in ("newton", "dual", "dual-newton"):
        counters = Counters()
        chosen = choose(made(), method, counters=counters)
        assert (chosen.method, chosen.reason) == (method, "as configured")
        assert counters.presentations == 0


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
