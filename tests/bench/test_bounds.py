"""Verdicts on bounds, from numbers that keep or miss them."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from measured_rows import ALONE, GATHERS, epochs, found, group, point, swept

from svmbench.bench import bounds, versus
from svmbench.bench import found as findings
from svmbench.bench.bounds import judge_bounds
from svmbench.bench.found import Measured
from svmbench.bench.stated_bounds import StatedBound
from svmbench.bench.tables import ratios
from svmbench.bench.tables.bounds import aimed_text
from svmbench.bench.write import aims
from svmbench.records.samples import samples


def judged(bound, result):
    results = judge_bounds(result, [bound]).results
    return [(one.place, one.verdict, one.short_by) for one in results]


def test_a_bound_is_reached_or_missed_by_a_factor():
    result = found(epochs(20))
    bound = StatedBound(
        text="t", kind="reaches", part="epochs", solver="dcd", sets=["adult", "mnist"], at_most=0.8
    )
    assert judged(bound, result) == [
        ("adult, dcd", "does not hold", pytest.approx(2.5)),
        ("mnist", "not testable", 1.0),
    ]
    reached = bound.model_copy(update={"at_most": 2.1, "sets": ()})
    assert judged(reached, result) == [("adult, dcd", "holds", 1.0)]


def test_bounds_of_held_out_sets_are_told_apart(monkeypatch):
    monkeypatch.setattr(bounds, "last_cache", lambda: 1000)
    reached = StatedBound(text="t", kind="reaches", part="epochs", solver="dcd", at_most=0.8)
    alike = StatedBound(text="t", kind="alike", part="growth", within=1.15)
    points = [point(at, m, 4, s) for at, (m, s) in enumerate([(200, 2.0), (400, 5.0)])]
    for held_out in (False, True):
        parts = (epochs(), Measured("growth-dense", "growth", "dense", points))
        result = found(*(replace(part, held_out=held_out) for part in parts))
        drafts = judge_bounds(result, [reached, alike]).results
        assert [one.held_out for one in drafts] == [held_out, held_out]


def test_a_bound_of_few_repeats_is_open_and_says_what_would_decide_it():
    bound = StatedBound(text="t", kind="reaches", part="epochs", solver="dcd", at_most=0.8)
    (one,) = judge_bounds(found(epochs()), [bound]).results
    assert (one.verdict, one.measured, one.short_by) == (
        "open",
        pytest.approx(2.0),
        pytest.approx(2.5),
    )
    assert one.part.more > 0
    assert one.takes == f"It would take about {one.part.more} more repeats."
    (more,) = judge_bounds(found(epochs(20)), [bound]).results
    assert (more.verdict, more.takes) == ("does not hold", "")
    assert bound.at_most < more.low <= more.measured <= more.high


def test_a_bound_may_be_a_multiple_of_what_this_machine_allows():
    floor = {"text": "t", "kind": "reaches", "part": "epochs", "solver": "dcd", "floor": True}
    gathers = Measured("physics", "physics", "this machine", GATHERS)
    # 2 ns a nonzero, where a gather and a gathered addition take 0.2 + 0.4 ns
    for at_most, verdict in ((1.5, "does not hold"), (3.5, "holds")):
        bound = StatedBound.model_validate(floor | {"at_most": at_most})
        (one,) = judge_bounds(found(epochs(20), gathers), [bound]).results
        assert (one.verdict, one.measured) == (verdict, pytest.approx(2.0 / 0.6))
        assert aimed_text(bound) == f"≤ {at_most:g}×"
        # Without the speeds of the machine, there is no such bound.
        (one,) = judge_bounds(found(epochs(20)), [bound]).results
        assert one.verdict == "not testable"


def test_only_epochs_of_one_repeat_are_compared():
    ratio = StatedBound(
        text="t", kind="faster", part="epochs", solver="dcd", over="liblinear", by=4
    )
    ((_, verdict, short_by),) = judged(ratio, found(epochs()))
    assert (verdict, short_by) == ("open", pytest.approx(2.0))


def test_readers_and_texts_are_compared_repeat_by_repeat():
    def rows(kind, of_kind, **more):
        named = findings.grouped(of_kind, lambda one: one["label"]).values()
        shared = {"set": "adult", "stand_in": False, "state": "converged"}
        groups = [findings.row([shared | one for one in found]) for found in named]
        return Measured(f"{kind}-adult", kind, "adult", groups, **more)

    readings = [
        {"label": label, "repeat": repeat, "seconds": s}
        # The first repeat of one, and the last of the other, were not made.
        for repeat, label, s in [
            (0, "svmbench", 1.0),
            *[(k, "svmbench", 2.0) for k in range(1, 20)],
            *[(k, "scikit-learn", 16.0) for k in range(1, 20)],
            (20, "scikit-learn", 99.0),
        ]
    ]
    texts = [
        {"label": label, "repeat": repeat, "lambda": 1e-5, "state": state, "limit_seconds": 60.0,
         "seconds_to_0.001": seconds, "train_seconds": spent}
        for label, seconds, spent, state in [
            ("svmbench", 2.0, 9.0, "converged"),
            ("liblinear", 8.0, 9.0, "converged"),
            ("slow", None, 12.0, "max_steps"),
        ]
        for repeat in range(20)
    ]  # fmt: skip
    text = rows("text", texts, accuracies=(1e-3,))
    result = found(rows("reading", readings), text)
    faster = StatedBound(
        text="t", kind="faster", part="reading", solver="svmbench", over="scikit-learn", by=10
    )
    assert judged(faster, result) == [("adult", "does not hold", pytest.approx(10 / 8))]
    sooner = StatedBound(
        text="t", kind="faster", part="text", solver="svmbench", over="liblinear", by=3.5
    )
    assert judged(sooner, result) == [("adult, λ = 1e-5, ε = 0.001", "holds", 1.0)]
    assert samples(text.groups[2], text.asked(1e-3))[0] == math.inf
    # The slow one was given up after 12 s, which is 6 times ours.
    for at_least, verdict in ((5.0, "holds"), (7.0, "open")):
        bound = sooner.model_copy(update={"over": ("slow",), "by": at_least})
        ((_, found_there, _),) = judged(bound, result)
        assert found_there == verdict


def test_growth_and_memory_are_judged_beyond_the_caches_only(monkeypatch):
    monkeypatch.setattr(bounds, "last_cache", lambda: 1000)
    points = [
        point(at, m, 4, s, repeats=20)
        for at, (m, s) in enumerate([(100, 1.0), (200, 2.0), (400, 5.0), (800, 10.0)])
    ]
    result = found(Measured("growth-dense", "growth", "dense", points))
    linear = judge_bounds(
        result, [StatedBound(text="t", kind="alike", part="growth", within=1.15)]
    ).results
    assert [(one.measured, one.verdict) for one in linear] == [
        (pytest.approx(1.25), "does not hold"),
        (pytest.approx(1.0), "holds"),
    ]
    memory = judge_bounds(
        result,
        [
            StatedBound(
                text="t", kind="reaches", part="growth", measure="memory_over_rows", at_most=1.3
            )
        ],
    ).results
    assert [(one.place, one.verdict) for one in memory] == [
        ("dense, 200 x 4", "holds"),
        ("dense, 400 x 4", "holds"),
        ("dense, 800 x 4", "holds"),
    ]


def test_a_peer_that_is_ahead_is_named(monkeypatch):
    rows_of = [
        group("dcd", [2.0] * 20),
        group("snapml", [1.0] * 20, solver="snapml"),
        group("sgd-s", [0.1] * 20, solver="sgd-s"),
    ]
    bound = StatedBound(text="t", kind="faster", by=1)
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
    (one,) = ratios.against_fastest(result)
    assert (one.estimate, one.program) == (pytest.approx(0.5), "rehline")
    assert one.among == ("linear-svc", "rehline", "liblinear")
    # A ratio to named programs is that of the most pairs.
    bound = StatedBound(text="t", kind="faster", over=["linear-svc", "liblinear"], by=1)
    (one,) = judge_bounds(result, [bound]).results
    assert (one.measured, one.part.pairs) == (pytest.approx(4.0), 3)
    # That no peer is ahead is asked of every sweep: none may be chosen by its times.
    ahead = judge_bounds(result, [StatedBound(text="t", kind="faster", by=1)]).results
    assert [round(one.measured, 6) for one in ahead] == [4.0, 0.5, 0.1]


def test_the_reason_of_a_miss_stands_where_it_is_missed_and_nowhere_else():
    bound = StatedBound.model_validate(
        {
            "text": "t", "kind": "reaches", "part": "epochs", "solver": "dcd", "at_most": 1.0,
            "tried": [
                {"sets": "adult", "text": "Rows wait."},
                {"sets": "mnist", "text": "Not here."},
                {"lambda": 1e-4, "text": "Nor at this λ."},
            ],
        }
    )  # fmt: skip
    result = found(epochs())
    (missed,) = judge_bounds(result, [bound]).results
    assert missed.tried == "Rows wait."
    (aim,) = aims([missed])
    assert (aim.counts, aim.verdict) == ("0 of 1; 1 open", "open")
    assert aim.tried == {"Rows wait.": ["adult, dcd"]}
    (reached,) = judge_bounds(result, [bound.model_copy(update={"at_most": 9.0})]).results
    assert reached.tried == ""
    assert aims([reached])[0].nearest is reached


def test_where_no_program_reaches_the_accuracy_only_a_longer_limit_decides(monkeypatch):
    nobody = group("liblinear", [math.nan] * 20, solver="liblinear", state="max_steps", spent=3.0)
    result = swept([group("dcd", [1.0] * 20), nobody], monkeypatch)
    bound = StatedBound(text="t", kind="faster", over="liblinear", by=2)
    (reached,) = judge_bounds(result, [bound]).results
    assert (reached.verdict, reached.high) == ("holds", math.inf)
    (more,) = judge_bounds(result, [bound.model_copy(update={"by": 4.0})]).results
    assert (more.verdict, more.part.more) == ("open", None)
    assert more.takes == (
        "It would take runs of about 4 seconds, which end earlier by their limit of epochs."
    )
    nobody.runs["state"], nobody.runs["limit_seconds"] = "time_limit", 3.0
    (more,) = judge_bounds(result, [bound.model_copy(update={"by": 4.0})]).results
    assert more.takes == "It would take a limit of about 4 seconds."


def test_a_peer_is_ahead_though_it_did_not_finish_one_repeat(monkeypatch):
    rows_of = [
        group("dcd", [3.0] * 20),
        group("liblinear", [1.0] * 19 + [math.nan], solver="liblinear", spent=5.0),
    ]
    result = swept(rows_of, monkeypatch)
    (one,) = judge_bounds(result, [StatedBound(text="t", kind="faster", by=1)]).results
    assert (one.verdict, one.takes) == ("does not hold", "")
    assert one.measured <= one.high < 1.0
    (one,) = versus.comparisons(result)
    assert one.standing(ALONE) == "peer ahead"


def test_no_limit_is_named_that_a_repeat_had_without_the_accuracy(monkeypatch):
    bound = StatedBound(text="t", kind="faster", over="liblinear", by=4)
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
    bound = StatedBound(text="t", kind="faster", over="liblinear", by=2)
    (one,) = judge_bounds(swept(rows_of, monkeypatch), [bound]).results
    assert (one.verdict, one.note) == ("not testable", "nobody reached the accuracy")
