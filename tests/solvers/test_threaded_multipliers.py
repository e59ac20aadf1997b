"""Newton steps whose rows threads share: the steps of one thread, and shares of equal size."""

import gc
import threading
import time

import numpy as np
import pytest

from problems import PROBLEMS, dataset, dense, every_problem, every_storage
from svmbench.kernels.multipliers import Multipliers
from svmbench.problem import Problem
from svmbench.solvers import samples
from svmbench.solvers.champion import newton_phase, threaded_multipliers
from svmbench.solvers.champion.auto import Auto
from svmbench.solvers.champion.newton_phase import NewtonPhase
from svmbench.solvers.champion.threaded_multipliers import (
    ENTRIES_A_THREAD,
    ThreadedMultipliers,
    threads_for,
)

every_number = pytest.mark.parametrize("threads", [1, 2, 3])
NO_CENTRES = np.zeros(0)


def drawn(m=900, d=12, lam=1e-3, storage="uint16+float64", seed=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.6)
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 0, 1, -1)
    return Problem(dataset(X, y, storage), lam)


def newton_step(state):
    """The step from w, by the sums that a state shows."""
    system = state.curvature + np.triu(state.curvature, 1).T
    system = system * (state.penalty / state.m) + state.lam * np.eye(len(system))
    return np.linalg.solve(system, state.pull - state.lam * state.w)


def assert_alike(beside, alone):
    scale = 1.0 + float(np.abs(alone.curvature).max())
    size = 1.0 + np.abs(alone.w).max()
    np.testing.assert_allclose(beside.w, alone.w, rtol=0, atol=1e-9 * size)
    np.testing.assert_allclose(beside.alpha, alone.alpha, rtol=0, atol=1e-6)
    np.testing.assert_allclose(beside.pull, alone.pull, rtol=0, atol=1e-9 * scale)
    assert beside.alpha_sum == pytest.approx(alone.alpha_sum, rel=1e-9, abs=1e-9)
    assert beside.slack_sum == pytest.approx(alone.slack_sum, rel=1e-6, abs=1e-9)
    assert beside.penalty == alone.penalty


def follow(problem, threads, steps=12):
    """Steps of both from the same w; the two states."""
    rows = problem.data.rows
    alone = Multipliers(rows, problem.lam, True)
    beside = ThreadedMultipliers(rows, problem.lam, True, min(threads, rows.m))
    w = 0.1 * np.random.default_rng(6).normal(size=rows.d)
    for state in (alone, beside):
        state.begin(w, NO_CENTRES, 5.0)
    assert_alike(beside, alone)
    for k in range(steps):
        if k % 4 == 3:
            for state in (alone, beside):
                state.recentre(3.0 * state.penalty)
        step = newton_step(alone)
        if np.linalg.norm(step) <= 1e-9:
            break
        assert beside.move(step) == pytest.approx(alone.move(step), rel=1e-6)
        assert_alike(beside, alone)
    return beside, alone


@every_number
@every_problem
def test_steps_are_those_of_one_thread(name, threads):
    beside, alone = follow(PROBLEMS[name], threads)
    assert beside.updates == alone.updates


@every_storage
def test_the_work_is_that_of_one_thread_in_every_storage(storage):
    beside, alone = follow(drawn(storage=storage), 3)
    assert alone.updates == 12
    assert beside.presentations == alone.presentations
    assert beside.nonzeros == alone.nonzeros


def test_given_centres_reach_their_rows():
    problem = drawn()
    rows, centres = problem.data.rows, np.random.default_rng(3).random(problem.data.n_samples)
    alone, beside = Multipliers(rows, 1e-3, True), ThreadedMultipliers(rows, 1e-3, True, 2)
    for state in (alone, beside):
        state.begin(np.zeros(rows.d), centres, 0.1)
    np.testing.assert_array_equal(beside.alpha, alone.alpha)
    assert len(np.unique(alone.alpha)) > 100


