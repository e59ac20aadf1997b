"""Chosen rows against NumPy's and SciPy's indexing, for every storage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from problems import STORAGES, dataset, dense, dyadic, every_storage
from svmbench.data.dataset import Dataset
from svmbench.kernels.subset import take_rows


def made(storage, m=23, d=9, seed=0):
    X, y = dyadic(seed, m, d)
    X[3 % m] = 0.0
    return dataset(X, y, storage)


def as_data(rows, d):
    return Dataset("taken", d, rows.indptr, rows.indices, rows.values, rows.labels)


@every_storage
@pytest.mark.parametrize(
    "chosen",
    [[], [3], [0, 1, 2], [22, 0, 7], [5, 5, 3, 5, 3], list(range(23)), [22] * 40],
    ids=["none", "zero-row", "first", "any-order", "repeated", "all", "more-than-there-are"],
)
def test_takes_what_indexing_takes(storage, chosen):
    data = made(storage)
    chosen = np.array(chosen, dtype=np.int32)
    taken = as_data(take_rows(data.rows, chosen), 9)
    assert taken.storage == data.storage
    assert taken.rows.m == len(chosen)
    assert np.array_equal(dense(taken), dense(data)[chosen])
    assert np.array_equal(taken.labels, data.labels[chosen])
    assert np.array_equal(taken.rows.norms2(), data.rows.norms2()[chosen])


@given(st.integers(0, 2**32 - 1), st.sampled_from(STORAGES[:6]), st.integers(1, 40))
def test_sparse_rows_are_those_of_scipy(seed, storage, m):
    data = made(storage, m=m, seed=seed)
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, m, size=rng.integers(0, 60)).astype(np.int32)
    values = np.ones(data.nnz) if data.values is None else data.values
    matrix = csr_array((values, data.indices.astype(np.int64), data.indptr), shape=(m, 9))
    expected = matrix[chosen.astype(np.int64)]
    taken = take_rows(data.rows, chosen)
    assert np.array_equal(taken.indptr, expected.indptr)
    assert np.array_equal(taken.indices, expected.indices)
    if data.values is None:
        assert taken.values is None
    else:
        assert np.array_equal(taken.values, expected.data)


@every_storage
def test_the_rows_are_a_copy(storage):
    data = made(storage)
    before = dense(data)
    taken = take_rows(data.rows, np.arange(23, dtype=np.int32))
    for array in (taken.indptr, taken.indices, taken.values, taken.labels):
        if array is not None:
            array[:] = 0
    assert np.array_equal(dense(data), before)


@every_storage
@pytest.mark.parametrize("stranger", [-1, 23, 2**31 - 1, -(2**31)])
def test_a_row_that_is_not_there_is_refused(storage, stranger):
    chosen = np.array([0, stranger, 1], dtype=np.int32)
    with pytest.raises(ValueError, match="not there"):
        take_rows(made(storage).rows, chosen)
