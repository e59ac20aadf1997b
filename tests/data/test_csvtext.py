"""Delimited text: what it says, and where it is wrong."""

import bz2
import hashlib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import refusal

from svmbench.data.catalogue import Csv
from svmbench.data.csvtext import parse_csv
from svmbench.data.storage import join
from svmbench.errors import DataError

FRAUD = b'"Time","V1","Amount","Class"\n0,-1.25,0,"0"\n1,0.5,2e3,"1"\n'
BY_NAME = Csv(label="Class")


def write(folder, content, name="rows.csv"):
    path = folder / name
    path.write_bytes(content)
    return path


def dense(text):
    indptr, indices, values = join(list(text.parts), text.max_index)
    if indices is None:
        return values.tolist()
    out = np.zeros((text.n_samples, text.max_index))
    rows = np.repeat(np.arange(text.n_samples), np.diff(indptr))
    out[rows, indices] = 1.0 if values is None else values
    return out.tolist()


def test_a_header_quotes_and_a_label_by_name(tmp_path):
    path = write(tmp_path, FRAUD)
    text = parse_csv(path, BY_NAME)
    assert text.labels.tolist() == [0, 1]
    assert dense(text) == [[0, -1.25, 0], [1, 0.5, 2000]]
    assert text.zeros == 2
    assert text.sha256 == hashlib.sha256(FRAUD).hexdigest()
    assert text.label_path is None


@pytest.mark.parametrize("drop", [("V1",), (2,)])
def test_dropped_columns(tmp_path, drop):
    text = parse_csv(write(tmp_path, FRAUD), Csv(label=4, drop=drop))
    assert dense(text) == [[0, 0], [1, 2000]]


@pytest.mark.parametrize("time", ["12:30", "#1", "noon"])
def test_a_dropped_column_holds_any_text(tmp_path, time):
    content = f"time,a,y\n{time},2,1\n{time},3,0\n".encode()
    text = parse_csv(write(tmp_path, content), Csv(label="y", drop=("time",)))
    assert text.labels.tolist() == [1, 0]
    assert dense(text) == [[2], [3]]


@pytest.mark.parametrize("cell", ["12:30", "#1", "2 3:1", "2#"])
@pytest.mark.parametrize("content", ["{0},1\n", "2,{0}\n"])
def test_marks_of_libsvm_text_are_no_numbers(tmp_path, cell, content):
    path = write(tmp_path, ("a,y\n1,1\n" + content.format(cell)).encode())
    assert f"'{cell}' in column" in refusal(parse_csv, path, Csv(label="y"))


@pytest.mark.parametrize(
    ("separator", "content"),
    [
        ("comma", b"1,0.5,0\r\n\r\n-1, 2 ,3"),
        ("semicolon", b"1;0.5;0\n-1;2;3\n"),
        ("semicolon", b"\t1;0.5;0\n-1;2\t;\t3\n"),
        ("tab", b"1\t0.5\t0\n-1\t2\t3\n"),
        ("blanks", b"  1 0.5\t0 \n \n-1  2 3\n"),
        ("comma", b"\xef\xbb\xbf1,0.5,0\n-1,2,3\n"),
    ],
)
def test_separators(tmp_path, separator, content):
    text = parse_csv(write(tmp_path, content), Csv(separator=separator, header=False, label=1))
    assert text.labels.tolist() == [1, -1]
    assert dense(text) == [[0.5, 0], [2, 3]]


@pytest.mark.parametrize("odd", [b"\r2", b"2\x1c", b"2\x85"])
def test_nothing_but_blanks_stands_around_a_cell(tmp_path, odd):
    for line in (b"1;" + odd + b";3\n", b"1; 2;" + odd + b"\n"):
        with pytest.raises(DataError):
            parse_csv(write(tmp_path, line), Csv(separator="semicolon", header=False, label=1))


def test_a_carriage_return_is_no_blank(tmp_path):
    layout = Csv(separator="blanks", header=False, label=1)
    with pytest.raises(DataError, match=":1: a carriage return inside a line"):
        parse_csv(write(tmp_path, b"1 2 \r 3\n"), layout)


def test_labels_in_a_file_of_their_own(tmp_path):
    values = write(tmp_path, bz2.compress(b"0.5 0 \n2 3 \n"), "v.dat.bz2")
    labels = write(tmp_path, b"1\n-1\n", "v.lab")
    text = parse_csv(values, Csv(separator="blanks", header=False), labels)
    assert text.labels.tolist() == [1, -1]
    assert dense(text) == [[0.5, 0], [2, 3]]
    assert text.label_sha256 == hashlib.sha256(b"1\n-1\n").hexdigest()
    assert text.provenance.source == "v.dat"


@pytest.mark.parametrize("content", [b"1\n", b"1\n-1\n1\n", b"1 1:1\n-1\n"])
def test_labels_that_do_not_fit(tmp_path, content):
    values, labels = write(tmp_path, b"0.5 0\n2 3\n"), write(tmp_path, content, "v.lab")
    message = refusal(parse_csv, values, Csv(separator="blanks", header=False), labels)
    assert message.startswith(f"{labels}: not one label per line for the 2 rows of rows.csv")


