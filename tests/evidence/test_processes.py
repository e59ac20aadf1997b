"""E-processes of log-ratios: exact fairness on trees of signs, definitions by integration."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from svmbench.evidence.processes import (
    SHIFTS,
    SIGNS_ALONE,
    SIGNS_BESIDE,
    RatioEvidence,
    scales,
    sign_process,
)

LOGS = st.lists(
    st.one_of(st.floats(-3, 3), st.sampled_from([0.0, -math.inf, math.inf])), max_size=25
)
BOUNDARIES = st.floats(-2, 2)

SIDES = st.sampled_from([1.0, -1.0])


def brute(logs, boundary, side, symmetric):
    """The evidence as docs and docstrings define it, without logarithms."""
    beyond = [side * (log - boundary) for log in logs]
    beyond = [0.0 if abs(value) <= 1e-12 else value for value in beyond]
    n, s = len(beyond), sum(value > 0 for value in beyond)
    mixed, _ = quad(lambda p: 2 * (2 * p) ** s * (2 - 2 * p) ** (n - s), 0.5, 1, epsabs=0)
    weights = SIGNS_BESIDE if symmetric else SIGNS_ALONE
    signs = weights[0] * 2.0**n * (s == n) + weights[1] * mixed
    if not symmetric:
        return signs
    bets = 0.0
    for shift in SHIFTS:
        wealth = 1.0
        for value, scale in zip(beyond, scales(np.array(logs)), strict=True):
            wealth *= 1 + math.tanh(min(max(shift * value / scale, -1.0), 1.0))
        bets += wealth / len(SHIFTS)
    return signs + (1 - sum(weights)) * bets


@pytest.mark.parametrize("n", [0, 1, 2, 7, 30, 200])
def test_sign_process_is_the_mean_likelihood_ratio(n):
    for s in {0, n // 4, n // 2, (2 * n) // 3, n}:
        integral, _ = quad(
            lambda p, s=s: 2 * (2 * p) ** s * (2 - 2 * p) ** (n - s),
            0.5,
            1,
            epsabs=0,
            limit=200,
            points=[min(max(s / n, 0.5), 1.0)] if n else None,
        )
        assert sign_process(s, n) == pytest.approx(math.log(integral), abs=1e-8)


@given(LOGS, BOUNDARIES, SIDES, st.booleans())
def test_evidence_is_what_is_defined(logs, boundary, side, symmetric):
    found = RatioEvidence(np.array(logs, dtype=float)).evidence(boundary, side, symmetric)
    assert found == pytest.approx(math.log(brute(logs, boundary, side, symmetric)), abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("offset", [0.0, 0.02, 0.5])
def test_a_pair_is_a_fair_bet_whatever_came_before(seed, offset):
    """Exact for every history of signs: then no rule of stopping gains anything.

    The noise is symmetric about θ with any magnitudes, among them infinite and tiny ones; or, for
    signs alone, each side has magnitudes of its own. The next pair's sign is a fair coin. The mean
    of the evidence after it is at most that before.
    """
    random = np.random.default_rng(seed)
    depth, centre = 8, random.normal()
    magnitudes = 0.3 * np.abs(random.standard_cauchy((2, depth)))
    magnitudes[:, random.integers(depth)] = math.inf
    magnitudes[:, random.integers(depth)] = 1e-9
    for side, symmetric in product((1.0, -1.0), (False, True)):
        boundary = centre + side * offset  # the hypothesis is true: θ is not beyond it
        below, above = magnitudes[[0, 0]] if symmetric else magnitudes

        def wealth(signs, boundary=boundary, side=side, symmetric=symmetric, of=(below, above)):
            taken = np.where(np.array(signs) > 0, of[1][: len(signs)], -of[0][: len(signs)])
            return math.exp(RatioEvidence(centre + taken).evidence(boundary, side, symmetric))

        for length in range(depth):
            for signs in product((-1.0, 1.0), repeat=length):
                following = [wealth((*signs, sign)) for sign in (-1.0, 1.0)]
                assert np.mean(following) <= wealth(signs) * (1 + 1e-12)
                if offset == 0.0 and math.isfinite(below[length]):
                    # On the boundary the mixture over p loses what it would win by p below 1/2;
                    # the other bets are fair, and not poor ones.
                    assert np.mean(following) >= 0.5 * wealth(signs)


@pytest.mark.parametrize("symmetric", [False, True])
def test_six_pairs_far_from_a_boundary_decide_and_five_of_no_size_do(symmetric):
    """Given the sizes, five signs are alike with a probability of 1/32: no fair bet shows more."""
    for factor in (1.5, 3.0, 1e9, math.inf):
        logs = np.full(20, math.log(factor))
        enough = RatioEvidence(logs).path(0.0, 1.0, symmetric) >= math.log(40)
        needed = int(np.argmax(enough)) + 1
        assert needed in ((6, 7) if factor == 1.5 else (6,))
    assert RatioEvidence(np.full(6, math.inf)).interval(40.0) == (math.inf, math.inf)


def test_evidence_of_nothing_is_1():
    nothing = RatioEvidence(np.array([]))
    assert nothing.evidence(0.3, 1.0) == pytest.approx(0.0, abs=1e-15)
    assert math.isnan(nothing.median)
    assert nothing.interval(20.0) == (-math.inf, math.inf)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("noise", ["normal", "cauchy"])
def test_the_evidence_against_what_is_true_gains_nothing(noise, symmetric):
    """Simulation: Ville's bound at the worst moment, and an expectation of 1 at a fixed one."""
    random = np.random.default_rng(1)
    draw = random.standard_normal if noise == "normal" else random.standard_cauchy
    rows = 0.2 * draw((2000, 60))
    paths = np.array([RatioEvidence(row).path(0.0, 1.0, symmetric) for row in rows])
    for threshold in (5, 20, 40):
        assert np.mean(paths.max(axis=1) >= math.log(threshold)) <= 1 / threshold
    wealth = np.exp(paths[:, [4, 19]])
    error = wealth.std(axis=0) / math.sqrt(len(wealth))
    assert np.all(wealth.mean(axis=0) <= 1 + 4 * error)
    # Stopping as soon as the evidence is 3, or at the end, does not gain either.
    stopped = np.where(
        (paths >= math.log(3)).any(axis=1), (paths >= math.log(3)).argmax(axis=1), 59
    )
    gained = np.exp(paths[np.arange(len(paths)), stopped])
    assert gained.mean() <= 1 + 4 * gained.std() / math.sqrt(len(gained))


