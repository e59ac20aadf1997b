"""Normal equations and row hashes against plain NumPy, for every storage."""

import numpy as np

from problems import dataset, dense, every_storage
from svmbench.kernels.normal import dense_rows, weighted_gram


def made(storage, m=23, d=9, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.integers(-32, 33, size=(m, d)) / 16.0 * (rng.random((m, d)) < 0.6)
    X[3] = 0.0
    return dataset(X, np.where(rng.random(m) < 0.5, -1, 1), storage)


@every_storage
def test_the_gram_matrix_is_exact_on_dyadic_data(storage):
    data = made(storage)
    X = dense(data)
    weights = np.arange(data.n_samples) / 8.0
    out = np.zeros((9, 9))
    weighted_gram(data.rows, weights, out)
    assert np.array_equal(out, np.triu(X.T @ (weights[:, None] * X)))
    weighted_gram(data.rows, weights, out)
    assert np.array_equal(out, 2.0 * np.triu(X.T @ (weights[:, None] * X)))


@every_storage
def test_blocks_of_dense_rows_give_the_same_matrix(storage):
    data = made(storage)
    X = dense(data)
    weights = np.linspace(0.0, 3.0, data.n_samples)
    block = np.full((5, 9), np.nan)
    chosen = np.array([7, 0, 22, 7, 3])
    dense_rows(data.rows, weights, chosen, block)
    np.testing.assert_allclose(block, np.sqrt(weights[chosen])[:, None] * X[chosen], rtol=1e-15)
