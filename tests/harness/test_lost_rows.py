"""Rows that are lost amid a sweep say nothing about a solver."""

import errno
import io
import json
import os
import shutil
import signal
import subprocess
import sys

import pandas as pd
import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.data import cache
from svmbench.errors import InterruptedRunError
from svmbench.harness import child, supervise, worker
from svmbench.harness.worker import RowsError, loaded_solver, open_rows

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


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOMEM, "Cannot allocate memory: 'svmbench/solvers/dual'"),
        ImportError("dcd.so: cannot create shared object descriptor"),
        SystemError("compile returned NULL without setting an exception"),
        MemoryError(),
    ],
    ids=lambda error: type(error).__name__,
)
def test_a_solver_that_the_system_does_not_let_a_worker_import_has_not_failed(monkeypatch, error):
    def refuse(*_):
        raise error

    monkeypatch.setattr("svmbench.solvers.single_file.import_module", refuse)
    with pytest.raises(InterruptedRunError, match="can no longer be imported"):
        loaded_solver("svmbench.solvers.dual.dcd:Dcd", {})


def test_a_solver_that_cannot_load_its_program_has_failed(monkeypatch):
    def refuse(self):
        raise ImportError("no such program")

    monkeypatch.setattr("svmbench.solvers.dual.dcd.Dcd.load", refuse)
    with pytest.raises(ImportError, match="no such program"):
        loaded_solver("svmbench.solvers.dual.dcd:Dcd", {})


WITHOUT_MEMORY = """
from svmbench.harness import worker
def refuse(*_):
    raise {}
worker._execute = refuse
worker.end_with = print
worker.main()
"""


NO_MEMORY = ["MemoryError", "SystemError('error return without exception set')"]


@pytest.mark.parametrize("error", NO_MEMORY)
def test_a_worker_without_memory_outside_its_run_says_nothing_about_its_solver(error):
    code = WITHOUT_MEMORY.format(error)
    done = subprocess.run(
        [sys.executable, "-c", code], input=b'{"parent": 1}\n', capture_output=True
    )
    assert done.returncode == child.NO_MEMORY
    state, reason = child.cause_of_death(done.returncode, io.BytesIO(done.stderr), False)
    assert (state, reason) == ("interrupted", "the worker found no memory outside the run itself")


BROKEN_PIPE = """
import errno, os, sys
from svmbench.harness import worker
class Broken:
    def fail(self, *_):
        raise OSError(errno.{error}, os.strerror(errno.{error}))
    readline = write = flush = fail
    buffer = property(lambda self: self)
if {writing}:
    worker._execute = lambda job, last, answer: answer("a hash")
    worker.end_with = print
    worker.os.fdopen = lambda *_: Broken()
else:
    sys.stdin = Broken()
worker.main()
"""


@pytest.mark.parametrize("writing", [True, False])
@pytest.mark.parametrize(
    ("error", "state"), [("EIO", "interrupted"), ("ENOMEM", "interrupted"), ("EBADF", "failed")]
)
def test_a_pipe_of_a_worker_that_the_system_breaks_is_no_fault_of_a_solver(writing, error, state):
    code = BROKEN_PIPE.format(error=error, writing=writing)
    done = subprocess.run(
        [sys.executable, "-c", code], input=b'{"parent": 1}\n', capture_output=True
    )
    assert done.returncode == (child.NO_PIPE if state == "interrupted" else 1)
    found, reason = child.cause_of_death(done.returncode, io.BytesIO(done.stderr), False)
    assert found == state
    assert os.strerror(getattr(errno, error)) in reason


def test_a_worker_reads_its_jobs_whatever_encoding_the_user_has_chosen():
    code = "import os; from svmbench.harness import worker; worker.end_with = os._exit"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; worker.main()"],
        input=b'{"parent": 7}\n',
        env=os.environ | {"PYTHONIOENCODING": "utf-16"},
    )
    assert done.returncode == 7


@pytest.mark.parametrize("error", NO_MEMORY)
def test_a_run_without_memory_is_out_of_memory(tmp_path, monkeypatch, error):
    def refuse(*_):
        raise eval(error)

    monkeypatch.setattr(worker, "_measurement", refuse)
    trace, answers = tmp_path / "run.jsonl", []
    assert worker._execute({"trace": str(trace), "header": {}}, None, answers.append) is None
    assert json.loads(trace.read_text().splitlines()[-1])["state"] == "out_of_memory"
    assert len(answers) == 1


@pytest.mark.parametrize(
    "said",
    [
        b"memory allocation of 512 bytes failed\nstack backtrace:\nnote: More.\n",
        b"terminate called after throwing an instance of 'std::bad_alloc'\n",
    ],
    ids=["Rust", "C++"],
)
def test_a_library_that_ends_its_process_for_lack_of_memory_is_no_crash(said):
    state, reason = child.cause_of_death(-signal.SIGABRT, io.BytesIO(said), False)
    assert state == "out_of_memory"
    assert reason.startswith("the worker found no memory (")
    assert reason.endswith(("512 bytes failed)", "bad_alloc)"))
    said = b"assertion failed: x > 0\n"
    crash = ("failed", "the worker crashed (SIGABRT)")
    assert child.cause_of_death(-signal.SIGABRT, io.BytesIO(said), False) == crash


def test_a_signal_without_a_name_is_a_crash_like_others():
    number = 35  # the second of Linux's real-time signals
    crash = ("failed", "the worker crashed (signal 35)")
    assert child.cause_of_death(-number, io.BytesIO(), False) == crash


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
    assert CliRunner().invoke(main, ["data", "check", "tiny-sparse"]).exit_code == 3
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
