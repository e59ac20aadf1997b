"""The product of Newton's system with a vector, and its diagonal, against NumPy."""

import numpy as np
import pytest

from problems import dataset, dense, every_storage
from svmbench.kernels.normal import weighted_product, weighted_squares


@pytest.mark.parametrize("storage", ["dense float64", "int32+float64"])
def test_a_weighted_product_is_numpy_s(storage):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.5)
    rows = dataset(X, np.ones(40), storage=storage).rows
    weights, p, out = rng.random(40) * (np.arange(40) % 3 > 0), rng.normal(size=6), np.ones(6)
    support = np.flatnonzero(weights)
    total, read = weighted_product(rows, support, weights[support], p, 0.7, out)
    scores = weights * (X @ p + 0.7)
    assert out == pytest.approx(1.0 + X.T @ scores, rel=1e-13)
    assert total == pytest.approx(scores.sum(), rel=1e-13)
    kept = X[weights > 0.0]
    assert read == 2 * (kept.size if storage.startswith("dense") else np.count_nonzero(kept))


@every_storage
def test_weighted_squares_are_numpy_s(storage):
    rng = np.random.default_rng(0)
    data = dataset(rng.normal(size=(40, 6)) * (rng.random((40, 6)) < 0.5), np.ones(40), storage)
    X, weights, out = dense(data), rng.random(40) * (np.arange(40) % 3 > 0), np.ones(6)
    support = np.flatnonzero(weights)
    read = weighted_squares(data.rows, support, weights[support], out)
    assert out == pytest.approx(1.0 + weights @ X**2, rel=1e-13)
    kept = X[weights > 0.0]
    assert read == 2 * (kept.size if storage.startswith("dense") else np.count_nonzero(kept))
