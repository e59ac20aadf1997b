"""The table of measures: formulas on numbers of which no two combinations agree, and its flags."""

import pytest

from svmbench.records.measures import MEASURES

ROW = {
    "seconds_to": 31.0, "cpu_seconds_to": 29.0, "epochs_to": 3.0,
    "data_passes_to": 19.0, "setup_seconds": 7.0, "train_seconds": 37.0, "train_cpu_seconds": 41.0,
    "epochs": 5.0, "data_passes": 47.0, "m": 88.0, "step_rows": 11.0,
    "evaluation_seconds": 0.25, "primal": 0.5, "lambda": 0.125, "reference_dual": 0.375,
    "reference_primal": 0.4375, "accuracy": 1.0 / 3.0, "gap": 0.0625, "test_error": 0.2,
    "train_error": 0.3,
    "t0": 1e5,
    "regret_high": 71.0, "d": 73.0, "nnz": 264.0,
}  # fmt: skip

VALUES = {
    "seconds": 31.0, "seconds_after_setup": 24.0, "cpu_seconds": 29.0,
    "epochs": 3.0, "data_passes": 19.0, "steps": 24.0, "train_seconds": 37.0,
    "train_seconds_after_setup": 30.0, "train_cpu_seconds": 41.0,
    "train_epochs": 5.0, "train_data_passes": 47.0, "train_steps": 40.0,
    "seconds_with_evaluation": 47.0, "seconds_a_pass": 6.0, "seconds_a_step": 0.75,
    "seconds_a_step_with_evaluation": 1.0, "primal": 0.5, "J": 4.0, "sum_objective": 44.0,
    "accuracy": 1.0 / 3.0, "suboptimality": 0.125, "gap": 0.0625, "test_error": 0.2,
    "test_accuracy": 0.8, "train_error": 0.3, "t0": 1e5,
    "regret": 71.0, "optimal_primal": 0.4375,
    "optimal_J": 3.5, "rows": 88.0, "features": 73.0, "nonzeros_a_row": 3.0,
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_the_formula(name):
    assert MEASURES[name].formula(ROW) == pytest.approx(VALUES[name], rel=1e-12)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_a_certified_measure_grows_with_the_certified_optimum(measure):
    """So that D_ref in the place of P_ref gives its lower end."""
    at_dual = measure.formula(ROW | {"reference_primal": ROW["reference_dual"]})
    assert measure.certified == (at_dual != measure.formula(ROW))
    assert not measure.certified or at_dual < measure.formula(ROW)


#: What takes longer on a machine that is twice as slow.
OF_THE_MACHINE = (
    *("seconds_to", "cpu_seconds_to", "setup_seconds", "train_seconds", "train_cpu_seconds"),
    "evaluation_seconds",
)


@pytest.mark.parametrize("measure", MEASURES.values(), ids=MEASURES)
def test_a_slower_machine_changes_the_measures_of_one_machine_alone(measure):
    """Passes are seconds in units of the machine's own pass: both take twice as long."""
    slower = ROW | {name: 2.0 * ROW[name] for name in OF_THE_MACHINE}
    assert measure.per_machine == (measure.formula(slower) != measure.formula(ROW))
