"""The product of Newton's system with a vector, and its diagonal, against NumPy."""

import numpy as np
import pytest

from problems import dataset, dense, every_storage
from svmbench.kernels.newton import weighted_product, weighted_squares


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


def test_what_does_not_belong_together_is_refused():
    rows = dataset(np.ones((3, 2)), np.ones(3)).rows
    every = np.arange(3)
    for sizes in ((2, 2, 2), (3, 1, 2), (3, 2, 3)):
        weights, p, out = map(np.ones, sizes)
        with pytest.raises(ValueError, match="do not belong together"):
            weighted_product(rows, every, weights, p, 0.0, out)
    for row in (-1, 3):
        with pytest.raises(ValueError, match="names a row that is not there"):
            weighted_product(rows, np.array([row]), np.ones(1), np.ones(2), 0.0, np.ones(2))


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


def test_squares_of_what_does_not_belong_together_are_refused():
    rows = dataset(np.ones((3, 2)), np.ones(3)).rows
    for sizes in ((2, 2), (3, 1)):
        weights, out = map(np.ones, sizes)
        with pytest.raises(ValueError, match="do not belong together"):
            weighted_squares(rows, np.arange(3), weights, out)
    for row in (-1, 3):
        with pytest.raises(ValueError, match="names a row that is not there"):
            weighted_squares(rows, np.array([row]), np.ones(1), np.ones(2))
