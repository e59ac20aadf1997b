"""ipm: certified optima in few iterations, merged rows, and the forms of its system."""

import numpy as np
import pytest

from problems import STORAGES, dataset, dense, edge_problems, ordinary_problems, with_loss
from svmbench.problem import LOSSES, Problem
from svmbench.solvers.second_order import ipm, normal_equations
from svmbench.solvers.second_order.ipm import Ipm, IpmParameters, merged, take_rows

PROBLEMS = {**ordinary_problems(), **edge_problems()}
every_loss = pytest.mark.parametrize("loss", LOSSES)


def ended(problem, **parameters):
    run = Ipm(IpmParameters(**parameters))
    run.start(problem, 0)
    iterations = 0
    while not run.stopped and iterations < 200:
        run.advance(1)
        iterations += 1
    return run, iterations


@every_loss
@pytest.mark.parametrize("name", PROBLEMS)
def test_ends_by_itself_at_the_certified_optimum(name, loss):
    problem = with_loss(PROBLEMS[name], loss)
    run, iterations = ended(problem)
    assert iterations < 150
    alpha = run.alpha
    assert np.all(alpha >= 0.0)
    assert loss == "squared-hinge" or np.all(alpha <= 1.0)
    scale = max(problem.primal(run.w), 1e-3)
    assert problem.gap(run.w, alpha) <= 1e-9 * scale


@every_loss
@pytest.mark.parametrize("lam", [1e-2, 1e-5, 1e-8])
def test_columns_of_very_different_scales_do_not_matter(loss, lam):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 10)) * 10.0 ** np.linspace(-3, 4, 10)
    y = np.where(X[:, 2] / np.abs(X[:, 2]).mean() + rng.normal(size=300) > 0, 1, -1)
    problem = with_loss(Problem(dataset(X, y, "dense float64"), lam), loss)
    run, _ = ended(problem)
    assert problem.primal(run.w) - run.dual() <= 1e-8 * run.dual()


@every_loss
def test_merging_equal_rows_changes_nothing_but_the_work(loss):
    rng = np.random.default_rng(2)
    base = rng.integers(-8, 9, size=(12, 4)) / 4.0
    X = base[rng.integers(0, 12, size=200)]
    y = np.where(rng.random(200) < 0.4, -1, 1)
    problem = with_loss(Problem(dataset(X, y), 0.05), loss)
    merging, _ = ended(problem)
    plain, _ = ended(problem, merge=False)
    np.testing.assert_allclose(merging.w, plain.w, rtol=0.0, atol=1e-7)
    assert merging.counters.nonzeros < plain.counters.nonzeros / 4
    distinct, counts, group = merged(problem.data)
    assert counts.sum() == 200
    assert np.array_equal(dense(distinct)[group], X)
    assert np.array_equal(distinct.labels[group], y)


def test_few_equal_rows_are_not_merged():
    data = PROBLEMS["overlapping"].data
    same, counts, group = merged(data)
    assert same is data
    assert group is None
    assert np.array_equal(counts, np.ones(data.n_samples))


@pytest.mark.parametrize("storage", STORAGES)
def test_rows_are_taken_in_the_order_asked_for(storage):
    rng = np.random.default_rng(1)
    X = (rng.random((9, 5)) < 0.5) * rng.integers(1, 5, size=(9, 5))
    data = dataset(X, np.where(np.arange(9) % 2, 1, -1), storage)
    chosen = np.array([7, 0, 7, 3])
    taken = take_rows(data, chosen)
    assert np.array_equal(dense(taken), dense(data)[chosen])
    assert np.array_equal(taken.labels, data.labels[chosen])
    assert taken.storage == data.storage


@every_loss
def test_both_ways_to_the_system_agree(loss, monkeypatch):
    problem = with_loss(PROBLEMS["overlapping"], loss)
    ends = []
    for advantage in (0.0, np.inf):
        monkeypatch.setattr(normal_equations, "BLAS_ADVANTAGE", advantage)
        monkeypatch.setattr(normal_equations, "BLOCK_BYTES", 7 * 8 * problem.data.n_features)
        run = Ipm()
        run.start(problem, 0)
        run.advance(6)
        ends.append(run.w)
    np.testing.assert_allclose(ends[0], ends[1], rtol=0.0, atol=1e-9)


def test_centred_rows_satisfy_their_conditions():
    excess = np.concatenate([-np.logspace(8, -12, 50), [0.0], np.logspace(-12, 8, 50)])
    for mu in (1e-14, 1e-6, 1.0, 1e3):
        alpha, v = ipm.centred(excess, mu)
        assert np.all((alpha > 0.0) & (v > 0.0))
        np.testing.assert_allclose(alpha + v, 1.0, rtol=1e-15)
        size = np.abs(excess) + 2.0 * mu
        assert np.all(np.abs(mu / alpha - mu / v - excess) <= 1e-9 * size)


def test_many_rows_at_the_kink_are_no_hindrance():
    # Nearly separable, most rows alike: steps on all variables at once stall here for hundreds
    # of iterations.
    rng = np.random.default_rng(3)
    X = (rng.random((3000, 12)) < 0.3) * rng.choice([0.1, 0.5, 1.0], size=(3000, 12))
    y = np.where(X @ rng.normal(size=12) > 0.1, 1, -1)
    flips = rng.random(3000) < 0.002
    problem = Problem(dataset(X, np.where(flips, -y, y)), 1e-6)
    run, iterations = ended(problem)
    assert iterations < 200
    assert problem.primal(run.w) - run.dual() <= 1e-9 * run.dual()
