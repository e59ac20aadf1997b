"""The compiled parser against its plain twin, whatever the text and however it is cut."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svmbench.data.storage import Part
from svmbench.kernels.libsvm import ParseError, Parser
from twins import libsvm as twin

# --- texts -------------------------------------------------------------------------

digit_runs = st.text("0123456789", min_size=1, max_size=25)


@st.composite
def decimals(draw):
    """Numbers as people and programs write them, many beyond the exact fast path."""
    whole, fraction = draw(digit_runs), draw(digit_runs)
    mantissa = draw(st.sampled_from([whole, f"{whole}.", f".{fraction}", f"{whole}.{fraction}"]))
    exponent = draw(st.one_of(st.just(""), st.integers(-330, 300).map(lambda e: f"e{e:+d}")))
    return draw(st.sampled_from(["", "-", "+"])) + mantissa + exponent


values = st.one_of(
    st.sampled_from(["1", "0", "-0.0", "0.5", "16777217", "0.1000000", "1E3"]),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.floats(-10, 10).map(lambda x: f"{x:.6g}"),
    decimals(),
)
blanks = st.text(" \t", min_size=1, max_size=2)
ends = st.sampled_from(["\n", "\r\n", " \n", "\t# 1:nan\n", "#\r\n"])


@st.composite
def lines(draw):
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", "  ", "# a comment: 3:4"])) + draw(ends)
    text = draw(st.sampled_from(["", " "])) + draw(st.sampled_from(["-1", "+1", "0", "2", "1e1"]))
    indices = draw(st.sets(st.integers(1, 40), max_size=6)) | draw(
        st.sampled_from([set(), set(), {65536}, {twin.INT32_MAX}])
    )
    for index in sorted(indices):
        text += f"{draw(blanks)}{index}:{draw(values)}"
    return text + draw(ends)


@st.composite
def texts(draw):
    text = "".join(draw(st.lists(lines(), max_size=8)))
    if draw(st.booleans()):
        text = text.removesuffix("\n")
    return text.encode()


@st.composite
def broken_texts(draw):
    """Texts with a few bytes replaced, put in or cut out."""
    text = bytearray(draw(texts()))
    piece = st.sampled_from(
        [
            b": ",
            b"+",
            b"0x",
            b"nan",
            b"-inf",
            b"1e999",
            b"0:1",
            b"qid:3",
            b",",
            b":",
            b"\r",
            b"\x00",
            b"\xff",
            b"#",
        ]
    )
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        stop = min(len(text), start + draw(st.integers(0, 3)))
        text[start:stop] = draw(st.one_of(piece, st.binary(max_size=2)))
    return bytes(text)


def cut(text, cuts):
    """``text`` in the pieces between ``cuts``, some of them empty."""
    bounds = [0, *sorted(min(c, len(text)) for c in cuts), len(text)]
    return [text[a:b] for a, b in pairwise(bounds)]


def parse(pieces, n_features=0, single_digits=0):
    parser = Parser(n_features)
    for piece in pieces:
        parser.feed(piece)
    return Part(*parser.take(single_digits))


def entries(part):
    """Columns and values of a part's rows one after the other, whatever form they have."""
    if part.indices is None:
        places = np.nonzero(part.values)
        return places[1].tolist(), np.asarray(part.values[places], dtype=np.float64)
    values = np.ones(part.nnz) if part.values is None else part.values
    return part.indices.tolist(), np.asarray(values, dtype=np.float64)


def outcome_of_twin(text, n_features):
    try:
        return twin.parse(text, n_features), None
    except twin.FaultError as fault:
        return None, fault


def assert_same(pieces, n_features=0):
    """Both parsers give the same rows to the last bit, or refuse at the same place."""
    expected, fault = outcome_of_twin(b"".join(pieces), n_features)
    if fault is not None:
        with pytest.raises(ParseError, match=fault.words) as caught:
            parse(pieces, n_features)
        assert (caught.value.line, caught.value.column) == (fault.line, fault.column)
        return
    part = parse(pieces, n_features)
    columns, found = entries(part)
    wanted = np.array([value for row in expected.rows for _, value in row])
    assert part.labels.tolist() == expected.labels
    assert part.label_indptr is None
    assert part.indptr.dtype == np.int64
    assert part.indptr[0] == 0
    assert np.diff(part.indptr).tolist() == [len(row) for row in expected.rows]
    assert columns == [column for row in expected.rows for column, _ in row]
    assert found.tobytes() == wanted.tobytes()
    assert part.exact
    assert part.max_index == expected.max_index
    assert part.zeros == expected.zeros
    assert (part.values is None) == expected.all_ones
    assert_smallest(part, expected, wanted)
    rounded = parse(pieces, n_features, 6)
    with np.errstate(over="ignore", under="ignore"):
        single = wanted.astype(np.float32)
    normal = np.abs(single) >= np.finfo(np.float32).tiny
    fits = (single == wanted) | (expected.significant_digits <= 6) & normal & np.isfinite(single)
    if fits.all():
        assert entries(rounded)[1].tolist() == single.tolist()
        assert rounded.exact == (single == wanted).all()
    else:
        assert rounded.values.dtype == np.float64
        assert rounded.exact


