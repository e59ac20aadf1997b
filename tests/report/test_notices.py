"""Each thing that makes numbers doubtful is said, and nothing is said without cause."""

from __future__ import annotations

from pathlib import Path

import pytest

from svmbench.records.read import read_results
from svmbench.report.notices import Notice, notices
from svmbench.report.tables import build_tables


@pytest.fixture
def calm(make_results, tmp_path) -> Path:
    """Results nothing is wrong with."""
    return make_results(
        tmp_path / "calm",
        repeats=3,
        lambdas=(1e-4,),
        labels=("sgd-s", "sgd-m"),
        datasets=(("adult", False),),
        reference={"gap": 1e-5},
    )


def found(folder: Path) -> list[Notice]:
    return notices(read_results(folder))


def only(folder: Path) -> Notice:
    (notice,) = found(folder)
    return notice


def test_nothing_is_said_without_cause(calm):
    assert found(calm) == []
    assert [table.warnings for table in build_tables(read_results(calm))] == [()] * 3


def test_a_data_set_without_test_rows(make_results, tmp_path, change):
    sets = (("adult", False), ("w8a", False))
    folder = make_results(
        tmp_path / "two", repeats=1, lambdas=(1e-4,), datasets=sets, reference={"gap": 1e-5}
    )
    assert found(folder) == []
    change(folder, "dataset == 'w8a'", test_error=None)
    assert only(folder).text == "w8a: no test rows, so no test error."
    # Nobody expects test errors if no data set of the sweep has them.
    assert found(change(folder, test_error=None)) == []


def test_failed_runs_with_their_reasons(calm, change):
    change(calm, "label == 'sgd-m' and repeat > 0", state="failed", reason="segmentation fault")
    change(calm, "label == 'sgd-s' and repeat == 1", state="out_of_memory", reason=None)
    notice = only(calm)
    assert notice.text == "3 of 6 runs did not end well: 2 failed, 1 out of memory."
    assert set(notice.details) == {
        "sgd-m on adult, λ = 1e-4: 2 runs, failed: segmentation fault",
        "sgd-s on adult, λ = 1e-4: 1 run, out of memory",
    }


def test_a_plain_time_limit_is_no_warning(calm, change):
    assert found(change(calm, state="time_limit", reason=None)) == []


@pytest.mark.parametrize(
    ("gap", "said"), [(2e-5, "adult, λ = 1e-4: 2e-5"), (None, "adult, λ = 1e-4: no finite gap")]
)
def test_reference_that_is_not_good_enough(calm, change, gap, said):
    notice = only(change(calm, reference_gap=gap))
    assert "1 of 1 references did not reach the requested relative gap of 1e-5" in notice.text
    assert notice.details == (said,)


def test_absolute_accuracy(calm, change):
    assert "accuracy is absolute" in only(change(calm, reference_dual=0.0)).text


def test_involuntary_switches(calm, change):
    change(calm, train_cpu_seconds=0.01, train_seconds=0.01)
    change(calm, involuntary_switches=4)  # too few to mean anything
    assert found(calm) == []
    change(calm, "repeat == 0", train_cpu_seconds=1.0, train_seconds=1.0)
    notice = only(change(calm, "repeat == 0", involuntary_switches=50))
    assert notice.text == (
        "2 of 6 runs were disturbed: 2 lost the processor often. All samples are kept."
    )
    assert notice.details == tuple(
        f"{label} on adult, λ = 1e-4: 1 run, switched" for label in ("sgd-m", "sgd-s")
    )
    assert notice.of_time


def test_disturbed_runs_by_their_causes(calm, change):
    quiet = {"train_seconds": 2.0, "train_cpu_seconds": 2.0, "elapsed_seconds": 3.0}
    quiet |= {"stolen_seconds": 0.0, "others_cpu_seconds": 0.1}
    assert found(change(calm, **quiet)) == []
    change(calm, "repeat == 0 and label == 'sgd-m'", train_cpu_seconds=1.8, stolen_seconds=0.1)
    change(calm, "repeat == 1", others_cpu_seconds=2.9)
    assert only(calm).text.startswith(
        "3 of 6 runs were disturbed: 1 waited for the processor, 1 had time stolen by the "
        "machine's host, 2 ran alongside other processes."
    )


def test_warnings_of_time_stand_only_with_times(calm, change):
    change(calm, load_average=9.0)
    time, epochs, objective = build_tables(read_results(calm))
    assert len(time.warnings) == 1
    assert epochs.warnings == objective.warnings == ()
