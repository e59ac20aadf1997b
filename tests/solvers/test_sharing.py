"""Passes that two threads of `auto` share: which ones, and what they lead to."""

import numpy as np
import pytest

from problems import dataset
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.champion import auto, sharing
from svmbench.solvers.champion.auto import Auto


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
