"""Dual descent and its twin, side by side."""

import numpy as np
import pytest

from problems import assert_close, dense, labels
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from twins.descent import Descent as Twin

SEED = 31
#: Steps that are left out and repeated: below and above these multiples of the last pass's gain.
GAINS = (0.3, 2.0)


def pair(problem, seed=SEED):
    """The kernel, its random numbers, and its twin."""
    kept_dense = problem.data.indptr is None
    plain = Twin(dense(problem.data), labels(problem.data), problem.lam, seed, kept_dense)
    return Descent(problem.data.rows, problem.lam), Generator(seed), plain


def assert_agree(state, plain):
    scale = 1.0 + np.max(np.abs(plain.X)) / (plain.lam_m / plain.m)
    assert (state.active, state.m) == (len(plain.active), len(plain.rows))
    assert_close(state.alpha, plain.alpha, rtol=0.0, atol=1e-12)
    assert_close(state.w, plain.w, rtol=0.0, atol=1e-12 * scale)
    assert state.alpha_sum == pytest.approx(plain.alpha_sum, rel=1e-12)
    assert state.slack_sum == pytest.approx(plain.slack_sum, rel=1e-9, abs=1e-11)


def assert_pass_agrees(state, plain):
    assert_agree(state, plain)
    assert state.upper == pytest.approx(plain.upper, abs=1e-11)
    assert state.lower == pytest.approx(plain.lower, abs=1e-11)
    assert state.largest == pytest.approx(plain.largest, abs=1e-11)
    assert state.smallest == pytest.approx(plain.smallest, abs=1e-11)
    assert state.typical == pytest.approx(plain.typical, rel=1e-9, abs=1e-11)
    assert state.presentations == plain.visits.sum()
    assert abs(state.updates - plain.updates) <= plain.negligible


def follow(problem, block_rows, shrinking, passes=30, survey_every=4, gains=(0.0, np.inf)):
    """Passes and surveys of both until a tie; how many rows were active after each."""
    state, rng, plain = pair(problem)
    state.least_gain, state.high_gain = plain.least_gain, plain.high_gain = gains
    actives = []
    for k in range(1, passes + 1):
        state.revisit()
        plain.revisit()
        state.descend(rng, block_rows, shrinking)
        plain.descend(block_rows, shrinking)
        if plain.closest < 1e-12:
            break
        assert_pass_agrees(state, plain)
        actives.append(state.active)
        assert state.active_rows.tolist() == plain.active
        for mine, theirs in zip(state.sample(1 + k % 5), plain.sample(1 + k % 5), strict=True):
            assert_close(mine, theirs, rtol=0.0, atol=1e-9)
        if k % survey_every == 0:
            if k % (2 * survey_every) == 0:
                plain.upper, plain.lower = np.inf, -np.inf
                state.upper, state.lower = np.inf, -np.inf
            scale = 1.0 + 0.1 * (k % 3 - 1)
            state.survey(shrinking, scale)
            plain.survey(shrinking, scale)
            if plain.closest < 1e-12:
                break
            assert_agree(state, plain)
            assert state.scaled_slack_sum == pytest.approx(
                plain.scaled_slack_sum, rel=1e-9, abs=1e-11
            )
            actives.append(state.active)
    return actives
