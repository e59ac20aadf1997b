"""Dual descent in blocks against its twin, its survey, and the order of its visits."""

import numpy as np
import pytest
from descents import GAINS, SEED, follow, pair
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    assert_close,
    dataset,
    dense,
    dyadic_problems,
    every_problem,
    labels,
    ordinary_problems,
)
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from twins.optimum import optimum

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


def gradients(problem, state):
    X, y = dense(problem.data), labels(problem.data)
    w = np.array(state.w)
    return y * (X @ w) - 1.0, np.any(X != 0.0, axis=1)


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


@every_problem
@pytest.mark.parametrize("threshold", [np.inf, 0.3, 1e-300])
def test_a_survey_calls_back_every_row_that_is_wrong(name, threshold):
    problem = PROBLEMS[name]
    state, rng = spoilt(problem)
    alpha = state.alpha
    G, there = gradients(problem, state)
    inside = (alpha > 0.0) & (alpha < 1.0)
    wrong = inside | ((alpha <= 0.0) & (G < 0.0)) | ((alpha >= 1.0) & (G > 0.0))
    firm = ((alpha <= 0.0) & (threshold < G)) | ((alpha >= 1.0) & (-threshold > G))
    near = np.any(np.abs(G[there]) < 1e-12)
    state.upper, state.lower = threshold, -threshold
    state.survey(True)
    if not near:
        assert state.active == np.sum(there & ~firm)
    # Only wrong rows can move, and the first pass meets them all as they were or better: what it
    # leaves at their old values is right.
    assert np.array_equal(state.alpha, alpha)
    if not np.any(wrong & there & (np.abs(G) > 1e-9)):
        return
    before = problem.dual(alpha)
    state.descend(rng, 1, False)
    assert problem.dual(state.alpha) > before


@every_block
def test_too_early_shrinking_costs_nothing_in_the_end(block_rows):
    problem = PROBLEMS["overlapping"]
    best = optimum(problem)
    state, rng = Descent(problem.data.rows, problem.lam), Generator(2)
    least = 50
    for k in range(1, 3001):
        if k % 2 == 0:
            state.upper, state.lower = 1e-300, -1e-300
        state.descend(rng, block_rows, True)
        least = min(least, state.active)
        if k % 5 == 0:
            state.upper, state.lower = np.inf, -np.inf
            state.survey(True)
            assert state.active == 50
    assert least < 25
    assert state.slack_sum / 50 <= 1e-10 * best.lower
    assert best.upper - problem.dual(state.alpha) <= 1e-8 * best.lower


@given(
    dyadic_problems(max_rows=12),
    st.integers(0, 2**32 - 1),
    st.sampled_from(BLOCKS),
    st.booleans(),
)
def test_invariants(problem, seed, block_rows, shrinking):
    rng = np.random.default_rng(seed)
    X, y = dense(problem.data), labels(problem.data)
    state, draws = Descent(problem.data.rows, problem.lam), Generator(seed)
    zero = ~np.any(X != 0.0, axis=1)
    last = problem.dual(state.alpha)
    for _ in range(25):
        state.least_gain, state.high_gain = 0.5 * rng.integers(2), rng.choice([0.0, 1.0, np.inf])
        if rng.random() < 0.5:
            state.revisit()
        if rng.random() < 0.2:
            state.survey(shrinking)
            gap = problem.primal(np.array(state.w)) - problem.dual(state.alpha)
            size = 1.0 + problem.primal(np.array(state.w))
            assert state.slack_sum / len(y) == pytest.approx(gap, rel=1e-9, abs=1e-12 * size)
        elif rng.random() < 0.2:
            state.upper, state.lower = 1e-300, -1e-300
        state.descend(draws, block_rows, shrinking)
        alpha = state.alpha
        assert np.all((alpha >= 0.0) & (alpha <= 1.0))
        assert np.all(alpha[zero] == 1.0)
        assert state.alpha_sum == pytest.approx(alpha.sum(), rel=1e-12, abs=1e-12)
        expected = X.T @ (alpha * y) / (problem.lam * len(y))
        size = 1.0 + np.max(np.abs(X)) / problem.lam
        assert_close(state.w, expected, rtol=0.0, atol=1e-13 * size)
        dual = problem.dual(alpha)
        assert dual >= last - 1e-13 * (1.0 + size)
        last = dual


@pytest.mark.parametrize("storage", ["int32+float32", "uint16+float64", "int32+float64"])
def test_pairs_of_products_add_up_to_the_same_bits_as_single_ones(storage):
    rng = np.random.default_rng(7)
    X = np.float32(rng.normal(size=(300, 40)) * (rng.random((300, 40)) < 0.4)).astype(np.float64)
    y = np.where(rng.random(300) < 0.5, 1.0, -1.0)
    found = []
    for each in ("uint16+float32", storage):
        state, draws = Descent(dataset(X, y, each).rows, 1e-4), Generator(SEED)
        for _ in range(30):
            state.descend(draws, 3, True)
        state.survey(True)
        found.append((state.w.tobytes(), state.alpha.tobytes(), state.slack_sum))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", ["sparse", "overlapping"])
def test_replaced_dual_variables_are_those_of_passes_to_come(name):
    problem = PROBLEMS[name]
    state, rng, _ = pair(problem)
    for k in range(40):
        state.descend(rng, 3, True)
        alpha = state.alpha
        active = state.active_rows
        assert np.array_equal(state.kept_alpha(), alpha)
        alpha[active] = 0.5 * alpha[active]
        change = float(np.sum(alpha) - np.sum(state.alpha))
        state.w[:] = problem.weights(alpha)
        state.kept_alpha()[active] = alpha[active]
        state.take_alpha(change)
        assert np.array_equal(state.alpha, alpha)
        assert state.alpha_sum == pytest.approx(np.sum(alpha))
        if k % 9 == 8:
            state.restore()
            assert np.array_equal(state.alpha, alpha)
