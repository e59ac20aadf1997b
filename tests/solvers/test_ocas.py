"""ocas against its twin, the certified optimum, and what its paper proves."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given

from problems import PROBLEMS, at_start, dense, dyadic_problems, every_problem, labels
from svmbench.problem import HINGE
from svmbench.solvers.cutting_plane.ocas import Ocas
from twins import objective
from twins.cutting_plane import Ocas as Twin
from twins.optimum import optimum

from . import cutting_planes

started = partial(at_start, Ocas)
twin_of = partial(cutting_planes.twin_of, Twin)


@every_problem
def test_equals_its_twin(name):
    options = {"tolerance": 1e-12}
    problem = PROBLEMS[name]
    cutting_planes.assert_equals(started(problem, **options), twin_of(problem, **options), problem)


@every_problem
def test_ends_at_the_certified_optimum_and_then_rests(name):
    cutting_planes.assert_ends_and_rests(started(PROBLEMS[name]), PROBLEMS[name])


@given(dyadic_problems())
def test_invariants(problem):
    best = optimum(problem)
    X, y = dense(problem.data), labels(problem.data)
    run = started(problem)
    primal, dual = 1.0, 0.0
    for _ in range(25):
        run.advance(1)
        now = objective.primal(X, y, problem.lam, HINGE, run.w)
        assert now <= primal + 1e-12  # the best point is never left for a worse one
        assert run.dual() >= dual  # a further cut cannot lower the bound
        assert run.dual() <= best.upper * (1.0 + 1e-12)
        assert run._primal == pytest.approx(now, abs=1e-11)
        reduced = run._reduced
        assert np.all(reduced._beta[: reduced.cuts + 1] >= 0.0)
        assert reduced._beta[: reduced.cuts + 1].sum() <= 1.0 + 1e-15
        primal, dual = now, run.dual()


@pytest.mark.parametrize("tolerance", [0.1, 0.01, 1e-5])
@every_problem
def test_when_it_stops_its_gap_is_within_the_tolerance(name, tolerance):
    problem = PROBLEMS[name]
    run = started(problem, tolerance=tolerance)
    assert run.stopped is False
    run.halts = True
    run.advance(1000)
    assert run.stopped
    assert run.counters.presentations < 1000 * problem.data.n_samples
    primal = problem.primal(run.w)
    assert primal - run.dual() <= tolerance * primal * (1.0 + 1e-9)
    stopped_at = run.counters.presentations
    patient = started(problem, tolerance=tolerance)
    patient.advance(stopped_at // problem.data.n_samples)
    assert np.array_equal(patient.w, run.w)
    run.advance(2)  # it halts once
    patient.advance(2)
    assert np.array_equal(patient.w, run.w)
    assert patient.counters.presentations == run.counters.presentations
