"""The verdict names the least median, and claims an order only where intervals are apart."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from svmbench.records.read import read_results
from svmbench.report.questions import about_leaders
from svmbench.report.tables import build_tables
from svmbench.report.verdict import Leads, answer, verdicts


@pytest.fixture
def three(make_results, tmp_path, change):
    """Three solvers with the times that a test gives them."""

    def make(**times: tuple[float | None, ...]) -> Leads:
        folder = make_results(
            tmp_path / "three",
            repeats=len(next(iter(times.values()))),
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
                    **({"state": "time_limit"} if value is None else {}),
                )
        (found,) = verdicts(read_results(folder))
        return found

    return make


#: Fifteen repeats that scatter by a few percent.
STEADY = np.random.default_rng(1).lognormal(0, 0.03, 15)


def first(found: Leads):
    return found.leads[0]


def test_a_solver_that_is_not_installed_is_no_rival(three, change, tmp_path):
    three(dcd=2 * STEADY, ocas=5 * STEADY[::-1], crawl=(None,) * len(STEADY))
    change(tmp_path / "three", "label == 'crawl'", state="not_installed")
    lead = first(verdicts(read_results(tmp_path / "three"))[0])
    assert (lead.leader, lead.following, lead.clear) == ("dcd", "ocas, 2.5x", True)


def test_where_runs_waited_processor_time_decides(three, change, tmp_path):
    busy = np.where(np.arange(15) % 3 == 1, 5.0, 1.0)  # two of three pairs are calm
    wall = {"dcd": 2 * STEADY * busy, "ocas": 3 * STEADY}
    folder = tmp_path / "three"

    def lead(**processor):
        three(**wall)
        for label, times in processor.items():
            for repeat, time in enumerate(times):
                columns = {f"cpu_seconds_to_{t}": time for t in (0.1, 0.01, 0.001)}
                change(folder, f"label == '{label}' and repeat == {repeat}", threads=1, **columns)
        return first(verdicts(read_results(folder))[0])

    found = lead(dcd=2 * STEADY, ocas=3 * STEADY)
    assert (found.leader, found.clear, found.value[-17:]) == ("dcd", True, "of processor time")
    assert found.ahead.startswith("dcd was 1.5")
    # One that sleeps half of its time is compared by what it takes.
    found = lead(dcd=STEADY, ocas=3 * STEADY)
    assert (found.leader, found.clear, found.value[-2:]) == ("dcd", False, " s")


def test_a_row_without_a_median_does_not_change_what_ranks_the_others(three, change, tmp_path):
    waited = np.where(np.arange(15) % 3 == 1, 1.0, 5.0)
    three(dcd=2 * STEADY * waited, ocas=3 * STEADY, crawl=(20.0, *(None,) * 14))
    folder = tmp_path / "three"
    for label, times in {"dcd": 2 * STEADY, "ocas": 3 * STEADY}.items():
        for repeat, time in enumerate(times):
            columns = {f"cpu_seconds_to_{t}": time for t in (0.1, 0.01, 0.001)}
            change(folder, f"label == '{label}' and repeat == {repeat}", threads=1, **columns)
    results = read_results(folder)
    lead = first(verdicts(results)[0])
    assert (lead.leader, lead.value[-17:]) == ("dcd", "of processor time")
    assert "ocas" not in lead.rivals
    (section,) = build_tables(results)[0].sections
    bold = [row.cells[1].text for row in section.rows if row.cells[2].best]
    assert bold == ["dcd"]


def test_what_the_pairs_show_is_clear(three):
    found = three(dcd=2 * STEADY, ocas=5 * STEADY[::-1], crawl=11 * STEADY)
    lead = first(found)
    assert (lead.place, lead.leader, lead.clear) == ("ε = 0.1", "dcd", True)
    assert lead.value.startswith("2.0")
    assert lead.value.endswith("] s")
    assert answer([found])[1][0][2:] == ("ε = 0.1", "dcd", lead.value, "ocas, 2.5x", "yes")


def test_pairs_show_an_order_where_intervals_overlap(three):
    """What repeats have in common leaves the ratio: the intervals of the medians overlap."""
    blocks = np.resize([1.0, 3.0, 0.4, 2.0, 7.0], 15)
    lead = first(three(dcd=blocks * STEADY, ocas=1.5 * blocks * STEADY[::-1]))
    assert lead.clear


def test_equal_solvers_are_alike_and_no_question_is_left(three, tmp_path):
    near = np.resize([1.01, 0.985, 1.02, 0.99], 20)
    found = three(dcd=(2.0,) * 20, ocas=tuple(2.0 * near))
    lead = first(found)
    assert (lead.clear, lead.settled, lead.rivals) == (False, True, ())
    assert lead.proven == f"alike within 5 %: {lead.following.split(',')[0]}"
    assert about_leaders(tmp_path / "three") == ([], 3)


def test_solvers_that_may_be_farther_apart_are_not_alike(three, tmp_path):
    lead = first(three(dcd=(2.0,) * 20, ocas=tuple(2.0 * np.resize([0.9, 1.1], 20))))
    assert not lead.settled
    assert len(about_leaders(tmp_path / "three")[0]) == 3


def test_few_repeats_claim_no_order(three):
    found = three(dcd=(2, 2.4, 2.2), ocas=(5, 6, 5.5), crawl=(10, 11, 12))
    lead = first(found)
    assert (lead.leader, lead.clear) == ("dcd", False)
    assert answer([found])[1][0][-1] == lead.proven == "against none yet"


def test_the_rivals_are_named(three):
    far = np.resize([1.15, 0.87], 15)
    lead = first(three(dcd=2 * STEADY, ocas=2 * far * STEADY, crawl=11 * STEADY))
    assert not lead.clear
    assert lead.proven == "not against ocas"


def test_who_does_not_reach_it_is_named_with_the_reason(three):
    found = three(dcd=2 * STEADY, crawl=(None,) * 14 + (9,))
    lead = first(found)
    assert lead.clear
    assert (lead.proven, lead.following) == ("yes", "crawl, not reached")
    (missing,) = found.missing
    assert missing.replace("\N{NO-BREAK SPACE}", " ") == "crawl: at none of the ε (≥ 60 s, 1 of 15)"


def test_a_limit_below_the_leaders_time_shows_no_order(three, change, tmp_path):
    """The limit of ocas, relative to the best time so far, was shorter than what dcd had taken."""
    three(dcd=20 * STEADY, ocas=(None,) * len(STEADY))
    for limit, clear in ((10.0, False), (60.0, True)):
        change(tmp_path / "three", "label == 'ocas'", limit_seconds=limit, train_seconds=limit)
        lead = first(verdicts(read_results(tmp_path / "three"))[0])
        assert (lead.leader, lead.clear) == ("dcd", clear)


def test_disturbed_runs_stand_beside_the_lead_they_concern(make_results, tmp_path, change):
    folder = make_results(
        tmp_path / "r", repeats=3, labels=("dcd", "ocas"), datasets=(("adult", False),)
    )
    calm, disturbed = 0, 999
    change(folder, involuntary_switches=calm)
    change(
        folder, "label == 'dcd' and repeat > 0 and `lambda` < 5e-5", involuntary_switches=disturbed
    )
    found = verdicts(read_results(folder))
    assert [problem.disturbed for problem in found] == ["", "dcd 2 of 3"]


def test_nobody_reaches_it(three):
    found = three(dcd=(None, None, None), ocas=(None, None, None))
    assert first(found).leader == ""
    assert answer([found])[1][0][3] == "nobody"
    assert len(found.missing) >= 1


@pytest.mark.parametrize(
    ("others", "proof"),
    [
        ({"ocas": (None,) * 3}, "yes; ocas did not arrive"),
        (
            {"ocas": (None,) * 3, "crawl": (2.3, 2.5, 2.2)},
            "not against crawl; ocas did not arrive",
        ),
        ({"ocas": (None, 9, None)}, "not against ocas"),
    ],
)
def test_who_never_arrives_is_said_to_and_blocks_no_answer(three, tmp_path, others, proof):
    lead = first(three(dcd=(2, 2.4, 2.2), **others))
    assert (lead.leader, lead.clear) == ("dcd", proof.startswith("yes"))
    assert lead.proven == proof
    bold = build_tables(read_results(tmp_path / "three"))[0].records.query("best")
    assert ("dcd" in set(bold["label"])) == ("arrive" in proof)


def test_clear_is_who_alone_is_bold(make_results, tmp_path):
    folder = make_results(tmp_path / "r", repeats=12)
    runs = pd.read_csv(folder / "runs.csv")
    place = (runs["dataset"] == "adult") & (runs["lambda"] == 1e-4)
    least = runs[place].groupby("label")["seconds_to_0.1"].median().idxmin()
    rival = "ocas" if least != "ocas" else "dcd"
    times = runs.loc[place & (runs["label"] == least), "seconds_to_0.1"].to_numpy()
    runs.loc[place & (runs["label"] == rival), "seconds_to_0.1"] = times[::-1]
    runs.to_csv(folder / "runs.csv", index=False)
    results = read_results(folder)
    best = build_tables(results)[0].records.query("best and dataset == 'adult'")
    clear = []
    for problem in verdicts(results):
        if problem.heading != "adult":
            continue
        for lead in problem.leads:
            lam, accuracy = float(problem.lam), float(lead.place.split()[-1])
            rows = best[(best["lambda"] == lam) & (best["accuracy"] == accuracy)]
            assert lead.leader == rows.loc[rows["median_seconds"].idxmin(), "label"]
            assert lead.clear == (len(rows) == 1)
            clear.append(lead.clear)
    assert {*clear} == {True, False}


def test_without_accuracies_it_is_the_objective(make_results, tmp_path: Path):
    folder = make_results(
        tmp_path / "r", repeats=3, lambdas=(1e-5,), labels=("dcd", "crawl", "svmperf", "adagrad")
    )
    runs = pd.read_csv(folder / "runs.csv")
    columns = [c for c in runs.columns if re.search(r"_(to|at|above_seconds)_0", c)]
    runs.drop(columns=columns).to_csv(folder / "runs.csv", index=False)
    (found, _) = verdicts(read_results(folder))
    assert answer([found])[0][3:5] == ("closest", "median distance [interval]")
    assert set(found.missing) == {"adagrad: diverged", "svmperf: failed"}
