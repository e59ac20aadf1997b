"""What a repeat counts as, by its end: one table, in the code and in the documentation."""

from __future__ import annotations

import math
import re
from pathlib import Path

import pandas as pd
import pytest

from svmbench.records.groups import Group
from svmbench.records.measures import Asked
from svmbench.records.samples import measured, pairs, samples
from svmbench.records.states import STATES
from svmbench.records.summaries import summary
from svmbench.report.tables.accuracy import accuracy_cell

INF, NAN = math.inf, math.nan
SECONDS = Asked("seconds", 0.01)
MEASURING = Path(__file__).resolve().parents[2] / "docs" / "measuring.md"


def group(state, seconds=NAN, **columns):
    """Repeats by their ends and their seconds to 0.01, with a clock of 2 s."""
    states = [state] if isinstance(state, str) else state
    values = {
        "repeat": range(len(states)),
        "state": states,
        "horizon": NAN,
        "lambda": 1e-3,
        "C": 1.0,
        "m": 1000.0,
        "d": 10.0,
        "nnz": 5000.0,
        "step_rows": 10.0,
        "limit_seconds": 60.0,
        "max_epochs": 50.0,
        "reference_dual": 0.25,
        "setup_seconds": 0.5,
        "train_seconds": 2.0,
        "epochs": 3.0,
        "data_passes": 2.0,
        "primal": 0.3,
        "test_error": 0.1,
        "seconds_to_0.01": seconds,
        "epochs_to_0.01": [value if value != value else 1.5 for value in _each(seconds, states)],
        "data_passes_to_0.01": seconds,
        "last_above_seconds_0.01": NAN,
    }
    return Group("adult", False, 1e-3, "dcd", "dcd", pd.DataFrame(values | columns))


def _each(value, states):
    return value if isinstance(value, list) else [value] * len(states)


# ---------------------------------------------------------------- the table


def documented() -> dict[str, tuple[str, str, str]]:
    """The table of docs/measuring.md by state."""
    text = MEASURING.read_text(encoding="utf-8")
    section = text[text.index("## What a repeat counts as") :]
    rows = re.findall(r"^\| `(\w+)` \|(.*)\|(.*)\|(.*)\|$", section, flags=re.MULTILINE)
    return {state: tuple(cell.strip() for cell in cells) for state, *cells in rows}


WORDS = {
    "its value": "value",
    "+∞": "worst",
    "the worst value": "worst",
    "no sample": "none",
    "+∞ if no repeat reached it": "worst if none reached it",
}


def test_the_documentation_has_the_table_of_the_code():
    found = {state: tuple(WORDS[cell] for cell in row) for state, row in documented().items()}
    assert found == {
        name: (state.unreached, state.at_end, state.spent) for name, state in STATES.items()
    }


@pytest.mark.parametrize("state", sorted(set(STATES) - {"skipped"}))
def test_samples_are_what_the_documentation_says(state):
    unreached, at_end, spent = documented()[state]
    runs = group(state)
    for asked, cell, value in (
        (SECONDS, unreached, None),
        (Asked("epochs", 0.01), unreached, None),
        (Asked("primal"), at_end, 0.3),
        (Asked("train_seconds"), spent, 2.0),
        (Asked("train_epochs"), spent, 3.0),
    ):
        wanted = {"its value": {0: value}, "no sample": {}}.get(cell, {0: INF})
        assert samples(runs, asked) == wanted, asked


@pytest.mark.parametrize("state", sorted(STATES))
def test_an_accuracy_that_was_reached_was_reached_whatever_came_after(state):
    assert samples(group(state, 1.25), SECONDS) == {0: 1.25}


@pytest.mark.parametrize("state", sorted(STATES))
def test_facts_of_the_data_do_not_depend_on_how_a_run_ends(state):
    assert samples(group(state), Asked("nonzeros_a_row")) == {0: 5.0}


def test_worst_values_of_shares_are_shares():
    runs = group(["converged", "diverged", "failed"])
    assert samples(runs, Asked("test_error")) == {0: 0.1, 1: 1.0, 2: 1.0}
    assert samples(runs, Asked("test_accuracy")) == {0: 0.9, 1: 0.0, 2: 0.0}
    assert measured(runs, Asked("test_error")) == {0: 0.1}


