"""The table of measures: formulas on numbers of which no two combinations agree, and its flags."""

import math
from typing import get_args

import pytest

from svmbench.records.measures import ALONG, MEASURES, Asked, Measure, Taken

ROW = {
    "seconds_to": 31.0, "cpu_seconds_to": 29.0, "passes_to": 23.0, "epochs_to": 3.0,
    "data_passes_to": 19.0, "setup_seconds": 7.0, "train_seconds": 37.0, "train_cpu_seconds": 41.0,
    "train_passes": 43.0, "epochs": 5.0, "data_passes": 47.0, "m": 88.0, "step_rows": 11.0,
    "evaluation_seconds": 0.25, "primal": 0.5, "lambda": 0.125, "reference_dual": 0.375,
    "reference_primal": 0.4375, "accuracy": 1.0 / 3.0, "gap": 0.0625, "test_error": 0.2,
    "train_error": 0.3,
    "t0": 1e5,
    "regret_high": 71.0, "d": 73.0, "nnz": 264.0,
}  # fmt: skip

VALUES = {
    "seconds": 31.0, "seconds_after_setup": 24.0, "cpu_seconds": 29.0, "passes": 23.0,
    "epochs": 3.0, "data_passes": 19.0, "steps": 24.0, "train_seconds": 37.0,
    "train_seconds_after_setup": 30.0, "train_cpu_seconds": 41.0, "train_passes": 43.0,
    "train_epochs": 5.0, "train_data_passes": 47.0, "train_steps": 40.0,
    "seconds_with_evaluation": 47.0, "seconds_a_pass": 6.0, "seconds_a_step": 0.75,
    "seconds_a_step_with_evaluation": 1.0, "primal": 0.5, "J": 4.0, "sum_objective": 44.0,
    "accuracy": 1.0 / 3.0, "suboptimality": 0.125, "gap": 0.0625, "test_error": 0.2,
    "test_accuracy": 0.8, "train_error": 0.3, "t0": 1e5,
    "regret": 71.0, "optimal_primal": 0.4375,
    "optimal_J": 3.5, "rows": 88.0, "features": 73.0, "nonzeros_a_row": 3.0,
}  # fmt: skip

PER_MACHINE = {
    *("seconds", "seconds_after_setup", "cpu_seconds", "passes", "train_seconds"),
    *("train_seconds_after_setup", "train_cpu_seconds", "train_passes", "seconds_with_evaluation"),
    *("seconds_a_pass", "seconds_a_step", "seconds_a_step_with_evaluation"),
}


@pytest.mark.parametrize("name", VALUES)
def test_the_formula(name):
    assert MEASURES[name].formula(ROW) == pytest.approx(VALUES[name], rel=1e-12)


@pytest.mark.parametrize("name", VALUES)
def test_which_measures_depend_on_the_machine(name):
    """Equal seeds give equal values of the others."""
    assert MEASURES[name].per_machine == (name in PER_MACHINE)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_the_flags_of_a_measure_fit_each_other(measure):
    assert measure.taken in get_args(Taken)
    assert measure.to_accuracy == bool(measure.spent)
    assert not measure.limit or measure.to_accuracy
    assert not measure.per_machine or measure.cost  # what depends on the machine is a cost
    assert not measure.more_is_better or measure.share
    assert not (measure.share and measure.unit)
    assert not measure.cost or not (measure.along or measure.distance or measure.objective)
    assert not (measure.objective or measure.distance or measure.share) or measure.along
    assert (measure.name in ALONG) == measure.along
    if measure.spent:
        spent = MEASURES[measure.spent]
        assert spent.taken == "spent"
        assert (spent.cost, spent.per_machine, spent.needs) == (
            *(measure.cost, measure.per_machine, measure.needs),
        )
    if measure.taken == "spent":
        assert measure.cost


def test_a_measure_to_an_accuracy_names_what_a_whole_run_costs():
    with pytest.raises(ValueError, match="'rows' is taken to an accuracy: name its spent"):
        Measure("rows", "rows", "to accuracy", lambda runs: runs["m"])


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_a_certified_measure_grows_with_the_certified_optimum(measure):
    """So that D_ref in the place of P_ref gives its lower end."""
    at_dual = measure.formula(ROW | {"reference_primal": ROW["reference_dual"]})
    assert measure.certified == (at_dual != measure.formula(ROW))
    assert not measure.certified or at_dual < measure.formula(ROW)


