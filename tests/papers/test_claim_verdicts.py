"""What claims must not conclude: from crashes, single runs, missing runs and too few data sets."""

from __future__ import annotations

import csv
import math
from dataclasses import replace
from pathlib import Path

import pytest
from claims_support import INF, MANY, claim, found, noisy, row, sweep, widens
from pydantic import ValidationError

from svmbench.claims.empty import check_claims
from svmbench.claims.judge import judge_claims
from svmbench.errors import ConfigError
from svmbench.papers.model import papers

PUBLISHED = Path("configs/papers/sgd-revisited/published.tsv")
AT = {"lambda": 1e-3}


def both(factor, dataset="adult", **noise):
    """Rows of a and b on a data set, b's time being a multiple of a's."""
    return [
        row("a", noisy(2.0, **noise), dataset=dataset),
        row("b", noisy(2.0 * factor, **(noise | {"seed": 7})), dataset=dataset),
    ]


# --- crashes and single runs -------------------------------------------------------


@pytest.mark.parametrize("state", ["failed", "out_of_memory"])
@pytest.mark.parametrize(
    ("measure", "bound"),
    [
        ("accuracy", {"at_least": 0.5}),
        ("test_accuracy", {"at_most": 0.9}),
        ({"epochs": 0.01}, {"at_least": 5}),
    ],
)
def test_a_crash_proves_no_bad_value(state, measure, bound):
    crashed = row("a", [INF] * MANY, state=state, accuracy=math.nan, test_error=math.nan)
    result = found(claim("reaches", solvers=["a"], measure=measure, **bound), crashed)
    assert result.verdict == "open"
    assert state in result.summary


def test_a_crash_still_counts_against_a_claim_of_a_good_value():
    crashed = row("a", [INF] * MANY, state="failed", accuracy=math.nan)
    wanted = claim("reaches", solvers=["a"], measure="accuracy", at_most=0.5)
    assert found(wanted, crashed).verdict == "does not hold"


def test_one_limited_run_that_reached_the_accuracy_does_not_prove_that_most_do():
    limited = row("a", [1.0, INF, INF], state=["time_limit", "skipped", "skipped"])
    result = found(claim("reaches", solvers=["a"]), limited)
    assert result.verdict == "open"
    assert "1 of 1 reach" in result.summary


def test_runs_that_were_skipped_do_not_show_that_weights_stay_finite():
    ends = ["diverged", "diverged", "time_limit", *["skipped"] * MANY]
    result = found(claim("fails", how="not-finite"), row("a", [INF] * len(ends), state=ends))
    assert f"2 of 3 not finite, {MANY} skipped" in result.summary
    assert result.verdict == "open"


def test_copies_of_one_limited_run_are_no_evidence():
    limited = row("a", [INF] * MANY, state=["time_limit", *["skipped"] * (MANY - 1)])
    result = found(claim("reaches", solvers=["a"]), limited)
    assert result.verdict == "does not hold"
    (part,) = result.cases[0].parts
    assert len(part.part.question.logs) == 1


# --- cases -------------------------------------------------------------------------


def test_a_run_killed_before_its_first_checkpoint_had_spent_its_limit():
    killed = row("b", [INF] * MANY, train_seconds=0.01)
    assert found(claim(by=20.0), row("a", noisy(1.0)), killed).verdict == "holds"
    assert found(claim(by=40.0), row("a", noisy(1.0)), killed).verdict == "open"


def test_a_statistical_claim_does_not_hold_if_the_test_shows_no_difference():
    factors = (3.0, 0.3, 2.0, 0.5, 1.5, 0.7, 4.0, 0.2)
    rows = [each for k, f in enumerate(factors) for each in both(f, f"set {k}", n=3, seed=k)]
    result = found(claim(across="datasets"), *rows)
    assert (result.verdict, result.across.verdict) == ("does not hold", "open")
    assert "(signed ranks): no difference is shown" in result.summary
    assert result.verdict_words == "does not hold (no difference shown)"
    reverse = found(
        claim(across="datasets"),
        *[each for k in range(8) for each in both(0.3, f"set {k}", n=3, seed=k)],
    )
    assert (reverse.verdict, reverse.across.verdict) == ("does not hold", "below")
    assert "no difference" not in reverse.summary


