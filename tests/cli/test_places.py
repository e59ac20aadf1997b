"""Output that cannot be written, folders that cannot be made, files that cannot be opened."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from svmbench.cli import main
from svmbench.data.load import load
from svmbench.errors import ConfigError, DataError
from svmbench.harness.store import Store

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


ADVICE = [
    (["dcdd"], "--only dcdd: matches no run; did you mean 'dcd'?"),
    (["tiny-dense", "pegasus"], "--only pegasus: matches no run; did you mean 'pegasos'?"),
    (["tiny-dense/*/dcdd"], "did you mean 'tiny-dense'?"),
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


def test_a_folder_is_no_data_set(tmp_path):
    with pytest.raises(DataError, match="a folder, not a file; check the path"):
        load(str(tmp_path))


def test_files_of_the_current_folder_are_not_executed(tmp_path):
    for name in ("click", "numpy", "yaml"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the folder')\n")
    command = [sys.executable, "-m", "svmbench", "data", "list"]
    listed = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert listed.returncode == 0, listed.stderr
    assert "tiny-sparse" in listed.stdout
