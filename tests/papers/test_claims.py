"""Claims against runs with known effects: verdicts, what they say, and their correction."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from svmbench.papers.claims import Finding, Part, judge, judge_all
from svmbench.papers.measured import MeasuredRow
from svmbench.papers.model import Claim, Item
from svmbench.papers.report.numbers import number
from svmbench.records.groups import Group
from svmbench.records.measures import Asked

INF = math.inf


def noisy(factor=1.0, n=7, sigma=0.02, seed=0):
    """Samples about ``factor``."""
    return list(factor * np.random.default_rng(seed).lognormal(0, sigma, n))


def row(label, seconds, *, state=None, lam=1e-3, sweep="base", stand_in=False, **columns):
    """A solver's repeats by their seconds to 0.01."""
    n = len(seconds)
    ends = ["converged" if math.isfinite(value) else "time_limit" for value in seconds]
    runs = pd.DataFrame(
        {
            "repeat": range(n),
            "state": state or ends,
            "horizon": math.nan,
            "lambda": lam,
            "C": 1.0 / (1000 * lam),
            "m": 1000.0,
            "max_epochs": 50.0,
            "limit_seconds": 30.0,
            "seconds_to_0.01": [math.nan if math.isinf(value) else value for value in seconds],
            "primal": 0.3,
            "test_error": 0.1,
        }
        | columns
    )
    return MeasuredRow(sweep, Group("adult", stand_in, lam, label, label, runs))


def claim(kind="faster", **keys):
    keys = {"text": "So it is.", "measure": {"seconds": 0.01}} | keys
    if kind in ("faster", "ratio"):
        keys = {"solver": "a", "over": "b"} | keys
    return Claim.model_validate({"kind": kind, **keys})


def found(wanted, *rows):
    (finding,) = judge(item(wanted), rows)
    return finding


def item(*claims):
    return Item(version=1, number="Table 1", order=1, title="T", question="?", claims=claims)


# --- faster ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("factor", "by", "verdict"),
    [
        (1.3, 1.0, "holds"),
        (1.3, 1.2, "holds"),
        (1.3, 1.5, "does not hold"),
        (0.8, 1.0, "does not hold"),
        (1.3, 1.3, "undecided"),
        (30.0, 10.0, "holds"),
        (30.0, 100.0, "does not hold"),
    ],
)
def test_faster_by_a_factor(factor, by, verdict):
    a, b = row("a", noisy(2.0)), row("b", noisy(2.0 * factor, seed=1))
    finding = found(claim(by=by), a, b)
    assert finding.verdict == verdict
    (cell,) = finding.cells
    assert cell.verdict == verdict
    assert cell.place == "adult, λ = 1e-3"
    assert finding.summary.startswith("b / a = ")
    low, high = map(float, finding.summary.split("[")[1].rstrip("]").split(","))
    assert low <= factor * 1.03
    assert high >= factor / 1.03


def test_who_does_not_arrive_is_slower_than_who_does():
    a, b = row("a", noisy()), row("b", [INF] * 7)
    assert found(claim(by=5.0), a, b).verdict == "holds"
    assert found(claim(solver="b", over="a"), a, b).verdict == "does not hold"
    assert "a arrives in 7 of 7 and b arrives in 0 of 7" in found(claim(), a, b).summary
    neither = found(claim(), row("a", [INF] * 7), b)
    assert neither.verdict == "undecided"
    assert "neither arrives" in neither.summary


def test_few_repeats_say_something_only_where_nothing_is_near():
    clear = found(claim(), row("a", [1.0, 1.2, 1.1]), row("b", [3.0, 2.9, 2.5]))
    assert clear.verdict == "holds"
    assert "(3 repeats only)" in clear.summary
    near = found(claim(), row("a", [1.0, 1.2, 1.1]), row("b", [2.2, 2.1, 2.3]))
    assert near.verdict == "undecided"
    assert found(claim(), row("a", [1.0, 1.2]), row("b", [90.0, 80.0])).verdict == "undecided"
    backwards = found(claim(by=2.0), row("a", [1.0, 1.2, 1.1]), row("b", [0.9, 0.8, 0.7]))
    assert backwards.verdict == "does not hold"


