"""Claims about runs that a limit ended: how long they would have taken is not known."""

from __future__ import annotations

import math

import pytest
from claims_support import INF, MANY, claim, found, noisy, row

from svmbench.evidence.page import judge
from svmbench.evidence.questions import paired


def test_a_limited_run_shows_no_larger_factor_than_its_limit():
    """b met the limit of 30 s in all repeats; a took 1 s."""
    b = row("b", [INF] * MANY)
    assert found(claim(by=20.0), row("a", noisy()), b).verdict == "holds"
    result = found(claim(by=40.0), row("a", noisy()), b)
    assert result.verdict == "open"
    assert "b / a ≥ 30" in result.summary
    assert result.remedy == "It would take longer limits."
    assert [part.more for part in result.open_parts] == [None]


def test_a_limited_run_may_lie_within_a_factor():
    rows = [row("a", noisy(20.0)), row("b", [INF] * MANY)]
    result = found(claim(solvers=["a", "b"], within=3.0), *rows)
    assert result.verdict == "open"
    assert "longer limits" in result.remedy
    assert found(claim(solvers=["a", "b"], within=1.2), *rows).verdict == "does not hold"


def test_a_limited_solver_that_is_said_to_be_faster():
    rows = [row("a", [INF] * MANY), row("b", noisy(10.0))]
    assert found(claim(), *rows).verdict == "does not hold"
    result = found(claim(by=0.2), *rows)  # a takes at most five times as long
    assert result.verdict == "open"
    assert "b / a ≤ 0.3" in result.summary


def test_a_run_that_failed_or_stopped_by_itself_would_never_have_arrived():
    for state in ("diverged", "failed", "converged"):
        rows = [row("a", noisy()), row("b", [INF] * MANY, state=state)]
        assert found(claim(by=1000.0), *rows).verdict == "holds"


@pytest.mark.parametrize(
    ("most", "state", "verdict"),
    [
        (5.0, "time_limit", "does not hold"),
        (20.0, "time_limit", "open"),
        (20.0, "max_steps", "open"),
        (20.0, "converged", "does not hold"),
        (20.0, "failed", "does not hold"),
    ],
)
def test_a_limit_below_a_bound_does_not_show_that_it_is_exceeded(most, state, verdict):
    """All runs ended after 10 epochs without the accuracy."""
    wanted = claim("reaches", solvers=["a"], measure={"epochs": 0.01}, at_most=most)
    result = found(wanted, row("a", [INF] * MANY, state=state))
    assert result.verdict == verdict
    if verdict == "open":
        assert result.remedy == "It would take longer limits."


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [({"at_most": 0.5}, "does not hold"), ({"at_least": 0.7}, "holds"), ({"at_most": 1.2}, "open")],
)
def test_a_limit_bounds_an_exponent(bounds, verdict):
    """The time grows in proportion to m, up to the limit of 30 s: (log 30)/(log 100) is 0.74."""
    times = {1e3: noisy(1.0), 1e4: noisy(10.0), 1e5: [INF] * MANY}
    rows = [row("a", times[m], m=m, dataset=f"{m:g} rows") for m in times]
    wanted = claim("grows", along="m", measure={"seconds": 0.01}, **bounds)
    result = found(wanted, *rows)
    assert result.verdict == verdict
    assert "a ≥ 0.7" in result.summary
    if verdict == "open":
        assert result.remedy == "It would take longer limits."


SKIPPED = ["time_limit", "skipped", "skipped"]


@pytest.mark.parametrize(("kind", "measure"), [("ratio", {"epochs": 0.01})])
def test_skipped_repeats_are_no_repeats_to_come(kind, measure):
    """b met its time limit, which is too near the times of a for its skipped repeats to count."""
    a, b = row("a", [20.0, 21.0, 20.0]), row("b", [INF] * 3, state=SKIPPED, epochs=40.0)
    result = found(claim(kind, measure=measure), a, b)
    assert result.verdict == "open"
    assert result.remedy == "It would take longer limits."
    assert [part.more for part in result.open_parts] == [None]


def test_skipped_repeats_of_one_solver_are_no_repeats_to_come():
    b = row("b", [INF] * 3, state=SKIPPED, test_error=[0.1, math.nan, math.nan])
    wanted = claim("reaches", solvers=["b"], measure="test_error", at_most=0.1001)
    result = found(wanted, b)
    assert result.verdict == "open"
    assert result.remedy == "It would take longer limits."


def test_skipped_repeats_that_make_pairs_are_repeats_to_come():
    a, b = row("a", [1.0, 1.1, 1.0]), row("b", [INF] * 3, state=SKIPPED)
    result = found(claim(by=12.0), a, b)
    assert result.verdict == "open"
    assert "more repeat" in result.remedy


def test_bounds_of_samples_become_bounds_of_the_evidence():
    short = paired([1.0] * 9, [INF] * 9, low=2.0, b_least=[3.0] * 9)
    assert short.logs == pytest.approx([math.log(3.0)] * 9)
    assert short.upper_logs == (INF,) * 9
    (answer,) = judge([short])
    assert (answer.verdict, answer.estimate, answer.estimate_high) == (
        "holds",
        pytest.approx(3),
        INF,
    )
    assert paired([1.0, INF], [2.0, INF], low=1.0).upper_logs is None
