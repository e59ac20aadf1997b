"""Rows in every storage: products, updates and norms against NumPy, and bad arrays refused."""

import numpy as np
import pytest

from problems import dataset, dense, dyadic, every_precision, every_storage, labels
from svmbench.kernels.objective import combination, exact_combination
from svmbench.kernels.rows import CompactRows
from svmbench.kernels.sgd_primal import Perceptron


def present(rows, i, a, ell=1):
    """x_i . a, and a after ell updates of +y_i x_i, as the kernels compute them.

    One presentation so late (t = 2^40) that the row is in error however large x_i . a
    is; its loss 1 - y x.a/2^40 gives the product back.
    """
    late = 2**40
    run = Perceptron(rows, np.arange(rows.m, dtype=np.int32), 1.0, a.dtype.name)
    run.begin_pass(ell)
    run.presentations, run.position, run.a[:] = late, i, a
    run.advance(late + 1)
    assert run.updates == ell
    return rows.labels[i] * (1.0 - run.loss_sum) * late, run.a


def row_lengths(seed, d):
    """Rows of 0, 1, ..., d nonzeros: every remainder of the unrolled loops, and the empty row."""
    X, y = dyadic(seed, d + 1, d, density=1.0)
    X[X == 0.0] = 1.0
    for i in range(d + 1):
        X[i, np.random.default_rng(i).permutation(d)[i:]] = 0.0
    return X, y


@every_precision
@every_storage
def test_products_and_updates_are_exact_on_dyadic_data(storage, precision):
    data = dataset(*row_lengths(1, 19), storage)
    X, y = dense(data), labels(data)
    a = dyadic(2, 1, 19, density=1.0)[0][0].astype(precision)
    for i in range(len(y)):
        product, moved = present(data.rows, i, a)
        assert product == X[i] @ a.astype(float)
        assert moved.dtype == precision
        np.testing.assert_array_equal(moved, a + y[i] * X[i])
        _, moved = present(data.rows, i, a, ell=3)
        np.testing.assert_array_equal(moved, a + 3.0 * y[i] * X[i])


@every_storage
def test_norms_products_and_combinations_are_exact_on_dyadic_data(storage):
    data = dataset(*row_lengths(3, 19), storage)
    X, y = dense(data), labels(data)
    w = dyadic(4, 1, 19, density=1.0)[0][0]
    alpha = np.arange(len(y)) / 16.0
    np.testing.assert_array_equal(data.rows.norms2(), np.sum(X**2, axis=1))
    np.testing.assert_array_equal(data.rows.dot(w), X @ w)
    np.testing.assert_array_equal(combination(data.rows, alpha), X.T @ (alpha * y))
    assert (data.rows.m, data.rows.d) == X.shape
    assert data.storage == storage


@every_storage
def test_compensated_combinations_are_exact_on_dyadic_data(storage):
    data = dataset(*row_lengths(3, 19), storage)
    X, y = dense(data), labels(data)
    alpha = np.arange(len(y)) / 16.0
    total, sizes = exact_combination(data.rows, alpha)
    np.testing.assert_array_equal(total, X.T @ (alpha * y))
    np.testing.assert_array_equal(sizes, np.abs(X).T @ alpha)


def test_compensated_combinations_keep_what_plain_sums_lose():
    x = np.array([1e16, 1.0, -1e16, 2.0**-30])
    data = dataset(x[:, None], np.ones(4), "dense float64")
    total, sizes = exact_combination(data.rows, np.ones(4))
    assert combination(data.rows, np.ones(4))[0] != 1.0 + 2.0**-30
    assert total.tolist() == [1.0 + 2.0**-30]
    assert sizes.tolist() == [np.abs(x).sum()]
    with pytest.raises(ValueError, match="alpha has 3 entries for 4 rows"):
        exact_combination(data.rows, np.ones(3))


def test_the_last_column_of_each_index_type_is_reached():
    for d, indices in ((2**16, np.array([65535], np.uint16)), (2**20, np.array([2**20 - 1], "i4"))):
        rows = CompactRows(d, np.array([0, 1]), indices, None, np.array([1], np.int8))
        w = np.zeros(d)
        w[-1] = 3.0
        assert rows.dot(w).tolist() == [3.0]
        assert combination(rows, np.array([2.0]))[-1] == 2.0


