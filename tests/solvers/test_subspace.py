"""Newton steps on the free rows: their twin, what they keep true, their price, and their use."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import STORAGES, dataset, dense, labels, ordinary_problems
from svmbench.data.dataset import Dataset
from svmbench.kernels.counters import Counters
from svmbench.kernels.normal import symmetric_product
from svmbench.problem import Problem
from svmbench.solvers.champion.auto import Auto, AutoParameters
from svmbench.solvers.dual import subspace
from svmbench.solvers.dual.subspace import Subspace, maximum
from svmbench.solvers.second_order import normal_equations
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


@given(st.integers(0, 2**32 - 1), st.integers(1, 12), st.integers(1, 12), st.booleans())
def test_the_maximum_over_the_box_meets_the_optimality_conditions(seed, n, d, twice):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(n, d)) + rng.normal(size=d)
    Z = np.concatenate([Z, Z[:1], -Z[:1]]) if twice else Z  # a singular matrix
    gram, alpha = Z @ Z.T, rng.random(len(Z))
    before = gram @ alpha - 1.0
    found, cost, solved = maximum(gram, alpha, before, np.inf)
    assert np.all((found >= 0.0) & (found <= 1.0))
    assert cost > 0.0
    value = lambda a: a.sum() - 0.5 * a @ gram @ a  # noqa: E731
    assert value(found) >= value(alpha) - 1e-9 * (1.0 + abs(value(alpha)))
    if solved and not twice and n <= d:
        gradient = gram @ found - 1.0
        free = (found > 0.0) & (found < 1.0)
        assert np.all(np.abs(gradient[free]) < 1e-6 * (1.0 + np.abs(gram).max()))


@pytest.mark.parametrize("name", ordinary_problems())
def test_no_step_lowers_the_dual_or_moves_rows_at_a_bound(name):
    problem = ordinary_problems()[name]
    m = problem.data.n_samples
    for seed in range(5):
        rng = np.random.default_rng(seed)
        alpha = np.clip(rng.normal(0.5, 0.6, size=m), 0.0, 1.0)
        moved, w, _ = stepped(problem, alpha)
        assert np.all((moved >= 0.0) & (moved <= 1.0))
        bounded = (alpha == 0.0) | (alpha == 1.0)
        assert np.array_equal(moved[bounded], alpha[bounded])
        assert problem.dual(moved) >= problem.dual(alpha) - 1e-12
        np.testing.assert_allclose(w, problem.weights(moved), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("dense_cost", [0.0, np.inf])
@pytest.mark.parametrize("storage", STORAGES)
def test_products_are_those_of_the_rows(monkeypatch, storage, dense_cost):
    monkeypatch.setattr(normal_equations, "BLAS_COST", dense_cost)
    monkeypatch.setattr(normal_equations, "BLOCK_BYTES", 7 * 8 * 30)
    data = many_features(storage=storage).data
    Z = labels(data)[:, None] * dense(data)
    found = subspace.products_of(data.rows, 0.25)
    np.testing.assert_allclose(np.triu(found), np.triu(0.25 * (Z @ Z.T)), rtol=1e-12, atol=1e-12)


def test_only_the_upper_triangle_is_read():
    rng = np.random.default_rng(5)
    Z = rng.normal(size=(12, 9))
    gram, alpha, vector = Z @ Z.T, rng.random(12), rng.normal(size=12)
    upper = np.triu(gram) + np.tril(np.full_like(gram, np.nan), -1)
    np.testing.assert_allclose(symmetric_product(upper, vector), gram @ vector, rtol=1e-12)
    whole = maximum(gram, alpha, gram @ alpha - 1.0, np.inf)
    half = maximum(upper, alpha, gram @ alpha - 1.0, np.inf)
    assert np.array_equal(whole[0], half[0])
    assert whole[1:] == half[1:]


def test_products_of_rows_that_share_no_column_cost_little():
    apart = dataset(np.eye(40), np.ones(40), "int32+ones")
    assert np.array_equal(subspace.products_of(apart.rows, 1.0), np.eye(40))
    assert subspace.product_cost(apart.rows) == 40 * normal_equations.SCATTER_COST / 2
    full = dataset(np.ones((40, 40)), np.ones(40), "int32+ones")
    assert subspace.product_cost(full.rows) == 40**3 * normal_equations.BLAS_COST
    assert subspace.product_cost(dataset(np.ones((40, 40)), np.ones(40), "dense float32").rows) == (
        subspace.product_cost(full.rows)
    )


def step_cost(rows):
    """What a step over all these dense rows costs."""
    products = subspace.TAKING * rows.nnz + subspace.product_cost(rows)
    return subspace.factor_cost(rows.m) + products


def looked(steps, problem, alpha, work):
    """Whether a step is taken when passes have touched so many entries in all."""
    steps._work = 0.0
    assert steps.may_step(int(work / steps._entry)) or steps._next > work
    active, w = np.arange(len(alpha), dtype=np.int32), problem.weights(alpha)
    return steps.step(active, alpha.copy(), w, Counters()) is not None


def test_more_may_be_spent_where_the_same_rows_are_free_as_before():
    problem = many_features()
    cost = step_cost(problem.data.rows)
    same, other = np.full(30, 0.5), np.full(30, 0.5)
    other[3] = 0.0
    new = lambda: Subspace(problem.data.rows, problem.lam)  # noqa: E731
    assert not looked(new(), problem, same, 0.99 * cost / subspace.SHARE)
    assert looked(new(), problem, same, 1.01 * cost / subspace.SHARE)
    for changed in (0.4, 0.6):  # of the work at which the step is due
        steps = new()
        assert not looked(steps, problem, other, 0.1 * cost)
        assert not looked(steps, problem, same, 1.1 * changed * cost)
        assert not looked(steps, problem, same, 0.99 * cost)
        assert looked(steps, problem, same, 1.1 * cost) == (changed <= 0.5)
    # A row that changes in between starts the count anew.
    assert not looked(steps, problem, other, 1.15 * cost)
    assert not looked(steps, problem, same, 1.2 * cost)
    assert not looked(steps, problem, same, 2.3 * cost)
    assert looked(steps, problem, same, 2.5 * cost)


def test_each_step_that_solves_nothing_halves_what_the_next_may_cost(monkeypatch):
    problem = many_features()
    cost = step_cost(problem.data.rows)
    unsolved = lambda gram, alpha, gradient, most: (alpha, 0.0, False)  # noqa: E731
    monkeypatch.setattr(subspace, "maximum", unsolved)
    monkeypatch.setattr(subspace, "SHARE", 0.0)
    steps, alpha = Subspace(problem.data.rows, problem.lam), np.full(30, 0.5)
    assert not looked(steps, problem, alpha, 0.4 * cost)
    for failures in range(3):
        steps._paid = 0.0
        assert not looked(steps, problem, alpha, 0.99 * cost * 2.0**failures)
        assert looked(steps, problem, alpha, 1.01 * cost * 2.0**failures)


def test_steps_cost_a_share_of_the_passes():
    problem = many_features()
    steps = Subspace(problem.data.rows, problem.lam)
    w = problem.weights(np.full(30, 0.5))
    active, taken = np.arange(30, dtype=np.int32), 0
    for k in range(200):
        if steps.may_step(problem.data.nnz // 2):
            taken += steps.step(active, np.full(30, 0.5), w.copy(), Counters()) is not None
        assert steps._paid <= steps._work + subspace.factor_cost(30)
        assert taken == 0 or k > 0
    assert taken > 1


def test_too_many_free_rows_or_none_take_no_step(monkeypatch):
    problem = many_features()
    for alpha in (np.zeros(30), np.ones(30)):
        assert stepped(problem, alpha)[2] is None
    monkeypatch.setattr(subspace, "MOST_ROWS", 29)
    assert stepped(problem, np.full(30, 0.5))[2] is None


def golub_kind():
    """72 rows of 7,129 correlated columns, as of a microarray."""
    rng = np.random.default_rng(201)
    X = rng.normal(size=(72, 7129)) + rng.normal(size=(72, 6)) @ rng.normal(size=(6, 7129))
    y = np.where(X[:, :30].sum(axis=1) + 5.0 * rng.normal(size=72) > 0.0, 1, -1)
    return dataset(X, y, "dense float64")


def arcene_kind():
    """200 rows of 10,000 columns, half of them 0 and of different scales, as of mass spectra."""
    rng = np.random.default_rng(202)
    X = rng.normal(size=(200, 10_000)) + rng.normal(size=(200, 20)) @ rng.normal(size=(20, 10_000))
    X = 50.0 * np.maximum(0.0, X) * rng.exponential(size=10_000)
    y = np.where(X[:, :50] @ rng.normal(size=50) / 300.0 + rng.normal(size=200) > 0.0, 1, -1)
    return dataset(X, y, "uint16+float64")


def dorothea_kind():
    """1,150 rows with 1 in a hundredth of 100,000 columns, few of them of one class."""
    rng = np.random.default_rng(203)
    often = 1000.0 * (1.0 + np.arange(100_000)) ** -0.6
    often /= np.sum((1.0 + np.arange(100_000)) ** -0.6)
    rows = [np.flatnonzero(rng.random(100_000) < often).astype(np.int32) for _ in range(1150)]
    weights = rng.normal(size=100_000)
    score = np.array([weights[row].sum() for row in rows])
    indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])]).astype(np.int64)
    y = np.where(score > np.quantile(score, 0.9), 1, -1).astype(np.int8)
    return Dataset("made", 100_000, indptr, np.concatenate(rows), None, y)


KINDS = {"golub": golub_kind, "arcene": arcene_kind, "dorothea": dorothea_kind}


@pytest.mark.parametrize("kind", KINDS)
def test_many_more_columns_than_rows_are_certified_in_few_passes(kind):
    data = KINDS[kind]()
    for lam in (1e-4, 1e-6, 1e-8):
        problem = Problem(data, lam)
        run = Auto(AutoParameters(tolerance=1e-6))
        run.halts = True
        run.start(problem, 1)
        while not run.stopped and run.counters.nonzeros < 100 * data.nnz:
            run.advance(1)
        assert run.stopped
        assert problem.primal(run.w) - run.dual() <= 1.001e-6 * run.dual()


def test_without_the_steps_rounding_and_slow_passes_keep_the_optimum_away():
    problem = Problem(golub_kind(), 1e-8)
    run = Auto(AutoParameters(tolerance=1e-6, subspace=False))
    run.start(problem, 1)
    while run.counters.nonzeros < 300 * problem.data.nnz:
        run.advance(1)
    assert not run.stopped
