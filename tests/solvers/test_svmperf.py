"""svmperf against its twin, the certified optimum, and its epsilon."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given

from problems import PROBLEMS, at_start, dyadic_problems, every_problem
from svmbench.solvers.cutting_plane.reduced import ReducedProblem
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
def test_equals_its_twin(name, keep):
    options = {"epsilon": 1e-12, "unit": "objective", "keep": keep}
    problem = PROBLEMS[name]
    cutting_planes.assert_equals(started(problem, **options), twin_of(problem, **options), problem)


@every_problem
def test_ends_at_the_certified_optimum_and_then_rests(name):
    cutting_planes.assert_ends_and_rests(started(PROBLEMS[name]), PROBLEMS[name])


@given(dyadic_problems())
def test_the_bound_rises_and_never_passes_the_optimum(problem):
    best = optimum(problem)
    run = started(problem)
    dual = 0.0
    for _ in range(25):
        run.advance(1)
        assert dual <= run.dual() <= best.upper * (1.0 + 1e-12)
        assert run._primal == pytest.approx(problem.primal(run.w), abs=1e-11)
        dual = run.dual()


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
    patient = started(problem, epsilon=epsilon, unit=unit)
    patient.advance(run.counters.presentations // problem.data.n_samples)
    assert np.array_equal(patient.w, run.w)


def test_one_run_serves_every_accuracy():
    problem = PROBLEMS["overlapping"]
    assert Svmperf.horizon == "none"
    run = started(problem)
    best = optimum(problem).lower
    reached = []
    for accuracy in (0.1, 1e-2, 1e-4, 1e-6):
        while problem.primal(run.w) > (1.0 + accuracy) * best:
            run.advance(1)
            assert run.counters.presentations < 300 * problem.data.n_samples
        reached.append(run.counters.presentations)
    assert reached == sorted(reached)
    assert run._epsilon < 0.1


def test_rows_of_margin_one_do_not_belong_to_a_cut():
    run = started(PROBLEMS["overlapping"])
    run.advance(1)
    before = run.counters.updates
    run._at[:] = 1.0
    run.advance(1)
    assert run.counters.updates == before


def test_a_run_past_its_stop_goes_on():
    run = started(PROBLEMS["overlapping"])
    run.advance(200)
    assert run.stopped
    assert run._epsilon < 1e-10


def test_a_solution_that_left_the_simplex_returns_to_it():
    reduced = ReducedProblem(0.5, 2)
    reduced.add(np.array([1.0, 0.0]), 1.0)
    reduced.solve(1e-12)
    reduced._beta[1] = 2.0
    reduced.solve(1e12)
    assert reduced._beta[:2].sum() == 1.0


def test_a_looser_epsilon_stops_earlier():
    problem = PROBLEMS["overlapping"]
    ends = []
    for epsilon in (0.1, 1e-3, 1e-6):
        run = started(problem, epsilon=epsilon)
        run.halts = True
        run.advance(1000)
        ends.append(run.counters.presentations)
    assert ends[0] < ends[1] < ends[2]


def test_dropping_cuts_keeps_the_end():
    problem = PROBLEMS["sparse"]
    ends = []
    for keep in (1, 1000):
        run = started(problem, keep=keep)
        run.advance(300)
        ends.append(run)
    assert ends[0]._reduced.cuts < ends[1]._reduced.cuts
    np.testing.assert_allclose(ends[0].w, ends[1].w, rtol=0.0, atol=1e-7)


def test_what_is_dropped_is_what_had_no_part():
    rng = np.random.default_rng(8)
    reduced, cuts = ReducedProblem(0.5, 5), []
    for _ in range(40):
        cuts.append((rng.normal(size=5), rng.random()))
        reduced.add(*cuts[-1])
        reduced.solve(1e-10)
    w, dual, slack = reduced.w, reduced.dual, reduced.slack
    assert slack == pytest.approx(max(0.0, *(offset - g @ w for g, offset in cuts)), abs=1e-14)
    active = int(np.sum(reduced._beta[1 : reduced.cuts + 1] > 0.0))
    reduced.drop(1)
    assert reduced.cuts == active < 40
    reduced.solve(1e-10)
    np.testing.assert_allclose(reduced.w, w, rtol=0.0, atol=1e-12)
    assert reduced.dual == pytest.approx(dual, abs=1e-14)
    kept = [reduced._vectors[j] for j in range(active)]
    expected = np.array(kept) @ np.array(kept).T / 0.5
    np.testing.assert_allclose(reduced._gram[1 : active + 1, 1 : active + 1], expected, rtol=1e-13)