@every_storage
def test_explicit_zeros_and_no_features_are_legal(storage):
    empty = dataset(np.zeros((3, 0)), [1, -1, 1], storage)
    assert empty.rows.norms2().tolist() == [0.0] * 3
    assert empty.rows.dot(np.zeros(0)).tolist() == [0.0] * 3
    assert combination(empty.rows, np.ones(3)).shape == (0,)
    zero = np.zeros(1)
    stored = CompactRows(2, np.array([0, 1]), np.array([1], "i4"), zero, np.array([1], np.int8))
    assert stored.dot(np.array([5.0, 7.0])).tolist() == [0.0]


GOOD = {
    "d": 3,
    "indptr": np.array([0, 2, 3], dtype=np.int64),
    "indices": np.array([0, 2, 1], dtype=np.int32),
    "values": np.array([1.0, 2.0, 3.0]),
    "labels": np.array([1, -1], dtype=np.int8),
}
BAD = {
    "integer values": ({"values": np.array([1, 2, 3])}, "values int64"),
    "half precision": ({"values": np.ones(3, np.float16)}, "values float16"),
    "wide indices": ({"indices": np.array([0, 2, 1])}, "indices int64"),
    "nothing stored": ({"indices": None, "values": None}, "indices None, values None"),
    "swapped bytes in values": ({"values": np.ones(3).astype(">f8")}, "values >f8"),
    "swapped bytes in indices": ({"indices": np.array([0, 2, 1], ">i4")}, "indices >i4"),
    "label type": ({"labels": np.array([1, -1])}, "labels must be int8"),
    "label zero": ({"labels": np.array([1, 0], np.int8)}, "labels must be -1 or"),
    "label -128": ({"labels": np.array([1, -128], np.int8)}, "labels must be -1 or"),
    "labels of two dimensions": ({"labels": np.ones((2, 1), np.int8)}, "labels must be int8"),
    "indptr missing": ({"indptr": None}, "indptr must be int64"),
    "indptr type": ({"indptr": np.array([0, 2, 3], np.int32)}, "indptr must be int64"),
    "indptr length": ({"indptr": np.array([0, 3])}, "indptr must be int64 of shape"),
    "indptr start": ({"indptr": np.array([1, 2, 3])}, "indptr must rise from 0"),
    "indptr end": ({"indptr": np.array([0, 2, 4])}, "indptr must rise from 0"),
    "indptr falling": ({"indptr": np.array([0, 4, 3])}, "indptr must rise from 0"),
    "values too few": ({"values": np.ones(2)}, "differ in length"),
    "indices of two dimensions": (
        {"indices": np.zeros((3, 2), "i4"), "values": np.zeros((3, 2))},
        "one dimension",
    ),
    "column too large": ({"indices": np.array([0, 3, 1], "i4")}, "outside 0 .. 2"),
    "column negative": ({"indices": np.array([0, -1, 1], "i4")}, "outside 0 .. 2"),
    "columns falling": ({"indices": np.array([2, 0, 1], "i4")}, "ascend"),
    "column twice": ({"indices": np.array([2, 2, 1], "i4")}, "ascend"),
    "values not contiguous": ({"values": np.ones(6)[::2]}, "contiguous"),
    "indices not contiguous": ({"indices": np.zeros(6, "i4")[::2]}, "contiguous|ascend"),
    "dense shape": ({"indices": None, "values": np.ones((3, 2))}, r"shape \(3, 2\), not \(2, 3\)"),
    "dense columns first": (
        {"indices": None, "values": np.ones((2, 3), order="F")},
        "contiguous",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_arrays_are_refused(name):
    changes, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        CompactRows(**{**GOOD, **changes})


def test_rows_with_other_labels_are_checked_unless_their_arrays_were():
    rows, flipped = CompactRows(**GOOD), -GOOD["labels"]
    other = CompactRows(**{**GOOD, "labels": flipped}, checked=rows)
    assert (other.labels == flipped).all()
    assert other.dot(np.array([1.0, 10.0, 100.0])).tolist() == [201.0, 30.0]
    for name in ("column too large", "columns falling"):
        changes, message = BAD[name]
        with pytest.raises(ValueError, match=message):
            CompactRows(**{**GOOD, **changes}, checked=rows)
    with pytest.raises(ValueError, match="labels must be -1 or \\+1"):
        CompactRows(**{**GOOD, "labels": 0 * flipped}, checked=rows)


def test_weights_of_another_length_are_refused():
    rows = CompactRows(**GOOD)
    with pytest.raises(ValueError, match="w has 2 entries, the rows 3 features"):
        rows.dot(np.zeros(2))
    with pytest.raises(ValueError, match="alpha has 3 entries for 2 rows"):
        combination(rows, np.zeros(3))
