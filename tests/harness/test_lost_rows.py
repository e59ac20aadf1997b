"""Rows that are lost amid a sweep say nothing about a solver."""

import os
import shutil

import pandas as pd
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
repeats: 1
plots: []
"""


def test_a_run_whose_rows_were_removed_is_interrupted_and_so_repeated(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    config, results = tmp_path / "lost.yaml", tmp_path / "results"
    config.write_text(CONFIG)
    command = ["run", str(config), "--out", str(results), "--offline", "--quiet"]
    header_of = supervise.header_of

    def losing_rows(run, *more):
        shutil.rmtree(run.instance.train_path)
        return header_of(run, *more)

    monkeypatch.setattr(supervise, "header_of", losing_rows)
    assert CliRunner().invoke(main, command).exit_code == 1
    (run,) = pd.read_csv(results / "runs.csv").to_dict("records")
    assert run["state"] == "interrupted"
    assert "the cached rows were removed or damaged" in run["reason"]

    monkeypatch.setattr(supervise, "header_of", header_of)
    assert CliRunner().invoke(main, command).exit_code == 0
    (run,) = pd.read_csv(results / "runs.csv").to_dict("records")
    assert run["state"] in ("converged", "max_steps")


def spoil(path):
    """Change the last value of cached rows in place; the file's size and times stay."""
    before = path.stat()
    with path.open("r+b") as file:
        file.seek(-1, os.SEEK_END)
        last = file.read()
        file.seek(-1, os.SEEK_END)
        file.write(bytes([last[0] ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_rows_that_were_changed_on_disk_are_refused_by_the_next_run(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    config, results = tmp_path / "lost.yaml", tmp_path / "results"
    config.write_text(CONFIG)
    command = ["run", str(config), "--out", str(results), "--offline", "--quiet"]
    assert CliRunner().invoke(main, command).exit_code == 0
    listed = (results / "runs.csv").read_bytes()
    (values,) = (tmp_path / "cache" / "datasets").glob("*-train-*/values.npy")
    spoil(values)
    for again in (command, [*command, "--fresh"]):
        refused = CliRunner().invoke(main, again)
        assert refused.exit_code == 3
        assert "values.npy has sha256" in refused.output
        assert "delete this folder" in refused.output
        assert (results / "runs.csv").read_bytes() == listed
    shutil.rmtree(values.parent)
    assert CliRunner().invoke(main, [*command, "--fresh"]).exit_code == 0


def test_rows_that_change_amid_a_sweep_end_it_before_the_next_run(tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    config, results = tmp_path / "lost.yaml", tmp_path / "results"
    config.write_text(CONFIG.replace("repeats: 1", "repeats: 3"))
    command = ["run", str(config), "--out", str(results), "--offline", "--quiet"]
    header_of, headers = supervise.header_of, []

    def spoiling(run, *more):
        headers.append(run.repeat)
        if len(headers) == 2:
            spoil(run.instance.train_path / "values.npy")
        return header_of(run, *more)

    monkeypatch.setattr(supervise, "header_of", spoiling)
    refused = CliRunner().invoke(main, command)
    assert refused.exit_code == 3
    assert "values.npy has sha256" in refused.output
    assert len(headers) == 2
    assert len(list((results / "runs").glob("*.jsonl"))) == 1
