"""Passes that two threads of `auto` share: which ones, and what they lead to."""

import numpy as np
import pytest

from problems import dataset
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.champion import auto, sharing
from svmbench.solvers.champion.auto import Auto
from svmbench.solvers.champion.sharing import EXCHANGES, LEAST_ENTRIES, TOO_FEW, Sharing


def test_small_passes_are_for_one_thread():
    run = Sharing()
    assert run.exchanges_of(LEAST_ENTRIES - 1) == 0
    assert run.exchanges_of(LEAST_ENTRIES) == EXCHANGES
    assert run.shared == 1


def test_one_thread_goes_on_alone_the_longer_the_more_often_gains_did_not_add_up():
    run, made = Sharing(), []
    for _ in range(40):
        shared = run.exchanges_of(LEAST_ENTRIES) > 0
        made.append(shared)
        if shared:
            run.judge(0.99 * TOO_FEW, 1.0)
    alone = np.diff(np.flatnonzero(made)) - 1
    assert alone.tolist() == [1, 2, 4, 8, 16]
    run.judge(1.0, 1.0)
    run.judge(0.0, 1.0)
    assert [run.exchanges_of(LEAST_ENTRIES) for _ in range(2)][-1] == EXCHANGES


def drawn(m=3000, d=40, seed=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.3)
    return Problem(
        dataset(X, np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 0, 1, -1)), 1e-3
    )


def trained(problem, threads):
    run = Auto(Auto.schema(method="dual", tolerance=1e-4))
    run.threads = threads
    run.start(problem, 5)
    for _ in range(500):
        if run.stopped:
            break
        run.advance(1)
    assert run.stopped
    return run


def test_auto_certifies_the_same_optimum_with_two_threads(monkeypatch):
    problem = drawn()
    alone = trained(problem, 1)
    for module in (sharing, auto):
        monkeypatch.setattr(module, "LEAST_ENTRIES", 2000)
    both = trained(problem, 2)
    assert "passes by two threads" in both.remark
    assert "two threads" not in alone.remark
    P, D = problem.primal(both.w), problem.dual(both.alpha)
    assert relative_gap(P, D) <= 1.01e-4
    assert both.dual() == pytest.approx(D, rel=1e-12)
    assert problem.primal(alone.w) == pytest.approx(P, rel=3e-4)
    again = trained(problem, 2)
    assert again.w.tobytes() == both.w.tobytes()
    assert again.alpha.tobytes() == both.alpha.tobytes()
