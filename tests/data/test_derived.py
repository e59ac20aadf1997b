"""Rows with a constant feature, with some of their columns, or without empty ones."""

from dataclasses import replace

import numpy as np
import pytest

from problems import dataset, dense
from svmbench.data import derived
from svmbench.data.blocks import with_columns
from svmbench.data.derived import (
    constant_feature,
    with_constant,
    without_empty_columns,
    without_last_feature,
)

STORAGES = [
    "uint16+ones", "uint16+float32", "int32+float32", "uint16+float64", "dense float32",
    "dense float64",
]  # fmt: skip


def rows_of(storage, m=40, d=7):
    """A matrix with an empty row, and its rows in this storage."""
    rng = np.random.default_rng(0)
    X = np.where(rng.random((m, d)) < 0.4, rng.integers(1, 9, (m, d)) / 4.0, 0.0)
    if storage.endswith("ones"):
        X = (X != 0.0).astype(np.float64)
    X[3] = 0.0
    return X, dataset(X, rng.choice([-1, 1], m), storage)


@pytest.mark.parametrize("value", [1.0, 0.25, 1.0 / 3.0])
@pytest.mark.parametrize("storage", STORAGES)
def test_a_constant_is_the_last_feature_of_every_row(storage, value):
    X, data = rows_of(storage)
    found = with_constant(data, value)
    assert found.n_features == X.shape[1] + 1
    assert np.array_equal(dense(found), np.column_stack([X, np.full(len(X), value)]))
    assert np.array_equal(found.labels, data.labels)
    assert (found.values is None) == (storage == "uint16+ones" and value == 1.0)
    if found.values is not None:
        double = value == 1.0 / 3.0 or storage.endswith("float64")
        assert found.values.dtype == (np.float64 if double else np.float32)


def test_the_indices_of_a_column_beyond_65536_are_wider():
    columns = np.zeros((2, 1 << 16))
    columns[:, 5] = 2.0
    data = dataset(columns, [1, -1], "uint16+float32")
    assert with_constant(data, 1.0).indices.tolist() == [5, 1 << 16, 5, 1 << 16]


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("value", [1.0, 0.25])
def test_a_constant_is_found_and_left_out(storage, value):
    _, data = rows_of(storage)
    assert constant_feature(data) == 0.0
    longer = with_constant(data, value)
    assert constant_feature(longer) == value
    shorter = without_last_feature(longer)
    assert np.array_equal(dense(shorter), dense(data))
    assert constant_feature(shorter) == 0.0
    assert constant_feature(longer) == value


@pytest.mark.parametrize("last", [[1.0, 2.0], [0.0, 1.0], [-1.0, -1.0], [0.0, 0.0]])
@pytest.mark.parametrize("storage", ["uint16+float64", "dense float64"])
def test_other_last_features_are_no_constant(storage, last):
    X = np.column_stack([np.ones(2), last])
    assert constant_feature(dataset(X, [1, -1], storage)) == 0.0


def test_no_rows_have_no_constant():
    assert constant_feature(dataset(np.zeros((0, 3)), [], "uint16+float64")) == 0.0
    assert constant_feature(dataset(np.zeros((2, 0)), [1, -1], "dense float64")) == 0.0


@pytest.mark.parametrize("storage", ["uint16+ones", "int32+float32", "dense float32"])
def test_columns_are_taken_as_they_are(storage):
    rng = np.random.default_rng(5)
    X = (rng.random((7, 9)) < 0.5) * 1.0
    data = dataset(X, np.where(np.arange(7) % 2, 1, -1), storage)
    chosen = np.array([1, 2, 5, 8])
    part = with_columns(data, chosen)
    assert np.array_equal(dense(part), X[:, chosen])
    assert part.n_features == 4
    assert np.array_equal(part.rows.dot(np.arange(4.0)), X[:, chosen] @ np.arange(4.0))


@pytest.mark.parametrize("marked", [0, 10**6])
@pytest.mark.parametrize("storage", STORAGES[:4])
def test_empty_columns_are_left_out_whether_columns_are_marked_or_sorted(
    monkeypatch, storage, marked
):
    monkeypatch.setattr(derived, "MARKED_COLUMNS", marked)
    X, few = rows_of(storage)
    places = np.array([3, 4, 9, 20, 65, 70, 299])
    wide = replace(few, n_features=300, indices=places[few.indices].astype(few.indices.dtype))
    for most in (7, 299):
        found, columns = without_empty_columns(wide, most)
        assert columns.tolist() == places.tolist()
        assert np.array_equal(dense(found), X)
        assert found.indices.dtype == np.uint16
        assert found.values is wide.values
    assert without_empty_columns(wide, 6) is None


@pytest.mark.parametrize("d", [1 << 16, (1 << 16) + 1])
def test_as_many_columns_as_a_type_counts_keep_their_places(d):
    """The first column is empty, and the first that is not has the place 0."""
    indices = np.arange(1, d + 1, dtype=np.int32)
    made = dataset(np.ones((1, 1)), [1], "int32+ones")
    wide = replace(made, n_features=d + 1, indptr=np.array([0, d]), indices=indices)
    found, columns = without_empty_columns(wide, d)
    assert np.array_equal(columns, indices)
    assert np.array_equal(found.indices, np.arange(d))
    assert found.indices.dtype == (np.uint16 if d <= 1 << 16 else np.int32)
