"""The verdict names the least median, and claims an order only where intervals are apart."""

from __future__ import annotations

import re
from pathlib import Path

import pandas as pd
import pytest

from svmbench.records.read import read_results
from svmbench.report.tables import build_tables
from svmbench.report.verdict import Verdict, verdicts


@pytest.fixture
def three(make_results, tmp_path, change):
    """Three solvers with the times that a test gives them."""

    def make(repeats: int = 3, **times: tuple[float, ...]) -> Verdict:
        folder = make_results(
            tmp_path / "three",
            repeats=repeats,
            lambdas=(1e-4,),
            labels=tuple(times),
            datasets=(("adult", False),),
        )
        for label, values in times.items():
            for repeat, value in enumerate(values):
                change(
                    folder,
                    f"label == '{label}' and repeat == {repeat}",
                    **{f"seconds_to_{t}": value for t in (0.1, 0.01, 0.001)},
                )
        (verdict,) = verdicts(read_results(folder))
        return verdict

    return make


def first(verdict: Verdict):
    return verdict.problems[0].findings[0]


def test_intervals_apart_are_clear(three):
    verdict = three(dcd=(1, 2, 3), ocas=(4, 5, 6), crawl=(10, 11, 12))
    finding = first(verdict)
    assert (finding.place, finding.leader, finding.clear) == ("ε = 0.1", "dcd", True)
    assert finding.value == "2.0 [1.0, 3.0] s"
    assert finding.remark == "Clear of all others; the next, ocas, takes 2.5 times as long."
    assert verdict.headline == (
        "Least median time to ε = 0.001: dcd at λ = 1e-4, clear of all others."
    )


def test_overlap_is_said_and_no_order_claimed(three):
    verdict = three(dcd=(1, 2, 6), ocas=(5, 7, 8), crawl=(10, 11, 12))
    finding = first(verdict)
    assert not finding.clear
    assert finding.remark == "Interval overlaps with ocas: no order shown."
    assert verdict.headline.endswith("not clear of all others.")


def test_overlap_with_all(three):
    finding = first(three(dcd=(1, 2, 60), ocas=(5, 7, 8), crawl=(10, 11, 12)))
    assert finding.remark == "Interval overlaps with all others: no order shown."


def test_who_does_not_arrive_is_named_with_the_reason(three):
    verdict = three(dcd=(1, 2, 3), crawl=(None, None, 9))
    finding = first(verdict)
    assert finding.clear
    assert finding.remark == "No other arrives in the median."
    (missing,) = verdict.problems[0].missing
    assert missing.replace("\N{NO-BREAK SPACE}", " ") == "crawl: at none of the ε (≥ 60 s, 1 of 3)"


def test_nobody_arrives(three):
    verdict = three(dcd=(None, None, None), ocas=(None, None, None))
    assert first(verdict).leader == ""
    assert "no solver at λ = 1e-4" in verdict.headline
    assert len(verdict.problems[0].missing) >= 1


def test_single_runs_show_no_order(three):
    finding = first(three(repeats=1, dcd=(1,), ocas=(4,)))
    assert not finding.clear
    assert finding.remark == "Single runs show no order; the next, ocas, takes 4 times as long."


def test_one_solver_has_nobody_to_be_clear_of(three):
    finding = first(three(dcd=(1, 2, 3)))
    assert not finding.clear
    assert finding.remark == "The only solver."


def test_leaders_are_the_best_of_the_table(folder):
    results = read_results(folder)
    best = build_tables(results)[0].records.query("best and dataset == 'adult'")
    (verdict, _) = verdicts(results)
    for problem in verdict.problems:
        for finding in problem.findings:
            lam, accuracy = float(problem.lam), float(finding.place.split()[-1])
            rows = best[(best["lambda"] == lam) & (best["accuracy"] == accuracy)]
            assert finding.leader == rows.loc[rows["median_seconds"].idxmin(), "label"]
            assert finding.clear == (len(rows) == 1)


def test_without_accuracies_it_is_the_objective(make_results, tmp_path: Path):
    folder = make_results(
        tmp_path / "r", repeats=3, lambdas=(1e-5,), labels=("dcd", "crawl", "svmperf", "adagrad")
    )
    runs = pd.read_csv(folder / "runs.csv")
    columns = [c for c in runs.columns if re.search(r"_(to|at|above_seconds)_0", c)]
    runs.drop(columns=columns).to_csv(folder / "runs.csv", index=False)
    (verdict, _) = verdicts(read_results(folder))
    assert verdict.headline.startswith("Least median distance from the optimum at the stop: dcd")
    assert set(verdict.problems[0].missing) == {"adagrad: diverged", "svmperf: failed"}
    assert "times as far from the optimum" in first(verdict).remark
