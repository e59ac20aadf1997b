"""Rows that are lost amid a sweep say nothing about a solver."""

import os
import shutil

import pandas as pd
import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.harness import supervise

CONFIG = """\
version: 1
name: lost
datasets: [tiny-sparse]
loss: hinge
lambda: [1e-2]
solvers: [dcd]
stop: {accuracy: [1e-1], max_epochs: 3}
plots: []
"""


@pytest.fixture
def results(tmp_path):
    return tmp_path / "results"


@pytest.fixture
def run(tmp_path, monkeypatch, results):
    """Runs the sweep, in three repeats if asked."""
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    config = tmp_path / "lost.yaml"

    def call(*options, repeats=1):
        config.write_text(f"{CONFIG}repeats: {repeats}\n")
        command = ["run", str(config), "--out", str(results), "--offline", "--quiet"]
        return CliRunner().invoke(main, [*command, *options])

    return call


def test_a_run_whose_rows_were_removed_is_interrupted_and_so_repeated(run, results, monkeypatch):
    header_of = supervise.header_of

    def losing_rows(planned, *more):
        shutil.rmtree(planned.instance.train_path)
        return header_of(planned, *more)

    monkeypatch.setattr(supervise, "header_of", losing_rows)
    assert run().exit_code == 1
    (made,) = pd.read_csv(results / "runs.csv").to_dict("records")
    assert made["state"] == "interrupted"
    assert "the cached rows were removed or damaged" in made["reason"]

    monkeypatch.setattr(supervise, "header_of", header_of)
    assert run().exit_code == 0
    (made,) = pd.read_csv(results / "runs.csv").to_dict("records")
    assert made["state"] in ("converged", "max_steps")


def spoil(path):
    """Change the last value of cached rows in place; the file's size and times stay."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read()
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_rows_that_were_changed_on_disk_are_refused_by_the_next_run(run, results, tmp_path):
    assert run().exit_code == 0
    listed = (results / "runs.csv").read_bytes()
    (values,) = (tmp_path / "cache" / "datasets").glob("*-train-*/values.npy")
    spoil(values)
    for options in ((), ("--fresh",)):
        refused = run(*options)
        assert refused.exit_code == 3
        assert "values.npy has sha256" in refused.output
        assert "delete this folder" in refused.output
        assert (results / "runs.csv").read_bytes() == listed
    shutil.rmtree(values.parent)
    assert run("--fresh").exit_code == 0


def test_rows_that_change_amid_a_sweep_end_it_before_the_next_run(run, results, monkeypatch):
    header_of, headers = supervise.header_of, []

    def spoiling(planned, *more):
        headers.append(planned.repeat)
        if len(headers) == 2:
            spoil(planned.instance.train_path / "values.npy")
        return header_of(planned, *more)

    monkeypatch.setattr(supervise, "header_of", spoiling)
    refused = run(repeats=3)
    assert refused.exit_code == 3
    assert "values.npy has sha256" in refused.output
    assert len(headers) == 2
    assert len(list((results / "runs").glob("*.jsonl"))) == 1
