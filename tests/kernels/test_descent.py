"""Dual descent in blocks against its twin, its survey, and the order of its visits."""

import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from descents import GAINS, SEED, assert_agree, assert_pass_agrees, follow, pair
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    PROBLEMS,
    assert_close,
    dataset,
    dense,
    dyadic_problems,
    every_problem,
    every_storage,
    labels,
    ordinary_problems,
)
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem
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


@every_storage
@pytest.mark.parametrize("gains", [(0.0, np.inf), GAINS], ids=["all", "by gain"])
@pytest.mark.parametrize("name", ["sparse", "overlapping", "zero-rows", "one-row"])
def test_equals_its_twin_in_every_storage(name, gains, storage):
    made = PROBLEMS[name]
    problem = Problem(dataset(dense(made.data), made.data.labels, storage), made.lam)
    actives = follow(problem, 3, True, gains=gains)
    if name == "sparse":
        assert len(actives) >= 12


def near_duplicates(pairs, rng):
    """Rows in pairs of one label whose angle is small, so that their steps undo each other."""
    first = rng.normal(size=(pairs, 30))
    rows = np.vstack([first, first + 0.05 * rng.normal(size=first.shape)])
    return Problem(dataset(rows, np.tile(np.sign(first[:, 0]), 2)), 1e-4)


def test_rows_that_resemble_each_other_need_fewer_entries_if_visited_again():
    touched = []
    problem = near_duplicates(6, np.random.default_rng(3))
    best = optimum(problem)
    for again in (True, False):
        state, rng, _ = pair(problem)
        state.high_gain = 3.0 if again else np.inf
        while problem.dual(state.alpha) < best.lower * (1.0 - 1e-6):
            state.revisit()
            state.descend(rng, 1, False)
        touched.append(state.nonzeros)
    assert touched[0] < touched[1]


def test_rows_are_visited_again_once_and_only_after_a_pass_to_compare_with():
    state, rng, _ = pair(PROBLEMS["overlapping"])
    state.high_gain = 1.0
    for k in range(1, 4):
        state.revisit()
        assert state.presentations == k * state.m - state.m
        state.descend(rng, 1, False)
        if k == 2:
            assert len(state.rows_again) > 0
            met = state.presentations
            state.revisit()
            assert state.presentations > met
            return
        assert len(state.rows_again) == 0


def test_the_twins_shrink_and_surveys_call_rows_back():
    actives = follow(PROBLEMS["overlapping"], 3, True)
    assert min(actives) < 50
    assert any(b > a for a, b in pairwise(actives))


def test_all_rows_are_active_once_restored():
    problem = PROBLEMS["overlapping"]
    state, rng, plain = pair(problem)
    for k in range(1, 13):
        state.descend(rng, 3, True)
        plain.descend(3, True)
        assert_pass_agrees(state, plain)
        if k % 5 == 0:
            assert state.active < state.m
            state.restore()
            plain.restore()
            assert_agree(state, plain)
    assert plain.closest > 1e-12


@given(st.integers(1, 80), st.sampled_from([1, 2, 3, 32, 79, 80, 81, 10**6]), st.integers(0, 2**32))
def test_each_row_is_visited_once_a_pass(m, block_rows, seed):
    # Rows that share no feature, at the upper bound at once: each visit reads one entry, and the
    # first writes one as well. So all were visited, and none of them more than once.
    data = dataset(np.eye(m), np.ones(m))
    state, rng = Descent(data.rows, 2.0), Generator(seed)
    state.descend(rng, block_rows, False)
    assert state.updates == state.presentations == m
    assert state.nonzeros == 2 * m
    assert np.count_nonzero(state.alpha) == m
    for k in range(2, 5):
        state.descend(rng, block_rows, False)
        assert state.presentations == k * m
        assert state.nonzeros == (k + 1) * m
    assert state.updates == m


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


@pytest.mark.parametrize("scale", [1e-25, 1.0, 1e25])
def test_dense_rows_may_be_of_any_length(scale):
    # Far off 1, lambda m / ||x||^2 lies beyond what single precision holds.
    rng = np.random.default_rng(5)
    X = scale * rng.normal(size=(40, 6))
    problem = Problem(dataset(X, np.sign(rng.normal(size=40)), "dense float64"), 0.01)
    state, draws, plain = pair(problem)
    for _ in range(5):
        state.descend(draws, 3, False)
        plain.descend(3, False)
        assert_close(state.alpha, plain.alpha, rtol=1e-9, atol=0.0)
    assert np.any(state.alpha > 0.0)
    assert np.any(plain.inverses == 0.01 * 40 / np.sum(X**2, axis=1)) == (scale > 1.0)


@pytest.mark.parametrize(("storage", "most"), [("dense float32", 30), ("uint16+float32", 50)])
def test_what_a_row_takes_beside_its_entries(storage, most):
    rng = np.random.default_rng(5)
    rows = dataset(rng.normal(size=(20_000, 3)), np.ones(20_000), storage).rows
    tracemalloc.start()
    try:
        state, draws = Descent(rows, 1e-4), Generator(1)
        for _ in range(5):
            state.descend(draws, 32, True)
        state.survey(True)
        assert tracemalloc.get_traced_memory()[1] < most * 20_000
    finally:
        tracemalloc.stop()


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


def test_alpha_is_a_fresh_array():
    state, rng = Descent(PROBLEMS["overlapping"].data.rows, 2.0**-5), Generator(1)
    state.descend(rng, 1, False)
    kept = state.alpha
    state.alpha[:] = 7.0
    assert np.array_equal(state.alpha, kept)


@every_block
def test_a_pass_without_active_rows_does_nothing(block_rows):
    state, rng = Descent(PROBLEMS["only-zero-rows"].data.rows, 1.0), Generator(1)
    state.descend(rng, block_rows, True)
    assert state.presentations == state.active == state.m == 0
    assert (state.alpha_sum, state.alpha.tolist()) == (4.0, [1.0] * 4)
    state.survey(True)
    assert (state.alpha_sum, state.slack_sum) == (4.0, 0.0)
    assert rng.next() == Generator(1).next()