@given(LOGS, BOUNDARIES, BOUNDARIES, st.booleans())
def test_evidence_is_monotone_in_the_boundary(logs, one, other, symmetric):
    low, high = sorted((one, other))
    evidence = RatioEvidence(np.array(logs, dtype=float))
    for side, (more, less) in ((1.0, (low, high)), (-1.0, (high, low))):
        shown = [evidence.evidence(at, side, symmetric) for at in (more, less)]
        assert shown[0] >= shown[1] - 1e-9
        assert evidence.shown(more, side) >= evidence.shown(less, side) - 1e-9


@given(LOGS, BOUNDARIES, st.booleans())
def test_exchanging_a_and_b_exchanges_the_sides(logs, boundary, symmetric):
    forth = RatioEvidence(np.array(logs, dtype=float))
    back = RatioEvidence(-np.array(logs, dtype=float))
    assert forth.shown(boundary, 1.0, symmetric) == pytest.approx(
        back.shown(-boundary, -1.0, symmetric), abs=1e-9
    )
    low, high = forth.interval(7.0)
    assert back.interval(7.0) == (-high, -low)


@given(LOGS, BOUNDARIES, st.floats(-1, 1))
def test_a_common_factor_moves_the_boundary(logs, boundary, factor):
    """The unit of b does not matter: the evidence depends on x - c alone."""
    moved = np.array(logs, dtype=float) + factor
    found = RatioEvidence(moved).evidence(boundary + factor, 1.0, True)
    assert found == pytest.approx(
        RatioEvidence(np.array(logs, dtype=float)).evidence(boundary, 1.0, True), abs=1e-3
    )


@given(LOGS, BOUNDARIES, SIDES, st.booleans())
def test_the_path_ends_in_the_evidence_and_knows_no_future(logs, boundary, side, symmetric):
    path = RatioEvidence(np.array(logs, dtype=float)).path(boundary, side, symmetric)
    assert path.shape == (len(logs),)
    for length in range(1, len(logs) + 1):
        before = RatioEvidence(np.array(logs[:length], dtype=float))
        shown = before.evidence(boundary, side, symmetric)
        assert path[length - 1] == pytest.approx(shown, abs=1e-9)


@given(LOGS)
def test_scales_know_only_earlier_pairs(logs):
    found = scales(np.array(logs, dtype=float))
    assert np.all(found > 0)
    assert np.all(np.isfinite(found))
    changed = np.array([*logs[:-1], 2.5], dtype=float)
    assert np.array_equal(found, scales(changed)[: len(logs)])


@given(LOGS, st.floats(1.5, 500))
def test_the_interval_ends_where_the_evidence_crosses_the_threshold(logs, threshold):
    evidence = RatioEvidence(np.array(logs, dtype=float))
    low, high = evidence.interval(threshold)
    if logs:
        assert low <= evidence.median <= high
    for end, side in ((low, 1.0), (high, -1.0)):
        if math.isfinite(end):
            assert evidence.shown(end - side * 1e-6, side) >= math.log(threshold)
            assert evidence.shown(end + side * 1e-6, side) < math.log(threshold)
        else:
            decided = end == side * math.inf
            beyond = side * 1e6 if decided else -side * 1e6
            assert (evidence.shown(beyond, side) >= math.log(threshold)) == decided


def test_skewed_noise_does_not_show_both_sides():
    """Seven of ten pairs are slightly below 1, three far above: sign and size disagree."""
    logs = np.array(([-0.05] * 7 + [3.0] * 3) * 10)
    evidence = RatioEvidence(logs)
    assert min(evidence.evidence(-0.02, side, True) for side in (1.0, -1.0)) > math.log(20)
    assert evidence.shown(-0.02, 1.0) == -math.inf
    assert evidence.shown(-0.02, -1.0) >= math.log(20)
    low, high = evidence.interval(20.0)
    assert low <= evidence.median == -0.05 <= high
