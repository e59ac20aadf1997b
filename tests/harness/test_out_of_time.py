"""Repeats of cells that have met their time limit: which are skipped, and what they count as."""

from __future__ import annotations

import pandas as pd
import pytest
from simulated import Simulation, planned_of, sweep_of

from svmbench.harness.options import Options, Reporter
from svmbench.harness.series import run_series
from svmbench.report.questions import about_leaders

ALWAYS = range(100)
RULE = {"at_least": 2, "until": "decided", "at_most": 12}


@pytest.fixture
def simulation(monkeypatch):
    return Simulation().install(monkeypatch)


def states_of(one, label):
    runs = pd.read_csv(one.folder / "runs.csv")
    return list(runs[runs["label"] == label].sort_values("repeat")["state"])


def series_of(sweep, folder, **options):
    """One call of a series; its sweep and the runs it made."""
    one = planned_of(sweep, folder)
    return one, run_series([one], Reporter(), Options(**options)).made


def test_a_second_call_changes_nothing(simulation, tmp_path):
    simulation.limited = {"sgd-s": ALWAYS}
    sweep = sweep_of("dcd", "sgd-s", repeats=5)
    one, made = series_of(sweep, tmp_path / "one")
    before = (one.folder / "runs.csv").read_text()
    assert (made, states_of(one, "sgd-s")) == (6, ["time_limit", *["skipped"] * 4])
    for _ in range(2):
        one, made = series_of(sweep, tmp_path / "one")
        assert (made, (one.folder / "runs.csv").read_text()) == (0, before)
    assert (planned_of(sweep, one.folder).missing(5), planned_of(sweep, one.folder).outdated) == (
        0,
        False,
    )


def test_repeats_are_skipped_also_if_nothing_else_is_run(simulation, tmp_path):
    simulation.limited = {"sgd-s": ALWAYS}
    for repeats in (1, 2, 3):
        one, made = series_of(sweep_of("sgd-s", repeats=repeats), tmp_path / "one")
        assert made == (repeats == 1)
        assert states_of(one, "sgd-s") == ["time_limit", *["skipped"] * (repeats - 1)]


def test_questions_see_that_a_cell_has_no_further_repeats(simulation, tmp_path):
    simulation.limited = {"sgd-s": ALWAYS}
    rule = RULE | {"at_least": 1}
    for _ in range(2):
        one, _ = series_of(sweep_of("dcd", "sgd-s", repeats=rule), tmp_path / "one")
        assert states_of(one, "sgd-s") == ["time_limit", "skipped"]
        assert states_of(one, "dcd") == ["converged"]


@pytest.mark.parametrize("fresh", [False, True])
def test_runs_of_other_cells_keep_their_rows(simulation, tmp_path, fresh):
    simulation.limited = {"sgd-s": ALWAYS}
    sweep = sweep_of("dcd", "sgd-s", "pegasos", repeats=4)
    series_of(sweep, tmp_path / "one")
    one, made = series_of(sweep, tmp_path / "one", only=("*/*/pegasos",), fresh=fresh)
    assert made == 4 * fresh
    assert states_of(one, "sgd-s") == ["time_limit", "skipped", "skipped", "skipped"]


def test_a_block_that_is_run_again_keeps_the_rows_of_the_others(simulation, tmp_path):
    simulation.limited = {"sgd-s": ALWAYS}
    series_of(sweep_of("dcd", "sgd-s", repeats=3), tmp_path / "one")
    next((tmp_path / "one" / "runs").glob("*-dcd-*-r1-*")).unlink()
    # The third repeat is now one that only open questions ask for.
    sweep = sweep_of("dcd", "sgd-s", repeats=RULE)
    one, made = series_of(sweep, tmp_path / "one", whole_blocks=True)
    assert made == 1
    assert states_of(one, "sgd-s") == ["time_limit", "skipped", "skipped"]
    assert states_of(one, "dcd") == ["converged"] * 3


def test_a_limited_run_that_is_gone_is_made_again_and_so_are_those_skipped_for_it(
    simulation, tmp_path
):
    simulation.limited = {"sgd-s": ALWAYS}
    sweep = sweep_of("sgd-s", repeats=3)
    series_of(sweep, tmp_path / "one")
    next((tmp_path / "one" / "runs").iterdir()).unlink()
    simulation.limited = {}
    one, made = series_of(sweep, tmp_path / "one")
    assert (made, states_of(one, "sgd-s")) == (3, ["converged"] * 3)


def test_one_limited_run_does_not_stop_a_cell_that_converged_before(simulation, tmp_path):
    simulation.limited = {"sgd-s": {2}}
    one, made = series_of(sweep_of("sgd-s", repeats=5), tmp_path / "one")
    states = ["converged", "converged", "time_limit", "converged", "converged"]
    assert (made, states_of(one, "sgd-s")) == (5, states)


# --- open questions about such cells -------------------------------------------------


def decide(sweep, folder):
    """A series that decides who is faster; its result."""
    asked = planned_of(sweep, folder)
    return run_series([asked], Reporter(), doubts=lambda: about_leaders(folder)[0])


def test_a_question_about_a_cell_out_of_time_gets_no_repeats(simulation, tmp_path):
    """The limit of 10 s is too near to 6 s for skipped repeats to make pairs."""
    simulation.limited, simulation.times = {"sgd-s": ALWAYS}, {"dcd": (6.0, 0.02)}
    result = decide(sweep_of("dcd", "sgd-s", repeats=RULE), tmp_path / "one")
    assert [each.lacks for each in result.open] == ["information"]
    assert sorted(simulation.made) == [
        ("tiny-separable", "dcd", 0),
        ("tiny-separable", "dcd", 1),
        ("tiny-separable", "sgd-s", 0),
    ]
