"""A constant feature that is not stored, against rows that store it."""

import numpy as np
import pytest

from problems import dataset, dyadic, every_precision, every_storage
from svmbench.data.derived import with_constant
from svmbench.kernels.dcd import Dcd
from svmbench.kernels.rng import Generator
from svmbench.names import TRAINED_LOSSES
from svmbench.problem import Loss

CONSTANT, LAM = 0.75, 0.1


def pair_of_rows(storage):
    """Rows, some without entries, and the same with a constant."""
    X, y = dyadic(2, 30, 6)
    X[4] = X[11] = 0.0
    data = dataset(X, y, storage)
    return data.rows, with_constant(data, CONSTANT).rows


def descents(storage, loss="hinge", precision="float64", weights=None):
    kinds = zip(pair_of_rows(storage), (CONSTANT, 0.0), strict=True)
    return [Dcd(rows, LAM, Loss(loss), True, precision, weights, each) for rows, each in kinds]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("loss", TRAINED_LOSSES)
@every_precision
@every_storage
def test_descent_takes_the_same_steps(storage, precision, loss, weighted):
    weights = np.random.default_rng(1).uniform(0.5, 1.5, size=30) if weighted else None
    runs = descents(storage, loss, precision, weights)
    for _ in range(5):
        for run, draws in ((each, Generator(3)) for each in runs):
            assert len(run.order) == 30
            draws.shuffle(run.order[: run.active])
            run.begin_pass()
            run.advance(run.presentations + run.active)
            run.tighten()
    implied, stored = runs
    tolerance = 1e-10 if precision == "float64" else 1e-4
    assert implied.alpha.any()
    assert implied.active == stored.active
    np.testing.assert_allclose(implied.norms2, stored.norms2, rtol=1e-15)
    np.testing.assert_allclose(implied.alpha, stored.alpha, atol=tolerance)
    np.testing.assert_allclose(implied.w, stored.w, atol=10.0 * tolerance)


def test_visits_of_rows_without_entries_come_to_an_end():
    """Both rows gain with each visit, some thousands of times, and have no entries to count."""
    rows = dataset(np.zeros((2, 3)), np.array([1, -1]), "uint16+float64").rows
    run = Dcd(rows, 1e-4, Loss("hinge"), constant=CONSTANT)
    run.high_gain = 0.0
    for _ in range(2):
        run.advance(run.presentations + 2)
        run.begin_pass()
    before = run.presentations
    run.revisit()
    assert before < run.presentations <= before + 2
