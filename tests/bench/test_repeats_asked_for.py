"""Which further repeats open bounds and wide intervals ask for."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from measured_rows import ALONE, group, swept

from svmbench.bench import doubts, versus
from svmbench.bench.bounds import judge_bounds
from svmbench.bench.stated_bounds import StatedBound

PLAN = SimpleNamespace(
    sweeps=[SimpleNamespace(name=name, item="adult") for name in ("tight", "core")],
)


def doubts_of(results):
    """What further repeats are asked for, of two sweeps of which the second is theirs."""
    return list(doubts.of_bounds(PLAN, results))


def test_open_bounds_ask_for_repeats_of_the_cells_that_they_compare(monkeypatch):
    rows_of = [
        group("dcd", [1.0, 1.1, 0.9]),
        group("liblinear", [3.0, 3.3, 2.9], solver="liblinear"),
        group("linear-svc", [6.0, 6.0, 6.0], solver="linear-svc"),
        group("sgd-s", [6.0, 6.0, 6.0], solver="sgd-s"),
    ]
    bound = StatedBound(text="Faster", over=["liblinear", "linear-svc"], by=2)
    results = judge_bounds(swept(rows_of, monkeypatch), [bound]).results
    (doubt,) = doubts_of(results)
    assert doubt.sweep == 1
    assert doubt.cells == tuple(
        ("adult", 1e-5, each) for each in ("dcd", "liblinear", "linear-svc")
    )
    assert doubt.more == results[0].part.more > 0
    assert doubt.text == "Faster (≥ 2×): adult, λ = 1e-5, ε = 0.01"


def test_repeats_that_cannot_decide_a_bound_are_not_asked_for(monkeypatch):
    never = group("liblinear", [math.nan] * 3, solver="liblinear", state="time_limit", spent=3.0)
    result = swept([group("dcd", [1.0] * 3), never], monkeypatch)
    (doubt,) = doubts_of(
        judge_bounds(result, [StatedBound(text="t", over="liblinear", by=4)]).results
    )
    assert doubt.more is None


def test_a_ratio_with_a_wide_interval_asks_for_repeats_though_it_is_decided(monkeypatch):
    rng = np.random.default_rng(1)
    ours, theirs = np.exp(0.7 * rng.standard_normal((2, 14)))
    rows_of = [group("dcd", ours), group("liblinear", 1000 * theirs, solver="liblinear")]
    bound = StatedBound(text="t", over="liblinear", by=2)
    results = judge_bounds(swept(rows_of, monkeypatch), [bound]).results
    assert results[0].verdict == "holds"
    assert results[0].high > doubts.WIDEST * results[0].low
    (doubt,) = doubts_of(results)
    assert doubt.more > 0
    narrow = [group("dcd", [1.0] * 14), group("liblinear", [1000.0] * 14, solver="liblinear")]
    assert doubts_of(judge_bounds(swept(narrow, monkeypatch), [bound]).results) == []


@pytest.mark.parametrize(
    ("scatter", "stand_in", "pairs", "asks"),
    [
        (0.7, False, 14, True),
        (0.0, False, 14, False),
        (0.7, True, 14, False),  # nobody quotes numbers of stand-ins
        (0.0, False, 3, True),  # its interval has no ends yet
    ],
)
def test_ratios_that_may_be_quoted_ask_for_narrow_intervals(
    scatter, stand_in, pairs, asks, monkeypatch
):
    rng = np.random.default_rng(1)
    ours, theirs = np.exp(scatter * rng.standard_normal((2, pairs)))
    rows_of = [group("dcd", ours), group("liblinear", 1000 * theirs, solver="liblinear")]
    rows_of = [replace(each, stand_in=stand_in) for each in rows_of]
    compared = versus.comparisons(swept(rows_of, monkeypatch), ["liblinear"])
    found_there = list(doubts.of_quoted(PLAN, compared, ALONE))
    assert [doubt.sweep for doubt in found_there] == [1] * asks
    assert all(doubt.more > 0 for doubt in found_there)