@pytest.mark.parametrize(
    ("published", "verdict", "words"),
    [
        ([1.1, 0.9, 1.2, 0.8, 1.3, 0.7, 1.4, 0.6], "not shown there", "do not show it either"),
        ([0.5] * 8, "not shown there", "do not show it either (p = 0.0078)"),
        ([3.0] * 8, "does not hold", "show it (p = 0.0078)"),
        ([3.0] * 7, "does not hold", "no difference is shown; "),  # one number is not known
    ],
)
def test_what_the_papers_own_numbers_do_not_show_is_a_finding(published, verdict, words):
    factors = (3.0, 0.3, 2.0, 0.5, 1.5, 0.7, 4.0, 0.2)
    rows = [each for k, f in enumerate(factors) for each in both(f, f"set {k}", n=3, seed=k)]
    numbers = {f"set {k}": factor for k, factor in enumerate(published)}
    quoting = claim(across="datasets").model_copy(update={"quoted": numbers})
    result = found(quoting, *rows)
    assert result.verdict == verdict
    assert words in result.summary
    # Our sets may be too few for the test; the paper's own table is known all the same.
    few = found(quoting, *rows[:4])
    assert few.verdict == ("not shown there" if verdict == "not shown there" else "not testable")
    # What our own times show needs no support from the paper's.
    ours = [each for k in range(8) for each in both(3.0, f"set {k}", n=3, seed=k)]
    assert found(quoting, *ours).verdict == "holds"


def test_published_numbers_of_a_statistical_claim_are_ratios_by_data_set():
    item = papers(None)["sgd-revisited"].items["tables-4-5"]
    quoted = next(each for each in item.claims if "slower than OCAS" in each.text).quoted
    with PUBLISHED.open() as file:
        table = {
            (row["C"], row["dataset"], row["solver"]): row["seconds"]
            for row in csv.DictReader(file, delimiter="\t")
        }
    assert len(quoted) == 9
    for dataset, ratio in quoted.items():
        slower, faster = (float(table["10", dataset, name]) for name in ("sgd-m", "ocas"))
        assert ratio == pytest.approx(slower / faster)


def test_a_claim_on_many_rows_is_not_tested_on_fewer():
    rows = [*both(3.0), *both(0.3, "news20")]
    m = int(rows[0].group.runs["m"].iloc[0])
    least = claim(least_rows={"adult": m, "news20": m + 1})
    result = found(least, *rows)
    assert (result.verdict, [case.verdict for case in result.cases]) == (
        "holds", ["holds", "not testable"],
    )  # fmt: skip
    assert f"rows: {m:,}, and the paper makes the claim on {m + 1:,}" in result.cases[1].text
    assert result.open_parts == result.spare_parts == []
    assert found(claim(), *rows).verdict == "holds in k of n"


def test_a_statistical_claim_has_three_pairs_of_each_data_set_before_it_is_judged():
    def rows(n):
        others = [each for k in range(7) for each in both(3.0, f"set {k}", n=3, seed=k)]
        return others + both(3.0, "the last", n=n)

    result = found(claim(across="datasets"), *rows(1))
    assert result.verdict == "open"
    assert [(part.more, part.pairs) for part in result.open_parts] == [(2, 1)]
    assert result.remedy.startswith("It would take about 2 more repeats (about")
    assert found(claim(across="datasets"), *rows(3)).verdict == "holds"


# --- which cases are worth repeats ---------------------------------------------------


def test_a_data_set_whose_bounds_do_not_tell_the_sign_keeps_a_statistical_claim_open():
    # Where a meets a limit of epochs after a second, it may take less than b's 5 seconds or more.
    sets = [f"set-{n}" for n in range(8)]
    rows = [row("b", [5.0] * 3, dataset=name) for name in sets]
    rows += [row("a", [1.0] * 3, dataset=name) for name in sets[1:]]
    limited = {"state": "max_steps", "dataset": sets[0]}
    for spent, verdict in ((1.0, "open"), (6.0, "holds")):
        unknown = row("a", [INF] * 3, train_seconds=spent, **limited)
        result = found(claim(across="datasets"), *rows, unknown)
        assert (result.verdict, result.across.data_sets) == (verdict, 7 + (verdict == "holds"))


@pytest.mark.parametrize(("measure", "pairs"), [("seconds", 0), ("epochs", MANY)])
def test_runs_of_different_days_make_no_pairs_where_the_machine_matters(measure, pairs):
    days = [[f"2026-11-{day:02d}T10:00:{second:02d}" for second in range(MANY)] for day in (1, 2)]
    rows = [
        row(label, noisy(factor, seed=factor), started=day)
        for label, factor, day in zip("ab", (1, 3), days, strict=True)
    ]
    result = found(claim(measure={measure: 0.01}), *rows)
    assert result.cases[0].parts[0].pairs == pairs
    assert result.verdict == ("holds" if pairs else "open")


