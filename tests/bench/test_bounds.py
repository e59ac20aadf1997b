"""Verdicts on bounds, from numbers that keep or miss them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from measured_rows import ALONE, found, group, swept

from svmbench.bench import versus
from svmbench.bench.bounds import judge_bounds
from svmbench.bench.stated_bounds import StatedBound
from svmbench.bench.tables import ratios


def judged(bound, result):
    results = judge_bounds(result, [bound]).results
    return [(one.place, one.verdict, one.short_by) for one in results]


def against(ours, theirs, monkeypatch, repeats=20):
    """A sweep in which the champion takes so long, and a peer so long."""
    rows_of = [
        group("dcd", [ours] * repeats),
        group("liblinear", [theirs] * repeats, solver="liblinear"),
    ]
    return swept(rows_of, monkeypatch)


def test_a_bound_is_reached_or_missed_by_a_factor(monkeypatch):
    result = against(1.0, 2.0, monkeypatch)
    bound = StatedBound(text="t", over="liblinear", sets=["adult", "mnist"], by=5)
    assert judged(bound, result) == [
        ("adult, λ = 1e-5, ε = 0.01", "does not hold", pytest.approx(2.5)),
        ("mnist", "not testable", 1.0),
    ]
    reached = bound.model_copy(update={"by": 1.5, "sets": ()})
    assert judged(reached, result) == [("adult, λ = 1e-5, ε = 0.01", "holds", 1.0)]


def test_bounds_of_held_out_sets_are_told_apart(monkeypatch):
    result = against(1.0, 2.0, monkeypatch)
    bound = StatedBound(text="t", over="liblinear", by=5)
    for held_out in (False, True):
        apart = found(*(replace(part, held_out=held_out, compared={}) for part in result.parts))
        (one,) = judge_bounds(apart, [bound]).results
        assert one.held_out == held_out


def test_a_bound_of_few_repeats_is_open_and_says_what_would_decide_it(monkeypatch):
    bound = StatedBound(text="t", over="liblinear", by=5)
    (one,) = judge_bounds(against(1.0, 2.0, monkeypatch, 3), [bound]).results
    assert (one.verdict, one.measured, one.short_by) == (
        "open",
        pytest.approx(2.0),
        pytest.approx(2.5),
    )
    assert one.part.more > 0
    assert one.takes.startswith(f"It would take about {one.part.more} more repeats")
    (more,) = judge_bounds(against(1.0, 2.0, monkeypatch), [bound]).results
    assert (more.verdict, more.takes) == ("does not hold", "")
    assert more.low <= more.measured <= more.high < bound.by


def test_a_peer_that_is_ahead_is_named(monkeypatch):
    rows_of = [
        group("dcd", [2.0] * 20),
        group("snapml", [1.0] * 20, solver="snapml"),
        group("sgd-s", [0.1] * 20, solver="sgd-s"),
    ]
    bound = StatedBound(text="t", by=1)
    (one,) = judge_bounds(swept(rows_of, monkeypatch), [bound]).results
    assert (one.verdict, one.note) == ("does not hold", "fastest: snapml")
    assert one.measured == pytest.approx(0.5)
    assert one.place == "adult, λ = 1e-5, ε = 0.01"


def test_of_several_sweeps_of_a_problem_the_one_counts_in_which_a_peer_does_best(monkeypatch):
    result = swept([group("dcd", [1.0] * 3), group("linear-svc", [4.0] * 3, solver="linear-svc")],
                   monkeypatch)  # fmt: skip
    other = [group("dcd", [1.0]), group("rehline", [0.5], solver="rehline")]
    never = group("liblinear", [math.nan], solver="liblinear", state="max_steps", spent=0.1)
    for groups in (other, [group("dcd", [1.0]), never]):
        result.parts.extend(swept(groups, monkeypatch).parts)
    (one,) = ratios.against_fastest(result, ALONE)
    assert (one["ratio"], one["program"]) == (pytest.approx(0.5), "rehline")
    assert one["programs_run"] == "linear-svc rehline liblinear"
    # A ratio to named programs is that of the most pairs.
    bound = StatedBound(text="t", over=["linear-svc", "liblinear"], by=1)
    (one,) = judge_bounds(result, [bound]).results
    assert (one.measured, one.part.pairs) == (pytest.approx(4.0), 3)
    # That no peer is ahead is asked of every sweep: none may be chosen by its times.
    ahead = judge_bounds(result, [StatedBound(text="t", by=1)]).results
    assert [round(one.measured, 6) for one in ahead] == [4.0, 0.5, 0.1]


def test_where_no_program_reaches_the_accuracy_only_a_longer_limit_decides(monkeypatch):
    nobody = group("liblinear", [math.nan] * 20, solver="liblinear", state="max_steps", spent=3.0)
    result = swept([group("dcd", [1.0] * 20), nobody], monkeypatch)
    bound = StatedBound(text="t", over="liblinear", by=2)
    (reached,) = judge_bounds(result, [bound]).results
    assert (reached.verdict, reached.high) == ("holds", math.inf)
    (more,) = judge_bounds(result, [bound.model_copy(update={"by": 4.0})]).results
    assert (more.verdict, more.part.more) == ("open", None)
    assert more.takes == (
        "It would take runs of about 4 seconds, which end earlier by their limit of epochs."
    )
    runs = nobody.runs.assign(state="time_limit", limit_seconds=3.0)
    result = swept([group("dcd", [1.0] * 20), replace(nobody, runs=runs)], monkeypatch)
    (more,) = judge_bounds(result, [bound.model_copy(update={"by": 4.0})]).results
    assert more.takes == "It would take a limit of about 4 seconds."


def test_a_peer_is_ahead_though_it_did_not_finish_one_repeat(monkeypatch):
    rows_of = [
        group("dcd", [3.0] * 20),
        group("liblinear", [1.0] * 19 + [math.nan], solver="liblinear", spent=5.0),
    ]
    result = swept(rows_of, monkeypatch)
    (one,) = judge_bounds(result, [StatedBound(text="t", by=1)]).results
    assert (one.verdict, one.takes) == ("does not hold", "")
    assert one.measured <= one.high < 1.0
    (one,) = versus.comparisons(result)
    assert one.standing(ALONE) == "peer ahead"


def test_no_limit_is_named_that_a_repeat_had_without_the_accuracy(monkeypatch):
    bound = StatedBound(text="t", over="liblinear", by=4)
    for longest, takes in (
        (5.0, "More repeats are unlikely to decide it: the estimate lies too close to what is "
              "claimed."),
        (1.5, "It would take a limit of about 4 seconds."),
    ):  # fmt: skip
        spent = [1.0, 1.0, longest] * 7
        nobody = group("liblinear", [math.nan] * 21, solver="liblinear", state="time_limit",
                       spent=spent)  # fmt: skip
        result = swept([group("dcd", [1.0] * 21), nobody], monkeypatch)
        (one,) = judge_bounds(result, [bound]).results
        assert (one.verdict, one.takes) == ("open", takes)


def test_where_nobody_reaches_the_accuracy_nothing_is_measured(monkeypatch):
    rows_of = [
        group(label, [math.nan] * 20, solver=label, state="max_steps")
        for label in ("dcd", "liblinear")
    ]
    bound = StatedBound(text="t", over="liblinear", by=2)
    (one,) = judge_bounds(swept(rows_of, monkeypatch), [bound]).results
    assert (one.verdict, one.note) == ("not testable", "nobody reached the accuracy")
