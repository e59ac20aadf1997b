"""Repeats come in the order in which they were measured, whatever their numbers are."""

from __future__ import annotations

import math

import pytest
from claims_support import claim, found, row

from svmbench.errors import DataError
from svmbench.evidence.page import judge
from svmbench.evidence.questions import paired
from svmbench.records.measures import Asked
from svmbench.records.moments import in_order
from svmbench.records.samples import measured, pairs, samples

SECONDS = Asked("seconds", 0.01)


def at(*minutes):
    """Times of the start, empty for a repeat that was skipped."""
    return [
        "" if minute is None else f"2026-01-01T00:{minute:02d}:00.000+00:00" for minute in minutes
    ]


def test_pairs_come_in_the_order_in_which_they_were_measured():
    one = row("a", [1.0, 2.0, 3.0], started=at(30, 1, 20)).group
    other = row("b", [4.0, 5.0, 6.0], started=at(3, 2, 40)).group
    assert list(samples(one, SECONDS)) == list(measured(one, SECONDS)) == [1, 2, 0]
    # A pair is complete when the second of its runs has started.
    together = pairs(one, other, SECONDS)
    assert together.repeats == (1, 0, 2)
    assert list(together) == [(2.0, 5.0), (1.0, 4.0), (3.0, 6.0)]


def test_repeats_without_a_start_come_first_and_by_number():
    one = row("a", [1.0, 2.0, 3.0, 4.0], started=at(None, 9, None, 8)).group
    assert in_order([3, 2, 1, 0], one) == [0, 2, 3, 1]
    assert in_order([2, 1, 0], row("a", [1.0, 2.0, 3.0]).group) == [0, 1, 2]


def test_a_time_that_cannot_be_read_is_one_line():
    with pytest.raises(DataError, match="'yesterday' is not a time; run the sweep again"):
        in_order([0], row("a", [1.0], started="yesterday").group)


def test_the_evidence_of_a_claim_bets_on_pairs_as_they_were_measured():
    """Blocks 2 to 5 were run after 6 to 9; the scale of a bet comes from the pairs before it."""
    slow = [1.3, 1.31, 9.0, 1.2, 7.0, 1.25, 1.3, 1.32, 1.29, 1.31]
    order = [0, 1, 6, 7, 8, 9, 2, 3, 4, 5]
    minutes = {repeat: minute for minute, repeat in enumerate(order)}
    started = at(*(minutes[repeat] for repeat in range(10)))
    result = found(claim(), row("a", [1.0] * 10, started=started), row("b", slow, started=started))
    (part,) = result.cases[0].parts
    as_measured = [slow[repeat] for repeat in order]
    (expected,) = judge([paired([1.0] * 10, as_measured, low=1.0, exchangeable=True)])
    (by_number,) = judge([paired([1.0] * 10, slow, low=1.0, exchangeable=True)])
    assert part.answer.e_inside == expected.e_inside
    assert not math.isclose(expected.e_inside, by_number.e_inside, rel_tol=0.05)


@pytest.mark.parametrize("kind", ["path", "grows"])
def test_curves_and_exponents_come_in_that_order_too(kind):
    started = at(5, 1, 3)

    def curve(factor):
        return lambda epoch, repeat: factor * (repeat + 1) ** 2 / (1.0 + epoch)

    if kind == "path":
        rows = [
            row("a", [1.0] * 3, started=started, traces=curve(0.1), epochs_to=1.0),
            row("b", [1.0, 2.0, 3.0], started=started, traces=lambda e, r: 1.0 + r),
        ]
        result = found(claim("path", between=(1.0, 2.0), points=2), *rows)
        logs = result.cases[0].parts[0].part.question.logs
        expected = [math.log((1.0 + r) / (0.1 * (r + 1) ** 2 / 2.0)) for r in (1, 2, 0)]
    else:
        rows = [
            row("a", [1.0, 2.0, 4.0], lam=lam, started=started, primal=[1.0, lam, lam**2])
            for lam in (0.1, 0.01, 0.001)
        ]
        result = found(claim("grows", measure="primal", at_most=3.0), *rows)
        logs = result.cases[0].parts[0].part.question.logs
        expected = [1.0, 2.0, 0.0]
    assert logs == pytest.approx(expected)