def test_a_number_that_good_runs_lack_is_lacking_and_not_infinite():
    runs = group(["converged", "failed"], gap=NAN)
    assert samples(runs, Asked("gap")) == {}


def test_tables_and_claims_say_the_same_of_runs_that_were_not_made():
    missing = summary(group(["not_installed"] * 3), SECONDS)
    assert missing.samples == ()
    assert accuracy_cell(missing).text == "not installed"
    some = summary(group(["converged", "interrupted", "failed"], [1.0, NAN, NAN]), SECONDS)
    assert some.samples == (1.0, INF)


# ---------------------------------------------------------------- skipped repeats


def test_a_skipped_repeat_does_not_reach_what_the_limited_one_did_not():
    runs = group(["time_limit", "skipped", "skipped"])
    assert samples(runs, SECONDS) == {0: INF, 1: INF, 2: INF}


def test_nothing_is_known_of_a_repeat_skipped_after_one_that_had_reached_it():
    runs = group(["time_limit", "skipped", "skipped"], [7.0, NAN, NAN])
    assert samples(runs, SECONDS) == {0: 7.0}


def test_nothing_is_known_of_a_skipped_repeat_if_any_other_reached_the_accuracy():
    runs = group(["converged", "time_limit", "skipped"], [0.5, NAN, NAN])
    assert samples(runs, SECONDS) == {0: 0.5, 1: INF}


@pytest.mark.parametrize(("slowest", "count"), [(30.0, 3), (30.1, 1)])
def test_skipped_repeats_make_pairs_where_the_limit_was_generous(slowest, count):
    limited = group(["time_limit", "skipped", "skipped"])
    other = group(["converged"] * 3, [1.0, slowest, 2.0])
    assert len(pairs(limited, other, SECONDS)) == count
    assert pairs(other, limited, SECONDS).b == (INF,) * count


def test_pairs_are_by_number_and_not_below_zero():
    one = group(["converged"] * 3, primal=[0.3, 0.25 - 1e-17, 0.24999])
    other = group(["converged"] * 2, repeat=[2, 0], primal=[0.5, 0.4])
    both = pairs(one, other, Asked("suboptimality"))
    assert both.repeats == (0, 2)
    assert list(both) == [(pytest.approx(0.05), pytest.approx(0.15)), (0.0, 0.25)]


# ---------------------------------------------------------------- measures


def test_seconds_without_set_up_are_taken_of_each_run():
    """Of several horizons the fastest is not the most accurate, whose set-up is longer."""
    runs = pd.concat(
        [
            group("converged", 2.0, horizon=1.0, setup_seconds=0.5, accuracy=0.01).runs,
            group("converged", 3.0, horizon=2.0, setup_seconds=2.0, accuracy=0.001).runs,
        ],
        ignore_index=True,
    )
    merged = Group("adult", False, 1e-3, "dcd", "dcd", runs)
    assert samples(merged, SECONDS) == {0: 2.0}
    assert samples(merged, Asked("seconds_after_setup", 0.01)) == {0: 1.0}


def test_a_mini_batch_is_one_step():
    runs = group("converged", 1.0)
    assert samples(runs, Asked("steps", 0.01)) == {0: 150.0}
    assert samples(runs, Asked("train_steps")) == {0: 300.0}


def test_steps_of_a_solver_without_a_fixed_number_of_rows_are_not_known():
    runs = group(["converged", "failed"], [1.0, NAN], step_rows=NAN)
    assert samples(runs, Asked("steps", 0.01)) == {}
    assert samples(runs, Asked("train_steps")) == {}


def test_an_accuracy_that_was_not_asked_for_has_no_samples():
    assert samples(group("converged", 1.0), Asked("seconds", 0.5)) == {}


def test_absolute_suboptimality_is_the_distance_from_the_certified_bound():
    assert samples(group("converged"), Asked("suboptimality"))[0] == pytest.approx(0.05)


@pytest.mark.parametrize(
    ("name", "at", "message"),
    [
        ("second", 0.01, "unknown measure 'second'; did you mean 'seconds'"),
        ("seconds", None, "seconds to which accuracy"),
        ("primal", 0.01, "primal is not taken at an accuracy"),
    ],
)
def test_a_measure_is_refused_with_what_to_do(name, at, message):
    with pytest.raises(ValueError, match=message):
        Asked(name, at)
