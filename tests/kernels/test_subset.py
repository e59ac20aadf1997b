"""Chosen rows against NumPy's and SciPy's indexing, for every storage."""

import numpy as np
import pytest

from problems import dataset, dense, dyadic, every_storage
from svmbench.data.dataset import Dataset
from svmbench.kernels.rows import take_rows


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


@every_storage
@pytest.mark.parametrize("stranger", [-1, 23, 2**31 - 1, -(2**31)])
def test_a_row_that_is_not_there_is_refused(storage, stranger):
    chosen = np.array([0, stranger, 1], dtype=np.int32)
    with pytest.raises(ValueError, match="not there"):
        take_rows(made(storage).rows, chosen)