def test_repeats_are_paired_by_their_number():
    drift = np.array([1.0, 8.0, 2.0, 16.0, 4.0, 32.0, 3.0])
    a = row("a", list(drift))
    shuffled = row("b", list(1.2 * drift * noisy(sigma=0.01)))
    order = [3, 1, 6, 0, 5, 2, 4]
    b = MeasuredRow("base", Group("adult", False, 1e-3, "b", "b", shuffled.group.runs.iloc[order]))
    assert found(claim(), a, b).verdict == "holds"


@pytest.mark.parametrize("state", ["interrupted", "not_installed"])
def test_a_run_that_was_not_made_is_no_slowness(state):
    finding = found(claim(), row("a", noisy()), row("b", [INF] * 7, state=state))
    assert finding.verdict == "undecided"
    assert state.replace("_", " ") in finding.summary


@pytest.mark.parametrize("state", ["failed", "out_of_memory"])
def test_a_solver_that_crashes_is_slower_than_one_that_arrives(state):
    crashing = row("b", [INF] * 7, state=state)
    assert found(claim(), row("a", noisy()), crashing).verdict == "holds"
    assert found(claim(solver="b", over="a"), row("a", noisy()), crashing).verdict != "holds"


@pytest.mark.parametrize("state", ["diverged", "failed", "out_of_memory", "time_limit"])
def test_a_run_that_fails_early_is_not_the_faster_one(state):
    """Its seconds are few because it went wrong, and the table beside prints no number."""
    good = row("b", noisy(), train_seconds=noisy(10.0))
    bad = row("a", noisy(), state=state, train_seconds=noisy(0.1))
    assert found(claim(measure="train_seconds"), bad, good).verdict != "holds"
    assert found(claim(measure="train_seconds", solver="b", over="a"), bad, good).verdict == "holds"
    assert number(bad, Asked("train_seconds")).median == INF


def test_an_accuracy_that_was_not_looked_at_is_unknown():
    finding = found(claim(measure={"seconds": 0.5}), row("a", noisy()), row("b", noisy()))
    assert finding.verdict == "undecided"
    assert "not known" in finding.summary


def test_a_measure_of_the_end_that_diverged_is_the_worst():
    a = row("a", noisy(), primal=noisy())
    b = row("b", [INF] * 7, state="diverged", primal=math.nan)
    assert found(claim(measure="primal"), a, b).verdict == "holds"


# --- cells -------------------------------------------------------------------------


def pair(factor, lam, **keys):
    return [row("a", noisy(), lam=lam, **keys), row("b", noisy(factor, seed=3), lam=lam, **keys)]


def test_one_cell_beyond_doubt_contradicts_the_claim_and_the_rest_is_counted():
    rows = [*pair(3.0, 1e-3), *pair(0.2, 1e-4), *pair(0.1, 1e-5), *pair(1.0, 1e-6)]
    finding = found(claim(), *rows)
    assert finding.verdict == "does not hold"
    assert [cell.verdict for cell in finding.cells] == [
        "holds",
        "does not hold",
        "does not hold",
        "undecided",
    ]
    assert finding.summary.startswith("holds in 1, does not hold in 2, undecided in 1 of 4: ")
    assert "λ = 1e-4" in finding.summary
    assert "λ = 1e-3" not in finding.summary


def test_all_cells_must_hold():
    assert found(claim(), *pair(3.0, 1e-3), *pair(3.0, 1e-4)).verdict == "holds"
    assert found(claim(), *pair(3.0, 1e-3), *pair(1.0, 1e-4)).verdict == "undecided"


def test_a_claim_is_about_its_place_alone():
    rows = [*pair(3.0, 1e-3), *pair(0.1, 1e-4)]
    assert found(claim(where={"lambda": 1e-3}), *rows).verdict == "holds"
    assert found(claim(where={"lambda": [1e-4, 1e-3]}), *rows).verdict == "does not hold"
    nowhere = found(claim(where={"dataset": "rcv1"}), *rows)
    assert nowhere.verdict == "not testable here"
    assert nowhere.cells == ()


def test_a_missing_solver_leaves_it_open():
    finding = found(claim(), row("a", noisy()))
    assert finding.verdict == "undecided"
    assert "no runs of b" in finding.summary


