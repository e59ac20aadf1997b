"""Statistics of repeated measurements: definitions by brute force, and what must never change."""

from __future__ import annotations

import math
import statistics
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from svmbench.records.statistics import (
    median,
    median_interval,
    outliers,
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


@pytest.mark.parametrize("n", [1, 2, 6, 7, 60, 1001])
def test_coverage_is_that_of_the_binomial_distribution(n):
    samples = list(range(n))
    for wanted in (0.5, 0.95, 0.999):
        low, _, coverage = median_interval(samples, wanted)
        assert coverage == pytest.approx(1.0 - 2.0 * binom.cdf(low, n, 0.5), abs=1e-12)


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
