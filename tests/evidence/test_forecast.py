"""Forecasts: how many more pairs, and that they come true when pairs are as before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svmbench.evidence.forecast import least_factor, pairs_until_decided
from svmbench.evidence.page import LEVEL, judge, verdicts
from svmbench.evidence.questions import Question

LOGS = st.lists(
    st.one_of(st.floats(-0.6, 1.2), st.sampled_from([-math.inf, math.inf])), min_size=1, max_size=12
).map(tuple)


@settings(max_examples=60, deadline=None)
@given(
    LOGS,
    st.sampled_from([(1.0, math.inf), (0.0, 1.3), (0.8, 1.25)]),
    st.sampled_from([0.0, 0.05]),
)
def test_a_forecast_comes_true_when_the_pairs_repeat(logs, region, shift):
    question = Question(logs, *region, shift)
    (answer,) = judge([question])
    if answer.more is None or answer.more == 0:
        return
    (first,) = judge([Question(logs, *region, shift)])
    assert first == answer
    repeated = np.resize(logs, len(logs) + answer.more)
    again = Question(tuple(repeated.tolist()), *region, shift)
    # Parts of a round can move the median across a boundary; whole rounds cannot.
    if (judge([again])[0].estimate - answer.estimate) == 0:
        assert judge([again])[0].verdict != "open"


def test_none_without_pairs_and_on_the_boundary():
    assert judge([Question((), 1.0)])[0].more is None
    assert judge([Question((0.3, -0.3), 1.0)])[0].more is None
    assert judge([Question((0.3, -0.301), 1.0)])[0].more is None  # more than the limit
    logs = (1.0, -1.0, 0.05)
    assert pairs_until_decided(logs, logs, 0.0, math.inf, math.log(1e300)) is None


def test_a_forecast_counts_the_pairs_of_a_constant_ratio():
    (answer,) = judge([Question((1.0,) * 3, 1.0)])
    assert answer.more == 3  # six pairs of one sign decide


@pytest.mark.parametrize(("pairs", "scatter"), [(8, 0.02), (12, 0.1), (30, 0.3)])
def test_the_least_factor_is_shown_four_times_in_five(pairs, scatter):
    """Against judging a page of one question after every pair."""
    random = np.random.default_rng(5)
    factor, trials = least_factor(scatter, pairs, 2 / LEVEL), 150
    found = 0
    for _ in range(trials):
        ratios = factor * random.lognormal(0.0, scatter, pairs)
        looks = [tuple(np.log(ratios[:look]).tolist()) for look in range(2, pairs + 1)]
        pages = [[Question(logs, 1.0, exchangeable=True)] for logs in looks]
        found += any(verdicts(page) == ["holds"] for page in pages)
    assert 0.7 < found / trials < 0.9


def test_fewer_than_six_pairs_show_no_factor():
    assert least_factor(0.01, 5, 2 / LEVEL) == math.inf
    factors = [least_factor(0.01, pairs, 2 / LEVEL) for pairs in (6, 8, 12, 30)]
    assert factors == sorted(factors, reverse=True)
    assert least_factor(0.01, 12, 2 / LEVEL) < least_factor(0.01, 12, 400.0)
    assert 1.0 < factors[-1] < 1.01 < factors[0]
