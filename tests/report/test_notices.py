"""Each thing that makes numbers doubtful is said, and nothing is said without cause."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pandas as pd
import pytest

from svmbench.records.read import read_results
from svmbench.report.notices import Notice, notices, reference_gap_asked
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
    return notices(read_results(folder), [])


def only(folder: Path) -> Notice:
    (notice,) = found(folder)
    return notice


def test_nothing_is_said_without_cause(calm):
    assert found(calm) == []
    assert [table.warnings for table in build_tables(read_results(calm))] == [()] * 3


def test_stand_in(calm, change):
    assert only(change(calm, stand_in=True)).text.startswith("adult: a STAND-IN")


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


def test_contended(calm, change):
    assert "4 of 6 runs shared" in only(change(calm, "repeat < 2", contended=True)).text


def test_failed_runs_with_their_reasons(calm, change):
    change(calm, "label == 'sgd-m' and repeat > 0", state="failed", reason="segmentation fault")
    change(calm, "label == 'sgd-s' and repeat == 1", state="out_of_memory", reason=None)
    notice = only(calm)
    assert notice.text == "3 of 6 runs did not end well: 2 failed, 1 out of memory."
    assert set(notice.details) == {
        "sgd-m on adult, λ = 1e-4: 2 runs, failed: segmentation fault",
        "sgd-s on adult, λ = 1e-4: 1 run, out of memory",
    }


def test_killed_runs_with_their_reasons(calm, change):
    change(calm, "repeat == 2", state="time_limit", reason="killed after 90 s")
    notice = only(calm)
    assert "2 of 6 runs had to be killed" in notice.text
    assert notice.details[0].endswith("1 run, killed after 90 s")


def test_a_plain_time_limit_is_no_warning(calm, change):
    assert found(change(calm, state="time_limit", reason=None)) == []


def test_skipped_runs(calm, change):
    change(calm, "label == 'sgd-m' and repeat > 0", state="skipped")
    notice = only(calm)
    assert "2 of 6 runs were skipped" in notice.text
    assert notice.details == ("sgd-m on adult, λ = 1e-4: 2 runs",)


def test_not_installed(calm, change):
    nothing = {f"{unit}_to_{t}": None for unit in ("seconds", "epochs") for t in (0.1, 0.01, 0.001)}
    change(calm, "label == 'sgd-m'", state="not_installed", reason="no such module", **nothing)
    assert only(calm).text == "Not installed, and therefore not measured: sgd-m."
    assert only(calm).details == ("sgd-m: no such module",)
    time = build_tables(read_results(calm))[0]
    row = next(row for row in time.sections[0].rows if row.label == "sgd-m")
    assert {cell.text for cell in row.cells[2:5]} == {"not installed"}


@pytest.mark.parametrize(
    ("gap", "said"), [(2e-5, "adult, λ = 1e-4: 2e-5"), (None, "adult, λ = 1e-4: no finite gap")]
)
def test_reference_that_is_not_good_enough(calm, change, gap, said):
    notice = only(change(calm, reference_gap=gap))
    assert "1 of 1 references did not reach the requested relative gap of 1e-5" in notice.text
    assert notice.details == (said,)


def test_reference_gap_asked_for_is_a_hundredth_unless_said(calm, make_results, tmp_path):
    assert reference_gap_asked(read_results(calm)) == 1e-5
    other = make_results(tmp_path / "o", repeats=1, labels=("dcd",), lambdas=(1e-4,))
    assert reference_gap_asked(read_results(other)) == pytest.approx(1e-5)


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
    assert notice.details == ("sgd-m on adult: 1 of 3 runs", "sgd-s on adult: 1 of 3 runs")
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


def test_load_at_the_start_of_runs(calm, change):
    assert found(change(calm, load_average=1.9)) == []
    notice = only(change(calm, "repeat == 0", load_average=3.25))
    assert "2 of 6 runs began at a load average above their threads + 1 (at worst 3.2)" in (
        notice.text
    )


def test_load_at_the_start_of_the_sweep_where_runs_have_none(calm):
    (calm / "environment.json").write_text(json.dumps({"load_average": [2.5, 1.0, 1.0]}))
    assert "load average 2.5" in only(calm).text


def test_warnings_of_time_stand_only_with_times(calm, change):
    change(calm, load_average=9.0)
    time, epochs, objective = build_tables(read_results(calm))
    assert len(time.warnings) == 1
    assert epochs.warnings == objective.warnings == ()


def test_unfinished_sweep(calm):
    runs = pd.read_csv(calm / "runs.csv")
    runs[:-1].to_csv(calm / "runs.csv", index=False)
    assert "1 of 2 rows have fewer than 3 repeats" in only(calm).text


@pytest.mark.parametrize("load", ["busy", None, [], math.nan, 10**400, True])
def test_a_load_that_is_no_number_says_nothing(calm, load):
    runs = pd.read_csv(calm / "runs.csv")
    runs.assign(load_average=None).to_csv(calm / "runs.csv", index=False)
    path = calm / "environment.json"
    facts = json.loads(path.read_text()) if path.exists() else {}
    path.write_text(json.dumps(facts | {"load_average": [load]}))
    assert found(calm) == []


def test_a_gap_beyond_all_numbers_is_none(calm):
    (calm / "config.yaml").write_text(f"reference: {{gap: 1{'0' * 400}}}\n")
    results = read_results(calm)
    assert reference_gap_asked(results) == min(results.accuracies) / 100