def test_threads_have_equal_shares_whatever_the_lengths_of_rows():
    X = np.ones((300, 40))
    X[100:, 2:] = 0.0  # two thirds of the rows come last and have two entries
    problem = Problem(dataset(X, np.resize([1, -1, 1], 300)), 1e-2)
    state = ThreadedMultipliers(problem.data.rows, problem.lam, False, 2)
    state.begin(np.zeros(40), NO_CENTRES, 1.0)
    state.move(np.full(40, 0.1))
    one, other = (part.nonzeros for part in state._parts)
    assert one == pytest.approx(other, rel=0.1)


def test_a_thread_may_have_no_row():
    X = np.zeros((4, 50))
    X[0], X[1:, 0] = 1.0, [1.0, -2.0, 3.0]
    problem = Problem(dataset(X, [1, -1, 1, -1]), 1e-2)
    beside, _ = follow(problem, 4)
    assert 0 in [part.m for part in beside._parts]


@every_number
def test_parts_keep_their_numbers_in_arrays_of_all_rows(threads):
    state = ThreadedMultipliers(drawn().data.rows, 1e-3, True, threads)
    assert state.alpha.tolist() == [0.0] * 900
    state.begin(np.zeros(12), NO_CENTRES, 0.1)
    np.testing.assert_array_equal(state.alpha, np.concatenate([p.alpha for p in state._parts]))
    assert all(np.shares_memory(part.alpha, state.alpha) for part in state._parts)
    assert np.all(state.alpha > 0.0)


def test_one_thread_makes_all_parts_where_the_others_have_work(monkeypatch):
    multipliers, makers = threaded_multipliers.Multipliers, []

    def recorded(*given):
        makers.append(threading.current_thread() is threading.main_thread())
        return multipliers(*given)

    monkeypatch.setattr(threaded_multipliers, "Multipliers", recorded)
    rows, states = drawn().data.rows, []
    for alone in (True, False):
        states.append(ThreadedMultipliers(rows, 1e-3, True, 2, alone))
        states[-1].begin(np.full(12, 0.1), NO_CENTRES, 5.0)
    assert makers[:2] == [True, True]
    assert sorted(makers[2:]) == [False, True]
    assert states[0].alpha.tobytes() == states[1].alpha.tobytes()
    assert states[0].curvature.tobytes() == states[1].curvature.tobytes()


def test_few_entries_are_for_one_thread():
    assert threads_for(2 * ENTRIES_A_THREAD - 1, 8) == 1
    assert threads_for(2 * ENTRIES_A_THREAD, 8) == 2
    assert threads_for(100 * ENTRIES_A_THREAD, 8) == 8
    assert threads_for(0, 8) == 1


def test_large_matrices_are_for_one_thread():
    assert threads_for(5000 * 5000, 8, d=5000) == 1
    assert threads_for(2 * 5000 * 5000, 8, d=5000) == 2


def trained(problem, threads, **parameters):
    run = Auto(Auto.schema(method="newton", tolerance=1e-6, **parameters))
    run.threads = threads
    run.start(problem, 5)
    steps = 0
    while not run.stopped:
        run.advance(1)
        steps += 1
        assert steps < 200
    return run, steps


def test_auto_takes_the_same_steps_in_two_threads(monkeypatch):
    problem = drawn(m=30_000)
    alone, steps = trained(problem, 1)
    monkeypatch.setattr(threaded_multipliers, "ENTRIES_A_THREAD", 1000)
    beside, taken = trained(problem, 2)
    assert isinstance(beside._phase._state, ThreadedMultipliers)
    assert taken == steps
    assert beside.counters.nonzeros == alone.counters.nonzeros
    assert problem.primal(beside.w) == pytest.approx(problem.primal(alone.w), rel=1e-9)
    assert beside.dual() == pytest.approx(problem.dual(beside.alpha), rel=1e-12)
    again, _ = trained(problem, 2)
    assert again.w.tobytes() == beside.w.tobytes()
    assert again.alpha.tobytes() == beside.alpha.tobytes()


