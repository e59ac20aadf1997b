"""Ratios of a solver's times to those of programs, from times whose ratios are known."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from measured_rows import compared, group

from svmbench.evidence.page import judge


def answer_of(one):
    (answer,) = judge([one.question])
    return answer


def test_of_several_programs_the_fastest_of_each_repeat_counts():
    ours = group("dcd", [1.0, 1.0, 1.0])
    theirs = [
        group("liblinear", [2.0, 8.0, math.nan], solver="liblinear"),
        group("linear-svc", [4.0, 4.0, 4.0], solver="linear-svc"),
    ]
    one = compared(ours, theirs)
    assert (one.pairs.a, one.pairs.b) == ((1.0, 1.0, 1.0), (2.0, 4.0, 4.0))
    assert one.estimate == pytest.approx(4.0)
    assert (one.ours, one.theirs, one.program) == (1.0, 4.0, "linear-svc")


def test_who_never_reaches_it_counts_with_what_was_spent():
    theirs = group("liblinear", [math.nan] * 2, solver="liblinear", state="max_steps", spent=3.0)
    one = compared(group("dcd", [0.5, 0.5]), [theirs])
    answer = answer_of(one)
    assert answer.estimate < answer.estimate_high
    assert (one.theirs, one.program) == (math.inf, "")
    assert one.estimate == pytest.approx(6.0)
    assert answer.high == math.inf


def test_a_program_that_failed_would_not_have_reached_it_in_any_time():
    theirs = [
        group("liblinear", [math.nan] * 2, solver="liblinear", state="failed", spent=0.1),
        group("rehline", [math.nan] * 2, solver="rehline", state="max_steps", spent=3.0),
    ]
    one = compared(group("dcd", [0.5, 0.5]), theirs)
    assert one.estimate == pytest.approx(6.0)


@pytest.mark.parametrize("theirs", [(math.nan, 4.0), (math.nan, math.nan)])
def test_pairs_in_which_nobody_reaches_it_say_nothing(theirs):
    ours = group("dcd", [math.nan, 2.0], state="max_steps")
    rival = group("liblinear", theirs, solver="liblinear", state="max_steps", spent=[9.0, 8.0])
    one = compared(ours, [rival])
    assert one.informative == 1
    assert one.estimate == pytest.approx(np.fmin(theirs[1], 8.0) / 2.0)
    answer = answer_of(one)
    assert (answer.estimate < answer.estimate_high) == math.isnan(theirs[1])


def test_programs_that_are_not_installed_are_not_compared():
    theirs = group("snapml", [math.nan] * 2, solver="snapml", state="not_installed")
    assert compared(group("dcd", [0.5, 0.5]), [theirs]) is None


def test_one_repeat_that_a_peer_does_not_finish_leaves_the_others_as_evidence():
    spent = [1.0] * 19 + [5.0]
    peer = group("liblinear", [1.0] * 19 + [math.nan], solver="liblinear", spent=spent,
                 state="max_steps")  # fmt: skip
    one = compared(group("dcd", [3.0] * 20), [peer])
    assert one.estimate == pytest.approx(1 / 3)
    answer = answer_of(one)
    assert answer.low <= answer.estimate == answer.estimate_high <= answer.high < 1.0
    for region, verdict in (((1.0, math.inf), "does not hold"), ((0.0, 1.0), "holds")):
        (answer,) = judge([replace(one.question, low=region[0], high=region[1])])
        assert (answer.verdict, answer.more) == (verdict, 0)


@pytest.mark.parametrize(("most", "verdict"), [(1.5, "does not hold"), (2.0, "open")])
def test_time_spent_without_the_accuracy_does_not_show_that_a_ratio_is_small(most, verdict):
    # The ratio is above 5/3, and nothing else is known about it.
    peer = group("liblinear", [math.nan] * 20, solver="liblinear", state="max_steps", spent=5.0)
    one = compared(group("dcd", [3.0] * 20), [peer])
    (answer,) = judge([replace(one.question, low=0.0, high=most)])
    assert (answer.verdict, answer.high) == (verdict, math.inf)


@pytest.mark.parametrize(("limit", "pairs"), [(1.9, 1), (2.0, 20)])
def test_skipped_repeats_of_a_program_have_not_spent_the_limit(limit, pairs):
    theirs = group("liblinear", [math.nan] * 20, solver="liblinear")
    theirs.runs["state"] = ["time_limit"] + ["skipped"] * 19
    theirs.runs["limit_seconds"] = limit
    theirs.runs["train_seconds"] = [limit] + [math.nan] * 19
    one = compared(group("dcd", [1.0] * 20), [theirs])
    # They count if the limit is at least twice the champion's time, and then with half of it.
    assert one.pairs.b_least == (limit,) + (limit / 2,) * (pairs - 1)


@pytest.mark.parametrize(("limit", "pairs"), [(1.9, 1), (2.0, 20)])
def test_skipped_repeats_of_the_champion_count_from_twice_the_time_of_the_programs(limit, pairs):
    ours = group("dcd", [math.nan] * 20)
    ours.runs["state"] = ["time_limit"] + ["skipped"] * 19
    ours.runs["limit_seconds"] = limit
    theirs = group("liblinear", [1.0] * 20, solver="liblinear")
    one = compared(ours, [theirs])
    assert one.pairs.a == (math.inf,) * pairs
