"""Descent in lanes: each lane's steps and sums are those of its own problem, in every storage."""

import numpy as np
import pytest

from problems import STORAGES, assert_close, dataset, dense
from svmbench.kernels.folds import SINGLE, WIDTH, FoldDescent
from svmbench.names import TRAINED_LOSSES
from svmbench.problem import Loss, Problem
from twins.folds import FoldDescent as Twin

SPARSE = [storage for storage in STORAGES if not storage.startswith("dense")]
C, FOLDS = 0.4, 3

every_loss = pytest.mark.parametrize("name", TRAINED_LOSSES)
every_bias = pytest.mark.parametrize(
    ("constant", "free"), [(0.0, False), (1.0, False), (0.7, True)]
)
every_sparse_storage = pytest.mark.parametrize("storage", SPARSE)


def rows(storage="uint16+float64", m=60, d=9, seed=3):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(m, d)), 3) * (rng.random((m, d)) < 0.5)
    X[7] = 0.0
    if storage.endswith("ones"):
        X = (X != 0.0).astype(float)
    y = np.where(X @ rng.normal(size=d) + 0.2 * rng.normal(size=m) > 0.0, 1, -1)
    return dataset(X, y, storage)


def weights(data, weighted, seed=5):
    return np.random.default_rng(seed).uniform(0.5, 2.0, data.n_samples) if weighted else None


def lanes_of(data):
    return (np.arange(data.n_samples) % FOLDS).astype(np.int8)


def begun(data, name, constant, free, counts=None):
    """A descent at its start, and its twin."""
    descent = FoldDescent(
        data.rows, lanes_of(data), Loss(name), counts, constant, free, seed=2
    )  # fmt: skip
    descent.C[:], descent.active[FOLDS:] = C, False
    descent.certify()
    descent.begin(np.ones(WIDTH), np.full(WIDTH, C))
    left_out = [np.arange(k, data.n_samples, FOLDS) for k in range(FOLDS)]
    labels = data.labels.astype(float)
    return descent, Twin(
        dense(data), labels, left_out, C, Loss(name), counts, constant, free, seed=2
    )  # fmt: skip


@pytest.mark.parametrize("weighted", [False, True])
@every_bias
@every_sparse_storage
@every_loss
def test_passes_are_those_of_the_twin(name, storage, constant, free, weighted):
    data = rows(storage)
    descent, twin = begun(data, name, constant, free, weights(data, weighted))
    for _ in range(6):
        found, expected = descent.advance(), twin.advance()
        assert_close(found[:FOLDS], expected, rtol=2e-4, atol=2e-4)
        for k in range(FOLDS):
            assert_close(descent.alpha[:, k], twin.alpha[k], rtol=2e-3, atol=2e-4)
    rows_left_out = twin.left < len(twin.order)
    assert rows_left_out or name == "logistic"
    assert (descent.visits < 6 * len(twin.order)) == rows_left_out


def own(data, k, counts):
    """The rows of a lane's problem, and their weights with a mean of one, and that mean."""
    inside = np.flatnonzero(lanes_of(data) != k)
    kept = dataset(dense(data)[inside], data.labels[inside])
    if counts is None:
        return kept, inside, None, 1.0
    mean = counts[inside].mean()
    return kept, inside, counts[inside] / mean, mean


@pytest.mark.parametrize("weighted", [False, True])
@every_bias
@every_sparse_storage
@every_loss
def test_sums_are_those_of_each_problem(name, storage, constant, free, weighted):
    data = rows(storage)
    counts = weights(data, weighted)
    descent, _ = begun(data, name, constant, free, counts)
    for _ in range(2):
        descent.advance()
    sums, scores = descent.certify()
    for k in range(FOLDS):
        kept, inside, normalised, mean = own(data, k, counts)
        alpha = descent.alpha[inside, k].astype(float)
        w, bias = descent.w[:, k].copy(), 0.0
        if free:
            bias = descent.bias[k]
        elif constant:
            w, bias = w[:-1], constant * w[-1]
        lam = 1.0 / (C * mean * len(inside))
        problem = Problem(kept, lam, Loss(name), row_weights=normalised)
        assert_close(w, problem.weights(alpha), rtol=1e-12, atol=1e-15)
        loss, conjugates, alphas, squares, norm2, total, signed = sums[:, k]
        counted = (np.ones(len(inside)) if counts is None else counts[inside]) * alpha
        assert_close(loss / mean, problem.loss_and_errors(w, bias)[0], rtol=1e-12)
        exact = SINGLE if name == "logistic" else 1e-12
        assert_close(conjugates / mean, problem.conjugate_sum(alpha), rtol=exact)
        assert_close([alphas, squares], [counted.sum(), counted @ alpha], rtol=1e-12)
        assert_close(norm2, descent.w[:, k] @ descent.w[:, k], rtol=1e-12)
        assert_close(total, mean * len(inside), rtol=1e-12)
        assert_close(signed, counted @ kept.labels, rtol=1e-9, atol=1e-12)
        assert not free or abs(signed) <= 1e-6 * alphas
        left = lanes_of(data) == k
        assert_close(scores[left], (dense(data) @ w + bias)[left], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(
    "alpha", [0.0, 1e-30, 1e-12, 1e-7, 2e-7, 1e-3, 0.29, 0.3, 0.5, 0.999, 1.0 - 2.0**-24, 1.0]
)
def test_the_logistic_loss_s_conjugate_is_as_exact_as_it_is_said_to_be(alpha):
    data = dataset([[1.0], [1.0]], [1, -1])
    descent = FoldDescent(data.rows, np.array([0, 1], dtype=np.int8), Loss("logistic"))
    descent.alpha[0, 1] = alpha
    given = float(descent.alpha[0, 1])
    sums, _ = descent.certify()
    expected = 0.0
    if 0.0 < given < 1.0:
        expected = -given * np.log(given) - (1.0 - given) * np.log1p(-given)
    assert_close(sums[1, 1], expected, rtol=SINGLE / 4.0, atol=1e-28)
