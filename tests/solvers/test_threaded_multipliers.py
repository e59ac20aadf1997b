"""Newton steps whose rows threads share: the steps of one thread, and shares of equal size."""

import gc
import threading
import time

import numpy as np
import pytest

from problems import PROBLEMS, dataset, every_problem
from svmbench.kernels.multipliers import Multipliers
from svmbench.problem import Problem
from svmbench.solvers.champion import threaded_multipliers
from svmbench.solvers.champion.auto import Auto
from svmbench.solvers.champion.threaded_multipliers import (
    ThreadedMultipliers,
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
    beside = ThreadedMultipliers(rows, problem.lam, min(threads, rows.m))
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


def test_a_thread_may_have_no_row():
    X = np.zeros((4, 50))
    X[0], X[1:, 0] = 1.0, [1.0, -2.0, 3.0]
    problem = Problem(dataset(X, [1, -1, 1, -1]), 1e-2)
    beside, _ = follow(problem, 4)
    assert 0 in [part.m for part in beside._parts]


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


@pytest.mark.parametrize("failing", [0, 1])
def test_no_thread_goes_on_working_after_an_error(failing):
    state, ended = ThreadedMultipliers(drawn().data.rows, 1e-3, 2), []

    def work(part):
        if part is state._parts[failing]:
            raise KeyboardInterrupt("now")
        time.sleep(0.05)
        ended.append(part)

    with pytest.raises(KeyboardInterrupt, match="now"):
        state._all(work, state._parts)
    assert ended == [state._parts[1 - failing]]


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
