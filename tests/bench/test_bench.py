"""`svmbench bench` from nothing to the page, its plan, and what it says of bad profiles."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest
from click.testing import CliRunner

from svmbench.bench import champion
from svmbench.bench.profile import load_profile, profiles
from svmbench.cli import main

PROFILE = """\
version: 1
name: tiny
title: A tiny benchmark
sets:
  - {data: tiny-sparse, tuned: true}
  - {data: tiny-dense, held_out: true}
sweeps:
  oracle: {lambda: 1e-2, accuracy: [1e-1, 1e-2], solvers: [champion, sgd-s], repeats: 2,
           max_epochs: 300, time_limit: 10s}
"""


@pytest.fixture
def bench(tmp_path, monkeypatch):
    """Call ``svmbench bench`` in a folder of its own; returns its result."""
    (tmp_path / "tiny.yaml").write_text(PROFILE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SVMBENCH_MIRROR", raising=False)
    # Which solver is the champion of the day is not looked at here.
    monkeypatch.setattr(champion, "CHAMPION", "dcd")

    def call(*arguments):
        return CliRunner().invoke(main, ["bench", *arguments])

    return call


def test_from_nothing_to_the_page_and_again(bench, tmp_path):
    first = bench("tiny.yaml")
    assert first.exit_code == 0, first.output
    root = tmp_path / "results" / "bench" / "tiny"
    # 2 sets x 2 solvers x 2 repeats
    assert "8 new runs, 0 reused" in first.stdout
    page = (root / "index.html").read_text()
    for heading in (
        "Who is fastest where",
        "Notices",
        "kept out of tuning",
    ):
        assert heading in page
    assert set(re.findall(r'src="([^:]*):', page)) <= {"data"}  # it needs nothing but itself
    places = [page.index(f'<section id="{name}">') for name in ("fastest", "environment")]
    assert places == sorted(places)
    fastest = pd.read_csv(root / "tables" / "fastest.csv")
    assert len(fastest) == 2 * 2 * 2  # sets, accuracies, solvers
    assert set(fastest["solver"]) == {"dcd", "sgd-s"}
    least = fastest.groupby(["set", "accuracy"])["median_seconds"].min()
    assert page[page.index('id="fastest-1"') :].split("</table>")[0].count("<b>") == len(least)
    assert (fastest["reached"] == 2).all()
    second = bench("tiny.yaml")
    assert "0 new runs, 8 reused" in second.stdout


DOUBTFUL = """\
version: 1
name: doubtful
title: One comparison
sets: [tiny-dense]
sweeps:
  oracle: {lambda: 1e-2, accuracy: 1e-1, solvers: [champion, {name: liblinear, tolerance: 1e-4}],
           repeats: {at_least: 1, until: decided, at_most: 20}, time_limit: 10s}
"""


def test_an_open_comparison_gets_repeats_until_it_is_decided(bench, tmp_path):
    (tmp_path / "doubtful.yaml").write_text(DOUBTFUL)
    result = bench("doubtful.yaml")
    assert result.exit_code == 0, result.output
    root = tmp_path / "results" / "bench" / "doubtful"
    (ahead,) = pd.read_csv(root / "tables" / "ahead.csv").itertuples()
    if 1 < ahead.pairs < 20:
        assert ahead.standing in ("champion ahead", "peer ahead")
        assert not ahead.ratio_low < 1.0 < ahead.ratio_high
        assert ahead.ratio_high <= 2.0 * ahead.ratio_low  # its number may be quoted
    else:  # a noisy machine
        assert ahead.pairs == 20
    fastest = pd.read_csv(root / "tables" / "fastest.csv")
    assert set(fastest["runs"]) == {ahead.pairs}
    again = bench("doubtful.yaml")
    if ahead.pairs < 20:
        assert "0 new runs" in again.stdout
    (told,) = json.loads(bench("doubtful.yaml", "--report-only", "--json").stdout)["cases"]
    assert told["set"] == ahead.set


def test_report_only_makes_no_runs(bench, tmp_path):
    assert bench("tiny.yaml", "--report-only", "--quiet").output == ""
    root = tmp_path / "results" / "bench" / "tiny"
    assert "Not run yet: oracle on tiny-sparse" in (root / "index.html").read_text()
    assert not (root / "sweeps").exists()


def test_a_dry_run_leaves_nothing(bench, tmp_path):
    plan = bench("tiny.yaml", "--dry-run", "--budget", "90s")
    assert plan.exit_code == 0, plan.output
    assert "tiny-dense: the set itself; kept out of tuning" in plan.stdout
    assert "sweep oracle: 4 cells, 8 runs: 8 missing, 0 reused" in plan.stdout
    assert re.search(r"in all at most \d+ min if every limit is hit", plan.stdout)
    assert "the budget ends it after 90 s" in plan.stdout
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("tuned: true", "tune: true"), "unknown key 'tune'; did you mean 'tuned'?"),
        (("{data: tiny-sparse,", "{data: tiny-spare,"), "did you mean 'tiny-sparse'?"),
        (("sgd-s], repeats: 2,", "sdg-s], repeats: 2,"), "unknown solver 'sdg-s'"),
    ],
)
def test_a_profile_that_is_wrong_is_one_line(bench, tmp_path, change, said):
    (tmp_path / "tiny.yaml").write_text(PROFILE.replace(*change))
    result = bench("tiny.yaml")
    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize("name", profiles())
def test_every_profile_that_comes_with_svmbench_makes_sweeps(name):
    profile = load_profile(name)
    for key, part in profile.sweeps.items():
        for each in profile.chosen(part.sets):
            assert profile.sweep(key, each).datasets == (each.data,)
