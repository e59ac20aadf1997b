"""Rows that are lost amid a sweep say nothing about a solver."""

import errno
import io
import os
import shutil
import subprocess
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.data import cache
from svmbench.harness import child, supervise
from svmbench.harness.worker import RowsError, open_rows

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


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EIO])
def test_rows_that_the_system_does_not_let_a_worker_open_are_no_fault_of_a_solver(
    tmp_path, monkeypatch, error
):
    def refuse(path):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr(cache, "_open_entry", refuse)
    with pytest.raises(RowsError, match=r"cannot be (opened|read)|removed or damaged"):
        open_rows(str(tmp_path))


WITHOUT_MEMORY = """
from svmbench.harness import worker
def refuse(*_):
    raise MemoryError
worker._execute = refuse
worker.end_with = print
worker.main()
"""


def test_a_worker_without_memory_outside_its_run_says_nothing_about_its_solver():
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_MEMORY], input=b'{"parent": 1}\n', capture_output=True
    )
    assert done.returncode == child.NO_MEMORY
    state, reason = child.cause_of_death(done.returncode, io.BytesIO(done.stderr), False)
    assert (state, reason) == ("interrupted", "the worker found no memory outside the run itself")