def test_a_sweep_that_runs_some_of_the_solvers_has_no_say_beside_one_that_runs_all():
    both, alone = pair(3.0, 1e-3, sweep="one"), row("a", noisy(), sweep="two")
    finding = found(claim(), *both, alone)
    assert finding.verdict == "holds"
    assert [cell.place for cell in finding.cells] == ["one, adult, λ = 1e-3"]
    # Where it does run the other, only not yet on this problem, that is left open.
    later = pair(3.0, 1e-4, sweep="two")
    assert found(claim(), *both, alone, *later).verdict == "undecided"
    apart = found(claim(), row("a", noisy(), sweep="one"), row("b", noisy(), sweep="two"))
    assert apart.verdict == "undecided"
    assert "no runs of b" in apart.summary


def test_what_is_claimed_of_each_alone_may_lie_in_several_sweeps():
    wanted = claim("reaches", solvers=["a", "b"])
    one, two = row("a", noisy(), sweep="one"), row("b", noisy(), sweep="two")
    assert found(wanted, one, two).verdict == "holds"
    assert found(wanted, one).verdict == "undecided"
    assert found(wanted, one, row("b", [INF] * 7, sweep="two")).verdict == "does not hold"


def test_stand_ins_are_told():
    assert found(claim(), *pair(3.0, 1e-3)).cells[0].stand_in is False
    alone = found(claim(), *pair(3.0, 1e-3, stand_in=True))
    assert alone.cells[0].stand_in is True
    assert alone.summary.endswith("(stand-ins only)")
    mixed = found(claim(), *pair(3.0, 1e-3, stand_in=True), *pair(3.0, 1e-4))
    assert mixed.summary.endswith("(1 of 2 on stand-ins)")


def test_sweeps_are_named_where_there_are_several():
    rows = [*pair(3.0, 1e-3, sweep="one"), *pair(3.0, 1e-3, sweep="two")]
    assert [cell.place for cell in found(claim(), *rows).cells] == [
        "one, adult, λ = 1e-3",
        "two, adult, λ = 1e-3",
    ]


def test_untestable_claims_say_why():
    finding = found(Claim(text="x", kind="untestable", why="no such machine"), *pair(3.0, 1e-3))
    assert (finding.verdict, finding.summary) == ("not testable here", "no such machine")


# --- order and ratio ---------------------------------------------------------------


def order_of(*factors, tie=1.0):
    rows = [
        row(name, noisy(f, seed=at))
        for at, (name, f) in enumerate(zip("abc", factors, strict=True))
    ]
    return found(claim("order", solvers=["a", "b", "c"], tie=tie), *rows).verdict


def test_order_of_neighbours():
    assert order_of(1.0, 2.0, 3.0) == "holds"
    assert order_of(1.0, 3.0, 2.0) == "does not hold"
    assert order_of(1.0, 1.0, 3.0) == "undecided"


def test_a_tie_is_in_order_up_to_its_factor():
    assert order_of(1.0, 0.95, 3.0) == "does not hold"
    assert order_of(1.0, 0.95, 3.0, tie=1.2) == "holds"
    assert order_of(1.0, 0.7, 3.0, tie=1.2) == "does not hold"


@pytest.mark.parametrize(
    ("measured", "published", "within", "verdict"),
    [
        (180.0, 184.0, 2.0, "holds"),
        (180.0, 184.0, 1.5, "holds"),
        (60.0, 184.0, 2.0, "does not hold"),
        (900.0, 184.0, 2.0, "does not hold"),
        (92.0, 184.0, 2.0, "undecided"),
        (0.9, 1.0, 1.5, "holds"),
    ],
)
def test_ratio_with_the_published_one(measured, published, within, verdict):
    wanted = claim("ratio", published=published, within=within)
    finding = found(wanted, row("a", noisy(measured)), row("b", noisy(seed=4)))
    assert finding.verdict == verdict
    assert f"published {published:g}" in finding.summary
    assert finding.summary.startswith("a / b = ")


