"""The report as a whole, and its command."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.errors import DataError
from svmbench.report.check import stale_files
from svmbench.report.made import MARK
from svmbench.report.write import write_report


@pytest.fixture
def small(make_results, tmp_path) -> Path:
    return make_results(
        tmp_path / "small",
        repeats=2,
        lambdas=(1e-4,),
        labels=("dcd", "sgd-s"),
        datasets=(("adult", False),),
        plots=["log-suboptimality"],
    )


def test_all_files_are_written_and_named(small):
    before = set(small.rglob("*"))
    written = write_report(small)
    made = {path for path in small.rglob("*") if path.is_file()} - before
    assert set(written) | {small / MARK} == made
    names = {str(path.relative_to(small)) for path in written}
    assert names == {
        *(f"tables/{k}.{s}" for k in ("time", "epochs", "objective") for s in ("md", "csv", "tex")),
        "plots/adult-log-suboptimality.png",
        "report.html",
    }
    assert all(path.stat().st_size > 0 for path in written)


def test_machine_readable_tables_load(small):
    write_report(small)
    time, runs = pd.read_csv(small / "tables/time.csv"), pd.read_csv(small / "runs.csv")
    dcd = runs[runs["label"] == "dcd"]["seconds_to_0.01"]
    row = time[(time["label"] == "dcd") & (time["accuracy"] == 0.01)].iloc[0]
    assert row["low_seconds"] == dcd.min()
    assert row["high_seconds"] == dcd.max()
    assert row["interval_coverage"] == 0.5
    assert (time["schema_version"] == 1).all()


def test_report_reads_only_and_can_be_made_again(small):
    inputs = {path: path.read_bytes() for path in small.iterdir() if path.is_file()}
    first = {path: path.read_bytes() for path in write_report(small)}
    assert {path: path.read_bytes() for path in write_report(small)} == first
    assert {path: path.read_bytes() for path in inputs} == inputs


def test_nothing_is_written_when_the_results_cannot_be_read(small):
    (small / "traces.csv").unlink()
    with pytest.raises(DataError):
        write_report(small)
    assert not (small / "tables").exists()


def test_command_lists_the_files(small):
    done = CliRunner().invoke(main, ["report", str(small)])
    assert done.exit_code == 0
    assert str(small / "tables" / "time.md") in done.output.splitlines()
    assert list(stale_files(small)) == []
