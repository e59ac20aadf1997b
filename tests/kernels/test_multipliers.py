"""The method of multipliers against its twin, its certificate, and what sleeping may not change."""

import numpy as np
import pytest

from problems import (
    PROBLEMS,
    assert_close,
    dataset,
    dense,
    every_problem,
    labels,
    ordinary_problems,
)
from svmbench.kernels.multipliers import Multipliers
from twins.multipliers import Multipliers as Twin

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
        plain.w, plain.centre, plain.penalty = np.array(state.w), plain.centre, state.penalty
        if k % 3 == 2:
            plain.centre = alpha
            plain.penalty *= 2.0
            state.recentre(plain.penalty)
        state.move(plain.newton_step())


def residual(state):
    gradient = state.lam * state.w - state.pull
    return float(gradient @ gradient) / (2.0 * state.lam)


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