def assert_smallest(part, expected, wanted):
    """The part has the form that takes the fewest bytes."""
    with np.errstate(over="ignore"):
        size = 4 if (wanted.astype(np.float32) == wanted).all() else 8
    if part.values is not None:
        assert part.values.itemsize == size
    narrow = 2 if expected.max_index <= 65536 else 4
    sparse = part.indptr.nbytes + len(wanted) * (narrow + (0 if expected.all_ones else size))
    dense = len(expected.rows) * expected.max_index * size
    assert (part.indices is None) == (dense < sparse and not expected.all_ones)
    if part.indices is not None:
        assert part.indices.itemsize == narrow


cuts = st.lists(st.integers(0, 300), max_size=6)


@given(texts(), cuts)
@example(b"", [])
@example(b"\n\n", [1])
@example(b"1 1:2\r", [])
@example(b"1 1:2\r\n-1 3:4\r\n", [6, 7])
@example(b"1", [])
@example(b"1 1:0 2:0\n-1\n", [])
@example(b"1 1:0.10000000000000000000000000000001\n", [])
def test_well_formed(text, where):
    assert_same(cut(text, where))


@given(broken_texts(), cuts, st.sampled_from([0, 5, 40]))
def test_malformed(text, where, n_features):
    assert_same(cut(text, where), n_features)


@given(decimals())
def test_numbers_are_correctly_rounded(number):
    assert_same([f"1 1:{number}\n".encode()])


@pytest.mark.parametrize(
    "row",
    [
        f"1 1:{2**64 + 1} 2:0.{2**64 + 1}",  # as 64-bit integers these are 1
        f"1 1:1e{2**64 + 1}",
        f"1 1:1e-{2**64 - 1}",
        f"1 {2**64 + 5}:1",
        f"1 7:1 {2**32 + 8}:1",
        f"{2**64 + 1} 1:1",
        f"1 1:0.12345678 2:0.{2**64 + 1}",  # its digits as well
        "1 1:0.3 2:0.10",
        "1 1:0.12345678 2:1234567.9 3:0.00012345678",
    ],
)
def test_integers_that_wrap_or_fill_up(row):
    assert_same([row.encode()])


@given(st.lists(st.tuples(digit_runs, digit_runs), max_size=5), st.sampled_from(["", "-"]))
@example([("1234567", "123456789012"), ("12345678", "1"), ("1234567", "1234567890123")], "-")
@example([("0", "123456789012345678"), ("0", "1234567890123456789"), ("9", "9" * 18)], "")
@example([("9007199", "254740993"), ("0", "00000000000000001"), ("0", "0" * 18)], "-")
def test_digits_on_both_sides_of_a_point(numbers, sign):
    pairs = (f"{k}:{sign}{whole}.{fraction}" for k, (whole, fraction) in enumerate(numbers, 1))
    assert_same([f"1 {' '.join(pairs)}\n".encode()])


@pytest.mark.parametrize(
    "index", ["7", "+7", "+", "1234567", "12345678", "123456789", "0000000012"]
)
@pytest.mark.parametrize("blank", [" ", "\t", "  ", " \t "])
def test_ways_to_write_an_entry(index, blank):
    values_ = [
        " 1",
        "0x1.8p1",
        "-0XAp-1",
        "0x",
        "1",
        "-1",
        "+2",
        "0.25",
        "-0.123456",
        "1e-3",
        "0.3 # 5:x",
        "--1",
        "1.",
        "-.5",
        ".",
    ]
    for value, end in product(values_, ["\n", "\r\n", " \n", "\t\n", ""]):
        assert_same([f"1{blank}1:1{blank}{index}:{value}{end}".encode()])