def samples_taken(monkeypatch, then=lambda taken: None):
    """Rows of the samples to come, and whether the main thread took them; three in each run."""
    take_rows, taken = newton_phase.take_rows, []

    def recorded(rows, chosen):
        taken.append((chosen.tolist(), threading.current_thread() is threading.main_thread()))
        then(taken)
        return take_rows(rows, chosen)

    monkeypatch.setattr(newton_phase, "take_rows", recorded)
    monkeypatch.setattr(samples, "SAMPLE_ROWS", 20)
    monkeypatch.setattr(samples, "SAMPLE_ROWS_A_FEATURE", 2)
    monkeypatch.setattr(threaded_multipliers, "ENTRIES_A_THREAD", 1000)
    return taken


def test_another_thread_draws_the_samples_that_one_would(monkeypatch):
    problem, taken = drawn(m=30_000), samples_taken(monkeypatch)
    draw_ahead = NewtonPhase._draw_ahead

    def drawn_ahead(phase):
        draw_ahead(phase)
        if phase._drawn is not None:
            phase._drawn.result()

    monkeypatch.setattr(NewtonPhase, "_draw_ahead", drawn_ahead)
    trained(problem, 1)
    trained(problem, 2)
    one, two = taken[:3], taken[3:]
    assert [chosen for chosen, _ in two] == [chosen for chosen, _ in one]
    assert [mine for _, mine in one] == [True, True, True]
    assert [mine for _, mine in two] == [True, False, False]


def test_no_sample_waits_for_the_last_stage(monkeypatch):
    problem, all_taken = drawn(m=30_000), threading.Event()
    taken = samples_taken(monkeypatch, lambda taken: len(taken) == 3 and all_taken.set())
    new_multipliers = NewtonPhase._new_multipliers

    def late(phase, rows, **how):
        if rows is phase._rows:
            assert all_taken.wait(60.0)
        return new_multipliers(phase, rows, **how)

    monkeypatch.setattr(NewtonPhase, "_new_multipliers", late)
    trained(problem, 2)
    trained(problem, 1)
    two, one = taken[:3], taken[3:]
    assert two == one
    assert [mine for _, mine in two] == [True, True, True]


@pytest.mark.parametrize("failing", [0, 1])
def test_no_thread_goes_on_working_after_an_error(failing):
    state, ended = ThreadedMultipliers(drawn().data.rows, 1e-3, True, 2), []

    def work(part):
        if part is state._parts[failing]:
            raise KeyboardInterrupt("now")
        time.sleep(0.05)
        ended.append(part)

    with pytest.raises(KeyboardInterrupt, match="now"):
        state._all(work, state._parts)
    assert ended == [state._parts[1 - failing]]


def test_an_error_of_the_thread_that_prepares_is_raised(monkeypatch):
    def full(*_):
        raise MemoryError("no room for all rows")

    monkeypatch.setattr(newton_phase, "ThreadedMultipliers", full)
    monkeypatch.setattr(threaded_multipliers, "ENTRIES_A_THREAD", 100_000)  # samples have less
    with pytest.raises(MemoryError, match="no room for all rows"):
        trained(drawn(m=30_000), 2)


def test_threads_end_with_their_solver(monkeypatch):
    monkeypatch.setattr(threaded_multipliers, "ENTRIES_A_THREAD", 1000)
    before = set(threading.enumerate())
    run, _ = trained(drawn(m=30_000), 2)
    begun = set(threading.enumerate()) - before
    assert begun
    del run
    gc.collect()
    for thread in begun:
        thread.join(10.0)
    assert not [thread for thread in begun if thread.is_alive()]


def test_one_thread_makes_no_other(monkeypatch):
    def pool(*_):
        raise AssertionError("a thread was started")

    monkeypatch.setattr(newton_phase, "ThreadPoolExecutor", pool)
    monkeypatch.setattr(threaded_multipliers, "ThreadPoolExecutor", pool)
    monkeypatch.setattr("svmbench.solvers.champion.threaded_problem.ThreadPoolExecutor", pool)
    run, _ = trained(drawn(m=30_000), 1)
    assert dense(run._problem.data).shape == (30_000, 12)
