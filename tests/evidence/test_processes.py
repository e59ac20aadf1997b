"""E-processes of log-ratios: exact fairness on trees of signs, definitions by integration."""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.integrate import quad

from svmbench.evidence import RatioEvidence, sign_process
from svmbench.evidence.processes import (
    DISTANCE_WEIGHT,
    FARTHEST,
    FIRST_SCALE,
    SHIFTS,
    SIGN_WEIGHT,
    STAKES,
    deviations,
    evidence_of,
    scales,
)

LOGS = st.lists(
    st.one_of(st.floats(-3, 3), st.sampled_from([0.0, -math.inf, math.inf])), max_size=25
)
BOUNDARIES = st.floats(-2, 2)

#: What is assumed of the standard deviation of a log-ratio.
SCATTERS = st.sampled_from([math.inf, 0.5, 0.1])


def brute(logs, boundary, side, scatter):
    """The evidence as docs and docstrings define it, without logarithms."""
    beyond = [side * (log - boundary) for log in logs]
    beyond = [0.0 if abs(value) <= 1e-12 else value for value in beyond]
    n, s = len(beyond), sum(value > 0 for value in beyond)
    sign, _ = quad(lambda p: 2 * (2 * p) ** s * (2 - 2 * p) ** (n - s), 0.5, 1, epsabs=0)
    symmetric = 0.0
    for shift in SHIFTS:
        wealth = 1.0
        for value, scale in zip(beyond, scales(np.array(logs)), strict=True):
            wealth *= 1 + math.tanh(min(max(shift * value / scale, -1.0), 1.0))
        symmetric += wealth / len(SHIFTS)
    if scatter == math.inf:
        return SIGN_WEIGHT * sign + (1 - SIGN_WEIGHT) * symmetric
    distance = 0.0
    for stake in STAKES:
        wealth = 1.0
        for at, value in enumerate(beyond):
            finite = [log for log in logs[:at] if math.isfinite(log)]
            squares = [(after - before) ** 2 / 2 for before, after in pairwise(finite)]
            sigma = max(scatter, math.sqrt(np.mean(squares)) if squares else 0.0)
            gain = 2.0 if value == math.inf else 2 * (min(max(value, 0.0), FARTHEST) / sigma) ** 2
            wealth *= 1 - stake + stake * gain
        distance += wealth / len(STAKES)
    return (
        SIGN_WEIGHT * sign
        + (1 - SIGN_WEIGHT - DISTANCE_WEIGHT) * symmetric
        + DISTANCE_WEIGHT * distance
    )


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


def test_sign_process_at_its_ends():
    assert sign_process(0, 0) == pytest.approx(0.0, abs=1e-15)
    n = np.arange(1, 60)
    # All heads: 2^n times the integral of 2 p^n, whose primitive is 2 p^(n+1) / (n+1).
    expected = np.log((2.0 ** (n + 1) - 1) / (n + 1))
    assert sign_process(n, n) == pytest.approx(expected, rel=1e-12)
    assert not np.isnan(sign_process(0, 100_000))


@given(LOGS, BOUNDARIES, st.sampled_from([1.0, -1.0]), SCATTERS)
def test_evidence_is_what_is_defined(logs, boundary, side, scatter):
    found = RatioEvidence(np.array(logs, dtype=float), scatter).evidence(boundary, side)
    assert found == pytest.approx(math.log(brute(logs, boundary, side, scatter)), abs=1e-7)


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("offset", [0.0, 0.02, 0.5])
def test_a_pair_is_a_fair_bet_whatever_came_before(seed, offset):
    """Exact for every history of signs: then no rule of stopping gains anything.

    The noise is symmetric about θ with any magnitudes, among them infinite and tiny ones; the
    next pair's sign is a fair coin. The mean of the evidence after it is at most that before.
    """
    random = np.random.default_rng(seed)
    depth, centre = 8, random.normal()
    magnitudes = 0.3 * np.abs(random.standard_cauchy(depth))
    magnitudes[random.integers(depth)] = math.inf
    magnitudes[random.integers(depth)] = 1e-9
    for side in (1.0, -1.0):
        boundary = centre + side * offset  # the hypothesis is true: θ is not beyond it

        def wealth(signs, boundary=boundary, side=side):
            logs = centre + np.array(signs) * magnitudes[: len(signs)]
            return math.exp(RatioEvidence(logs).evidence(boundary, side))

        for length in range(depth):
            for signs in product((-1.0, 1.0), repeat=length):
                following = [wealth((*signs, sign)) for sign in (-1.0, 1.0)]
                assert np.mean(following) <= wealth(signs) * (1 + 1e-12)
                if offset == 0.0 and math.isfinite(magnitudes[length]):
                    # On the boundary the symmetric process is fair and the sign process loses
                    # what it would win by p below 1/2; the bet is not a poor one.
                    assert np.mean(following) >= 0.5 * wealth(signs)


