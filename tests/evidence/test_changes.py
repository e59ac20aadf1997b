"""Changes of a ratio between two problems: evidence, verdicts, and what would decide them."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from svmbench.evidence.changes import change_of
from svmbench.evidence.page import judge
from svmbench.evidence.processes import evidence_of
from svmbench.evidence.questions import Question, changing

LOGS = st.lists(
    st.one_of(st.floats(-1.0, 2.0), st.sampled_from([0.0, 0.4, -math.inf, math.inf])), max_size=14
).map(tuple)


def pairs(factor, count, scatter=0.1, seed=0):
    """Pairs whose ratio scatters about a factor."""
    noise = scatter * np.random.default_rng(seed).standard_normal(count)
    return Question(tuple((math.log(factor) + noise).tolist()), 1.0)


def asked(first, last, low=1.0, high=math.inf):
    (answer,) = judge([changing(first, last, low, high)])
    return answer


@pytest.mark.parametrize(
    ("first", "last", "low", "verdict"),
    [
        (2.0, 6.0, 1.0, "holds"),
        (2.0, 6.0, 2.0, "holds"),
        (2.0, 6.0, 4.0, "does not hold"),
        (6.0, 2.0, 1.0, "does not hold"),
        (0.5, 2.0, 1.0, "holds"),
        (0.2, 0.5, 1.0, "holds"),
        (2.0, 2.0, 1.0, "open"),
    ],
)
def test_a_planted_change(first, last, low, verdict):
    answer = asked(pairs(first, 20), pairs(last, 18, seed=1), low)
    assert answer.verdict == verdict
    assert answer.pairs == 18
    assert answer.estimate == pytest.approx(last / first, rel=0.15)
    assert answer.low < last / first < answer.high


def test_a_change_within_two_bounds():
    first, last = pairs(1.0, 40), pairs(2.0, 40, seed=1)
    assert asked(first, last, 1.4, 2.8).verdict == "holds"
    assert asked(first, last, 2.5, 5.0).verdict == "does not hold"


@given(LOGS, LOGS, st.sampled_from([-0.5, 0.0, 0.7]), st.sampled_from([1.0, -1.0]))
@settings(max_examples=60, deadline=None)
def test_evidence_is_half_the_least_sum(first, last, boundary, side):
    before, after = evidence_of(first), evidence_of(last)
    shown = change_of(first, last).shown(boundary, side)
    if not side * (change_of(first, last).median - boundary) > 0.0:
        assert shown == -math.inf
        return
    sums = [
        np.logaddexp(before.evidence(t, -side), after.evidence(t + boundary, side))
        for t in np.linspace(-4, 4, 801)
    ]
    assert shown <= min(sums) - math.log(2) + 1e-6
    # Between two points of the grid the infimum may be lower, but not below a log-ratio's.
    steps = [t for t in (*first, *(np.array(last) - boundary), 0.0) if math.isfinite(t)]
    at = [
        np.logaddexp(before.evidence(t, -side), after.evidence(t + boundary, side)) for t in steps
    ]
    assert shown == pytest.approx(min(at) - math.log(2), abs=1e-9)


def test_two_problems_that_show_as_much_need_no_more_than_one():
    """The one is the mirror image of the other, and a change needs the same from both."""
    first, last = (-1.2,) * 6, (1.2,) * 6
    each = evidence_of(last).shown(0.0, 1.0)
    # Between the two, half of the sum is as much; at a log-ratio, half of it is nothing.
    assert change_of(first, last).shown(0.0, 1.0) == pytest.approx(each - math.log(2), abs=0.01)
    assert change_of(last, first).shown(0.0, -1.0) == pytest.approx(each - math.log(2), abs=0.01)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_a_pair_of_either_problem_is_a_fair_bet_whatever_came_before(side):
    """Exact for every history of signs, also if one sign decides the pairs of both problems."""
    random = np.random.default_rng(6)
    depth, centre = 4, 0.3
    magnitudes = 0.3 * np.abs(random.standard_cauchy((2, depth)))

    def mean(length, same):
        found = []
        for signs in product((-1.0, 1.0), repeat=length if same else 2 * length):
            rows = (signs, signs) if same else (signs[:length], signs[length:])
            first, last = (
                tuple((centre + np.array(row) * part[:length]).tolist())
                for row, part in zip(rows, magnitudes, strict=True)
            )
            change = change_of(first, last)
            found.append(math.exp(change.shown(0.0, 1.0) if side > 0 else change.shown(0.0, -1.0)))
        return float(np.mean(found))

    for same in (True, False):
        for length in range(1, (depth if same else 2) + 1):
            assert mean(length, same) <= 1.0


def test_equal_ratios_are_hardly_ever_said_to_change_whoever_gets_further_pairs():
    """The problem that looks more extreme gets the next pair, and every look may end the page."""
    random = np.random.default_rng(5)
    pages, false = 60, 0
    for _ in range(pages):
        stock = 0.2 * random.standard_t(3, (2, 40))
        counts = [5, 5]
        while max(counts) < 40:
            first, last = (tuple(row[:n].tolist()) for row, n in zip(stock, counts, strict=True))
            evidence = change_of(first, last)
            if max(evidence.shown(0.0, 1.0), evidence.shown(0.0, -1.0)) >= math.log(40.0):
                false += 1
                break
            counts[int(abs(evidence_of(first).median) < abs(evidence_of(last).median))] += 1
    assert false <= norm.isf(0.001) * math.sqrt(0.05 * pages) + 0.05 * pages


def test_a_change_without_pairs_on_one_problem_is_open():
    answer = asked(pairs(1.0, 40), Question((), 1.0))
    assert (answer.verdict, answer.pairs, answer.more) == ("open", 0, None)
    assert (answer.low, answer.high) == (0.0, math.inf)


def test_bounds_of_one_ratio_bound_the_change():
    known = pairs(2.0, 16)
    above = pairs(9.0, 16, seed=1)
    limited = Question(above.logs, 1.0, upper_logs=(math.inf,) * 16)
    assert asked(known, limited, 3.0).verdict == "holds"
    assert asked(known, limited, 8.0).verdict == "open"
    # The ratio before may be any larger one, so that nothing is known of its growth.
    assert asked(limited, known, 1.0).verdict == "does not hold"
    assert asked(limited, above, 1.0).verdict == "open"
    unknown = asked(limited, limited, 1.0)
    assert (unknown.verdict, unknown.estimate, unknown.estimate_high) == ("open", 0.0, math.inf)
    assert unknown.more is None


def test_a_change_has_no_shift():
    with pytest.raises(ValueError, match="no shift"):
        Question((0.0,), 1.0, shift_sd=0.04, before=((0.0,), (0.0,)))
    with pytest.raises(ValueError, match="upper bound"):
        Question((0.0,), 1.0, before=((0.0,), ()))
