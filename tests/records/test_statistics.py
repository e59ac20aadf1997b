"""Statistics of repeated measurements: definitions by brute force, and what must never change."""

from __future__ import annotations

import math
import statistics
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.stats import mannwhitneyu, ttest_1samp

from svmbench.records.statistics import (
    LEVEL,
    detectable,
    expected_running_time,
    median,
    median_interval,
    outliers,
    paired_ratio,
    performance_ratios,
    reached,
    solved_shares,
)

TIMES = st.floats(1e-6, 1e6)
SAMPLES = st.lists(st.one_of(TIMES, st.just(math.inf)), min_size=1, max_size=25)


@given(st.lists(TIMES, min_size=1, max_size=25))
def test_median_of_finite_samples_is_the_usual_one(samples):
    assert median(samples) == pytest.approx(statistics.median(samples), rel=1e-15)


def test_median_is_infinite_once_half_of_the_runs_did_not_arrive():
    assert median([1.0, 2.0, math.inf]) == 2.0
    assert median([1.0, math.inf]) == math.inf
    assert median([1.0, 2.0, math.inf, math.inf]) == math.inf


@given(SAMPLES, st.floats(0.5, 0.999))
def test_interval_holds_the_median_and_says_its_coverage(samples, coverage):
    low, high, actual = median_interval(samples, coverage)
    assert low <= median(samples) <= high
    assert {low, high} <= set(samples)
    assert 0.0 <= actual < 1.0
    if actual < coverage:  # then there is none that is wider
        assert (low, high) == (min(samples), max(samples))


@given(SAMPLES, st.randoms())
def test_order_does_not_matter(samples, random):
    shuffled = samples.copy()
    random.shuffle(shuffled)
    assert median(shuffled) == median(samples)
    assert median_interval(shuffled) == median_interval(samples)


@given(SAMPLES, st.integers(-8, 8))
def test_the_unit_does_not_matter(samples, exponent):
    scaled = [sample * 2.0**exponent for sample in samples]
    assert median(scaled) == median(samples) * 2.0**exponent
    low, high, coverage = median_interval(samples)
    assert median_interval(scaled) == (low * 2.0**exponent, high * 2.0**exponent, coverage)


@given(SAMPLES)
def test_failing_never_helps(samples):
    for at in range(len(samples)):
        worse = [*samples[:at], math.inf, *samples[at + 1 :]]
        assert median(worse) >= median(samples)
        assert median_interval(worse)[0] >= median_interval(samples)[0]


@pytest.mark.parametrize("n", range(1, 12))
def test_coverage_is_the_share_of_all_patterns_of_sides(n):
    # Each sample falls on either side of the true median with probability 1/2: all 2^n
    # patterns are alike, and rank k encloses it when at least k fall on each side.
    _, _, coverage = median_interval(list(range(n)), 0.9)
    rank = sorted(range(n)).index(int(median_interval(list(range(n)), 0.9)[0])) + 1
    inside = [rank <= sum(sides) <= n - rank for sides in product((0, 1), repeat=n)]
    assert coverage == pytest.approx(sum(inside) / 2**n, abs=1e-12)


def test_interval_of_few_runs_is_the_widest_with_its_real_coverage():
    assert median_interval([3.0]) == (3.0, 3.0, 0.0)
    assert median_interval([1.0, 2.0, 5.0]) == (1.0, 5.0, 0.75)
    low, high, coverage = median_interval(list(range(1, 10)))
    assert (low, high) == (2.0, 8.0)
    assert coverage == pytest.approx(1 - 20 / 512)


@pytest.mark.parametrize("samples", [[], [1.0, math.nan]])
def test_nothing_can_be_said_of_no_samples_or_of_nan(samples):
    for statistic in (median, median_interval):
        with pytest.raises(ValueError, match=r"no samples|nan"):
            statistic(samples)


def test_reached():
    assert reached([1.0, math.inf, 2.0]) == "2 of 3"


