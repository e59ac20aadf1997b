"""Output that cannot be written, folders that cannot be made, files that cannot be opened."""

import errno
import fcntl
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from svmbench import config
from svmbench.cli import main
from svmbench.data import cache
from svmbench.data.load import load
from svmbench.errors import ConfigError, DataError
from svmbench.harness.store import Store
from svmbench.reference import optimum

SWEEP = """\
version: 1
name: places
datasets: [tiny-dense]
lambda: 0.01
solvers: [dcd, {name: pegasos, label: '[/b] $\\foo{$'}]
stop: {max_epochs: 1}
"""


@pytest.fixture
def sweep(tmp_path):
    path = tmp_path / "places.yaml"
    path.write_text(SWEEP)
    return path


def shell(command):
    line = f"{sys.executable} -m svmbench {command}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize("unbuffered", [False, True])
def test_closed_and_full_outputs(monkeypatch, unbuffered):
    # What a buffer holds fails once more at the end of the process.
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    if unbuffered:
        monkeypatch.setenv("PYTHONUNBUFFERED", "1")
    assert shell("data list >&-").returncode == 0
    assert shell("nonsense 2>&-").returncode == 2
    if Path("/dev/full").exists():
        assert shell("nonsense 2>/dev/full").returncode == 2
        full = shell("data list >/dev/full")
        assert full.returncode == 2
        assert full.stderr.count("\n") == 1
        assert "standard output or a file" in full.stderr
        assert "No space left on device" in full.stderr
        # So little waits in the buffer until the end.
        short = shell("--version >/dev/full")
        assert (short.returncode, short.stderr.count("\n")) == (2, 1)


def test_labels_may_look_like_markup_and_mathematics(sweep, tmp_path, capfd):
    # A label of a run is any printable text; Matplotlib and rich have signs of their own.
    with pytest.raises(SystemExit) as caught:
        main(["run", str(sweep), "--out", str(tmp_path / "results")])
    assert caught.value.code == 0, capfd.readouterr().err
    pictures = list((tmp_path / "results" / "plots").glob("*.png"))
    assert pictures


@pytest.mark.parametrize("kind", ["link to nothing", "below a device", "a file"])
def test_a_results_folder_that_cannot_be_made_is_one_line(kind, tmp_path):
    folder = tmp_path / "results"
    if kind == "link to nothing":
        folder.symlink_to(tmp_path / "nowhere")
    elif kind == "below a device":
        folder = Path("/dev/null/results")
    else:
        folder.write_text("")
    with pytest.raises(ConfigError, match=r"cannot be created .*; choose another folder"):
        Store(folder)


def test_a_folder_without_locks_is_one_line(tmp_path, monkeypatch):
    def no_locks(*args):
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with (
        pytest.raises(ConfigError, match=r"cannot be locked \(No locks available\); choose"),
        Store(tmp_path / "results").locked(),
    ):
        pass


ADVICE = [
    (["dcdd"], "--only dcdd: matches no run; did you mean 'dcd'?"),
    (["tiny-dense", "pegasus"], "--only pegasus: matches no run; did you mean 'pegasos'?"),
    (["tiny-dense/*/dcdd"], "did you mean 'tiny-dense/0.01/dcd'?"),
    (["qqq*"], "--only qqq*: matches no run; known: dcd, "),
]


@pytest.mark.parametrize(
    ("only", "advice", "constant"),
    [
        *((*case, "lambda") for case in ADVICE),
        # Others may be of λ, which C gives only once the rows are known.
        *((*case, "C") for case in ADVICE if not set("/*") & set(case[0][-1])),
    ],
)
def test_only_is_refused_before_anything_else(only, advice, constant, sweep, tmp_path, monkeypatch):
    if constant == "C":
        sweep.write_text(re.sub("lambda: .*", "C: [1]", sweep.read_text()))
    monkeypatch.setattr("svmbench.harness.sweeps.load", lambda *args, **extra: 1 / 0)
    options = [word for pattern in only for word in ("--only", pattern)]
    result = CliRunner().invoke(
        main, ["run", str(sweep), *options, "--out", str(tmp_path / "results")]
    )
    assert result.exit_code == 2
    assert advice in result.output
    assert len(result.output.splitlines()) == 1
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize("written", ["1e-5", "1e-05", "*/1e-5/*"])
def test_only_takes_lambda_as_it_is_written(written, sweep, tmp_path):
    sweep.write_text(re.sub(r"lambda: .*", "lambda: [1e-5, 1e-3]", SWEEP))
    call = ["run", str(sweep), "--only", written, "--dry-run", "--out", str(tmp_path / "results")]
    result = CliRunner().invoke(main, call)
    assert result.exit_code == 0, result.output
    assert "λ = 1e-5" in result.output
    assert "λ = 0.001" not in result.output


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("3.07e-5", "λ = 3.0711e-5"),
        ("*/3.07e-5/dcd", "λ = 3.0711e-5"),
        ("3.071e-5", "λ = 3.0711e-5"),
        ("6.12e-5", "--only 6.12e-5: may mean 6.121e-5 or 6.122e-5; write more digits"),
        ("3.08e-5", "--only 3.08e-5: matches no run"),
    ],
)
def test_only_takes_lambda_as_tables_round_it(written, said, sweep, tmp_path):
    sweep.write_text(re.sub(r"lambda: .*", "lambda: [3.0711e-5, 6.121e-5, 6.122e-5]", SWEEP))
    call = ["run", str(sweep), "--only", written, "--dry-run", "--out", str(tmp_path / "results")]
    result = CliRunner().invoke(main, call)
    assert said in result.output
    assert "λ = 6.121e-5" not in result.output


def test_a_folder_is_no_data_set(tmp_path):
    with pytest.raises(DataError, match="a folder, not a file; check the path"):
        load(str(tmp_path))


def exhausted(*args, **extra):
    raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))


def test_too_many_open_files_are_no_damage(tmp_path, monkeypatch):
    # A sound entry that could not be opened was taken for a damaged one and made again.
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path / "cache"))
    path = load("tiny-dense").train_path
    reference = tmp_path / "reference.npz"
    reference.write_bytes(b"")
    with monkeypatch.context() as patch:
        patch.setattr(cache, "_read_header", exhausted)
        with pytest.raises(
            DataError, match=r"cannot be opened \(Too many open files\); allow more"
        ):
            cache.open_cached(path)
        with pytest.raises(DataError, match="cannot be opened"):
            cache.verify(path)
        patch.setattr(optimum, "unpacked", exhausted)
        with pytest.raises(DataError, match="cannot be opened"):
            optimum.stored_pair(reference, 1, 1)
    assert cache.open_cached(path) is not None


def test_the_frame_names_exhausted_files(monkeypatch, capfd):
    monkeypatch.setattr(config, "load_sweep", exhausted)
    with pytest.raises(SystemExit) as caught:
        main(["config", "check", "smoke"])
    assert caught.value.code == 3
    assert "cannot be opened (Too many open files)" in capfd.readouterr().err


def test_files_of_the_current_folder_are_not_executed(tmp_path):
    for name in ("click", "numpy", "yaml"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the folder')\n")
    command = [sys.executable, "-m", "svmbench", "data", "list"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert listed.returncode == 0, listed.stderr
    assert "tiny-sparse" in listed.stdout