values = st.floats(-1e6, 1e6).map(lambda x: f"{x:.5g}") | st.sampled_from(["0", "1e-3", "-.5"])


@given(st.lists(st.lists(values, min_size=3, max_size=3), min_size=1))
def test_any_numbers(tmp_path_factory, rows):
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text("\n".join(",".join(row) for row in rows))
    text = parse_csv(path, Csv(header=False, label=1))
    assert text.labels.tolist() == [float(row[0]) for row in rows]
    wanted = np.array([[float(cell) for cell in row[1:]] for row in rows])
    if text.parts[0].exact:
        assert dense(text) == wanted.tolist()
    else:
        assert dense(text) == wanted.astype(np.float32).tolist()


@pytest.mark.parametrize(("cell", "stored"), [("0.123456", np.float32), ("0.1234567", np.float64)])
def test_digits_decide_about_precision(tmp_path, cell, stored):
    text = parse_csv(write(tmp_path, f"1,{cell}\n".encode()), Csv(header=False, label=1))
    assert join(text.parts, 1)[2].dtype == stored


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b,Class\n1,2,0\n1,x,1\n", ":3: value 'x' in column b; write a finite decimal"),
        (b"a,b,Class\n1,nan,0\n", ":2: value 'nan' in column b"),
        (b"a,b,Class\n1,1e999,0\n", ":2: value '1e999' in column b"),
        (b"a,b,Class\n1,1 2,0\n", ":2: value '1 2' in column b"),
        (b"a,b,Class\n,2,0\n", ":2: no value in column a"),
        (b"a,b,Class\n1,2,\n", ":2: no label in column Class"),
        (b"a,b,Class\n1,2,yes\n", ":2: label 'yes' in column Class"),
        (b"a,b,Class\n1,2 7:1,0\n", ":2: value '2 7:1' in column b"),
        (b"a,b,Class\n1,2,0#\n", ":2: label '0#' in column Class"),
        (b'a,b,Class\n"1",",",0\n', ":2: value ',' in column b"),
        (b"a,b,Class\n\n1,2\n", ":3: 2 cells, not the 3 of the first line"),
        (b"a,b,Class\n1,2,0,4\n", ":2: 4 cells, not the 3"),
        (b"a,b,Klass\n1,2,0\n", ":1: no column 'Class' among a, b, Klass; correct the"),
        (b"Class\n1\n", ":1: no column is left; correct"),
        (b"a,Class,Class\n1,2,0\n", ":1: columns 2 and 3 both have the name 'Class'; write the"),
        (b"a,b,Class\n1,\xe4,0\n", ":2: not UTF-8"),
        (b"a,b,Class\n", ": no rows; "),
    ],
)
def test_text_that_is_wrong(tmp_path, content, words):
    path = write(tmp_path, content)
    assert refusal(parse_csv, path, BY_NAME).startswith(f"{path}{words}")


def test_names_that_nothing_refers_to_may_be_equal(tmp_path):
    path = write(tmp_path, b"a,a,Class\n1,2,0\n")
    assert dense(parse_csv(path, BY_NAME)) == [[1, 2]]
    assert dense(parse_csv(path, Csv(label=3, drop=(2,)))) == [[1]]


def test_column_numbers_beyond_the_last(tmp_path):
    path = write(tmp_path, b"1 2\n")
    layout = Csv(separator="blanks", header=False, label=1, drop=(3,))
    assert refusal(parse_csv, path, layout) == (
        f"{path}:1: no column 3 among 1, 2; correct the description"
    )


def test_where_in_a_line_of_blanks(tmp_path):
    path = write(tmp_path, b"1 2\n1   ?\n")
    layout = Csv(separator="blanks", header=False, label=1)
    assert refusal(parse_csv, path, layout).startswith(f"{path}:2: value '?' in column 2")


def test_an_error_far_into_a_long_file(tmp_path):
    path = write(tmp_path, b"1,0.25,3\n" * 600_000 + b"1,0.25,x\n" + b"1,0.25,3\n" * 10)
    layout = Csv(header=False, label=1)
    assert refusal(parse_csv, path, layout).startswith(f"{path}:600001: value 'x' in column 3")


def test_a_message_quotes_the_start_of_a_long_name(tmp_path):
    path = write(tmp_path, f"{'a' * 9000},Klass\n1,x\n".encode())
    shown = "a" * 40
    assert refusal(parse_csv, path, BY_NAME).startswith(
        f"{path}:1: no column 'Class' among {shown}, Klass;"
    )
    assert len(refusal(parse_csv, path, Csv(label="Klass"))) < 300
    path = write(tmp_path, f"{'a' * 9000},Class\nx,1\n".encode())
    assert f"value 'x' in column {shown};" in refusal(parse_csv, path, BY_NAME)
