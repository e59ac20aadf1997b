"""Steps in the plane of the last passes: their twin, what they keep true, and what they are for."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import (
    dataset,
    dense,
    dyadic_problems,
    labels,
    ordinary_problems,
    weighted,
)
from svmbench.kernels.acceleration import Acceleration
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem
from twins.acceleration import Acceleration as Twin

PROBLEMS = ordinary_problems()
LOSSES = {"hinge": (0.0, 1.0), "smoothed": (0.5, 1.0), "squared": (0.5, np.inf)}
every_loss = pytest.mark.parametrize("loss", LOSSES)


def weights(problem, alpha):
    X, y = dense(problem.data), labels(problem.data)
    return X.T @ (problem.counted(alpha) * y) / (problem.lam * len(y))


def walk(problem, rng, alpha, upper):
    """A random move of some of alpha within the box, onto its bounds at times."""
    moved = alpha + 0.3 * rng.normal(size=len(alpha)) * (rng.random(len(alpha)) < 0.7)
    return np.clip(moved, 0.0, min(upper, 3.0))


def follow(problem, loss, seed, steps=12, shifts=0.0):
    """Steps of both after random moves, until a tie; the twin.

    The last weight is shifted before each step, too.
    """
    nu, upper = LOSSES[loss]
    rng = np.random.default_rng(seed)
    X, y = dense(problem.data), labels(problem.data)
    c = problem.row_weights
    kernel = Acceleration(problem.data.rows, problem.lam, nu, upper, c)
    plain = Twin(X, y, problem.lam, nu, upper, c)
    alpha = np.clip(rng.normal(size=len(y)), 0.0, 1.0)
    for _ in range(steps):
        moving = np.arange(len(y), dtype=np.int32)
        kernel.begin(moving, alpha, plain.shifted(alpha))
        plain.begin(alpha)
        alpha = walk(problem, rng, alpha, upper)
        if shifts:
            amount = shifts * rng.normal()
            kernel.shift(amount)
            plain.offset[-1] += amount
        mine, w = alpha.copy(), plain.shifted(alpha)
        before = alpha
        kernel.step(mine, w)
        alpha = plain.step(alpha)
        if plain.closest < 1e-10:
            break
        np.testing.assert_allclose(mine, alpha, rtol=0.0, atol=1e-9)
        np.testing.assert_allclose(w, plain.shifted(mine), rtol=0.0, atol=1e-10 / problem.lam)
        assert kernel.refused == plain.refused
        assert kernel.change == pytest.approx(np.sum(mine - before), abs=1e-9)
        rise = plain.dual(mine) - plain.dual(before)
        assert kernel.rise == pytest.approx(rise, rel=1e-6, abs=1e-9 * (1.0 + abs(rise)))
        alpha = mine
    return plain


@pytest.mark.parametrize("shifts", [0.0, 0.5], ids=["", "shifted"])
@pytest.mark.parametrize("counted", [False, True], ids=["", "weighted"])
@every_loss
@pytest.mark.parametrize("name", PROBLEMS)
def test_equals_its_twin(name, loss, counted, shifts):
    problem = weighted(PROBLEMS[name]) if counted else PROBLEMS[name]
    twins = [follow(problem, loss, seed, shifts=shifts) for seed in range(5)]
    assert sum(plain.taken for plain in twins) >= 20
    assert sum(plain.clipped for plain in twins) >= 5


@given(dyadic_problems(), st.integers(0, 2**32 - 1), st.sampled_from(list(LOSSES)))
def test_no_step_lowers_the_dual_or_leaves_the_box(problem, seed, loss):
    nu, upper = LOSSES[loss]
    rng = np.random.default_rng(seed)
    y = labels(problem.data)
    kernel = Acceleration(problem.data.rows, problem.lam, nu, upper)
    judge = Twin(dense(problem.data), y, problem.lam, nu, upper)
    alpha = np.zeros(len(y))
    for _ in range(6):
        kernel.begin(np.arange(len(y), dtype=np.int32), alpha, weights(problem, alpha))
        alpha = walk(problem, rng, alpha, upper)
        before, w = alpha.copy(), weights(problem, alpha)
        kernel.step(alpha, w)
        assert np.all((alpha >= 0.0) & (alpha <= upper))
        bounded = (before == 0.0) | (before == upper)
        assert np.array_equal(alpha[bounded], before[bounded])
        size = 1.0 + np.max(np.abs(judge.X)) / problem.lam
        np.testing.assert_allclose(w, weights(problem, alpha), rtol=0.0, atol=1e-12 * size)
        assert judge.dual(alpha) >= judge.dual(before) - 1e-12 * size**2


@pytest.mark.parametrize("name", PROBLEMS)
def test_rows_that_were_shrunk_before_a_step_have_no_share_in_it(name):
    problem = PROBLEMS[name]
    state, draws = Descent(problem.data.rows, problem.lam), Generator(2)
    kernel = Acceleration(problem.data.rows, problem.lam)
    left = 0
    for k in range(40):
        kernel.begin(state.active_rows, state.alpha, state.w)
        active = state.active
        for _ in range(1 + k % 3):
            state.upper, state.lower = min(state.upper, 0.1), max(state.lower, -0.1)
            state.descend(draws, 3, True)
        left += active - state.active
        if k % 2 == 0:
            kernel.step(state.kept_alpha(), state.w)
            state.take_alpha(kernel.change)
        if k % 7 == 6:
            state.restore()
        expected = problem.weights(state.alpha)
        np.testing.assert_allclose(state.w, expected, rtol=0.0, atol=1e-9)
    assert left > 0


def test_passes_with_steps_need_fewer_passes():
    # Free rows alike but for little: each pass undoes most of what the one before has done.
    rng = np.random.default_rng(7)
    common = rng.normal(size=30)
    X = common + 0.2 * rng.normal(size=(40, 30))
    y = np.where(rng.random(40) < 0.5, 1, -1)
    problem = Problem(dataset(X, y, "dense float64"), 1e-3)
    taken = {}
    for steps in (False, True):
        state, draws = Descent(problem.data.rows, problem.lam), Generator(1)
        kernel = Acceleration(problem.data.rows, problem.lam)
        gap, passes = np.inf, 0
        while gap > 1e-6 and passes < 100_000:
            kernel.begin(state.active_rows, state.alpha, state.w)
            state.descend(draws, 1, False)
            if steps:
                kernel.step(state.kept_alpha(), state.w)
                state.take_alpha(kernel.change)
            passes += 1
            gap = problem.primal(np.array(state.w)) - problem.dual(state.alpha)
        np.testing.assert_allclose(state.w, problem.weights(state.alpha), rtol=0.0, atol=1e-9)
        assert state.alpha_sum == pytest.approx(np.sum(state.alpha))
        taken[steps] = passes
    assert taken[True] < 0.6 * taken[False]
