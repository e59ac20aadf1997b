"""Newton steps on the free rows: their twin, what they keep true, their price, and their use."""

import numpy as np
import pytest

from problems import STORAGES, dataset, dense, labels
from svmbench.kernels.counters import Counters
from svmbench.problem import Problem
from svmbench.solvers.champion.auto import Auto, AutoParameters
from svmbench.solvers.dual.subspace import Subspace
from twins.subspace import Subspace as Twin


def many_features(seed=3, m=30, d=60, lam=2.0**-9, storage="dense float64"):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(m, d)) + 0.5 * rng.normal(size=d)) * (rng.random((m, d)) < 0.5)
    return Problem(dataset(X, rng.choice([-1, 1], size=m), storage), lam)


def stepped(problem, alpha, steps=None):
    """Alpha, w and the change of the sum after a step that may cost anything."""
    steps = Subspace(problem.data.rows, problem.lam) if steps is None else steps
    steps.may_step(10**12)
    moved, w = alpha.copy(), problem.weights(alpha)
    active = np.arange(len(alpha), dtype=np.int32)
    return moved, w, steps.step(active, moved, w, Counters())


@pytest.mark.parametrize("storage", STORAGES)
def test_equals_its_twin(storage):
    compared = cut = 0
    for seed in range(12):
        problem = many_features(seed, lam=2.0 ** -(4 + seed % 6), storage=storage)
        rng = np.random.default_rng(seed)
        alpha = np.clip(rng.normal(0.5, 0.5, size=30), 0.0, 1.0)
        plain = Twin(dense(problem.data), labels(problem.data), problem.lam)
        expected = plain.step(alpha)
        moved, w, change = stepped(problem, alpha)
        if plain.closest < 1e-9:
            continue
        compared, cut = compared + 1, cut + plain.cut
        np.testing.assert_allclose(moved, expected, rtol=0.0, atol=1e-8)
        np.testing.assert_allclose(w, problem.weights(moved), rtol=0.0, atol=1e-10 / problem.lam)
        assert change == pytest.approx(np.sum(moved - alpha), abs=1e-9)
    assert compared >= 8
    assert cut >= 8


@pytest.mark.parametrize("lam", [1e-4, 1e-6, 1e-8])
def test_many_more_columns_than_rows_are_certified_in_few_passes(lam):
    """10,000 columns of 200 rows, half of them 0 and of different scales, as of mass spectra."""
    rng = np.random.default_rng(202)
    X = rng.normal(size=(200, 10_000)) + rng.normal(size=(200, 20)) @ rng.normal(size=(20, 10_000))
    X = 50.0 * np.maximum(0.0, X) * rng.exponential(size=10_000)
    y = np.where(X[:, :50] @ rng.normal(size=50) / 300.0 + rng.normal(size=200) > 0.0, 1, -1)
    problem = Problem(dataset(X, y, "uint16+float64"), lam)
    run = Auto(AutoParameters(tolerance=1e-6))
    run.halts = True
    run.start(problem, 1)
    while not run.stopped and run.counters.nonzeros < 100 * problem.data.nnz:
        run.advance(1)
    assert run.stopped
    assert problem.primal(run.w) - run.dual() <= 1.001e-6 * run.dual()
