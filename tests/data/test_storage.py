"""Compact storage holds the numbers it is given."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.data.storage import FLOAT32_DIGITS, Part, compact, join, part_of
from svmbench.kernels.libsvm import Parser
from svmbench.kernels.rows import CompactRows
from twins import libsvm as twin

FLOAT32_TINY = float(np.finfo(np.float32).tiny)


def parsed(rows):
    """Arrays and digits of rows given as lists of (index from 1, text)."""
    text = "".join(" ".join(["1", *(f"{j}:{x}" for j, x in row)]) + "\n" for row in rows)
    said = twin.parse(text.removesuffix("\n").encode())
    indptr = np.cumsum([0, *map(len, said.rows)])
    indices = np.array([j for row in said.rows for j, _ in row], dtype=np.int32)
    values = np.array([x for row in said.rows for _, x in row], dtype=np.float64)
    return indptr, indices, values, said.significant_digits


def parts_of(rows, bounds, single_digits):
    """The same rows in parts, as a reader of their text makes them."""
    parser, parts = Parser(), []
    ends = sorted({min(bound, len(rows)) for bound in bounds} | {len(rows)})
    for start, end in zip([0, *ends], ends, strict=False):
        for row in rows[start:end]:
            parser.feed(" ".join(["1", *(f"{j}:{x}" for j, x in row)]).encode() + b"\n")
        parts.append(Part(*parser.take(single_digits)))
    return parts


def matrix(m, d, indptr, indices, values):
    if indices is None:
        return np.asarray(values, dtype=np.float64)
    out = np.zeros((m, d))
    rows = np.repeat(np.arange(m), np.diff(indptr))
    out[rows, indices.astype(np.int64)] = 1.0 if values is None else values
    return out


short = st.floats(-1e30, 1e30).map(lambda x: f"{x:.6g}")
long = st.floats(allow_nan=False, allow_infinity=False).map(repr)
whole = st.integers(-(2**24), 2**24).map(str)
ones = st.just("1")


@st.composite
def tables(draw, texts):
    d = draw(st.integers(1, 12))
    row = st.dictionaries(st.integers(1, d), texts, max_size=d)
    return d, [sorted(r.items()) for r in draw(st.lists(row, min_size=1, max_size=6))]


@given(st.one_of(tables(short), tables(long), tables(whole), tables(ones)))
def test_stored_numbers_are_the_texts(table):
    d, rows = table
    indptr, indices, values, digits = parsed(rows)
    stored = compact(indptr, indices, values, d, digits)
    wanted = matrix(len(rows), d, indptr, indices, values)
    found = matrix(len(rows), d, *stored)
    if stored[2] is None or stored[2].dtype == np.float64:
        assert np.array_equal(found, wanted)
    else:
        assert np.array_equal(found, wanted.astype(np.float32))
    # At six digits even single precision gives the text back.
    if digits <= 6:
        assert [f"{x:.6g}" for x in found.ravel()] == [f"{x:.6g}" for x in wanted.ravel()]
    CompactRows(d, *stored, np.ones(len(rows), dtype=np.int8))  # kernels take them


def assert_same_arrays(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)


@given(
    tables(st.one_of(short, whole, ones)),
    st.lists(st.integers(0, 6), max_size=3),
    st.sampled_from([0, 3, 40, 70_000]),
)
def test_parts_join_to_what_all_rows_make(table, bounds, more):
    d, rows = table[0] + more, table[1]
    indptr, indices, values, digits = parsed(rows)
    double = compact(indptr, indices, values, d, digits)[2]
    needed = double is not None and double.dtype == np.float64
    parts = parts_of(rows, bounds, 0 if needed else FLOAT32_DIGITS)
    found = join(parts, d)
    assert parts == []
    assert_same_arrays(found, compact(indptr, indices, values, d, digits))
    labels = np.ones(len(rows), dtype=np.int8)
    wanted = compact(indptr, indices, values, d, digits)
    single = part_of(labels, indptr, indices, values, d, digits)
    assert_same_arrays(join([single], d), wanted)


@given(tables(st.one_of(long, whole, ones)), st.lists(st.integers(0, 6), max_size=3))
def test_parts_join_in_double(table, bounds):
    d, rows = table
    indptr, indices, values, digits = parsed(rows)
    found = join(parts_of(rows, bounds, 0), d, dtype="float64")
    assert_same_arrays(found, compact(indptr, indices, values, d, digits, dtype="float64"))


def test_rounded_parts_are_no_double_precision():
    parts = parts_of([[(1, "0.1")], [(1, "0.2")]], [1], FLOAT32_DIGITS)
    with pytest.raises(AssertionError):
        join(parts, 1, dtype="float64")


@given(tables(long))
def test_double_on_request_is_exact(table):
    d, rows = table
    indptr, indices, values, digits = parsed(rows)
    stored = compact(indptr, indices, values, d, digits, dtype="float64")
    assert stored[2] is None or stored[2].dtype == np.float64
    wanted = matrix(len(rows), d, indptr, indices, values)
    assert np.array_equal(matrix(len(rows), d, *stored), wanted)


@given(tables(st.one_of(short, ones)), st.integers(0, 40))
def test_the_smaller_form_is_chosen(table, more):
    d, rows = table[0] + more, table[1]
    indptr, indices, values, digits = parsed(rows)
    stored = compact(indptr, indices, values, d, digits)
    size = sum(array.nbytes for array in stored if array is not None)
    itemsize = 4 if stored[2] is None else stored[2].itemsize
    entry = 2 + (0 if np.all(values == 1) else itemsize)
    assert size == min(len(rows) * d * itemsize, indptr.nbytes + entry * len(indices))


def sparse_form(values, digits=0, d=10_000, dtype=None):
    n = len(values)
    indptr = np.array([0, n], dtype=np.int64)
    indices = np.arange(n, dtype=np.int32)
    return compact(indptr, indices, np.array(values, dtype=np.float64), d, digits, dtype=dtype)


@pytest.mark.parametrize(("d", "dtype"), [(65536, np.uint16), (65537, np.int32)])
def test_width_of_columns(d, dtype):
    assert sparse_form([2.0], d=d)[1].dtype == dtype
    indptr = np.array([0, 1], dtype=np.int64)
    _, indices, _ = compact(indptr, np.array([d - 1], dtype=np.int32), np.array([2.0]), d, 0)
    assert indices.tolist() == [d - 1]


@pytest.mark.parametrize(
    ("values", "digits", "dtype"),
    [
        ([0.1, 3.0], 1, np.float32),
        ([0.123456, 3.0], 6, np.float32),
        ([0.1234567, 3.0], 7, np.float64),
        ([0.5, 16777216.0], 0, np.float32),  # eight digits, and exact
        ([16777217.0], 8, np.float64),
        ([1e39], 1, np.float64),  # beyond float32
        ([1e-39], 1, np.float64),  # subnormal, so fewer digits
        ([2.0**-149], 0, np.float32),  # subnormal, and exact
        ([1e-50], 1, np.float64),  # would become zero
        ([FLOAT32_TINY * 1.1], 6, np.float32),
    ],
)
def test_precision(values, digits, dtype):
    assert sparse_form(values, digits)[2].dtype == dtype


def test_ones_are_left_out_in_either_precision():
    assert sparse_form([1.0, 1.0])[2] is None
    assert sparse_form([1.0, 1.0], dtype="float64")[2] is None
    assert sparse_form([1.0, 2.0])[2].tolist() == [1.0, 2.0]


def test_one_bad_value_in_a_later_block():
    values = np.full((1 << 20) + 5, 0.5)
    assert sparse_form(values, d=1 << 22)[2].dtype == np.float32
    values[-1] = 0.1
    assert sparse_form(values, digits=17, d=1 << 22)[2].dtype == np.float64
