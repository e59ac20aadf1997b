"""Rows with a constant feature, with some of their columns, or without empty ones."""

import numpy as np
import pytest

from problems import dataset, dense
from svmbench.data.derived import (
    constant_feature,
    with_constant,
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
