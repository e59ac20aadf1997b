"""Profiles: their shares against a recount of runs.csv, and their files."""

from __future__ import annotations

import math
from dataclasses import replace
from io import BytesIO

import pandas as pd
import pytest

from svmbench.records.read import read_results
from svmbench.report.profiles import UNITS, cases_of, draw_profile, profile, write_profile_table

LABELS = ("dcd", "sgd-s", "crawl")


def write_profiles(results):
    return [*write_profile_table(results), *draw_profile(results)]


@pytest.fixture(scope="module")
def few(make_results, tmp_path_factory):
    """Three labels, one of which is often too slow, on four λ and data sets."""
    folder = tmp_path_factory.mktemp("profiles") / "few"
    return make_results(folder, repeats=3, labels=LABELS)


@pytest.fixture(scope="module")
def written(few):
    """The files of its profiles, and what they hold."""
    return {path: path.read_bytes() for path in write_profiles(read_results(few))}


def medians(folder, unit):
    """By problem, then label: the median over the repeats, counted anew."""
    runs = pd.read_csv(folder / "runs.csv")
    found = {}
    for (dataset, lam, label), rows in runs.groupby(["dataset", "lambda", "label"]):
        for accuracy in (0.1, 0.01, 0.001):
            times = rows[f"{unit}_to_{accuracy}"].fillna(math.inf)
            found.setdefault((dataset, lam, accuracy), {})[label] = sorted(times)[len(times) // 2]
    return found


def share(curve, x):
    """Height of a step function."""
    return max((s for v, s in zip(*curve, strict=True) if v <= x * (1 + 1e-12)), default=0.0)


@pytest.mark.parametrize("unit", ["seconds", "epochs"])
def test_performance_profile_is_the_share_within_a_factor_of_the_best(few, unit):
    curves = profile(cases_of(read_results(few)), unit)
    problems = medians(few, unit)
    assert set(curves) == set(LABELS)
    for label, curve in curves.items():
        for factor in (1.0, 1.5, 2.0, 5.0, 30.0, 1e9):
            within = [
                math.isfinite(times[label]) and times[label] <= factor * min(times.values())
                for times in problems.values()
            ]
            assert share(curve, factor) == pytest.approx(sum(within) / len(problems))
    assert sum(share(curve, 1.0) for curve in curves.values()) >= 1.0


def test_only_problems_count_that_every_label_has_runs_for(few):
    results = read_results(few)
    gone = (results.runs["label"] == "dcd") & (results.runs["lambda"] == 1e-5)
    thinned = replace(results, runs=results.runs[~gone].reset_index(drop=True))
    kept = results.runs["lambda"] != 1e-5
    without = replace(results, runs=results.runs[kept].reset_index(drop=True))
    thin, bare, whole = (profile(cases_of(each), "epochs") for each in (thinned, without, results))
    assert thin == bare
    assert thin != whole


def test_files_are_written_and_the_table_holds_the_curves(few, written):
    results = read_results(few)
    assert {str(path.relative_to(few)) for path in written} == {
        "tables/profiles.csv",
        "plots/profile-performance.png",
    }
    assert all(written.values())
    table = pd.read_csv(BytesIO(written[few / "tables" / "profiles.csv"]))
    for unit in UNITS:
        for label, (values, shares) in profile(cases_of(results), unit).items():
            rows = table[
                (table["profile"] == "performance")
                & (table["unit"] == unit)
                & (table["label"] == label)
            ]
            assert rows["value"].tolist() == values
            assert rows["share"].tolist() == shares
    assert {path: path.read_bytes() for path in write_profiles(results)} == written


@pytest.mark.parametrize(
    "changes",
    [{"labels": ("dcd",)}, {"lambdas": (1e-4,), "datasets": (("adult", False),)}],
    ids=["one label", "one data set and λ"],
)
def test_nothing_is_drawn_where_runs_of_one_problem_would_be_counted(
    make_results, tmp_path, changes
):
    folder = make_results(tmp_path / "little", repeats=1, **{"labels": LABELS} | changes)
    assert write_profiles(read_results(folder)) == []
    assert not (folder / "plots").exists()


def test_what_is_drawn_no_more_is_removed(make_results, tmp_path):
    folder = make_results(tmp_path / "shrunk", repeats=1, labels=LABELS)
    results = read_results(folder)
    assert len(write_profiles(results)) == 2
    other = folder / "plots" / "profile-mine.png"
    other.write_text("mine")
    one = results.runs[(results.runs["lambda"] == 1e-4) & (results.runs["dataset"] == "adult")]
    assert write_profiles(replace(results, runs=one.reset_index(drop=True))) == []
    assert list((folder / "plots").iterdir()) == [other]
    assert not (folder / "tables" / "profiles.csv").exists()


def test_a_sweep_in_which_nothing_is_reached_is_drawn_all_the_same(make_results, tmp_path):
    results = read_results(make_results(tmp_path / "vain", repeats=1, labels=LABELS))
    for column in results.runs.columns:
        if "_to_" in column:
            results.runs[column] = math.nan
    for unit in UNITS:
        curves = profile(cases_of(results), unit)
        assert set(curves) == set(LABELS)
        assert all(curve == ([], []) for curve in curves.values())
    assert len(write_profiles(results)) == 2
