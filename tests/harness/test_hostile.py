"""What hostile files in a results folder found out, each as small as it will go."""

import hashlib
import json
import os
import tempfile

import pytest

from svmbench.errors import ConfigError, DataError
from svmbench.harness.child import LONGEST_LINE, last_line
from svmbench.harness.store import Store
from svmbench.harness.trace import Trace, TraceWriter, is_complete, read_trace
from svmbench.records.columns import RUNS
from svmbench.records.read import _read_environment
from svmbench.report.write import write_report

POINT = {
    "visits": 1,
    **dict.fromkeys(("presentations", "updates", "nonzeros", "wall", "cpu"), 1),
    **dict.fromkeys(("primal", "accuracy", "dual", "gap", "train_error", "test_error")),
}


def finished(path):
    with TraceWriter(path, {"id": "x"}) as writer:
        writer.append({"kind": "point", **POINT})
        writer.end("converged", reason=None, peak_memory_bytes=500)


def test_a_changed_last_line_is_damage(tmp_path):
    path = tmp_path / "x.jsonl"
    finished(path)
    content = path.read_bytes()
    assert read_trace(path).end["peak_memory_bytes"] == 500
    for old, new in ((b": 500", b": 900"), (b"converged", b"max_steps")):
        path.write_bytes(content.replace(old, new))
        assert read_trace(path) is None


def test_a_line_nested_without_end_is_damage(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("[" * 100_000 + "\n{}\n")
    assert read_trace(path) is None


def test_a_line_nested_more_deeply_than_ours_is_damage(tmp_path):
    path = tmp_path / "x.jsonl"
    for levels, sound in ((10, True), (60, False)):
        with TraceWriter(path, {"id": "x", "of": json.loads("[" * levels + "]" * levels)}):
            pass
        assert (read_trace(path) is not None) == sound


@pytest.mark.parametrize(
    "header", [{"started": "soon"}, {"started": 3}, {"started": []}, {"node": ["a"]}]
)
def test_a_first_line_that_tells_no_time_or_no_node_is_incomplete(header):
    assert is_complete(Trace({"started": "2026-01-01T00:00:00", "node": "a"}, [POINT]))
    assert not is_complete(Trace(header, [POINT]))


@pytest.mark.parametrize("value", ["1", None, [], True, 10**400, float("nan"), float("inf")])
def test_a_point_without_its_numbers_is_incomplete(value):
    assert is_complete(Trace({}, [POINT]))
    assert not is_complete(Trace({}, [{**POINT, "wall": value}]))
    assert is_complete(Trace({}, [{**POINT, "primal": value}])) == (value is None)


@pytest.mark.parametrize(
    "column", [one for one in RUNS if one.kind == "number" and one.line], ids=lambda one: one.name
)
def test_a_trace_with_text_for_a_number_is_incomplete(column):
    wrong = {column.field: "x"}
    trace = Trace(
        wrong if column.line == "header" else {},
        [POINT | wrong if "point" in column.line else POINT],
        wrong if column.line == "end" else {},
    )
    assert not is_complete(trace)


def test_links_are_replaced_or_refused_and_never_followed(tmp_path):
    other, results = tmp_path / "other", tmp_path / "results"
    other.mkdir()
    precious = other / "precious"
    precious.write_text("kept")
    store = Store(results)
    (results / ".lock").symlink_to(precious)
    with pytest.raises(ConfigError, match=r"\.lock: cannot be written"), store.locked():
        pass
    (results / "runs" / "x.jsonl").symlink_to(precious)
    finished(results / "runs" / "x.jsonl")
    assert precious.read_text() == "kept"
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "runs").symlink_to(other)
    with pytest.raises(ConfigError, match="a symbolic link, which is not followed"):
        Store(tmp_path / "linked")
    assert list(other.iterdir()) == [precious]


def test_a_folder_in_the_place_of_an_unfinished_trace_is_named(tmp_path):
    (tmp_path / "runs" / "x.part").mkdir(parents=True)
    (tmp_path / ".lock").touch()
    with (
        pytest.raises(ConfigError, match=r"x\.part: cannot be written"),
        Store(tmp_path).locked(),
    ):
        pass


def test_a_pipe_in_the_place_of_a_file_does_not_hang(tmp_path):
    os.mkfifo(tmp_path / "x.jsonl")
    assert read_trace(tmp_path / "x.jsonl") is None
    os.mkfifo(tmp_path / "config.yaml")
    with pytest.raises(DataError, match="not a file"):
        write_report(tmp_path)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a": ' + "1" * 5000 + "}"])
def test_an_environment_that_json_cannot_take_is_one_complaint(tmp_path, text):
    (tmp_path / "environment.json").write_text(text)
    with pytest.raises(DataError, match="not JSON"):
        _read_environment(tmp_path / "environment.json")


def test_an_environment_nested_more_deeply_than_ours_is_one_complaint(tmp_path):
    (tmp_path / "environment.json").write_text("[" * 60 + "]" * 60)
    with pytest.raises(DataError, match=r"environment\.json: nested too deeply"):
        _read_environment(tmp_path / "environment.json")


def test_a_hash_that_leaves_the_last_line_out_is_not_enough(tmp_path):
    path = tmp_path / "x.jsonl"
    finished(path)
    lines = path.read_bytes().splitlines(keepends=True)
    end = json.loads(lines[-1])
    end["sha256"] = hashlib.sha256(b"".join(lines[:-1])).hexdigest()
    path.write_bytes(b"".join(lines[:-1]) + json.dumps(end).encode() + b"\n")
    assert read_trace(path) is None


def test_of_a_long_last_line_the_end_is_kept():
    with tempfile.TemporaryFile() as stderr:
        stderr.write(b"first\n" + b"x" * 3_000_000 + b" what is wrong\n\n")
        line = last_line(stderr)
        assert len(line) == LONGEST_LINE == 500
        assert line.endswith("x what is wrong")
        stderr.write("é".encode() * 600 + b"\n")
        assert last_line(stderr) == "é" * 500
    with tempfile.TemporaryFile() as stderr:
        assert last_line(stderr) == ""
        stderr.write(b"one\ntwo\n")
        assert last_line(stderr) == "two"


def test_of_an_error_of_several_lines_the_first_is_kept_too():
    with tempfile.TemporaryFile() as stderr:
        where = b'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n'
        stderr.write(b"before\n" + where + b"TypingError: no int\n\n  in f, at\nline 3\n")
        assert last_line(stderr) == "TypingError: no int in f, at line 3"
        stderr.write(b"\nDuring handling of it, another occurred:\n\n" + where + b"KeyError: 1\n")
        assert last_line(stderr) == "KeyError: 1"
        stderr.write(where + b"ValueError: a\n" + b"b" * 600)
        assert last_line(stderr).startswith("ValueError: a bbb")
        assert len(last_line(stderr)) == LONGEST_LINE