def test_a_line_longer_than_any_chunk():
    text = b"1 " + b" ".join(b"%d:%d" % (i, i) for i in range(1, 3000)) + b" 4000:" + b"7" * 5000
    assert_same(cut(text, range(0, len(text), 97)))  # the last number is beyond double
    assert_same(cut(text[:-4800], range(0, len(text), 97)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 0:1",
            "1:3: index 0; if indices count from 0, say so: --zero-based, or zero_based: true in "
            "YAML",
        ),
        ("1 2:1 2:1", "1:7: index 2 stands twice in its row; keep one of them"),
        ("1\n-1 9:1 2:1", "2:8: index 2 after 9; sort each row by index"),
        ("1 2147483648:1", "1:3: index 2147483648 is too large; 2147483647 is the largest allowed"),
        ("1 7:nan", "1:5: value 'nan' is not finite; replace it with a number or drop the row"),
        ("-inf 7:1", "1:1: label '-inf' is not finite; replace it with a number or drop the row"),
        ("1 7:1e999", "1:5: value '1e999' is too large for a double; scale the data"),
        ("1 3:", "1:5: an index without a value; write index:value"),
        ("1 3: 4:5", "1:6: an index without a value; write index:value"),
        ("1 3:x", "1:5: value 'x' is not a number; write index:value, decimal"),
        ("1 3:0x1p", "1:5: value '0x1p' is not a number; write index:value, decimal"),
        ("1 3:1_0", "1:5: value '1_0' is not a number; write index:value, decimal"),
        ("a 1:1", "1:1: label 'a' is not a number; begin each row with its label"),
        ("1:1", "1:1: '1:1' stands where a label should; begin each row with its label"),
        ("1,2 1:1", "1:1: label '1,2' names several classes; give each row one label"),
        ("1 qid:3 1:1", "1:3: 'qid:' belongs to ranking data; remove it to train a classifier"),
        ("1 1:1\r-1 1:1", "1:6: a carriage return inside a line; end lines with LF or CRLF"),
        (
            "1 1:1 -2:1",
            "1:7: '-2:1' is not index:value; separate pairs by blanks, indices counted from 1",
        ),
    ],
)
def test_message(text, message):
    with pytest.raises(ParseError) as caught:
        parse([text.encode()])
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("labels", "dtype"),
    [
        ("-128 127 0", np.int8),
        ("1 128", np.float64),
        ("-129 1", np.float64),
        ("1.5", np.float64),
        ("1e300", np.float64),
    ],
)
def test_labels_in_the_smaller_type(labels, dtype):
    part = parse(["".join(f"{label}\n" for label in labels.split()).encode()])
    assert part.labels.dtype == dtype
    assert part.labels.tolist() == [float(label) for label in labels.split()]


def test_rows_stay_as_they_are_when_further_texts_are_parsed():
    # Some MB in all, of rows that take the same map, and of some that take one of their own.
    parser = Parser()
    counts = [*range(1, 60), 700_000, *range(60, 120)]
    parts = []
    for count in counts:
        parser.feed(b"1 1:2 30:4\n" * count)
        parts.append(Part(*parser.take()))
    for count, part in zip(counts, parts, strict=True):
        assert part.labels.tolist() == [1] * count
        assert np.array_equal(part.indptr, np.arange(count + 1) * 2)
        assert entries(part)[0] == [0, 29] * count
        assert entries(part)[1].tolist() == [2.0, 4.0] * count


# --- several labels a row ----------------------------------------------------------

label_lists = st.lists(st.integers(0, 200), max_size=4)


@st.composite
def multilabel_rows(draw):
    """Label lists, their pairs, and the text that says both."""
    rows, text = [], ""
    for labels in draw(st.lists(label_lists, max_size=8)):
        indices = sorted(draw(st.sets(st.integers(1, 40), max_size=4)))
        if not labels and not indices:
            continue  # a blank line, which is no row
        rows.append((labels, indices))
        first = draw(st.sampled_from(["", " ", "\t"])) if not labels else draw(blanks)
        pairs = draw(blanks).join(f"{index}:1" for index in indices)
        text += ",".join(map(str, labels)) + (first if pairs else "") + pairs + draw(ends)
    return rows, text.encode()


@given(multilabel_rows(), st.integers(0, 100))
def test_rows_with_any_number_of_labels(given_rows, cut):
    rows, text = given_rows
    parser = Parser(0, True)
    parser.feed(text[:cut])
    parser.feed(text[cut:])
    part = Part(*parser.take())
    columns = np.array(entries(part)[0], dtype=int) + 1
    bounds = zip(pairwise(part.label_indptr), pairwise(part.indptr), strict=True)
    found = [
        (part.labels[a:b].astype(int).tolist(), columns[c:d].tolist()) for (a, b), (c, d) in bounds
    ]
    assert found == rows


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (b"1 1:1\n3,,4 1:1\n", "2:3: label ',4' is not a whole number; write a row's labels as 3,"),
        (b"3, 4 1:1\n", "1:3: label '' is not a whole number"),
        (b"-1 1:1\n", "1:1: label '-1' is not a whole number"),
        (b"3,4.5 1:1\n", "1:3: label '4.5' is not a whole number"),
        (b"99999999999 1:1\n", "1:1: label '99999999999' is not a whole number"),
        (b" 3,4 1:1\n", "1:2: '3,4' is not index:value"),
        (b"3,4 0:1\n", "1:5: index 0; if indices count from 0"),
    ],
)
def test_what_is_no_list_of_labels(text, message):
    parser = Parser(0, True)
    with pytest.raises(ParseError) as caught:
        parser.feed(text)
    assert str(caught.value).startswith(message)
