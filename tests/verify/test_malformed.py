"""`svmbench verify` judges folders whose files are malformed, or are no files, in one line each."""

import os

import pytest
from click.testing import CliRunner
from recorded_folders import SWEEP, make

from svmbench.cli import main
from svmbench.errors import DataError
from svmbench.records.read import read_results


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    return make(root, SWEEP | {"solvers": ["dcd", "pegasos"], "plots": []}, report=True)


PLACES = (
    *("runs.csv", "traces.csv", "config.yaml", "environment.json", "report.html"),
    *("tables/time.csv", "plots/more.svg", "runs/more.jsonl", "runs/more.weights.npz"),
)


@pytest.mark.parametrize("kind", ["pipe", "link", "device", "folder", "nothing"])
@pytest.mark.parametrize("place", PLACES)
def test_what_is_not_a_file_is_named_and_not_read(folder, place, kind):
    path = folder / place
    path.parent.mkdir(exist_ok=True)
    elsewhere = folder.parent / "elsewhere"
    elsewhere.write_bytes(path.read_bytes() if path.exists() else b"")
    path.unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        path.symlink_to({"link": elsewhere, "device": "/dev/zero", "nothing": "gone"}[kind])
    result = CliRunner().invoke(main, ["verify", str(folder), "--quiet"])
    assert result.exit_code == 1, result.output
    assert f"does not hold: file {place}: is not a file of its own" in result.output


@pytest.mark.parametrize("name", ["runs.csv", "traces.csv", "config.yaml", "environment.json"])
def test_a_report_follows_no_link(folder, name):
    (folder / name).rename(folder.parent / "elsewhere")
    (folder / name).symlink_to(folder.parent / "elsewhere")
    with pytest.raises(DataError, match="not a file of its own"):
        read_results(folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(DataError, match="not a file of its own"):
        read_results(folder)
