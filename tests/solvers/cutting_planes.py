"""What the tests of ocas and svmperf share: starts, twins, comparisons, the ends of runs."""

from __future__ import annotations

import numpy as np
import pytest

from problems import at_start, dense, labels, ordinary_problems
from svmbench.data.load import load
from svmbench.problem import Problem
from svmbench.reference.optimum import certified_optimum
from twins.optimum import optimum

ordinary = pytest.mark.parametrize("name", ordinary_problems())


def twin_of(twin, problem, **parameters):
    """Its twin at the start of the same run."""
    return twin(dense(problem.data), labels(problem.data), problem.lam, **parameters)


def assert_equals(run, plain, problem):
    """A run and its twin agree until rounding decides which rows are in a cut.

    Solved this tightly a reduced problem has one solution, whatever rounding does on the way:
    both are to have a tolerance of 1e-12.
    """
    scale = 1.0 + np.max(np.abs(plain.Z)) / problem.lam
    for iteration in range(14):
        run.advance(1)
        plain.iterate()
        assert run.dual() == pytest.approx(plain.dual, abs=1e-10)
        assert problem.primal(run.w) == pytest.approx(plain.primal, abs=1e-8)
        np.testing.assert_allclose(run.w, plain.output, rtol=0.0, atol=1e-7 * scale)
        assert run.counters.updates == plain.updates
        assert run.counters.presentations == (iteration + 1) * problem.data.n_samples
        if np.min(np.abs(plain.at - 1.0)) < 1e-9 or plain.primal - plain.dual < 1e-9:
            break  # rounding decides whether that row is in the next cut
    assert iteration >= 5 or problem.data.name not in ordinary_problems()


def assert_begins_as(run, plain):
    """A run and its twin agree for two iterations, while the solutions are short."""
    for _ in range(2):
        run.advance(1)
        plain.iterate()
        np.testing.assert_allclose(run.w, plain.output, rtol=0.0, atol=1e-11)
        assert (run.dual(), run._primal) == pytest.approx((plain.dual, plain.primal), abs=1e-13)
        assert (run.counters.updates, run.stopped) == (plain.updates, plain.stopped)


def assert_ends_and_rests(run, problem):
    """A run reaches the certified optimum, and then presents rows without changing anything."""
    best = optimum(problem)
    run.advance(300)
    assert problem.primal(run.w) - best.lower <= 1e-9 * best.lower + 1e-14
    assert best.upper - run.dual() <= 1e-9 * best.upper + 1e-14
    assert run._reduced.cuts < 100
    before = run.w, run.dual(), run.counters.updates
    run.advance(5)
    assert np.array_equal(run.w, before[0])
    assert (run.dual(), run.counters.updates) == before[1:]
    assert run.counters.presentations == 305 * problem.data.n_samples


def assert_solves_adult(solver, lam, steps, excess, **parameters):
    """A run on Adult's stand-in stops within ``steps``, that far above the optimum at most."""
    data = load("adult", stand_in=1.0).train
    problem = Problem(data, lam)
    best = certified_optimum(problem, 1e-8, 60.0)
    run = at_start(solver, problem, **parameters)
    run.halts = True
    run.advance(steps)
    assert run.stopped
    assert best.dual <= problem.primal(run.w) <= best.primal * (1.0 + excess)
    assert run.dual() <= best.primal
