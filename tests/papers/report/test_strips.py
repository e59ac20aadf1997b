"""The verdicts of a paper as strips: what they show of a claim."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from svmbench.claims.model import Claim
from svmbench.claims.parts import CaseResult, ClaimPart, ClaimResult, PartResult
from svmbench.evidence import judge, paired
from svmbench.papers.report.strips import reach_of, strips, verdict_rows


def claim(text="A is twice as fast as B.", by=2.0):
    return Claim.model_validate(
        {
            "text": text,
            "source": "Table 1",
            "kind": "faster",
            "solver": "a",
            "over": "b",
            "measure": {"seconds": 0.1},
            "by": by,
        }
    )


def result(factors, stand_in=False, **options):
    """A claim with one comparison a case, each of twenty pairs with that factor."""
    questions = [paired([1.0] * 20, [factor] * 20, low=2.0) for factor in factors]
    cases = tuple(
        CaseResult(
            f"case {at}",
            f"set {at}",
            stand_in,
            answer.verdict,
            (
                PartResult(
                    ClaimPart("b / a", question=question, **options), answer.verdict, "", answer
                ),
            ),
        )
        for at, (question, answer) in enumerate(zip(questions, judge(questions), strict=True))
    )
    return ClaimResult(claim(), "open", "", cases)


def test_a_row_has_a_dot_for_each_comparison_and_the_claimed_region():
    (row,) = verdict_rows([result([5.0, 1.0])])
    assert row.region == (2.0, math.inf)
    assert [dot.verdict for dot in row.dots] == ["holds", "does not hold"]
    assert [dot.estimate for dot in row.dots] == pytest.approx([5.0, 1.0])
    assert all(dot.low <= dot.estimate <= dot.high for dot in row.dots)


def test_what_has_no_factor_has_no_row():
    untestable = ClaimResult(claim(), "not testable", "there are no runs of it")
    assert verdict_rows([untestable, result([5.0], by_factor=False)]) == []


def test_a_strip_places_dots_intervals_and_the_claimed_factors():
    drawn = strips([result([5.0, 1.0, math.inf]), result([1e9], stand_in=True)])
    first, second = drawn.rows
    assert first.high == 100.0  # twice as fast, or more
    assert 50.0 < first.low < first.marks[0].at < 100.0
    assert first.marks[1].at == 50.0  # as fast
    assert first.marks[2].at == second.marks[0].at == 100.0
    assert [mark.verdict for mark in first.marks] == ["holds", "does not hold", "holds"]
    assert [mark.stand_in for mark in (*first.marks, *second.marks)] == [False] * 3 + [True]
    assert first.marks[0].words == "5 [5, 5]"
    assert [text for _, text in drawn.ticks] == ["0.01", "0.1", "1", "10", "100"]


def test_no_strips_without_a_factor():
    assert strips([result([5.0], by_factor=False)]) is None


def test_a_factor_near_the_largest_number_is_drawn_at_the_edge():
    dot = SimpleNamespace(estimate=1e300, low=1e-300, high=math.inf)
    row = SimpleNamespace(region=(1.0, math.inf), dots=[dot])
    assert reach_of([row]) == 300.0