def test_a_statistical_claim_does_not_raise_the_evidence_that_others_need():
    rows = [row("a", noisy(1.0)), row("b", noisy(2.0, seed=1))]
    alone, beside = (
        judge_claims([([claim(), *more], rows)])[0][0].cases[0].parts[0].answer.threshold
        for more in ([], [claim(across="datasets", text=str(n)) for n in range(9)])
    )
    assert alone == beside == 2 / 0.05


@pytest.mark.parametrize(
    ("cases", "factors", "verdict", "open_parts", "spare_parts"),
    [
        ("all", (3.0, 0.2), "holds in k of n", 0, 2),
        ("all", (0.2,), "does not hold", 2, 0),  # it may still hold in 2 of 3
        ("any", (3.0, 0.2), "holds", 0, 2),
        ("most", (3.0, 3.0, 3.0), "holds", 0, 2),
        ("most", (3.0, 0.2), "open", 2, 0),
    ],
)
def test_cases_that_may_change_the_verdict_come_before_those_that_are_only_counted(
    cases, factors, verdict, open_parts, spare_parts
):
    decided = [each for at, f in enumerate(factors) for each in both(f, f"set {at}")]
    undecided = [each for k in range(2) for each in both(1.0, f"open {k}", sigma=0.3)]
    result = found(claim(cases=cases), *decided, *undecided)
    assert result.verdict == verdict
    assert (len(result.open_parts), len(result.spare_parts)) == (open_parts, spare_parts)


# --- paths and growth --------------------------------------------------------------


def stopping(label, at, last):
    """Runs that meet their target after some epochs."""
    made = row(label, noisy(at), epochs=at, traces=lambda e, r: last if e >= at else 1.0)
    return replace(made, traces=made.traces[made.traces["epochs"] <= at])


def test_a_path_ends_where_both_have_met_their_target():
    a, b = stopping("a", 1.0, 0.0099), stopping("b", 5.0, 0.0090)
    result = found(claim("path", between=[1.0, 10.0]), a, b)
    assert result.verdict == "holds"
    assert "at 10 epochs: both had met their target" in result.summary
    after = found(claim("path", between=[6.0, 10.0]), a, b)
    assert after.verdict == "not testable"


def test_the_abscissae_that_can_be_tested_decide():
    a = row("a", noisy(), traces=lambda epoch, repeat: 1.0)
    b = row("b", noisy(), traces=lambda epoch, repeat: 3.0)
    result = found(claim("path", between=[0.01, 5.0]), a, b)
    assert result.verdict == "holds"
    assert "no curve has a point before 0.01 epochs" in result.summary
    limited = [row(label, [INF] * MANY, traces=lambda e, r: 1.0) for label in "ab"]
    ended = found(claim("path", between=[20.0, 40.0]), *limited)
    assert ended.verdict == "not testable"
    assert "a limit ended the runs before 20 epochs" in ended.summary


def test_the_neighbours_that_can_be_tested_decide_an_order():
    rows = [row("a", noisy()), row("b", noisy(3.0))]
    rows += [row(label, [INF] * MANY) for label in "cd"]
    result = found(claim("order", solvers=["a", "b", "c", "d"]), *rows)
    assert result.verdict == "holds"
    assert "d / c: neither reaches 0.01" in result.summary


# --- empty claims ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("ratio", {"over": "a"}),
        ("order", {"solvers": ["a", "b", "a"]}),
        ("path", {"over": "a", "between": [1, 5]}),
    ],
)
def test_a_solver_is_not_compared_with_itself(kind, keys):
    with pytest.raises(ValidationError, match="with itself"):
        claim(kind, **keys)


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        (claim(over="c"), "no sweep runs 'c'"),
        (widens(along="lambda", between=[1e-3, 1]), "at λ = 1; correct 'between'"),
        (widens(between=[1, 10]), "at C = 1; correct 'between'"),
        (claim(where={"dataset": "adlut"}), "no sweep has the data set 'adlut'"),
        (claim(where={"sweep": "bsae"}), "there is no sweep 'bsae'"),
        (
            claim(over="a", over_dataset="w8a", where={"dataset": "adult"}),
            "no sweep has the data set 'w8a'",
        ),
    ],
)
def test_names_that_no_sweep_has_are_refused(wanted, message):
    check_claims(Path("table.yaml"), [claim()], {"base": sweep(**AT)})
    with pytest.raises(ConfigError, match=message):
        check_claims(Path("table.yaml"), [wanted], {"base": sweep(**AT)})


