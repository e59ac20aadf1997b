"""Folders that have lost a part, names and weights that are none: `svmbench verify` names each."""

import io
import shutil
import zipfile
from hashlib import sha256

import numpy as np
import pytest
from click.testing import CliRunner
from recorded_folders import SWEEP, a_trace, copy_of, make, records_of, write_records

from svmbench.cli import main
from svmbench.harness.weights import SUFFIX
from svmbench.verify.folder import Verifier


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    sweep = SWEEP | {"solvers": ["dcd", "pegasos"], "repeats": 2, "plots": ["log-suboptimality"]}
    return make(tmp_path_factory.mktemp("made"), sweep, report=True)


def wrong(folder):
    """What does not hold in a folder, by name."""
    results = Verifier().folder(folder)
    return {each.name: each.reason for each in results if each.verdict != "holds"}


def verified(folder):
    """The end of the command: its exit code and its output, which has no traceback."""
    result = CliRunner().invoke(main, ["verify", str(folder)])
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert "internal error" not in result.output
    return result.exit_code, result.output


def test_nothing_is_wrong_before(folder):
    assert wrong(folder) == {}


# --- folders that have lost a part


@pytest.mark.parametrize("gone", ["runs", "runs.csv"])
def test_a_folder_that_has_lost_a_part_is_not_left_out(made, tmp_path, monkeypatch, gone):
    root = copy_of(made, tmp_path, monkeypatch) / "results"
    other = root.parent / "all" / "one"
    other.parent.mkdir()
    shutil.copytree(root, other.parent / "two")
    root.rename(other)
    assert verified(other.parent)[0] == 0
    place = other / gone
    shutil.rmtree(place) if place.is_dir() else place.unlink()
    code, output = verified(other.parent)
    assert code == (3 if gone == "runs" else 1)  # without runs.csv no page can be written
    assert str(other) in output
    assert "missing" in output


def test_a_link_to_a_folder_of_results_is_not_left_out(folder):
    elsewhere = folder.parent / "elsewhere"
    shutil.copytree(folder, elsewhere)
    (elsewhere / "runs.csv").write_text("name\n")
    (folder.parent / "all").mkdir()
    (folder.parent / "all" / "sound").symlink_to(folder)
    assert verified(folder.parent / "all")[0] == 0
    (folder.parent / "all" / "more").symlink_to(elsewhere)
    (folder.parent / "all" / "ring").symlink_to(folder.parent / "all")
    code, output = verified(folder.parent / "all")
    assert code == 1
    assert str(folder.parent / "all" / "more") in output


@pytest.mark.parametrize(
    "name", ["x" * 5000, "a\0b", "../../etc/passwd", "", "\u00e9", "/dev/zero"]
)
def test_a_run_whose_name_is_none(folder, name):
    path = folder / "runs.csv"
    path.write_text(path.read_text().replace(a_trace(folder).stem, name), encoding="utf-8")
    code, output = verified(folder)
    assert code in (1, 3)
    assert max(map(len, output.splitlines())) < 1000


# --- weights that are none


def packed(w, bias, compressed=False, **more):
    buffer = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(buffer, w=w, bias=bias, **more)
    return buffer.getvalue()


def a_bomb(d):
    """Weights whose header announces a million million numbers."""
    buffer = io.BytesIO()
    head = io.BytesIO()
    np.lib.format.write_array_header_1_0(
        head, {"descr": "<f8", "fortran_order": False, "shape": (10**12,)}
    )
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("w.npy", head.getvalue() + bytes(8 * d))
        bias = io.BytesIO()
        np.save(bias, np.float64(0.0))
        archive.writestr("bias.npy", bias.getvalue())
    return buffer.getvalue()


def twice(w):
    """Two arrays of a name: the first is found by some readers, the last by others."""
    buffer, one = io.BytesIO(packed(np.zeros_like(w), 0.0)), io.BytesIO()
    np.save(one, w)
    with zipfile.ZipFile(buffer, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("w.npy", one.getvalue())
    return buffer.getvalue()


def with_weights(folder, content):
    """What `verify` says of a folder in which a run has other weights, with their hash."""
    path = a_trace(folder)
    path.with_suffix(SUFFIX).write_bytes(content)
    records = records_of(path)
    for record in records:
        if record["kind"] == "weights":
            record["sha256"] = sha256(content).hexdigest()
    write_records(path, records)
    code, output = verified(folder)
    assert code == 3
    return output


@pytest.mark.parametrize(
    "content",
    [
        twice,
        lambda w: packed(w[:, None], 0.0),
        lambda w: packed(w + 0j, 0.0),
        lambda w: packed(w.astype("S24"), 0.0),
        lambda w: packed(w.astype(np.longdouble), 0.0),
        lambda w: packed(w.astype([("x", "f8")]), 0.0),
        lambda w: packed(np.float64(1.0), 0.0),
        lambda w: packed(w, np.zeros(2)),
        lambda w: packed(w, 1j),
        lambda w: packed(w, "0"),
        lambda w: packed(np.zeros(10**6), 0.0, compressed=True),
        lambda w: packed(w, 0.0)[:-30],
        lambda w: a_bomb(len(w)),
        lambda w: b"",
    ],
)
def test_weights_of_another_form(folder, content):
    with np.load(a_trace(folder).with_suffix(SUFFIX)) as stored:
        new = content(stored["w"])
    assert "no weights in it" in with_weights(folder, new)


# --- labels


def test_tables_that_were_published_without_their_runs_are_one_line(folder, tmp_path):
    root = tmp_path / "several"
    shutil.copytree(folder, root / "whole")
    for name in ("a", "b"):
        (root / name).mkdir()
        shutil.copy(folder / "runs.csv", root / name / "runs.csv")
    result = CliRunner().invoke(main, ["verify", str(root)])
    assert result.exit_code == 0, result.output
    assert "2 folders without runs and configuration: not verified" in result.output
    # Asked for by its own name, such a folder is not passed over.
    assert CliRunner().invoke(main, ["verify", str(root / "a")]).exit_code == 3