def test_the_costs_and_distances():
    assert {name for name in VALUES if MEASURES[name].cost} == PER_MACHINE | {
        *("epochs", "data_passes", "steps", "train_epochs", "train_data_passes", "train_steps"),
    }
    assert {name: MEASURES[name].distance for name in VALUES if MEASURES[name].distance} == {
        "accuracy": "relative", "suboptimality": "absolute", "gap": "relative",
    }  # fmt: skip
    assert {name: MEASURES[name].limit for name in VALUES if MEASURES[name].limit} == {
        "seconds": "limit_seconds", "passes": "limit_passes",
    }  # fmt: skip
    assert {name: MEASURES[name].needs for name in VALUES if MEASURES[name].needs} == {
        "passes": "pass_unit", "train_passes": "pass_unit", "steps": "step_rows",
        "train_steps": "step_rows", "seconds_with_evaluation": "step_rows",
        "seconds_a_step": "step_rows", "seconds_a_step_with_evaluation": "step_rows",
        "t0": "t0",
    }  # fmt: skip
    assert {name: MEASURES[name].unit for name in VALUES if MEASURES[name].unit} == {
        "train_seconds": "s", "train_seconds_after_setup": "s", "train_cpu_seconds": "s",
        "seconds_with_evaluation": "s", "seconds_a_pass": "s", "seconds_a_step": "s",
        "seconds_a_step_with_evaluation": "s",
    }  # fmt: skip


def test_the_optimum_in_the_units_of_an_objective():
    found = {name: measure.optimum(0.375, 0.125, 88.0) for name, measure in MEASURES.items()}
    known = {name: value for name, value in found.items() if value is not None}
    assert known == {"primal": 0.375, "J": 3.0, "sum_objective": 33.0}


def test_shares_are_printed_in_per_cent_and_what_fails_is_worst():
    shares = {name for name, measure in MEASURES.items() if measure.share}
    assert shares == {"test_error", "test_accuracy", "train_error"}
    for name, measure in MEASURES.items():
        assert measure.scale == (100.0 if name in shares else 1.0)
        worst = {"test_error": 1.0, "train_error": 1.0, "test_accuracy": 0.0}.get(name, math.inf)
        assert measure.worst == worst
    assert MEASURES["test_error"].heading == "test error [%]"
    assert MEASURES["train_seconds"].heading == "training time [s]"
    assert MEASURES["epochs"].heading == "epochs"


def test_what_is_asked_for():
    asked = Asked("seconds", 0.01)
    assert (asked.words, asked.heading, asked.column) == (
        "seconds to 0.01", "seconds to 0.01", "seconds_to_0.01",
    )  # fmt: skip
    share, time = Asked("test_error"), Asked("train_seconds")
    assert (share.words, share.heading, share.column) == (
        "test error", "test error [%]", "test_error",
    )  # fmt: skip
    assert time.words == "training time [s]"
    for wrong, said in (
        (("second", 0.1), r"unknown measure 'second'; did you mean 'seconds'\?"),
        (("seconds",), "seconds to which accuracy"),
        (("primal", 0.1), "primal is not taken at an accuracy"),
    ):
        with pytest.raises(ValueError, match=said):
            Asked(*wrong)


#: What takes longer on a machine that is twice as slow.
OF_THE_MACHINE = (
    *("seconds_to", "cpu_seconds_to", "setup_seconds", "train_seconds", "train_cpu_seconds"),
    "evaluation_seconds",
)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_a_slower_machine_changes_the_measures_of_one_machine_alone(measure):
    """Passes are seconds in units of the machine's own pass: both take twice as long."""
    slower = ROW | {name: 2.0 * ROW[name] for name in OF_THE_MACHINE}
    assert measure.of_one_machine == (measure.formula(slower) != measure.formula(ROW))


def test_settings_are_judged_in_no_direction():
    settings = {name for name, measure in MEASURES.items() if measure.setting}
    assert settings == {"t0"}
    assert not any(MEASURES[name].cost or MEASURES[name].distance for name in settings)
