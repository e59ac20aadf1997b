"""Groups of equal rows against a dictionary of their bytes, for every storage."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import STORAGES, dataset, dense, dyadic, every_storage
from svmbench.kernels.equal_rows import count_alike, group_equal


def repeated(storage, m, distinct, seed, d=9):
    """Rows drawn from a few, and a number for each."""
    X, y = dyadic(seed, distinct, d)
    X[seed % distinct] = 0.0
    rng = np.random.default_rng(seed)
    chosen = rng.integers(0, distinct, size=m)
    return dataset(X[chosen], y[chosen], storage), rng.integers(-1, 2, size=m)


def by_dictionary(data, numbers, weights):
    """The first row and the sum of weights of each group."""
    first, sums = {}, {}
    rows = (dense(data) + 0.0).tolist()
    for i, key in enumerate(zip(map(tuple, rows), numbers.tolist(), strict=True)):
        first.setdefault(key, i)
        sums[key] = sums.get(key, 0.0) + weights[i]
    return list(first.values()), list(sums.values())


@given(
    st.sampled_from(STORAGES),
    st.integers(1, 200),
    st.integers(1, 40),
    st.integers(0, 2**16),
    st.sampled_from([np.int8, np.int64]),
    st.booleans(),
)
def test_groups_are_those_of_a_dictionary(storage, m, distinct, seed, kind, weighted):
    data, numbers = repeated(storage, m, distinct, seed)
    numbers = numbers.astype(kind)
    weights = np.random.default_rng(seed).integers(1, 9, size=m) * 0.25
    groups = np.empty(m, dtype=np.int32)
    first, sums = group_equal(data.rows, numbers, weights if weighted else None, m, groups)
    assert np.array_equal(dense(data)[first[groups]], dense(data))
    assert np.array_equal(numbers[first[groups]], numbers)
    expected = by_dictionary(data, numbers, weights if weighted else np.ones(m))
    assert (first.tolist(), sums.tolist()) == expected
    assert first.dtype == np.int32


@every_storage
@pytest.mark.parametrize("distinct", [1, 300, 4000])
def test_rows_that_differ_are_counted(storage, distinct):
    # The bits of a number tell the rows apart, also where all entries are ones.
    of_row = np.arange(4000) % distinct
    data = dataset((of_row[:, None] >> np.arange(12)) & 1, np.ones(4000), storage)
    assert 0.95 * distinct - 1 <= count_alike(data.rows, of_row) <= 1.05 * distinct + 1
    assert 1.0 <= round(count_alike(data.rows, data.labels)) <= 1.05 * distinct + 1