def test_ratio_between_two_data_sets():
    def on(dataset, seconds, **keys):
        made = row("a", seconds, **keys)
        return MeasuredRow(made.sweep, replace(made.group, dataset=dataset))

    wanted = claim(
        "ratio", over="a", published=1.5, within=1.25, where={"dataset": "sparse"},
        over_dataset="dense",
    )  # fmt: skip
    rows = [on("dense", noisy()), on("sparse", noisy(1.4, seed=2)), on("else", noisy(9.0))]
    finding = found(wanted, *rows)
    assert finding.verdict == "holds"
    assert finding.claim == wanted
    assert finding.summary.startswith("a / a on dense = 1.")
    assert [cell.place for cell in finding.cells] == ["sparse, λ = 1e-3"]
    assert found(wanted, on("dense", noisy()), on("sparse", noisy())).verdict == "does not hold"
    elsewhere = [on("dense", noisy(), lam=1e-4), on("dense", noisy(), sweep="two")]
    assert "no runs of a on dense" in found(wanted, rows[1], *elsewhere).summary
    assert found(wanted, rows[0]).verdict == "not testable here"
    with pytest.raises(ValidationError, match="has no 'over_dataset'"):
        claim("fails", solver="a", over_dataset="dense")


# --- reaches and fails -------------------------------------------------------------


@pytest.mark.parametrize(
    ("reached", "verdict"), [(7, "holds"), (5, "undecided"), (2, "does not hold")]
)
def test_reaches_an_accuracy(reached, verdict):
    samples = [1.0] * reached + [INF] * (7 - reached)
    finding = found(claim("reaches", solvers=["a"]), row("a", samples))
    assert finding.verdict == verdict
    assert f"a: {reached} of 7 reach 0.01" in finding.summary
    assert ("30 s" in finding.summary) == (reached < 7)


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [
        ({"at_most": 1.2}, "holds"),
        ({"at_most": 0.8}, "does not hold"),
        ({"at_most": 1.0}, "undecided"),
        ({"at_least": 0.8}, "holds"),
        ({"at_least": 1.2}, "does not hold"),
        ({"at_least": 0.8, "at_most": 1.2}, "holds"),
    ],
)
def test_reaches_a_value(bounds, verdict):
    values = [0.95, 0.97, 0.99, 1.0, 1.01, 1.03, 1.05]
    wanted = claim("reaches", solvers=["a"], measure="test_error", **bounds)
    assert found(wanted, row("a", noisy(), test_error=values)).verdict == verdict
    timed = claim("reaches", solvers=["a"], **bounds)
    assert found(timed, row("a", values)).verdict == verdict


@pytest.mark.parametrize(
    ("samples", "state", "verdict", "said"),
    [
        ([INF] * 3, None, "holds", "30 s"),
        ([INF] * 3, "max_steps", "holds", "50 epochs"),
        ([INF] * 3, "diverged", "holds", "diverged"),
        ([1.0] * 3, None, "does not hold", "3 of 3"),
        ([1.0, INF, INF], None, "undecided", "1 of 3"),
        ([INF] * 3, "failed", "undecided", "failed"),
    ],
)
def test_fails_within_its_limits(samples, state, verdict, said):
    finding = found(claim("fails", solver="a"), row("a", samples, state=state))
    assert finding.verdict == verdict
    assert said in finding.summary


# --- together ----------------------------------------------------------------------


def test_one_level_holds_for_all_that_are_judged_together():
    weak = found(claim(), row("a", noisy(sigma=0.2)), row("b", noisy(1.4, sigma=0.2, seed=1)))
    assert weak.verdict == "holds"
    (part,) = weak.cells[0].parts
    assert 0.001 < part.p_value < 0.05
    none = found(claim(), row("a", noisy()), row("b", noisy(1.001, seed=1)))
    together = judge_all([weak, *[none] * 60])
    assert together[0].verdict == "undecided"
    assert together[0].summary == weak.summary
    assert judge_all(together[:1])[0].verdict == "holds"


def test_what_needs_no_test_is_not_corrected():
    clear = found(claim(), row("a", noisy()), row("b", [INF] * 7))
    none = found(claim(), row("a", noisy()), row("b", noisy()))
    assert judge_all([clear, *[none] * 60])[0].verdict == "holds"
    assert Part("", "holds").decided(None) == "holds"


def test_findings_without_cells_stay():
    finding = Finding(claim(), "not testable here", "why")
    assert judge_all([finding]) == [finding]