def test_expected_running_time_charges_failures_to_successes():
    assert expected_running_time([2.0, math.inf, 4.0], [9.0, 10.0, 9.0]) == 8.0
    assert expected_running_time([math.inf], [10.0]) == math.inf
    assert expected_running_time([], []) == math.inf
    with pytest.raises(ValueError, match="finite"):
        expected_running_time([1.0, math.inf], [0.0, math.nan])


@given(st.lists(TIMES, min_size=1, max_size=20))
def test_expected_running_time_without_failures_is_the_mean(times):
    ert = expected_running_time(times, [math.nan] * len(times))
    assert ert == pytest.approx(statistics.fmean(times))


@given(st.lists(st.tuples(TIMES, st.booleans()), min_size=1, max_size=20), TIMES)
def test_expected_running_time_grows_with_every_failure(runs, wasted):
    times = [time if success else math.inf for time, success in runs]
    spent = [time for time, _ in runs]
    before = expected_running_time(times, spent)
    after = expected_running_time([*times, math.inf], [*spent, wasted])
    assert after > before or before == math.inf


def test_expected_running_time_of_runs_that_succeed_with_probability_p():
    # Geometric law: with success p of a run of cost 1, 1/p runs are expected.
    times = [1.0] * 3 + [math.inf] * 9
    assert expected_running_time(times, [1.0] * 12) == 4.0


# --- comparisons -------------------------------------------------------------------


def pairs(samples, most=9):
    return st.lists(st.tuples(samples, samples), min_size=1, max_size=most).map(
        lambda both: tuple(zip(*both, strict=True))
    )


FINITE_PAIRS = pairs(TIMES)
PAIRS = pairs(st.one_of(TIMES, st.just(math.inf)))
MARGINS = st.floats(1.0, 2.0)


def same(value):
    return pytest.approx(value, rel=1e-9, nan_ok=True)


@given(PAIRS, MARGINS)
def test_swapping_the_sides_inverts_the_ratio(samples, margin):
    a, b = samples
    there, back = paired_ratio(a, b, margin=margin), paired_ratio(b, a, margin=margin)
    assert there.test == back.test
    assert there.pairs == back.pairs
    assert there.p_value == pytest.approx(back.p_value, rel=1e-6, abs=1e-12)
    with np.errstate(divide="ignore"):
        assert back.estimate == same(float(np.divide(1.0, there.estimate)))
        assert back.low == same(float(np.divide(1.0, there.high)))
        assert back.high == same(float(np.divide(1.0, there.low)))


@given(PAIRS, st.integers(-8, 8), st.randoms())
def test_neither_the_unit_nor_the_order_of_the_pairs_matters(samples, exponent, random):
    shuffled = list(zip(*samples, strict=True))
    random.shuffle(shuffled)
    a, b = ([x * 2.0**exponent for x in side] for side in zip(*shuffled, strict=True))
    first, second = paired_ratio(*samples), paired_ratio(a, b)
    assert second.estimate == same(first.estimate)
    assert (second.low, second.high) == (same(first.low), same(first.high))
    assert second.p_value == pytest.approx(first.p_value, rel=1e-6, abs=1e-12)


@given(PAIRS, st.integers(-6, 6))
def test_a_factor_on_one_side_is_that_factor_in_the_ratio(samples, exponent):
    a, b = samples
    factor = 2.0**exponent
    plain, scaled = paired_ratio(a, b), paired_ratio(a, [x * factor for x in b])
    assert scaled.estimate == same(plain.estimate * factor)
    assert scaled.low == same(plain.low * factor)
    assert scaled.high == same(plain.high * factor)


@given(PAIRS, st.floats(0.5, 0.99))
def test_the_interval_holds_the_estimate_and_grows_with_its_coverage(samples, coverage):
    narrow, wide = paired_ratio(*samples, coverage), paired_ratio(*samples, 0.995)
    if narrow.test != "none":
        slack = 1 + 1e-12
        assert wide.low <= narrow.low * slack
        assert narrow.low <= narrow.estimate * slack
        assert narrow.estimate <= narrow.high * slack
        assert narrow.high <= wide.high * slack


