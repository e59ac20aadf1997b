"""Claims that a factor between solvers is larger at a second value of C or λ."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest
from claims_support import INF, MANY, found, noisy, row, sweep, widens
from results_folders import write_results
from small_paper import TABLE, write_small_paper

from svmbench.claims.cheapest import cheapest
from svmbench.claims.empty import check_claims
from svmbench.claims.judge import judge_claims
from svmbench.errors import ConfigError
from svmbench.papers.doubts import Doubts
from svmbench.papers.model import papers
from svmbench.papers.plan import choose, planned_sweeps

M = 1000.0


def at(c_value, dataset="adult", n=MANY, **factors):
    """The rows of one C, which is a sweep of its own, with noise of their own."""
    place = {"lam": 1.0 / (c_value * M), "sweep": f"c-{c_value:g}", "dataset": dataset}
    noise = {label: [*f"{c_value:g} {dataset} {label}".encode()] for label in factors}
    return [
        row(label, noisy(factor, n, seed=noise[label]) if factor < INF else [INF] * n, **place)
        for label, factor in factors.items()
    ]


def of(*labels, **keys):
    return widens(spread=labels, **keys)


@pytest.mark.parametrize(
    ("last", "by", "verdict"),
    [
        (6.0, 1.0, "holds"),
        (6.0, 2.0, "holds"),
        (6.0, 4.0, "does not hold"),
        (1.0, 1.0, "does not hold"),
        (2.0, 1.0, "open"),
    ],
)
def test_a_factor_between_two_solvers_grows_from_one_sweep_to_another(last, by, verdict):
    """b / a is 2 at C = 1; the time of a itself grows, which says nothing."""
    result = found(widens(by=by), *at(1, a=1, b=2), *at(10, a=5, b=5 * last))
    assert result.verdict == verdict
    (case,) = result.cases
    assert case.place == "adult"
    assert case.text.startswith("b / a at C = 10 over that at C = 1 = ")
    assert case.text.endswith(" at C = 10")
    assert {place[0] for place in case.parts[0].part.rests_on} == {"c-1", "c-10"}


def test_the_reverse_of_a_factor_may_widen_too():
    """b / a grows from a half to 2: b becomes the slower one."""
    rows = [*at(1, a=2, b=1), *at(10, a=1, b=2)]
    assert found(widens(), *rows).verdict == "holds"
    # Of the two the slower one is twice as slow at either C.
    assert found(of("a", "b"), *rows).verdict == "open"


def test_the_slowest_over_the_fastest_of_several():
    """At C = 1 from a to c, at C = 10 from b to a."""
    rows = [*at(1, a=1, b=2, c=3), *at(10, a=20, b=2, c=4)]
    assert found(of("a", "b", "c"), *rows).verdict == "holds"
    assert found(of("a", "b", "c", by=3), *rows).verdict == "holds"
    result = found(of("a", "b", "c", by=4), *rows)
    assert result.verdict == "does not hold"
    assert "3 at C = 1; 1" not in result.summary
    assert "largest / smallest at C = 10" in result.summary


def test_of_several_the_extremes_are_those_of_the_same_repeat():
    """Which of a and b is the faster one changes with every repeat."""
    swap = [1.0, 4.0] * (MANY // 2)
    steady = [4.0, 1.0] * (MANY // 2)
    rows = [
        row(label, times, lam=1e-3, sweep="c-1")
        for label, times in zip("ab", (swap, steady), strict=True)
    ]
    rows += at(10, a=1, b=8)
    result = found(of("a", "b"), *rows)
    assert result.verdict == "holds"
    assert "4 at C = 1" in result.summary


def test_it_is_judged_on_each_data_set():
    rows = [
        *at(1, a=1, b=2), *at(10, a=1, b=6),
        *at(1, "w8a", a=1, b=2), *at(10, "w8a", a=1, b=6),
        *at(1, "rcv1", a=1, b=6), *at(10, "rcv1", a=1, b=2),
    ]  # fmt: skip
    every, most = (found(widens(cases=cases), *rows) for cases in ("all", "most"))
    assert every.verdict_words == "holds in 2 of 3"
    assert most.verdict == "holds"
    assert [case.place for case in most.cases] == ["adult", "w8a", "rcv1"]


def test_both_values_may_lie_in_one_sweep():
    rows = [
        row(label, noisy(factor, seed=seed), lam=lam)
        for seed, (label, lam, factor) in enumerate(
            [("a", 1e-3, 1), ("b", 1e-3, 2), ("a", 1e-4, 1), ("b", 1e-4, 6), ("b", 1e-2, 99)]
        )
    ]
    assert found(widens(along="lambda", between=[1e-4, 1e-3]), *rows).verdict == ("does not hold")
    assert found(widens(), *rows).verdict == "holds"


def test_a_limit_bounds_the_factor_from_below():
    """b meets the limit of 30 s at C = 10, so that it takes at least 30 times as long."""
    rows = [*at(1, a=1, b=2), *at(10, a=1, b=INF)]
    for wanted, named in ((widens, ()), (of, ("a", "b"))):
        result = found(wanted(*named, by=10), *rows)
        assert result.verdict == "holds"
        assert wanted is of or "b in 0 of 16" in result.summary
        assert re.search(r"at least (29|30)[.\d]* at C = 10", result.summary)
        unknown = found(wanted(*named, by=20), *rows)
        assert unknown.verdict == "open"
        assert "longer limits" in unknown.remedy


def test_between_two_limits_nothing_is_known_of_the_change():
    result = found(widens(), *at(1, a=1, b=INF), *at(10, a=2, b=INF))
    assert result.verdict == "open"
    assert "not known" in result.summary
    assert result.remedy == "It would take longer limits."
    assert cheapest(result) == ()


@pytest.mark.parametrize(("wanted", "named"), [(widens, ()), (of, ("a", "b"))])
def test_skipped_repeats_are_no_repeats_to_come(wanted, named):
    """b met its limit at C = 1, which is too near the times of a for its skipped repeats to count.

    By the pairs so far more of them would decide the claim.
    """
    rows = [*at(1, a=20, b=INF), *at(10, a=1, b=2)]
    ends = rows[1].group.runs
    ends["state"] = ["time_limit", *["skipped"] * (MANY - 1)]
    result = found(wanted(*named, by=40), *rows)
    assert result.verdict == "open"
    assert "limit" in result.remedy
    assert [part.more for part in result.open_parts] == [None]


@pytest.mark.parametrize("wanted", [widens(), of("a", "b")])
def test_it_is_not_testable_where_one_c_is_not(wanted):
    rows = [*at(1, a=1, b=2), *at(10, a=INF, b=INF)]
    result = found(wanted, *rows)
    assert result.verdict == "not testable"
    assert "at C = 10, n" in result.summary
    assert "at C = 1, n" not in result.summary


@pytest.mark.parametrize("wanted", [widens(), of("a", "b")])
def test_it_is_not_testable_where_w_0_has_the_accuracy(wanted):
    flat = [
        row(label, noisy(), lam=1.0 / M, sweep="c-1", traces=lambda epoch, repeat: 0.005)
        for label in "ab"
    ]
    result = found(wanted, *flat, *at(10, a=1, b=6))
    assert result.verdict == "not testable"
    assert "at C = 1, says nothing: w = 0 has the accuracy 0.01" in result.summary


@pytest.mark.parametrize("wanted", [widens(), of("a", "b")])
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((), "no runs of a, b"),
        (at(1, a=1, b=2), "at C = 10, no runs of a, b"),
        ([*at(1, a=1, b=2), *at(10, a=1)], "at C = 10, no runs of b"),
        ([*at(1, a=1, b=2), *at(10, a=1, b=9)], ""),
    ],
)
def test_what_was_not_run_is_open_and_asks_its_question_all_the_same(wanted, rows, said):
    slots = [
        {"sweep": f"c-{c:g}", "dataset": "adult", "C": c, "solver": label}
        for c in (0.05, 1.0, 10.0)
        for label in "ab"
    ]
    ((result,),) = judge_claims([([wanted], rows)], [slots])
    assert result.verdict == ("open" if said else "holds")
    assert said in result.summary
    (case,) = result.cases
    assert case.place == "adult"
    assert sum(part.part.question is not None for part in case.parts) == 1


def test_a_smaller_stand_in_does_not_test_what_depends_on_its_rows():
    rows = [*at(1, a=1, b=2), *at(10, a=1, b=9)]
    assert found(widens(least_rows={"adult": 1000}), *rows).verdict == "holds"
    assert found(widens(least_rows={"adult": 1001}), *rows).verdict == "not testable"


def test_two_sweeps_of_one_data_set_at_one_c_are_refused():
    sweeps = {"c-1": sweep(C=1), "c-10": sweep(C=10), "others": sweep(C=10, datasets=["w8a"])}
    check_claims(Path("table.yaml"), [widens()], sweeps)
    sweeps["again"] = sweep(C=[1, 10])
    with pytest.raises(ConfigError, match="two sweeps run its solvers at C = 1"):
        check_claims(Path("table.yaml"), [widens()], sweeps)
    named = widens(where={"sweep": ["c-1", "c-10"]})
    check_claims(Path("table.yaml"), [named], sweeps)


# --- repeats -----------------------------------------------------------------------

ITEM = """\
sweeps:
  first:
    datasets: [adult]
    lambda: 1e-4
    solvers: [dcd, pegasos]
    stop: {accuracy: [1e-2], max_epochs: 20, time_limit: 20s}
  second:
    datasets: [adult]
    lambda: 1e-5
    solvers: [dcd, pegasos]
    stop: {accuracy: [1e-2], max_epochs: 20, time_limit: 20s}
