"""The method of multipliers against its twin, its certificate, and what sleeping may not change."""

import numpy as np
import pytest
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
from svmbench.kernels.multipliers import Multipliers
from svmbench.problem import Problem
from twins.multipliers import Multipliers as Twin

SEARCHED = 1e-3
NO_CENTRES = np.zeros(0)

every_sleep = pytest.mark.parametrize("sleep", [True, False], ids=["sleep", "awake"])


def twin_of(problem):
    return Twin(dense(problem.data), labels(problem.data), problem.lam)


def pair(problem, sleep=True, penalty=5.0, w=None, centres=NO_CENTRES):
    """The kernel and its twin, begun alike."""
    w = np.zeros(problem.data.n_features) if w is None else w
    state, plain = Multipliers(problem.data.rows, problem.lam, sleep), twin_of(problem)
    state.begin(w, centres, penalty)
    plain.begin(w, centres if len(centres) else None, penalty)
    return state, plain


def undecided(plain):
    """Rows that rounding may put on either side of an end of the box."""
    t = plain.responses
    size = np.abs(plain.X) @ np.abs(plain.w)
    return np.minimum(np.abs(t), np.abs(t - 1.0)) <= 1e-11 * (1.0 + plain.penalty * (1.0 + size))


def assert_agree(state, plain, rtol=1e-9):
    """Whatever the kernel shows is what the twin's w and centres say."""
    scale = 1.0 + np.max(np.abs(plain.X)) / plain.lam
    sharp = rtol * (1.0 + plain.penalty * 1e-3)
    assert_close(state.w, plain.w, rtol=0.0, atol=1e-3 * rtol * scale)
    assert_close(state.alpha, plain.alpha, rtol=0.0, atol=sharp)
    largest = np.max(np.abs(plain.X), initial=1.0)
    assert_close(state.pull, plain.pull, rtol=0.0, atol=sharp * largest)
    assert state.alpha_sum == pytest.approx(plain.alpha_sum, rel=sharp, abs=sharp)
    assert state.slack_sum == pytest.approx(plain.slack_sum, rel=sharp, abs=sharp)
    assert state.penalty == plain.penalty
    if undecided(plain).any():
        return False
    assert state.inside == plain.inside
    upper = np.triu(plain.curvature)
    assert_close(np.triu(state.curvature), upper, rtol=0.0, atol=1e-12 * (1 + upper.max()))
    return True


def follow(problem, sleep, penalty=5.0, steps=40):
    """Newton steps of both, until rounding rules; how many were compared in full."""
    # Not from w = 0, whence equal rows and rows of one length all meet their kinks together.
    w = 0.1 * np.random.default_rng(6).normal(size=problem.data.n_features)
    state, plain = pair(problem, sleep, penalty, w)
    compared = int(assert_agree(state, plain))
    for _ in range(steps):
        gap = plain.slack_sum / plain.m + plain.residual
        if gap <= 1e-12:
            break
        if plain.residual <= 0.3 * plain.slack_sum / plain.m:
            plain.recentre(3.0 * plain.penalty)
            state.recentre(3.0 * state.penalty)
            compared += assert_agree(state, plain)
        step = plain.newton_step()
        assert state.move(step) == pytest.approx(plain.move(step), rel=1e-6)
        compared += assert_agree(state, plain)
    return compared


@every_sleep
@pytest.mark.parametrize("penalty", [0.3, 5.0, 300.0])
@every_problem
def test_equals_its_twin(name, penalty, sleep):
    compared = follow(PROBLEMS[name], sleep, penalty)
    if name in ordinary_problems():
        assert compared >= 12


@pytest.mark.parametrize(("storage", "filled"), [("dense float32", 1.0), ("uint16+float64", 0.7)])
@pytest.mark.parametrize("rows", [1000, 2000])
def test_equals_its_twin_where_blas_adds_the_rows(storage, filled, rows, monkeypatch):
    rng = np.random.default_rng(7)
    X = rng.integers(-8, 9, size=(rows, 48)) / 8.0 * (rng.random((rows, 48)) < filled)
    y = np.where(X @ rng.normal(size=48) + rng.normal(size=rows) > 0.0, 1, -1)
    problem = Problem(dataset(X, y, storage), 2.0**-8)
    matmul, shapes = np.matmul, []

    def noted(a, b, **rest):
        shapes.append(b.shape)
        return matmul(a, b, **rest)

    monkeypatch.setattr(np, "matmul", noted)
    state, _ = pair(problem, penalty=0.4, centres=np.full(rows, 0.5))
    assert state.inside == rows
    assert np.array_equal(np.triu(state.curvature), np.triu(X.T @ X))
    # Up to 65,536 numbers at a time.
    assert shapes == ([(1000, 48)] if rows == 1000 else [(1365, 48), (635, 48)])
    shapes.clear()
    compared = follow(problem, True, penalty=0.3)
    assert compared >= 8
    assert 1 <= len(shapes) < compared  # few rows are added one by one


