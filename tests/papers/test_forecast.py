"""The expected time of the papers' sweeps at full size, from the runs that there are."""

from __future__ import annotations

import math

import pandas as pd
import pytest
from small_paper import TABLE, write_small_paper

from svmbench.errors import ConfigError
from svmbench.harness.crew import START
from svmbench.papers.forecast import PAIRS, forecasts
from svmbench.papers.model import papers
from svmbench.papers.plan import choose, planned_sweeps

ITEM = (
    TABLE
    + """\
sweeps:
  wide:
    datasets: [{name: webspam.unigram, label: webspam}]
    C: 1
    solvers: [dcd, sgd-s, sgd-m]
    stop: {accuracy: [1e-2], max_epochs: 100, time_limit: 3s}
full:
  wide: {stop: {max_epochs: 200, time_limit: 60s, relative_limit: 10}}
published:
  - source: Table 1
    mark: read
    values:
      - {dataset: webspam, solver: sgd-m, C: 1, measure: {data_passes: 1e-2}, value: 8}
claims:
  - {text: One is faster., source: Table 1, kind: faster, solver: dcd, over: sgd-s,
     measure: {seconds: 1e-2}}
"""
)
ROWS = 350_000  # of webspam


@pytest.fixture
def expected(tmp_path, monkeypatch):
    """The forecast of the sweep from rows of runs.csv of the full and of the quick form."""
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("SVMBENCH_MIRROR", raising=False)
    known = papers(write_small_paper(tmp_path / "papers", table_1=ITEM))

    def write(form, runs):
        folder = tmp_path / form / "small" / "table-1" / "wide"
        folder.mkdir(parents=True, exist_ok=True)
        pd.DataFrame(runs).to_csv(folder / "runs.csv", index=False)

    def forecast(full=(), quick=()):
        for form, runs in (("full", full), ("quick", quick)):
            if runs:
                write(form, runs)
        planned = planned_sweeps(known, choose(known, []), tmp_path / "full", full=True)
        (found,) = forecasts(planned, known, tmp_path / "quick")
        return found

    return forecast


def run(label, seconds, repeat=0, state="converged", m=ROWS // 10, passes=4, max_epochs=100):
    return {
        "dataset": "webspam", "solver": label, "label": label, "lambda": 1.0 / m, "C": 1.0,
        "repeat": repeat, "state": state, "m": m, "nnz": 85 * m, "elapsed_seconds": seconds,
        "train_seconds": seconds, "data_passes": passes, "max_epochs": max_epochs,
    }  # fmt: skip


def test_nothing_known_counts_with_the_limits(expected):
    found = expected()
    assert found.bases == {"limit": 3}
    assert found.first == pytest.approx(3 * (60 + START))


def test_runs_of_the_quick_form_are_scaled_to_the_rows_and_the_published_passes(expected):
    found = expected(quick=[run("dcd", 0.2), run("sgd-s", 0.3), run("sgd-m", 0.1)])
    assert found.bases == {"quick": 3}
    # Ten times the rows; sgd-m also with 8 passes for 4.
    assert found.first == pytest.approx(2 + 3 + 2 + 3 * START)


def test_repeats_are_those_that_pairs_take_or_those_that_the_quick_form_had(expected):
    many = [run("sgd-m", 0.1, repeat) for repeat in range(3)]
    found = expected(quick=[run("dcd", 0.2), run("sgd-s", 0.3), *many])
    assert found.total == pytest.approx(PAIRS * (2 + START) + PAIRS * (3 + START) + 3 * (2 + START))


def test_own_runs_go_before_and_are_not_made_again(expected):
    quick = [run("dcd", 0.2), run("sgd-s", 0.3), run("sgd-m", 0.1)]
    found = expected([run("dcd", 7.0, m=ROWS, max_epochs=200)], quick)
    assert found.bases == {"full": 1, "quick": 2}
    assert found.first == pytest.approx(3 + 2 + 2 * START)
    assert found.total == pytest.approx(
        (PAIRS - 1) * (7 + START) + PAIRS * (3 + START) + 1 * (2 + START)
    )


def test_a_limit_that_the_quick_form_met_says_nothing_about_the_full_one(expected):
    quick = [run("dcd", 0.2), run("sgd-s", 3.0, state="time_limit"), run("sgd-m", 0.1)]
    found = expected(quick=quick)
    assert found.bases == {"quick": 2, "limit": 1}
    # With 1/2 one certain other of equal speed ran before, with 1/6 the second, else none did.
    assert found.first == pytest.approx(2 + 2 + (2 / 3 * 20 + 1 / 3 * 60) + 3 * START)


def test_a_run_that_its_epochs_ended_goes_on_for_more(expected):
    ended = run("sgd-s", 0.3, state="max_steps", passes=100)
    found = expected(quick=[run("dcd", 0.2), ended, run("sgd-m", 0.1)])
    assert found.first == pytest.approx(2 + 2 * 3 + 2 + 3 * START)


def test_published_passes_need_the_speed_of_the_solver_only(expected):
    other = {**run("sgd-m", 0.1), "dataset": "another"}
    found = expected(quick=[run("dcd", 0.2), run("sgd-s", 0.3), other])
    assert found.bases == {"quick": 2, "passes": 1}
    # 8 passes for 4 over the full stand-in, whose rows have about 85 entries.
    assert found.first == pytest.approx(2 + 3 + 2 + 3 * START, rel=0.05)


def test_skipped_and_interrupted_repeats_show_nothing(expected):
    quick = [run("dcd", 9.0, state="interrupted"), run("sgd-s", 9.0, state="skipped")]
    assert expected(quick=quick).bases == {"limit": 3}


@pytest.mark.parametrize(
    "change", [{"elapsed_seconds": "soon"}, {"nnz": "many"}, {"C": "one"}, {"m": 0}]
)
def test_a_table_with_other_values_shows_nothing(expected, change):
    quick = [run(label, 0.2) | change for label in ("dcd", "sgd-s", "sgd-m")]
    assert expected(quick=quick).bases == {"limit": 3}


def test_a_time_beyond_all_numbers_is_not_known(expected):
    endless = run("sgd-m", 0.1) | {"elapsed_seconds": math.inf}
    found = expected(quick=[run("dcd", 0.2), run("sgd-s", 0.3), endless])
    assert math.isfinite(found.first)
    assert math.isfinite(found.total)


def test_a_solver_that_came_to_no_checkpoint_is_not_the_fastest(expected):
    failed = run("sgd-m", 0.1, state="failed") | {"train_seconds": None, "data_passes": None}
    found = expected(quick=[run("dcd", 0.2), run("sgd-s", 0.3), failed])
    # It may take as long as its limit, and limits nobody.
    late = 1 / 2 * 20 + 1 / 6 * 30 + 1 / 3 * 60
    assert found.first == pytest.approx(2 + 3 + late + 3 * START)


@pytest.mark.parametrize("wrong", ["{stop: {max_epochs: -1}}", "{datasets: 5}"])
def test_a_full_size_that_makes_no_sweep_is_one_line(tmp_path, wrong):
    full = "{stop: {max_epochs: 200, time_limit: 60s, relative_limit: 10}}"
    assert full in ITEM
    text = ITEM.replace(full, wrong)
    item = papers(write_small_paper(tmp_path / "papers", table_1=text))["small"].items["table-1"]
    with pytest.raises(ConfigError, match=r"^Table 1: 'full' of sweep 'wide': ") as caught:
        item.sweep_at("wide", True)
    assert "\n" not in str(caught.value)
