"""svmperf against its twin, the certified optimum, and its epsilon."""

from functools import partial

import pytest

from problems import PROBLEMS, at_start, every_problem
from svmbench.solvers.cutting_plane import svmperf
from svmbench.solvers.cutting_plane.svmperf import Svmperf
from twins.cutting_plane import Svmperf as Twin
from twins.optimum import optimum

from . import cutting_planes

started = partial(at_start, Svmperf)
twin_of = partial(cutting_planes.twin_of, Twin)

UNITS = ("accuracy", "objective")
every_unit = pytest.mark.parametrize("unit", UNITS)


@pytest.mark.parametrize("keep", [1, 50])
@every_problem
def test_equals_its_twin(name, keep, monkeypatch):
    monkeypatch.setattr(svmperf, "IDLE", keep)
    options = {"epsilon": 1e-12, "unit": "objective"}
    problem = PROBLEMS[name]
    plain = twin_of(problem, keep=keep, **options)
    cutting_planes.assert_equals(started(problem, **options), plain, problem)


@every_problem
def test_ends_at_the_certified_optimum_and_then_rests(name):
    cutting_planes.assert_ends_and_rests(started(PROBLEMS[name]), PROBLEMS[name])


@pytest.mark.parametrize("epsilon", [0.1, 1e-2, 1e-5])
@every_unit
@every_problem
def test_epsilon_is_what_it_promises(name, unit, epsilon):
    problem = PROBLEMS[name]
    best = optimum(problem)
    run = started(problem, epsilon=epsilon, unit=unit)
    assert run.stopped is False
    run.halts = True
    run.advance(1000)
    assert run.stopped
    assert run.counters.presentations < 1000 * problem.data.n_samples
    primal = problem.primal(run.w)
    proved = epsilon * run.dual() if unit == "accuracy" else 1.5 * epsilon
    assert primal - run.dual() <= proved * (1.0 + 1e-9)
    assert primal - best.upper <= (epsilon * best.upper if unit == "accuracy" else 1.5 * epsilon)