@every_sleep
@every_problem
def test_the_certificate_is_the_gap(name, sleep):
    problem = PROBLEMS[name]
    state, plain = pair(problem, sleep)
    for k in range(25):
        certified = state.slack_sum / state.m + residual(state)
        alpha = np.array(state.alpha)
        gap = problem.primal(state.w) - problem.dual(alpha)
        assert certified == pytest.approx(gap, rel=1e-9, abs=1e-13)
        assert certified == pytest.approx(problem.gap(state.w, alpha), rel=1e-9, abs=1e-13)
        plain.w, plain.centre, plain.penalty = np.array(state.w), plain.centre, state.penalty
        if k % 3 == 2:
            plain.centre = alpha
            plain.penalty *= 2.0
            state.recentre(plain.penalty)
        state.move(plain.newton_step())


def residual(state):
    gradient = state.lam * state.w - state.pull
    return float(gradient @ gradient) / (2.0 * state.lam)


def assert_every_row_is_right(state, X, y, centres):
    """Alpha, J and the sums are those of w and the centres, asleep or not."""
    s = y * (X @ state.w)
    t = centres + state.penalty * (1.0 - s)
    rounding = 1e-13 * (1.0 + state.penalty * (1.0 + np.abs(X) @ np.abs(state.w)))
    assert np.all(np.abs(state.alpha - np.clip(t, 0.0, 1.0)) <= rounding)
    assert_close(
        state.pull, X.T @ (state.alpha * y) / len(y), rtol=0.0, atol=1e-12 * (1 + np.abs(X).max())
    )
    assert state.alpha_sum == pytest.approx(state.alpha.sum(), rel=1e-12, abs=1e-12)
    slack = (1 - state.alpha) * np.maximum(0, 1 - s) + state.alpha * np.maximum(0, s - 1)
    assert state.slack_sum == pytest.approx(slack.sum(), rel=1e-9, abs=np.sum(rounding))
    certain = (t > rounding) & (t < 1.0 - rounding)
    possible = (t > -rounding) & (t < 1.0 + rounding)
    assert certain.sum() <= state.inside <= possible.sum()
    if certain.sum() == possible.sum():
        expected = np.triu(X[certain].T @ X[certain])
        size = 1.0 + np.max(X**2) * len(y)
        assert_close(state.curvature, expected, rtol=0.0, atol=1e-12 * size)


@given(
    dyadic_problems(max_rows=12),
    st.integers(0, 2**32 - 1),
    st.booleans(),
    st.sampled_from([0.5, 2.0, 20.0]),
    st.booleans(),
)
def test_any_movement_leaves_every_row_right(problem, seed, sleep, penalty, given_centres):
    rng = np.random.default_rng(seed)
    X, y = dense(problem.data), labels(problem.data)
    m, d = X.shape
    w = rng.normal(size=d)
    given_ones = rng.random(m) if given_centres else NO_CENTRES
    state, plain = pair(problem, sleep, penalty, w, given_ones)
    centres = plain.centre
    assert_every_row_is_right(state, X, y, centres)
    for _ in range(25):
        if rng.random() < 0.2:
            centres = np.array(state.alpha)
            state.recentre(state.penalty * rng.choice([0.5, 1.0, 3.0]))
        step = (state.pull - state.lam * state.w) * 10.0 ** rng.uniform(-3.0, 2.0)
        if rng.random() < 0.5:
            step = rng.normal(size=d) * 10.0 ** rng.uniform(-3.0, 0.5)
        state.move(step)
        assert_every_row_is_right(state, X, y, centres)
        certified = state.slack_sum / m + residual(state)
        primal = problem.primal(state.w)
        gap = primal - problem.dual(np.array(state.alpha))
        size = primal + residual(state) + float(state.pull @ state.pull) / state.lam
        assert certified == pytest.approx(gap, rel=1e-9, abs=1e-12 * (1.0 + penalty) * size)