tables:
  - {rows: [lambda], columns: [solver], measures: [{seconds: 1e-2}]}
claims:
  - text: Pegasos loses ground.
    source: Table 1
    kind: ratio
    solver: dcd
    over: pegasos
    measure: {seconds: 1e-2}
    along: lambda
    between: [1e-5, 1e-4]
"""


def test_each_sweep_is_asked_for_the_repeats_that_it_lacks(tmp_path):
    known = papers(write_small_paper(tmp_path / "papers", table_1=TABLE + ITEM))
    root = tmp_path / "results"
    planned = planned_sweeps(known, choose(known, []), root)
    for name, lam, repeats in (("first", 1e-4, 3), ("second", 1e-5, 4)):
        write_results(
            root / "small" / "table-1" / name, repeats=repeats, labels=("pegasos", "dcd"),
            datasets=(("adult", False),), lambdas=(lam,),
        )  # fmt: skip
    doubts = Doubts(root, known, planned, choose(known, []))
    asked = {planned[doubt.sweep].name: doubt for doubt in doubts()}
    assert {name: doubt.pairs for name, doubt in asked.items()} == {"first": 3, "second": 3}
    assert {name: {lam for _, lam, _ in doubt.cells} for name, doubt in asked.items()} == {
        "first": {1e-4},
        "second": {1e-5},
    }
    assert all(doubt.more > 0 and len(doubt.cells) == 2 for doubt in asked.values())
    # With enough repeats of one of them, only the other one is asked for.
    table = root / "small" / "table-1" / "second" / "runs.csv"
    runs = pd.read_csv(table)
    more = [runs.assign(repeat=runs["repeat"] + 4 * k, id=runs["id"] + f"-{k}") for k in range(20)]
    pd.concat(more).to_csv(table, index=False)
    assert "first" in [planned[doubt.sweep].name for doubt in doubts()]
