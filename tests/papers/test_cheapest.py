"""Which open parts of a claim are decided first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from claims_support import INF, claim, found, noisy, row

from svmbench.claims.cheapest import cheapest

#: Too few repeats to decide anything.
FEW = 4


def cases(ratios, n=FEW, **keys):
    """A claim that a is faster than b, with an open case for each ratio b/a."""
    rows = [
        row(label, noisy(factor, n, seed=at), lam=10.0**-at, elapsed_seconds=10.0**at)
        for at, ratio in enumerate(ratios, start=1)
        for label, factor in (("a", 1.0), ("b", ratio))
    ]
    return found(claim(**keys), *rows)


def lambdas(parts):
    return sorted({cell[2] for part in parts for cell in part.part.rests_on}, reverse=True)


def test_a_claim_about_all_cases_needs_each_of_them():
    assert lambdas(cheapest(cases([2.0, 2.0, 2.0]))) == [0.1, 0.01, 0.001]


def test_one_contrary_case_refutes_a_claim_about_all_and_the_cheapest_comes_first():
    assert lambdas(cheapest(cases([2.0, 0.5, 0.5]))) == [0.01]


def test_a_claim_about_most_cases_needs_the_cheapest_majority():
    assert lambdas(cheapest(cases([2.0] * 5, cases="most"))) == [0.1, 0.01, 0.001]
    # Two of four against it are enough; three for it would cost more.
    assert lambdas(cheapest(cases([0.5, 0.5, 2.0, 2.0], cases="most"))) == [0.1, 0.01]
    # Three of five against it: the others do not matter.
    assert lambdas(cheapest(cases([2.0, 2.0, 0.5, 0.5, 0.5], cases="most"))) == [1e-3, 1e-4, 1e-5]


def test_one_case_that_agrees_is_enough_for_any():
    assert lambdas(cheapest(cases([0.5, 2.0, 2.0], cases="any"))) == [0.01]
    assert lambdas(cheapest(cases([0.5, 0.5], cases="any"))) == [0.1, 0.01]


def test_a_case_that_is_decided_is_not_needed():
    decided = [row(label, noisy(factor), lam=1.0) for label, factor in (("a", 1.0), ("b", 2.0))]
    still = [row(label, noisy(factor, FEW), lam=0.1) for label, factor in (("a", 1.0), ("b", 2.0))]
    result = found(claim(), *decided, *still)
    assert [case.verdict for case in result.cases] == ["holds", "open"]
    assert lambdas(cheapest(result)) == [0.1]


def test_a_decided_claim_needs_nothing():
    rows = [row(label, noisy(factor)) for label, factor in (("a", 1.0), ("b", 2.0))]
    assert cheapest(found(claim(), *rows)) == ()


@pytest.mark.parametrize(("ratio", "wanted"), [(2.5, []), (1.5, [0.01])])
def test_a_case_that_a_limit_hides_is_no_way_to_a_verdict(ratio, wanted):
    """b met a limit after 30 s: its ratio to a, 20 s, may be below 2 or above it."""
    hidden = [row("b", [INF] * 6, lam=0.1), row("a", noisy(20.0, 6), lam=0.1)]
    other = [row(label, noisy(f, 6), lam=0.01) for label, f in (("a", 1.0), ("b", ratio))]
    assert lambdas(cheapest(found(claim(by=2.0), *hidden, *other))) == wanted


def without_answer(result, at):
    """The same, but a case has not been run at all."""
    found = list(result.cases)
    parts = tuple(replace(part, answer=None) for part in found[at].parts)
    found[at] = replace(found[at], parts=parts)
    return replace(result, cases=tuple(found))


def test_a_case_that_was_not_run_is_not_the_cheapest():
    assert lambdas(cheapest(without_answer(cases([2.0, 2.0], cases="any"), 0))) == [0.01]
    most = cases([2.0] * 5, cases="most")
    assert lambdas(cheapest(without_answer(most, 0))) == [0.01, 0.001, 0.0001]


def test_a_case_of_which_the_time_is_not_known_comes_last():
    result = cases([2.0, 2.0], cases="any")
    (part,) = result.cases[0].parts
    unknown = replace(part, seconds=dict.fromkeys(part.part.rests_on, float("nan")))
    first = replace(result.cases[0], parts=(unknown,))
    result = replace(result, cases=(first, *result.cases[1:]))
    assert lambdas(cheapest(result)) == [0.01]