@every_problem
def test_sleep_changes_nothing_but_the_work(name):
    problem = PROBLEMS[name]
    X, y = dense(problem.data), labels(problem.data)
    (asleep, plain), (awake, _) = pair(problem, True), pair(problem, False)
    for k in range(12):
        plain.w = np.array(awake.w)
        if k % 4 == 3:
            plain.recentre(3.0 * plain.penalty)
            for state in (asleep, awake):
                state.recentre(3.0 * state.penalty)
        step = plain.newton_step()
        if np.linalg.norm(step) <= 1e-13:
            break
        for state in (asleep, awake):
            state.move(step)
        assert_every_row_is_right(asleep, X, y, plain.centre)
        assert_close(asleep.w, awake.w, rtol=1e-9, atol=1e-12)
    assert asleep.presentations <= awake.presentations
    assert asleep.nonzeros <= awake.nonzeros


@given(
    dyadic_problems(max_rows=12),
    st.integers(0, 2**32 - 1),
    st.booleans(),
    st.sampled_from([0.5, 5.0, 500.0]),
)
def test_the_line_search_ends_at_the_minimum_or_the_end_of_the_step(problem, seed, sleep, penalty):
    rng = np.random.default_rng(seed)
    m, d = problem.data.n_samples, problem.data.n_features
    state, plain = pair(problem, sleep, penalty, rng.normal(size=d), rng.random(m))
    for _ in range(10):
        # Uneven scales make a direction of descent that no gradient method would take.
        step = (plain.pull - plain.lam * plain.w) * 10.0 ** rng.uniform(-2.0, 2.0, size=d)
        start, before = plain.slope(step, 0.0), plain.phi(plain.w)
        size = np.linalg.norm(step) * (1.0 + np.linalg.norm(plain.pull))
        if -start <= 1e-9 * size:
            break
        length = state.move(step)
        slope = plain.slope(step, length)
        assert 0.0 < length <= 1.0
        rounding = 1e-12 * size * penalty
        stationary = abs(slope) <= SEARCHED * abs(start) + rounding
        assert stationary or (length == 1.0 and slope <= 0.0)
        assert_close(state.w, plain.w + length * step, rtol=1e-12, atol=1e-12)
        plain.w = np.array(state.w)
        assert plain.phi(plain.w) <= before + 1e-13 * (1.0 + abs(before))


@every_sleep
@pytest.mark.parametrize("counted", [True, False])
@pytest.mark.parametrize("storage", ["dense float64", "uint16+float64"])
def test_weights_of_rows_and_a_free_bias(sleep, counted, storage):
    rng = np.random.default_rng(4)
    m, d = 120, 6
    X = rng.normal(size=(m, d)) + 0.5
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 1.0, 1, -1)
    counts = rng.uniform(0.1, 2.0, size=m) if counted else None
    data, lam = dataset(X, y, storage), 1e-3
    state = Multipliers(data.rows, lam, sleep, counts=counts, free=True)
    plain = Twin(X, y, lam, counts, free=True)
    at = 0.1 * rng.normal(size=d + 1)
    state.begin(at[:d], np.full(m, 0.5), 0.4, at[d])
    plain.begin(at, np.full(m, 0.5), 0.4)
    for step in range(40):
        direction = plain.newton_step()
        if np.abs(direction).max() <= 1e-7 or step % 8 == 7:
            state.recentre(3.0 * plain.penalty)
            plain.recentre(3.0 * plain.penalty)
            continue
        assert state.move(direction) == pytest.approx(plain.move(direction), rel=1e-6)
        assert_close([*state.w, state.bias], plain.w, rtol=0.0, atol=1e-9)
        assert_close(state.alpha, plain.alpha, rtol=0.0, atol=1e-7)
        assert_close([*state.pull, state.bias_pull], plain.pull, rtol=0.0, atol=1e-9)
        assert state.alpha_sum == pytest.approx(plain.alpha_sum, rel=1e-8)
        assert state.slack_sum == pytest.approx(plain.slack_sum, rel=1e-6, abs=1e-7)
        if not np.min(np.minimum(np.abs(plain.responses), np.abs(plain.responses - 1.0))) > 1e-8:
            continue
        upper = np.triu(plain.curvature)
        assert_close(np.triu(state.curvature), upper[:d, :d], rtol=0.0, atol=1e-9)
        assert_close([*state.border, state.corner], plain.curvature[d], rtol=0.0, atol=1e-9)
