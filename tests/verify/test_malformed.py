"""`svmbench verify` judges folders whose files are malformed, or are no files, in one line each."""

import os
import re

import pytest
from click.testing import CliRunner
from recorded_folders import SWEEP, a_trace, make, records_of, write_records

from svmbench.cli import main
from svmbench.errors import DataError
from svmbench.harness.trace import read_trace
from svmbench.records.read import read_results
from svmbench.verify.folder import Verifier
from svmbench.verify.header import FIELDS, OF_PROBLEM
from svmbench.verify.outcome import ContradictionError
from svmbench.verify.recorded import check_points
from svmbench.verify.tables import check_row

ODD = ([], {}, None, True, "x", 10**400, float("inf"))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    root = tmp_path_factory.mktemp("made")
    return make(root, SWEEP | {"solvers": ["dcd", "pegasos"], "plots": []}, report=True)


def test_every_field_of_a_first_line_is_checked(folder):
    header = records_of(a_trace(folder))[0]
    unchecked = {"schema_version", "load_average", "keep_weights", "clock_rules"}
    assert set(header) - set(FIELDS) == unchecked | {"checkpoint_ratio"}
    assert set(header["problem"]) == set(OF_PROBLEM)


@pytest.mark.parametrize("place", [("run",), ("run", "problem")], ids="/".join)
def test_a_first_line_without_a_field_or_with_another_type_is_found(folder, wrong, place):
    path = a_trace(folder)
    fields = OF_PROBLEM if "problem" in place else FIELDS
    sound, unnoticed = path.read_bytes(), []
    for name in fields:
        for odd in (*ODD, ...):
            path.write_bytes(sound)
            records = records_of(path)
            inner = records[0]["problem"] if "problem" in place else records[0]
            if odd is ... or inner[name] == odd:
                del inner[name]
            else:
                inner[name] = odd
            write_records(path, records)
            if not wrong(folder).get(path.stem):
                unnoticed.append((name, odd))
    assert unnoticed == []


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("kind", "walk", "a line of kind 'walk'"),
        ("visits", ..., "some of its points have visits"),
        ("switches", ..., "some of its points have switches"),
        ("stopped", ..., "some of its points have stopped"),
        ("visits", None, "an empty count"),
        ("stopped", [], "[] as stopped"),
    ],
)
def test_a_point_without_a_field_or_with_another_type_is_found(folder, wrong, field, value, said):
    path = a_trace(folder)
    records = records_of(path)
    if value is ...:
        del records[3][field]
    else:
        records[3][field] = value
    write_records(path, records)
    assert said in wrong(folder)[path.stem]


@pytest.mark.parametrize("kind", ["walk", [], None])
def test_a_first_line_of_another_kind_is_found(folder, wrong, kind):
    path = a_trace(folder)
    records = records_of(path)
    write_records(path, [records[0] | {"kind": kind}, *records[1:]])
    assert "not that of a run" in wrong(folder)[path.stem]


@pytest.mark.parametrize("file", [None, "../other.npz", []])
def test_weights_under_another_name_are_found(folder, wrong, file):
    path = a_trace(folder)
    records = records_of(path)
    for record in records:
        if record["kind"] == "weights":
            record["file"] = file
    write_records(path, records)
    assert "names another file" in wrong(folder)[path.stem]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (rb'\{"kind": "end"', rb'{"state": "failed", "kind": "end"'),
        (rb'\{"kind": "end"', rb'{  "kind": "end"'),
        (rb"\}\n$", rb"}\r\n"),
        (rb'"stolen_seconds": 0\.0', rb'"stolen_seconds": 0.00'),
    ],
    ids=["duplicate key", "blanks", "line end", "number"],
)
def test_a_last_line_that_reads_the_same_and_is_written_otherwise_is_no_end(folder, old, new):
    path = a_trace(folder)
    text = path.read_bytes()
    if b"0\\.0" in old and b'"stolen_seconds": 0.0,' not in text:
        pytest.skip("the machine's host took time from it")
    path.write_bytes(re.sub(old, new, text))
    assert path.read_bytes() != text
    assert read_trace(path) is None


@pytest.mark.parametrize(
    "text", ["1_0.5", "+10.5", " 10.5", "10.5 ", "10.5\n", "١٠.٥", "1050e-2x", "0x10", "nan", ".5"]
)
def test_numbers_as_nobody_writes_them_are_found(text):
    value = {".5": 0.5, "0x10": 16.0}.get(text, 10.5)
    check_row("t", ["a"], [repr(value)], {"a": value})
    check_row("t", ["a"], ["1.05e+01"], {"a": 10.5})
    with pytest.raises(ContradictionError, match="its trace says"):
        check_row("t", ["a"], [text], {"a": value})


def test_a_field_of_which_the_trace_says_nothing_is_found():
    with pytest.raises(ContradictionError, match="t: a is 1, its trace says nothing of it"):
        check_row("t", ["a"], ["1"], {"a": None})


def test_a_time_limit_that_the_times_contradict_is_found(folder, wrong):
    path = a_trace(folder)
    records = records_of(path)
    before = records[-1]["state"]
    assert before == "converged"
    write_records(path, [*records[:-1], records[-1] | {"state": "time_limit"}])
    table = folder / "runs.csv"
    line = next(line for line in table.read_text().splitlines() if path.stem in line)
    table.write_text(table.read_text().replace(line, line.replace(before, "time_limit")))
    assert "as time_limit, and its targets are met" in wrong(folder)[path.stem]
    path.with_suffix(".weights.npz").unlink()
    points = [record for record in records if record["kind"] == "point"]
    short = [records[0] | {"keep_weights": False}, *points[:2], records[-1]]
    write_records(path, [*short[:-1], records[-1] | {"state": "time_limit"}])
    with pytest.raises(ContradictionError, match=r"as time_limit, after .* s of 10\.0"):
        check_points(Verifier().recorded(short[0]), read_trace(path))


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


@pytest.mark.parametrize("name", ["runs", "tables", "plots"])
def test_a_link_in_place_of_a_folder_is_named(folder, name):
    path = folder / name
    path.mkdir(exist_ok=True)
    path.rename(folder.parent / "elsewhere")
    path.symlink_to(folder.parent / "elsewhere")
    result = CliRunner().invoke(main, ["verify", str(folder), "--quiet"])
    assert result.exit_code == 1, result.output
    assert f"does not hold: file {name}: is not a file of its own" in result.output


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