@pytest.mark.parametrize("at", [1e-1, 1e-2])
def test_a_sweep_that_runs_until_a_tighter_accuracy_is_refused(at):
    wanted = claim("reaches", solvers=["a"], measure={"epochs": at})
    endless = sweep(**AT, stop={"accuracy": [1e-1, 1e-2]})
    with pytest.raises(ConfigError, match=r"runs until the accuracy 0\.01 is reached"):
        check_claims(Path("table.yaml"), [wanted], {"base": endless})


# --- cases that were not run -------------------------------------------------------


def planned(datasets, labels="ab", sweep="base", **axis):
    axis = axis or {"lambda": 1e-3}
    return [
        {"sweep": sweep, "dataset": dataset, "solver": label, **axis}
        for dataset in datasets
        for label in labels
    ]


def judged(wanted, rows, slots):
    ((result,),) = judge_claims([([wanted], rows)], [slots])
    return result


def test_a_data_set_that_was_not_run_is_open():
    rows = both(3.0, "adult")
    assert judged(claim(), rows, planned(["adult"])).verdict == "holds"
    result = judged(claim(), rows, planned(["adult", "w8a"]))
    assert result.verdict == "open"
    assert [case.place for case in result.cases] == ["adult, λ = 1e-3", "w8a, λ = 1e-3"]
    assert "no runs of a, b" in result.cases[1].text
    assert result.remedy == "It would take runs that are still missing in 1 of 2 cases."
    assert result.open_parts[0].answer is None or not result.open_parts[0].pairs
    # Outside the place of the claim nothing is missing.
    here = claim(where={"dataset": "adult"})
    assert judged(here, rows, planned(["adult", "w8a"])).verdict == "holds"


def test_cases_planned_by_c_are_found_by_it():
    assert judged(claim(), both(3.0), planned(["adult"], C=1.0)).verdict == "holds"
    apart = judged(claim(), both(3.0), planned(["adult"], C=0.1))
    assert [case.place for case in apart.cases][1] == "adult, C = 0.1"


@pytest.mark.parametrize(
    ("wanted", "rows"),
    [
        (claim(), both(3.0)),
        (claim("order", solvers=["a", "b"]), both(3.0)),
        (claim("path", between=[0.5, 5.0]), both(3.0)),
        (claim("reaches", solvers=["a", "b"]), both(3.0)),
        (claim("reaches", solvers=["a"], measure="primal", at_least=0.1, at_most=0.5), both(3.0)),
        (claim("fails", how="not-finite"), both(3.0)),
        (claim("grows", at_most=1.0), both(3.0)),
    ],
)
def test_a_case_asks_as_many_questions_before_its_runs_as_after(wanted, rows):
    def questions(result):
        return sum(part.part.question is not None for case in result.cases for part in case.parts)

    slots = planned(["adult"])
    before, after = judged(wanted, [], slots), judged(wanted, rows, slots)
    assert before.verdict == "open"
    assert questions(before) == questions(after) > 0


def test_a_spread_compares_runs_of_one_repeat_in_whatever_order_they_were_made():
    """c's repeats were made last first; in each repeat it takes as long as a."""
    times = [1.0, 2.0, 4.0] * 3
    made = [f"2026-01-01T00:{minute:02}:00" for minute in range(len(times))]
    rows = [
        row("a", times, started=made), row("b", times, started=made),
        row("c", times, started=made[::-1]),
    ]  # fmt: skip
    result = found(claim(spread=["a", "b", "c"], measure={"epochs": 0.01}, by=1.5), *rows)
    assert result.summary == "largest / smallest = 1.000 [1.000, 1.000]"


def test_a_change_asks_for_each_value_of_lambda_apart():
    rows = [row(label, noisy(3), lam=lam) for label in "ab" for lam in (1e-3, 1e-4)]
    result = found(claim(along="lambda", between=[1e-4, 1e-3], by=1.2), *rows)
    ((part,),) = [case.parts for case in result.cases]
    assert [{cell[2] for cell in cells} for cells in part.cells_of] == [{1e-4}, {1e-3}]
