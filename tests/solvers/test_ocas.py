"""ocas against its twin, the certified optimum, and what its paper proves."""

from functools import partial

import pytest

from problems import PROBLEMS, at_start, every_problem
from svmbench.solvers.cutting_plane.ocas import Ocas
from twins.cutting_plane import Ocas as Twin

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
