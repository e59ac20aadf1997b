"""Dual descent in blocks against its twin, its survey, and the order of its visits."""

import numpy as np
import pytest
from descents import GAINS, follow

from problems import (
    PROBLEMS,
    assert_close,
    every_problem,
    ordinary_problems,
)
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator

BLOCKS = (1, 3, 32, 1000)

every_block = pytest.mark.parametrize("block_rows", BLOCKS)
every_shrinking = pytest.mark.parametrize("shrinking", [True, False], ids=["shrunk", "whole"])


@every_shrinking
@every_block
@every_problem
def test_equals_its_twin(name, block_rows, shrinking):
    problem = PROBLEMS[name]
    actives = follow(problem, block_rows, shrinking)
    assert shrinking or len(set(actives)) <= 1
    if name in ordinary_problems():
        assert len(actives) >= 12


@every_block
@every_problem
def test_equals_its_twin_where_steps_are_chosen_by_their_gain(name, block_rows):
    actives = follow(PROBLEMS[name], block_rows, True, gains=GAINS)
    # In one block, rows that passes leave out can meet the thresholds that they have set.
    if name in ordinary_problems() and block_rows < 1000:
        assert len(actives) >= 12


def spoilt(problem, seed=1, passes=6):
    """A state whose rows were shrunk far too early: wrong ones are among those that left."""
    state, rng = Descent(problem.data.rows, problem.lam), Generator(seed)
    for _ in range(passes):
        state.upper, state.lower = 1e-300, -1e-300
        state.descend(rng, 1, True)
    return state, rng


@every_problem
def test_a_survey_finds_the_gap_over_all_rows(name):
    problem = PROBLEMS[name]
    m = problem.data.n_samples
    state, rng = spoilt(problem)
    for shrinking in (True, False):
        state.survey(shrinking)
        alpha = state.alpha
        gap = problem.primal(np.array(state.w)) - problem.dual(alpha)
        assert state.slack_sum / m == pytest.approx(gap, rel=1e-9, abs=1e-13)
        assert state.alpha_sum == pytest.approx(np.sum(alpha), rel=1e-13)
        assert_close(state.w, problem.weights(alpha), rtol=0.0, atol=1e-12)
        state.descend(rng, 3, True)
        assert state.alpha_sum == pytest.approx(np.sum(state.alpha), rel=1e-12)