@given(PAIRS)
def test_the_interval_leaves_out_1_when_the_test_says_so(samples):
    ratio = paired_ratio(*samples)
    assume(ratio.test != "none")
    # Where a ratio of two samples is 1, ranks are tied there and on neither side.
    assume(not set(samples[0]) & set(samples[1]) - {math.inf})
    assume(abs(ratio.p_value - 0.05) > 1e-6)
    assert (ratio.p_value < 0.05) == (not ratio.low <= 1.0 <= ratio.high)


@given(PAIRS, MARGINS, MARGINS)
def test_a_wider_margin_forgives_more(samples, one, other):
    less, more = sorted((one, other))
    strict, lax = (paired_ratio(*samples, margin=margin).p_value for margin in (less, more))
    assert lax >= strict * (1 - 1e-9)


@given(pairs(st.floats(0.1, 10.0)))
def test_without_unreached_runs_it_is_students_test_of_the_log_ratios(samples):
    a, b = samples
    logs = np.log(b) - np.log(a)
    assume(len(a) > 1 and logs.std() > 1e-6)
    ratio = paired_ratio(a, b)
    known = ttest_1samp(logs, 0.0)
    interval = known.confidence_interval(0.95)
    assert ratio.test == "t"
    assert ratio.p_value == pytest.approx(known.pvalue, rel=1e-6)
    assert ratio.estimate == pytest.approx(statistics.geometric_mean(b / np.array(a)))
    assert math.log(ratio.low) == pytest.approx(interval.low, abs=1e-9)
    assert math.log(ratio.high) == pytest.approx(interval.high, abs=1e-9)


def rank_sum(a, b):
    """Twice the number of pairs in which b is larger, ties counting half."""
    return sum((y > x) * 2 + (y == x) for x, y in product(a, b))


@given(pairs(st.sampled_from([1.0, 2.0, 3.0, math.inf]), most=4))
def test_with_unreached_runs_every_way_to_deal_the_samples_is_counted(samples):
    a, b = samples
    ratio = paired_ratio(a, b)
    assume(ratio.test == "ranks")
    together, n = [*a, *b], len(b)
    tails = [0, 0]
    deals = list(combinations(range(2 * n), n))
    for deal in deals:
        mine = [together[at] for at in deal]
        theirs = [together[at] for at in range(2 * n) if at not in deal]
        dealt = rank_sum(theirs, mine)
        tails[0] += dealt >= rank_sum(a, b)
        tails[1] += dealt <= rank_sum(a, b)
    assert ratio.p_value == pytest.approx(min(1.0, 2 * min(tails) / len(deals)))


@given(st.lists(TIMES, min_size=8, max_size=16, unique=True))
def test_with_one_unreached_run_the_test_is_that_of_mann_and_whitney(samples):
    half = len(samples) // 2
    a, b = samples[:half], [*samples[half : 2 * half - 1], math.inf]
    large = [*b[:-1], 1e9]
    assert paired_ratio(a, b).p_value == pytest.approx(
        mannwhitneyu(a, large, method="exact").pvalue
    )


def test_arriving_always_against_never_is_the_clearest_case():
    reached_always, never = [1.0] * 7, [math.inf] * 7
    ratio = paired_ratio(reached_always, never, margin=1.05)
    assert (ratio.estimate, ratio.low, ratio.high) == (math.inf, math.inf, math.inf)
    assert ratio.p_value == pytest.approx(1 / 1716)
    assert ratio.p_value == pytest.approx(ratio.attainable)
    assert paired_ratio(never, reached_always).high == 0.0


def test_what_neither_reached_says_nothing():
    ratio = paired_ratio([math.inf] * 7, [math.inf] * 7)
    assert (ratio.test, ratio.pairs, ratio.p_value) == ("none", 0, 1.0)
    assert math.isnan(ratio.estimate)
    ratio = paired_ratio([math.inf] * 3 + [1.0] * 4, [math.inf] * 3 + [1.5] * 4)
    assert (ratio.test, ratio.pairs, ratio.estimate) == ("ranks", 4, 1.5)
    assert paired_ratio([], []).test == "none"


