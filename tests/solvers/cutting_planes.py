"""What the tests of ocas and svmperf share: starts, twins, comparisons, the ends of runs."""

from __future__ import annotations

import numpy as np
import pytest

from problems import dense, labels, ordinary_problems
from twins.optimum import optimum


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
