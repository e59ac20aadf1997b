"""Forecasts: how many more pairs, and that they come true when pairs are as before."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svmbench.evidence import Question, RatioEvidence, judge, pairs_to_show
from svmbench.evidence.forecast import MOST, pairs_until_decided

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
    assert answer.more == 4  # seven pairs of one sign decide


def test_the_threshold_is_that_of_the_next_decision():
    """Nine of ten are decided; the tenth needs 2 * 10 / (0.05 * 10), whatever is in force."""
    clear = Question((1.0,) * 30, 1.0)
    (alone,) = judge([Question((0.3, 0.1, 0.25), 1.0)])
    last = judge([*[clear] * 9, Question((0.3, 0.1, 0.25), 1.0)])[-1]
    assert last.more == alone.more
    assert last.threshold == pytest.approx(40 * 10 / 9)


def test_forecasts_are_about_right():
    """From 12 pairs of ratio 1.2: the median forecast against what it takes."""
    random = np.random.default_rng(6)
    forecast, needed = [], []
    for _ in range(100):
        logs = math.log(1.2) + 0.2 * math.sqrt(2) * random.standard_normal(300)
        decided = np.flatnonzero(RatioEvidence(logs).path(0.0, 1.0) >= math.log(40))
        needed.append(int(decided[0]) + 1 if decided.size else 300)
        more = judge([Question(tuple(logs[:12].tolist()), 1.0)])[0].more
        forecast.append(12 + (MOST if more is None else more))
    assert 0.5 <= np.median(forecast) / np.median(needed) <= 2.0


@pytest.mark.parametrize(("factor", "scatter"), [(1.5, 0.28), (1.2, 0.28), (1.05, 0.04)])
def test_pairs_to_show_a_factor_are_about_the_median_of_simulated_series(factor, scatter):
    random = np.random.default_rng(9)
    paths = np.array(
        [
            RatioEvidence(math.log(factor) + scatter * random.standard_normal(150)).path(0.0, 1.0)
            for _ in range(200)
        ]
    )
    decided = paths >= math.log(40)
    needed = np.where(decided.any(axis=1), decided.argmax(axis=1) + 1, 151)
    assert pairs_to_show(factor, scatter, 40) == pytest.approx(np.median(needed), rel=0.25, abs=1)


def test_pairs_to_show_has_a_limit():
    assert pairs_to_show(1.001, 0.3, 40) is None
    assert pairs_to_show(1.2, 0.28, 40, most=5) is None
    assert pairs_to_show(1e6, 0.01, 40) == 7
    assert pairs_to_show(1.2, 0.28, 40) < pairs_to_show(1.2, 0.28, 4000)