def test_alike_runs_and_runs_that_differ_by_a_factor_alike():
    equal = paired_ratio([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (equal.estimate, equal.low, equal.high, equal.p_value) == (1.0, 1.0, 1.0, 1.0)
    double = paired_ratio([1.0, 2.0, 3.0], [2.0, 4.0, 6.0])
    assert (double.low, double.high, double.p_value) == (same(2.0), same(2.0), 0.0)
    within = paired_ratio([1.0, 2.0, 3.0], [1.04, 2.08, 3.12], margin=1.05)
    assert within.p_value == 1.0
    assert paired_ratio([0.0, 0.0], [0.0, 0.0]).estimate == 1.0
    assert paired_ratio([0.0, 0.0], [1.0, 1.0]).estimate == math.inf
    single = paired_ratio([2.0], [3.0])
    assert (single.estimate, single.low, single.high) == (same(1.5), 0.0, math.inf)


@pytest.mark.parametrize("sigma", [0.02, 0.5])
def test_equal_solvers_are_told_apart_as_often_as_the_level_says(sigma):
    rng = np.random.default_rng(7)
    p_values = [
        paired_ratio(rng.lognormal(0, sigma, 7), rng.lognormal(0, sigma, 7)).p_value
        for _ in range(2000)
    ]
    # Binomial: 100 are expected, and 20 above or below are 2 standard deviations.
    assert 60 <= sum(p <= 0.05 for p in p_values) <= 140


@pytest.mark.parametrize(
    ("a", "b", "margin", "message"),
    [
        ([1.0], [1.0, 2.0], 1.0, "pairs"),
        ([1.0], [math.nan], 1.0, "numbers"),
        ([-1.0], [1.0], 1.0, "numbers"),
        ([1.0], [1.0], 0.9, "margin"),
        ([1.0], [1.0], math.nan, "margin"),
    ],
)
def test_senseless_comparisons_are_refused(a, b, margin, message):
    with pytest.raises(ValueError, match=message):
        paired_ratio(a, b, margin=margin)


# --- profiles ----------------------------------------------------------------------


@given(
    st.integers(1, 5).flatmap(
        lambda n: st.dictionaries(
            st.sampled_from("abcd"),
            st.lists(st.one_of(TIMES, st.just(math.inf)), min_size=n, max_size=n),
            min_size=1,
        )
    )
)
def test_performance_ratios_have_a_1_on_every_problem_that_was_solved(costs):
    ratios = performance_ratios(costs)
    assert ratios.keys() == costs.keys()
    for number, of_problem in enumerate(zip(*costs.values(), strict=True)):
        held = [row[number] for row in ratios.values()]
        best = min(of_problem)
        assert min(held) == (1.0 if math.isfinite(best) else math.inf)
        for cost, ratio in zip(of_problem, held, strict=True):
            if math.isfinite(cost):
                assert ratio * best == pytest.approx(cost)
            else:
                assert ratio == math.inf


def test_performance_ratios_of_nothing_and_of_problems_solved_at_once():
    assert performance_ratios({}) == {}
    assert performance_ratios({"a": [0.0], "b": [1.0]}) == {"a": [1.0], "b": [math.inf]}


@given(SAMPLES)
def test_solved_shares_count_what_came_by_then(samples):
    values, shares = solved_shares(samples)
    assert values == sorted(set(values)) == sorted({s for s in samples if math.isfinite(s)})
    for value, share in zip(values, shares, strict=True):
        assert share == pytest.approx(sum(s <= value for s in samples) / len(samples))


# --- printing ----------------------------------------------------------------------


def test_outliers_are_finite_samples_far_above_the_median():
    assert outliers([2.0, 1.0, 1.0, 1.4, math.inf]) == []
    assert outliers([2.0, 1.0, 1.0, 1.1, 0.1]) == [0]
    assert outliers([]) == []


def test_what_pairs_can_show():
    """Against the power that simulated pairs have."""
    rng = np.random.default_rng(5)
    for pairs, scatter in ((7, 0.02), (20, 0.1)):
        factor = detectable(scatter, pairs)
        found = 0
        for _ in range(500):
            a = rng.lognormal(0.0, 0.3, pairs)
            b = factor * a * rng.lognormal(0.0, scatter, pairs)
            found += paired_ratio(a, b).p_value <= LEVEL
        assert 0.74 < found / 500 < 0.88
