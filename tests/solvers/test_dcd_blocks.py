"""dcd with rows in blocks: against its twin, and on rows sorted by label."""

import numpy as np
import pytest

from problems import assert_close, dense, labels, ordinary_problems
from svmbench.data.dataset import Dataset
from svmbench.problem import Problem
from svmbench.solvers.dual.dcd import Dcd
from twins import dcd as twin
from twins.blocks import generator_of_blocks


def started(problem, seed, **parameters):
    run = Dcd(Dcd.schema(**{"order": "blocks", "block_bytes": 0, **parameters}))
    run.start(problem, seed)
    return run


@pytest.mark.parametrize("size", [3, 32])
@pytest.mark.parametrize("problem", ordinary_problems().values(), ids=ordinary_problems())
def test_with_blocks_it_equals_its_twin_with_blocks(problem, size, monkeypatch):
    monkeypatch.setattr(twin, "Generator", generator_of_blocks(size))
    X, y = dense(problem.data), labels(problem.data)
    plain = twin.Dcd(X, y, problem.lam, problem.loss, 8)
    run = started(problem, 8, block_rows=size)
    for _ in range(12):  # an odd number of steps, which ends in the midst of passes
        steps = 1 + 2 * (problem.data.n_samples // 4)
        run.advance(steps)
        plain.advance(steps)
        assert_close(run.w, plain.w, rtol=0.0, atol=1e-10 * (1.0 + np.max(np.abs(plain.w))))


def sorted_by_label():
    """Rows of two overlapping classes, one class behind the other, and runs of alike rows."""
    rng = np.random.default_rng(5)
    y = np.repeat([1, -1], 600)
    X = np.repeat(rng.normal(size=(120, 6)), 10, axis=0) + 0.3 * rng.normal(size=(1200, 6))
    X[:, 0] += 0.7 * y
    return Problem(Dataset("sorted", 6, None, None, X, y.astype(np.int8)), 1e-3)


@pytest.mark.parametrize("shrinking", [True, False])
def test_on_rows_sorted_by_label_blocks_reach_the_same_certificate(shrinking):
    problem = sorted_by_label()
    m = problem.data.n_samples
    bounds = []
    for order in ("random", "blocks"):
        run = started(problem, 3, order=order, shrinking=shrinking)
        run.advance(600 * m)
        assert problem.primal(run.w) - run.dual() <= 1e-4 * run.dual()
        bounds.append(run.dual())
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-4)
