"""ocas against its twin, the certified optimum, and what its paper proves."""

import numpy as np
import pytest
from hypothesis import given

from problems import dense, dyadic_problems, edge_problems, labels, ordinary_problems
from svmbench.data.load import load
from svmbench.errors import DataError
from svmbench.problem import HINGE, Problem, relative_gap
from svmbench.reference import certified_optimum
from svmbench.solvers.cutting_plane.ocas import Ocas, OcasParameters
from twins import objective
from twins.cutting_plane import Ocas as Twin
from twins.optimum import optimum

PROBLEMS = {**ordinary_problems(), **edge_problems()}
every_problem = pytest.mark.parametrize("name", PROBLEMS)


def started(problem, **parameters):
    run = Ocas(OcasParameters(**parameters))
    run.start(problem, 0)
    return run


def twin_of(problem, **parameters):
    return Twin(dense(problem.data), labels(problem.data), problem.lam, **parameters)


@pytest.mark.parametrize("beyond", [0.1, 1.0])
@every_problem
def test_equals_its_twin(name, beyond):
    # Solved this tightly a reduced problem has one solution, whatever rounding does on the way.
    problem = PROBLEMS[name]
    run = started(problem, tolerance=1e-12, beyond=beyond)
    plain = twin_of(problem, tolerance=1e-12, beyond=beyond)
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
    assert iteration >= 5 or name not in ordinary_problems()


@pytest.mark.parametrize("name", ordinary_problems())
def test_equals_its_twin_from_its_defaults_while_the_solutions_are_short(name):
    run, plain = started(PROBLEMS[name]), twin_of(PROBLEMS[name])
    for _ in range(2):
        run.advance(1)
        plain.iterate()
        np.testing.assert_allclose(run.w, plain.output, rtol=0.0, atol=1e-11)
        assert (run.dual(), run._primal) == pytest.approx((plain.dual, plain.primal), abs=1e-13)
        assert (run.counters.updates, run.stopped) == (plain.updates, plain.stopped)


@every_problem
def test_ends_at_the_certified_optimum_and_then_rests(name):
    problem = PROBLEMS[name]
    best = optimum(problem)
    run = started(problem)
    run.advance(300)
    assert problem.primal(run.w) - best.lower <= 1e-9 * best.lower + 1e-14
    assert best.upper - run.dual() <= 1e-9 * best.upper + 1e-14
    assert run._reduced.cuts < 100
    before = run.w, run.dual(), run.counters.updates
    run.advance(5)
    assert np.array_equal(run.w, before[0])
    assert (run.dual(), run.counters.updates) == before[1:]
    assert run.counters.presentations == 305 * problem.data.n_samples


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


def test_a_run_past_its_stop_goes_on():
    problem = PROBLEMS["overlapping"]
    run = started(problem)
    while not run.stopped:
        run.advance(1)
    early = relative_gap(problem.primal(run.w), run.dual())
    run.advance(100)
    assert relative_gap(problem.primal(run.w), run.dual()) < 1e-10 < early
    assert run._tolerance < 1e-10


def test_rows_of_margin_one_belong_to_a_cut():
    run = started(PROBLEMS["overlapping"])
    run.advance(1)
    before = run.counters.updates
    run._at[:] = 1.0
    run.advance(1)
    assert run.counters.updates == before + 50


def test_seeds_do_not_matter():
    runs = [Ocas(), Ocas()]
    for seed, run in enumerate(runs):
        run.start(PROBLEMS["sparse"], seed)
        run.advance(7)
    assert np.array_equal(runs[0].w, runs[1].w)


@pytest.mark.parametrize("bad", [{"tolerance": 0.0}, {"tolerance": 1.0}, {"beyond": 1.5}])
def test_parameters_outside_their_range_are_refused(bad):
    with pytest.raises(ValueError, match="should be"):
        OcasParameters(**bad)


@pytest.mark.parametrize("lam", [1e-3, 1e-4])
def test_reaches_the_certified_optimum_of_adult(lam, tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path))
    try:
        data = load("adult", offline=True).train
    except DataError as error:
        pytest.skip(f"needs the Adult data: {error}")
    problem = Problem(data, lam)
    best = certified_optimum(problem, 1e-8, 60.0)
    run = started(problem, tolerance=1e-6)
    run.halts = True
    run.advance(400)
    assert run.stopped
    assert best.dual <= problem.primal(run.w) <= best.primal * (1.0 + 1.1e-6)
    assert run.dual() <= best.primal
