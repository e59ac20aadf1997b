import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.errors import UnwritableError
from svmbench.harness.trace import (
    Trace,
    TraceWriter,
    close_trace,
    read_trace,
)

HEADER = {"id": "a-run", "seed": 2**64 - 1}


def write(path, points=3, end=True):
    with TraceWriter(path, HEADER) as writer:
        for number in range(points):
            writer.append({"kind": "point", "presentations": number, "primal": 1.0 / 3.0})
        if end:
            writer.end("converged", peak_memory_bytes=5)


def test_what_is_written_is_read(tmp_path):
    write(tmp_path / "t")
    trace = read_trace(tmp_path / "t")
    assert trace.state == "converged"
    assert trace.header["seed"] == 2**64 - 1
    assert [point["presentations"] for point in trace.points] == [0, 1, 2]
    assert trace.points[0]["primal"] == 1.0 / 3.0
    assert trace.end["peak_memory_bytes"] == 5


def test_regrets_are_kept_apart_from_points(tmp_path):
    with TraceWriter(tmp_path / "t", HEADER) as writer:
        writer.append({"kind": "point", "presentations": 0})
        writer.append({"kind": "regret", "presentations": 4, "regret_low": -1.0})
    closed = close_trace(tmp_path / "t", HEADER, "interrupted", "killed")
    assert [point["presentations"] for point in closed.points] == [0]
    assert [record["regret_low"] for record in closed.regrets] == [-1.0]


def test_values_json_cannot_hold_become_null(tmp_path):
    with TraceWriter(tmp_path / "t", {"id": "x"}) as writer:
        writer.append({"kind": "point", "primal": float("inf"), "gap": float("nan")})
    line = json.loads((tmp_path / "t").read_text().splitlines()[1])
    assert line == {"kind": "point", "primal": None, "gap": None}


def test_an_absent_trace_is_none(tmp_path):
    assert read_trace(tmp_path / "t") is None


@given(st.data())
def test_a_cut_file_keeps_its_whole_lines(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("cut") / "t"
    write(path)
    whole = path.read_bytes()
    cut = data.draw(st.integers(0, len(whole) - 2))
    path.write_bytes(whole[:cut])
    trace = read_trace(path)
    lines = whole[:cut].count(b"\n")
    if trace is None:
        assert lines == 0
    else:
        assert trace.state == "interrupted"
        assert len(trace.points) <= lines


@given(st.data())
def test_a_damaged_file_is_never_a_finished_run(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("damaged") / "t"
    write(path)
    whole = bytearray(path.read_bytes())
    end_line = whole.rindex(b"\n", 0, -1) + 1
    at = data.draw(st.integers(0, end_line - 1))
    whole[at] ^= data.draw(st.integers(1, 255))
    path.write_bytes(bytes(whole))
    trace = read_trace(path)
    assert trace is None or trace.state == "interrupted"


def test_a_trace_of_another_version_is_not_read(tmp_path):
    write(tmp_path / "t", end=False)
    text = (tmp_path / "t").read_text().replace('"schema_version": 1', '"schema_version": 99')
    (tmp_path / "t").write_text(text)
    assert read_trace(tmp_path / "t") is None


@pytest.mark.parametrize("tear", [0, 7])
def test_closing_keeps_what_a_dead_worker_wrote(tmp_path, tear):
    path = tmp_path / "t.jsonl"
    write(path, end=False)
    path.write_bytes(path.read_bytes()[: -tear or None])
    close_trace(path, HEADER, "failed", "it died")
    trace = read_trace(path)
    assert trace.state == "failed"
    assert trace.end["reason"] == "it died"
    assert len(trace.points) == (2 if tear else 3)
    assert list(tmp_path.iterdir()) == [path]


def test_closing_a_trace_that_was_never_begun(tmp_path):
    close_trace(tmp_path / "t.jsonl", HEADER, "failed", "no start")
    assert read_trace(tmp_path / "t.jsonl").points == []


def test_a_trace_without_an_end_is_an_interrupted_one():
    assert Trace({}).state == "interrupted"


def test_a_trace_that_cannot_be_read_back_is_one_line(tmp_path, monkeypatch):
    path = tmp_path / "run.part"
    close_trace(path, {"id": "x"}, "failed", "a reason")
    monkeypatch.setattr("svmbench.harness.trace.is_own_file", lambda _: False)
    with pytest.raises(UnwritableError, match="cannot be read back"):
        close_trace(path, {"id": "x"}, "failed", "a reason")