@pytest.mark.parametrize("far", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("offset", [0.0, 0.1])
def test_a_pair_is_a_fair_bet_if_its_deviation_is_at_most_the_assumed_one(far, offset):
    """Exact for every history of pairs that are near or far, below or above.

    A pair is at a distance of ``near`` or ``far`` standard deviations from the centre, and far with
    such a probability that its standard deviation is the assumed one.
    """
    scatter, near, depth = 0.5, 0.5, 4
    chance = (1 - near**2) / (far**2 - near**2) if far > 1 else 0.0
    near = near if far > 1 else far  # otherwise all pairs are at one distance, of 0 or 1
    outcomes = [
        (sign * scatter * distance, probability / 2)
        for distance, probability in ((near, 1 - chance), (far, chance))
        for sign in (-1.0, 1.0)
        if probability > 0
    ]

    def wealth(logs):
        return math.exp(RatioEvidence(np.array(logs), scatter).evidence(offset, 1.0))

    for length in range(depth):
        for logs in product([log for log, _ in outcomes], repeat=length):
            after = sum(chance * wealth((*logs, log)) for log, chance in outcomes)
            assert after <= wealth(logs) * (1 + 1e-12)


def test_few_pairs_far_from_a_boundary_decide_and_one_does_not():
    def needed(factor, scatter):
        path = RatioEvidence(np.full(20, math.log(factor)), scatter).path(0.0, 1.0)
        return int(np.argmax(path >= math.log(40))) + 1

    assert [needed(factor, 0.5) for factor in (1.5, 2.0, 3.0, 10.0, 1e9)] == [8, 5, 3, 2, 2]
    assert {needed(factor, math.inf) for factor in (1.5, 2.0, 3.0, 10.0, 1e9)} == {7}


@given(st.floats(-3, 3), BOUNDARIES, st.sampled_from([0.5, 0.1]))
def test_a_bound_is_no_more_evidence_than_any_log_ratio_beyond_it(bound, boundary, scatter):
    for side in (1.0, -1.0):
        ends = np.array([side * math.inf])
        bounded = RatioEvidence(np.array([bound]), scatter, ends).evidence(boundary, side)
        for further in (0.0, 0.3, 5.0, math.inf):
            known = RatioEvidence(np.array([bound + side * further]), scatter)
            assert bounded <= known.evidence(boundary, side) + 1e-9


@given(LOGS)
def test_deviations_know_only_earlier_pairs_and_are_at_least_the_assumed_one(logs):
    found = deviations(np.array(logs, dtype=float), 0.3)
    assert np.all(found >= 0.3)
    changed = np.array([*logs[:-1], 2.5], dtype=float)
    assert np.array_equal(found, deviations(changed, 0.3)[: len(logs)])


def test_deviations_find_a_larger_scatter():
    random = np.random.default_rng(4)
    assert deviations(2.0 * random.standard_normal(4000), 0.5)[-1] == pytest.approx(2.0, rel=0.05)
    assert deviations(0.1 * random.standard_normal(4000), 0.5)[-1] == 0.5
    assert np.array_equal(deviations(np.array([math.inf, 0.1, -math.inf]), 0.5), [0.5] * 3)


def test_evidence_of_nothing_is_1():
    nothing = RatioEvidence(np.array([]))
    assert nothing.evidence(0.3, 1.0) == pytest.approx(0.0, abs=1e-15)
    assert math.isnan(nothing.median)
    assert nothing.interval(20.0) == (-math.inf, math.inf)


@pytest.mark.parametrize(
    ("noise", "scatter"), [("normal", math.inf), ("normal", 0.2), ("cauchy", math.inf)]
)
def test_false_alarms_with_a_look_after_every_pair(noise, scatter):
    """Simulation: Ville's bound at the worst moment, and an expectation of 1 at a fixed one."""
    random = np.random.default_rng(1)
    draw = random.standard_normal if noise == "normal" else random.standard_cauchy
    paths = np.array([RatioEvidence(0.2 * draw(60), scatter).path(0.0, 1.0) for _ in range(2000)])
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


@given(LOGS, BOUNDARIES, BOUNDARIES, SCATTERS)
def test_evidence_is_monotone_in_the_boundary(logs, one, other, scatter):
    low, high = sorted((one, other))
    evidence = RatioEvidence(np.array(logs, dtype=float), scatter)
    assert evidence.evidence(low, 1.0) >= evidence.evidence(high, 1.0) - 1e-9
    assert evidence.evidence(low, -1.0) <= evidence.evidence(high, -1.0) + 1e-9
    assert evidence.above(low) >= evidence.above(high) - 1e-9
    assert evidence.below(low) <= evidence.below(high) + 1e-9


@given(LOGS, BOUNDARIES, SCATTERS)
def test_exchanging_a_and_b_exchanges_the_sides(logs, boundary, scatter):
    forth = RatioEvidence(np.array(logs, dtype=float), scatter)
    back = RatioEvidence(-np.array(logs, dtype=float), scatter)
    assert forth.above(boundary) == pytest.approx(back.below(-boundary), abs=1e-9)
    low, high = forth.interval(7.0)
    assert back.interval(7.0) == pytest.approx((-high, -low), abs=1e-6)


@given(LOGS, BOUNDARIES, st.floats(-1, 1))
def test_a_common_factor_moves_the_boundary(logs, boundary, factor):
    """The unit of b does not matter: the evidence depends on x - c alone."""
    moved = np.array(logs, dtype=float) + factor
    found = RatioEvidence(moved).evidence(boundary + factor, 1.0)
    assert found == pytest.approx(
        RatioEvidence(np.array(logs, dtype=float)).evidence(boundary, 1.0), abs=1e-3
    )


@given(LOGS, BOUNDARIES, st.sampled_from([1.0, -1.0]), SCATTERS)
def test_the_path_ends_in_the_evidence_and_knows_no_future(logs, boundary, side, scatter):
    path = RatioEvidence(np.array(logs, dtype=float), scatter).path(boundary, side)
    assert path.shape == (len(logs),)
    for length in range(1, len(logs) + 1):
        before = RatioEvidence(np.array(logs[:length], dtype=float), scatter)
        assert path[length - 1] == pytest.approx(before.evidence(boundary, side), abs=1e-9)


@given(LOGS)
def test_scales_know_only_earlier_pairs(logs):
    found = scales(np.array(logs, dtype=float))
    assert np.all(found > 0)
    assert np.all(np.isfinite(found))
    changed = np.array([*logs[:-1], 2.5], dtype=float)
    assert np.array_equal(found, scales(changed)[: len(logs)])


def test_scales_find_the_scatter():
    random = np.random.default_rng(2)
    for scatter in (0.01, 0.2, 3.0):
        found = scales(scatter * random.standard_normal(4000))
        assert found[-1] == pytest.approx(scatter, rel=0.05)
        assert found[0] == FIRST_SCALE
    assert np.array_equal(scales(np.array([math.inf, 0.1, -math.inf])), [FIRST_SCALE] * 3)


@given(LOGS, st.floats(1.5, 500), SCATTERS)
def test_the_interval_ends_where_the_evidence_crosses_the_threshold(logs, threshold, scatter):
    evidence = RatioEvidence(np.array(logs, dtype=float), scatter)
    low, high = evidence.interval(threshold)
    if logs:
        assert low <= evidence.median <= high
    least = math.log(threshold)
    if math.isfinite(low):
        assert evidence.above(low - 1e-6) >= least
        assert evidence.above(low + 1e-6) < least
    elif low == -math.inf:
        assert evidence.above(-1e6) < least
    else:
        assert evidence.above(1e6) >= least
    if math.isfinite(high):
        assert evidence.below(high + 1e-6) >= least
        assert evidence.below(high - 1e-6) < least
    elif high == math.inf:
        assert evidence.below(1e6) < least
    else:
        assert evidence.below(-1e6) >= least


def test_skewed_noise_does_not_show_both_sides():
    """Seven of ten pairs are slightly below 1, three far above: sign and size disagree."""
    logs = np.array(([-0.05] * 7 + [3.0] * 3) * 10)
    evidence = RatioEvidence(logs)
    assert min(evidence.evidence(-0.02, 1.0), evidence.evidence(-0.02, -1.0)) > math.log(20)
    assert evidence.above(-0.02) == -math.inf
    assert evidence.below(-0.02) >= math.log(20)
    low, high = evidence.interval(20.0)
    assert low <= evidence.median == -0.05 <= high


def test_a_larger_threshold_gives_a_wider_interval():
    evidence = RatioEvidence(np.random.default_rng(3).normal(0.1, 0.2, 40))
    ends = [evidence.interval(threshold) for threshold in (2, 20, 200, 2000)]
    assert all(after[0] < before[0] for before, after in pairwise(ends))
    assert all(after[1] > before[1] for before, after in pairwise(ends))


def test_infinite_ratios_are_signs_and_clipped_bets():
    n = 9
    all_failed = RatioEvidence(np.full(n, math.inf))
    sign = (2.0 ** (n + 1) - 1) / (n + 1)
    bets = np.mean((1 + np.tanh(np.minimum(SHIFTS * math.inf, 1.0))) ** n)
    expected = SIGN_WEIGHT * sign + (1 - SIGN_WEIGHT) * bets
    assert math.exp(all_failed.above(12.0)) == pytest.approx(expected)
    assert all_failed.interval(20.0) == (math.inf, math.inf)
    # One failure among successes does not end the bets.
    once = RatioEvidence(np.array([-0.2] * 6 + [math.inf] + [-0.2] * 20))
    assert once.below(0.0) > math.log(40)


def test_the_evidence_of_equal_log_ratios_is_kept():
    assert evidence_of((0.1, 0.2)) is evidence_of((0.1, 0.2))
