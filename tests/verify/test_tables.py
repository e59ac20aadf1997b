"""What a table may say of the values that follow from a trace, and how it is read."""

import math

import pytest

from svmbench.errors import DataError
from svmbench.verify.outcome import ContradictionError
from svmbench.verify.tables import Tables, check_row, check_rows, read_table

COLUMNS = ["id", "state", "dataset", "label", "lambda", "horizon", "repeat"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1", 1), ("-1", -1), ("1.0", 1), ("1e3", 1000), ("1.5e-07", 1.5e-7), ("-0.25", -0.25)),
        *(("", None), ("", math.nan), ("True", True), ("False", False), ("1", "1"), ("", "")),
        (str(2**64 - 1), 2**64 - 1),
    ],
)
def test_what_is_written_for_a_value(text, value):
    check_row("t", ["a"], [text], {"a": value})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("2", 1), ("", 1), ("x", 1), ("1", None), ("0", math.nan), ("1", True), ("true", True)),
        *(("False", True), ("1.0", "1"), ("-1.5", 1.5), ("1.5", 1.5000000000000002)),
        (str(2**64 - 2), 2**64 - 1),  # the same in double precision
        ("9" * 5000, 1),
    ],
)
def test_what_is_not(text, value):
    says = "nothing of it" if value is None or value != value else repr(value)
    with pytest.raises(ContradictionError) as found:
        check_row("t", ["a"], [text], {"a": value})
    assert str(found.value) == f"t: a is {text or 'empty'}, its trace says {says}"


@pytest.mark.parametrize(
    ("header", "row", "said"),
    [
        (["a", "b"], ["1"], "t: a row of 1 fields under 2 columns"),
        (["a", "b"], ["1", "2", "3"], "t: a row of 3 fields under 2 columns"),
        (["a"], ["1"], "t: its columns differ: b"),
        (["a", "b", "c"], ["1", "2", "3"], "t: its columns differ: c"),
        (["b", "a"], ["2", "1"], "t: its columns differ: their order"),
    ],
)
def test_columns_are_those_of_the_values_and_in_their_order(header, row, said):
    with pytest.raises(ContradictionError) as found:
        check_row("t", header, row, {"a": 1, "b": 2})
    assert str(found.value) == said


def test_a_column_without_a_value_may_be_left_out():
    check_row("t", ["a"], ["1"], {"a": 1, "b": None})
    check_row("t", ["a", "b"], ["1", ""], {"a": 1, "b": None})


def test_rows_are_compared_one_by_one():
    known = [{"a": 1}, {"a": 2}]
    check_rows("t", ["a"], [["1"], ["2"]], iter(known))
    with pytest.raises(ContradictionError, match="t: 1 rows, its trace has 2"):
        check_rows("t", ["a"], [["1"]], known)
    with pytest.raises(ContradictionError, match="t: a is 3, its trace says 2"):
        check_rows("t", ["a"], [["1"], ["3"]], known)


def write(path, *lines):
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def test_every_field_is_read_as_text(tmp_path):
    path = tmp_path / "t.csv"
    write(path, "a,b", '1.0,"x,\u00e9"')
    assert read_table(path) == (["a", "b"], [["1.0", "x,\u00e9"]])
    path.write_bytes(b'a\r\n"x\r\ny"\r\n')
    assert read_table(path) == (["a"], [["x\r\ny"]])
    write(path)
    assert read_table(path) == ([], [])


@pytest.mark.parametrize("content", [b'a\n"x" y\n', b"a\n\xff\n", None])
def test_a_table_that_cannot_be_read(tmp_path, content):
    path = tmp_path / "t.csv"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(DataError, match=r"t\.csv: cannot be read"):
        read_table(path)


def test_the_rows_of_each_run_are_read_once(tmp_path):
    write(tmp_path / "runs.csv", ",".join(COLUMNS), "x,converged,d,l,1,,0", "y,skipped,d,l,1,,1")
    tables = Tables.of(tmp_path)
    assert (tables.header, tables.names) == (COLUMNS, ["x", "y"])
    assert (tables.folder, tables.at("dataset"), tables.runs[1][1]) == (tmp_path, 2, "skipped")
    assert tables.of_runs("regret.csv") == ([], {})
    write(tmp_path / "traces.csv", "id,n", "x,1", "y,1", "x,2", "")
    of_runs = {"x": [["x", "1"], ["x", "2"]], "y": [["y", "1"]], "": [[]]}
    assert tables.of_runs("traces.csv") == (["id", "n"], of_runs)
    (tmp_path / "traces.csv").unlink()
    assert tables.of_runs("traces.csv") == (["id", "n"], of_runs)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [",".join(COLUMNS[1:]), "converged,d,l,1,,0"],
        [",".join([*COLUMNS, "id"]), "x,converged,d,l,1,,0,x"],
        [",".join(COLUMNS), "x,converged,d,l,1,,0", "x,converged,d,l,1,"],
        *([",".join(name for name in COLUMNS if name != gone)] for gone in COLUMNS),
    ],
)
def test_what_is_no_table_of_runs(tmp_path, lines):
    write(tmp_path / "runs.csv", *lines)
    with pytest.raises(DataError, match=r"runs\.csv: not a table of runs"):
        Tables.of(tmp_path)
