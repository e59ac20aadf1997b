"""Passes of dual descent that two threads share: the twin's, and what the best share promises."""

from pathlib import Path

import numpy as np
import pytest
from descents import GAINS, follow

from problems import PROBLEMS, dataset, every_problem, ordinary_problems
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem

every_shrinking = pytest.mark.parametrize("shrinking", [True, False], ids=["shrunk", "whole"])
every_number = pytest.mark.parametrize("exchanges", [1, 3, 50])


def alike(m=600, d=20, seed=4):
    """Rows that resemble each other so much that two threads would make each step twice."""
    rng = np.random.default_rng(seed)
    X = 1.0 + 0.02 * rng.normal(size=(m, d))
    return Problem(dataset(X, np.where(rng.random(m) < 0.6, 1, -1)), 1e-4)


def bound(state, problem):
    """D(alpha), with w(alpha) made anew."""
    return problem.dual(state.alpha)


@every_number
@every_shrinking
@every_problem
def test_equals_its_twin(name, shrinking, exchanges):
    actives = follow(PROBLEMS[name], 1, shrinking, exchanges=exchanges, passes=16)
    if name in ordinary_problems():
        assert len(actives) >= 8


@every_number
@pytest.mark.parametrize("name", ["sparse", "overlapping", "zero-rows", "one-row"])
def test_equals_its_twin_in_blocks_and_with_steps_chosen_by_their_gain(name, exchanges):
    follow(PROBLEMS[name], 3, True, gains=GAINS, exchanges=exchanges, passes=16)


@pytest.mark.parametrize("exchanges", [4, 30])
def test_the_bound_rises_in_each_pass_whose_threads_go_the_best_share(exchanges):
    problem = alike()
    state, rng = Descent(problem.data.rows, problem.lam, True), Generator(1)
    bounds, gains = [0.0], []
    for _ in range(12):
        before = state.gain_sum
        state.descend(rng, 1, False, exchanges)
        gains.append(state.gain_sum - before)
        bounds.append(bound(state, problem))
    rises = problem.data.n_samples * np.diff(bounds)
    # By at least the mean of what the threads gained: D is concave.
    assert np.all(rises >= 0.5 * np.array(gains) - 1e-9)
    # Their steps did not add up, so that the share was needed.
    assert np.any(rises < 0.95 * np.array(gains))


@pytest.mark.parametrize("exchanges", [4, 200])
def test_the_same_bits_each_time(exchanges):
    problem, found = PROBLEMS["sparse"], []
    for _ in range(5):
        state, rng = Descent(problem.data.rows, problem.lam, True), Generator(3)
        state.high_gain = 2.0
        for _ in range(8):
            state.revisit()
            state.descend(rng, 1, True, exchanges)
        state.survey(True)
        found.append((state.alpha.tobytes(), state.w.tobytes(), state.slack_sum))
    assert len(set(found)) == 1


def test_a_survey_of_two_threads_finds_what_that_of_one_does():
    problem = PROBLEMS["sparse"]
    alone, both = (Descent(problem.data.rows, problem.lam, two) for two in (False, True))
    for state in (alone, both):
        rng = Generator(1)
        for _ in range(3):
            state.descend(rng, 1, True)
        state.survey(True, 1.1)
    assert both.active_rows.tolist() == alone.active_rows.tolist()
    assert (both.largest, both.smallest) == (alone.largest, alone.smallest)
    for sums in ("slack_sum", "scaled_slack_sum", "alpha_sum"):
        assert getattr(both, sums) == pytest.approx(getattr(alone, sums), rel=1e-12)


TASKS = Path("/proc/self/task")


def threads():
    return len(list(TASKS.iterdir()))


@pytest.mark.skipif(not TASKS.is_dir(), reason="only Linux lists the threads of a process")
def test_the_second_thread_ends_with_its_state():
    problem, before = PROBLEMS["sparse"], threads()
    states = [Descent(problem.data.rows, problem.lam, True) for _ in range(5)]
    states[0].descend(Generator(1), 1, True, 3)
    assert threads() == before + 5
    del states
    assert threads() == before
