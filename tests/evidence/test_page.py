"""A page of questions: verdicts, intervals that agree with them, and how often they are false."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from svmbench.evidence.page import LEVEL, SHIFT_SHARE, decisions, judge
from svmbench.evidence.processes import evidence_of
from svmbench.evidence.questions import Question, changing, log_ratios, paired, reaching, unpaired

LOGS = st.lists(
    st.one_of(
        st.floats(-0.6, 1.2), st.sampled_from([0.0, math.log(1.5), -math.inf, math.inf, 0.4])
    ),
    max_size=20,
).map(tuple)
REGIONS = st.sampled_from(
    [(0.0, 1.0), (1.0, math.inf), (1.5, math.inf), (0.9, 1.1), (1.0, 2.0), (0.0, 1.5)]
)
QUESTIONS = st.one_of(
    st.builds(
        lambda logs, region, shift: Question(logs, *region, shift),
        LOGS,
        REGIONS,
        st.sampled_from([0.0, 0.0, 0.04]),
    ),
    st.builds(
        lambda before, after, region: changing(
            Question(before, 1.0), Question(after, 1.0), *region
        ),
        LOGS,
        LOGS,
        REGIONS,
    ),
)


def around(factor, pairs, scatter=0.2, seed=0):
    """Samples of pairs whose b is that factor of a."""
    random = np.random.default_rng(seed)
    a = np.exp(scatter * random.standard_normal(pairs))
    return a.tolist(), (factor * np.exp(scatter * random.standard_normal(pairs))).tolist()


# Pairs


def test_log_ratios_by_state():
    inf = math.inf
    a = [1.0, 2.0, inf, 1.0, inf, 0.0, 0.0, 3.0]
    b = [2.0, 1.0, inf, inf, 1.0, 0.0, 1.0, 0.0]
    assert log_ratios(a, b) == (math.log(2), -math.log(2), inf, -inf, 0.0, inf, -inf)
    assert log_ratios([], []) == ()
    assert log_ratios([0.1 + 0.2], [0.1 + 0.2]) == (0.0,)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        ([1.0], [], "come in pairs"),
        ([math.nan], [1.0], "from 0 to"),
        ([1.0], [-1.0], "from 0 to"),
    ],
)
def test_log_ratios_refuse_what_is_no_pair(a, b, message):
    with pytest.raises(ValueError, match=message):
        log_ratios(a, b)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((), 0.0, math.inf), "without a bound"),
        (((), 2.0, 1.0), "low < high"),
        (((), 1.0, 1.0), "low < high"),
        (((), -1.0, 1.0), "low < high"),
        (((), math.nan, 1.0), "low < high"),
        (((math.nan,), 1.0), "nan"),
        (((), 1.0, math.inf, -1.0), "standard deviation"),
        (((), 1.0, math.inf, math.nan), "standard deviation"),
    ],
)
def test_questions_refuse_what_says_nothing(arguments, message):
    with pytest.raises(ValueError, match=message):
        Question(*arguments)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.1, math.nan])
def test_a_level_is_a_probability(level):
    with pytest.raises(ValueError, match="probability"):
        judge([], level)


# Verdicts


def test_a_clear_factor_holds_and_its_opposite_does_not():
    a, b = around(1.5, 40)
    faster, slower, within = judge(
        [paired(a, b, low=1.0), paired(a, b, high=1.0), paired(a, b, 1.2, 2.0)]
    )
    assert (faster.verdict, slower.verdict, within.verdict) == ("holds", "does not hold", "holds")
    assert faster.low > 1.0
    assert 1.2 <= within.low < within.estimate < within.high <= 2.0
    assert faster.pairs == 40
    assert faster.more == slower.more == 0
    assert faster.e_inside == slower.e_outside > faster.threshold
    assert faster.threshold == pytest.approx(2 * 3 / (LEVEL * 3))
    assert faster.e_outside == 0.0


def test_a_factor_of_ten_takes_six_pairs():
    verdicts = [judge([paired(*around(10, n), low=1.0)])[0].verdict for n in range(1, 9)]
    assert verdicts == ["open"] * 5 + ["holds"] * 3


def test_equal_samples_are_within_a_margin_and_not_beyond_1():
    same = [0.1, 3.0, 0.25, 1.0, 7.0, 2.0, 0.5, 0.5, 0.5, 1.5]
    within, faster, slower = judge(
        [paired(same, same, 1 / 1.05, 1.05), paired(same, same, 1.0), paired(same, same, 0.0, 1.0)]
    )
    assert within.verdict == "holds"
    assert within.estimate == faster.estimate == 1.0
    assert faster.verdict == slower.verdict == "open"
    assert faster.more is slower.more is None
    assert faster.low == slower.high == 1.0 or faster.low < 1.0 < faster.high


def test_a_constant_ratio_on_the_boundary_is_not_above_it():
    """3/2 is 1.5 though log 3 - log 2 may differ from log 1.5 in the last digit."""
    a, b = [2.0, 4.0, 0.2, 0.02] * 10, [3.0, 6.0, 0.3, 0.03] * 10
    above, below, more = judge([paired(a, b, 1.5), paired(a, b, 0.0, 1.5), paired(a, b, 1.4)])
    assert above.verdict == below.verdict == "open"
    assert more.verdict == "holds"


def test_one_pair_or_none_decides_nothing():
    for a, b, pairs in (([1.0], [100.0], 1), ([], [], 0), ([math.inf] * 20, [math.inf] * 20, 0)):
        (answer,) = judge([paired(a, b, low=1.0)])
        assert answer.verdict == "open"
        assert answer.pairs == pairs
        assert (answer.low, answer.high) == (0.0, math.inf)
        assert (answer.more is None) == (pairs == 0)
        assert math.isnan(answer.estimate) == (pairs == 0)
    assert judge([]) == []


def test_runs_that_never_reach_the_target_count_as_larger():
    a = [1.0] * 12
    (answer,) = judge([paired(a, [math.inf] * 12, low=1.5)])
    assert answer.verdict == "holds"
    assert answer.estimate == answer.low == answer.high == math.inf
    # Where both do not, nothing is said; where each does sometimes, nothing is shown.
    (answer,) = judge([paired([1.0, math.inf] * 10, [math.inf, 1.0] * 10, low=1.0)])
    assert answer.verdict == "open"
    assert answer.estimate == 1.0
    assert (answer.low, answer.high) == (0.0, math.inf)


def test_reaching_a_target():
    always, never, sometimes = judge(
        [reaching([True] * 10), reaching([False] * 10), reaching([True, False] * 10)]
    )
    assert always.verdict == "holds"
    assert never.verdict == "does not hold"
    assert sometimes.verdict == "open"
    assert judge([reaching([True] * 5)])[0].more == 1


# A page


@given(st.lists(st.floats(-3, 12), max_size=12), st.sampled_from([0.01, 0.05, 0.2]))
def test_decisions_by_brute_force(log_evidence, level):
    """e-BH: the largest set of which each member is at least 2K / (level times its size)."""
    total = len(log_evidence)
    largest = 0
    for size in range(1, total + 1):
        if any(
            all(math.exp(log) >= 2 * total / (level * size) for log in chosen)
            for chosen in combinations(log_evidence, size)
        ):
            largest = size
    assert decisions(log_evidence, level) == largest


@settings(max_examples=150, deadline=None)
@given(st.lists(QUESTIONS, min_size=1, max_size=6), st.sampled_from([0.05, 0.3]))
def test_interval_and_verdict_never_contradict_each_other(questions, level):
    answers = judge(questions, level)
    decided = sum(answer.verdict != "open" for answer in answers)
    for question, answer in zip(questions, answers, strict=True):
        assert answer.threshold == 2 * len(questions) / (level * max(decided, 1))
        assert answer.low <= answer.high
        if answer.pairs:
            assert answer.low * (1 - 1e-9) <= answer.estimate
            assert answer.estimate <= answer.high * (1 + 1e-9)
        inside = question.low <= answer.low and answer.high <= question.high
        outside = answer.high <= question.low or answer.low >= question.high
        shown = max(answer.e_inside, answer.e_outside) >= answer.threshold
        # The ends are closed: with an estimate on a boundary one touches it, and shows nothing.
        assert (answer.verdict != "open") == shown
        assert answer.verdict != "holds" or inside
        assert answer.verdict != "does not hold" or outside
        if answer.verdict == "open":
            # A boundary that is inside the interval or at its end is not excluded.
            assert any(
                answer.low <= boundary <= answer.high
                for boundary in (question.low, question.high)
                if 0 < boundary < math.inf
            )
        assert (answer.more == 0) == (answer.verdict != "open")


@settings(deadline=None)
@given(QUESTIONS, st.integers(1, 40))
def test_questions_that_stay_open_make_others_harder(question, others):
    (alone,) = judge([question])
    first, *_ = judge([question, *[Question((), 1.0)] * others])
    assert first.threshold == alone.threshold * (others + 1)
    assert first.low <= alone.low
    assert alone.high <= first.high


def test_decided_questions_make_others_easier():
    clear = paired(*around(3, 60), low=1.0)
    doubtful = paired(*around(1.3, 22, seed=4), low=1.0, exchangeable=True)
    alone = judge([doubtful, *[Question((), 1.0)] * 9])[0]
    among = judge([doubtful, *[clear] * 9])[0]
    assert alone.verdict == "open"
    assert among.verdict == "holds"
    assert among.threshold == 40.0


@pytest.mark.parametrize("questions", [1, 8])
def test_false_verdicts_with_a_look_after_every_pair(questions):
    """Equal pages, judged after every pair until something is said of any of them."""
    random = np.random.default_rng(questions)
    pages, false = 120 // questions, 0
    for _ in range(pages):
        logs = 0.2 * random.standard_t(3, (questions, 40))
        for look in range(6, 41):
            page = [Question(tuple(row[:look].tolist()), 1.0) for row in logs]
            if decisions([best(question) for question in page], 0.05):
                assert any(answer.verdict != "open" for answer in judge(page))
                false += 1
                break
    assert false <= norm.isf(0.001) * math.sqrt(0.05 * pages) + 0.05 * pages


def best(question):
    evidence = evidence_of(question.logs)
    return max(evidence.shown(0.0, 1.0), evidence.shown(0.0, -1.0))


# Folders of different days


def test_a_shift_between_days_widens_the_interval():
    a, b = around(1.06, 400, scatter=0.05)
    same_day = judge([paired(a, b, low=1.0)])[0]
    other_day = judge([unpaired(a, b, 0.04, low=1.0)])[0]
    assert same_day.verdict == "holds"
    assert other_day.verdict == "open"
    assert other_day.more is None  # no number of pairs averages out the shift
    least = math.exp(0.04 * norm.isf(SHIFT_SHARE * LEVEL / 2))
    assert other_day.low * least < same_day.low
    assert other_day.high / least > same_day.high
    assert judge([unpaired(a, b[:300], 0.04, low=1.0)])[0].pairs == 300
    same_day = judge([paired(a, b, low=1.0, exchangeable=True)])[0]
    assert judge([unpaired(a, b, 0.0, low=1.0)])[0] == same_day


def test_a_shift_between_days_costs_evidence_on_both_sides():
    """Beyond the widened boundary, evidence is what `RatioEvidence` has without a fifth of it."""
    logs, moved = (1.0,) * 9, 0.04 * norm.isf(SHIFT_SHARE * LEVEL / 2)
    one, other = (
        judge([Question(logs, 1.5, shift_sd=0.04)]),
        judge([Question(tuple(-log for log in logs), 0.0, 1 / 1.5, 0.04)]),
    )
    least = evidence_of(logs).shown(math.log(1.5) + moved, 1.0) + math.log(1.0 - SHIFT_SHARE)
    assert one[0].e_inside == pytest.approx(math.exp(least))
    assert other[0].e_inside == pytest.approx(math.exp(least))


def test_false_verdicts_with_a_shift_between_days():
    """The evidence stays below the threshold but for 1 in 40, on either side of equal folders."""
    random = np.random.default_rng(5)
    trials, false = 300, 0
    for _ in range(trials):
        logs = 0.04 * random.standard_normal() + 0.03 * random.standard_normal(60)
        (answer,) = judge([Question(tuple(logs.tolist()), 1.0, shift_sd=0.04)])
        false += answer.verdict != "open"
    assert false <= 0.05 * trials


@given(st.lists(st.tuples(st.floats(-2.0, 2.0), st.floats(0.0, 3.0)), max_size=12))
def test_bounds_of_log_ratios_give_no_more_evidence_than_the_log_ratios(pairs):
    lower = tuple(log for log, _ in pairs)
    upper = tuple(math.inf for _ in pairs)
    (known,) = judge([Question(lower, low=1.5)])
    (bounded,) = judge([Question(lower, low=1.5, upper_logs=upper)])
    assert bounded.e_inside == known.e_inside
    assert bounded.e_outside <= known.e_outside
    assert (bounded.low, bounded.high) == (known.low, math.inf)


def test_symmetry_is_used_where_two_sides_may_be_exchanged_and_nowhere_else():
    """Small distances on one side and large ones on the other: signs say nothing of them."""
    logs = (0.9, -0.01) * 30
    for low, exchangeable, verdict in (
        (1.0, True, "holds"),
        (1.0, False, "open"),
        (1.0 + 1e-9, True, "holds"),
        (1.001, True, "open"),
    ):
        assert judge([Question(logs, low, exchangeable=exchangeable)])[0].verdict == verdict


@pytest.mark.parametrize("upper", [(0.0,), (0.0, 0.5), (0.0, math.nan)])
def test_an_upper_bound_below_its_log_ratio_is_refused(upper):
    with pytest.raises(ValueError, match="every log-ratio has an upper bound"):
        Question((0.0, 1.0), low=1.5, upper_logs=upper)
