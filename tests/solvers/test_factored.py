"""Factors for Newton steps: exact ones, and those that several problems share."""

import threading

import numpy as np
import pytest

from problems import dataset
from svmbench.data.derived import take_rows
from svmbench.problem import Loss, Problem, relative_gap
from svmbench.solvers.pairs import WorkCount
from svmbench.solvers.second_order import factored, smooth

STORAGES = ["dense float64", "uint16+float32", "int32+float64"]


def rows_of(m=400, d=12, seed=0, storage="uint16+float64"):
    """Rows, some of them sparse, of two classes."""
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((m, d)) < 0.4, rng.normal(size=(m, d)), 0.0).astype(np.float32)
    X = X.astype(np.float64)
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 0.3, 1, -1)
    return X, dataset(X, y, storage)


def system_of(X, weights, lam, free):
    """The system in plain NumPy: lam I + sum weights_i z_i z_i^T, lam not for b."""
    Z = np.hstack([X, np.ones((len(X), 1))]) if free else X
    regular = np.full(Z.shape[1], lam)
    regular[X.shape[1] :] = 0.0
    return np.diag(regular) + Z.T @ (weights[:, None] * Z)


@pytest.mark.parametrize("storage", STORAGES)
def test_the_shared_sums_are_those_of_the_rows_and_labels_do_not_matter(storage):
    X, data = rows_of(storage=storage)
    for each in (data, data.relabelled(-data.labels)):
        gram, columns = factored.SharedGram(each, 3).sums
        assert np.triu(gram) == pytest.approx(np.triu(X.T @ X))
        assert columns == pytest.approx(np.append(X.sum(axis=0), len(X)))


def test_the_sums_are_computed_once_for_all_threads(monkeypatch):
    _, data = rows_of()
    calls, gram = [], factored.NormalEquations.gram

    def counted(self, weights):
        calls.append(1)
        return gram(self, weights)

    monkeypatch.setattr(factored.NormalEquations, "gram", counted)
    shared = factored.SharedGram(data, 4)
    threads = [threading.Thread(target=lambda: shared.sums) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(calls) == 1


def test_problems_share_the_work_of_the_sum():
    _, data = rows_of()
    alone = factored.factor_work(data)
    assert factored.factor_work(data, factored.SharedGram(data, 1)) == alone
    of_ten = factored.factor_work(data, factored.SharedGram(data, 10))
    assert of_ten == pytest.approx(alone - 0.9 * factored.NormalEquations(data.rows).work)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("storage", STORAGES)
def test_each_candidate_is_solved(storage, free):
    """Against NumPy: the shared sum, the rows above the mean with it, and the exact system."""
    X, data = rows_of(storage=storage)
    m, lam, rng = len(X), 1e-3, np.random.default_rng(1)
    bends = rng.random(m) ** 4
    shared = factored.SharedGram(data, 2)
    factors = factored.Factored(data, lam, free, shared)
    surface = smooth.Surface(Problem(data, lam, Loss("logistic"), "free" if free else "none"),
                             WorkCount())  # fmt: skip
    right = rng.normal(size=X.shape[1] + 1)
    right[-1] *= free
    mean = bends.mean()
    below = bends[bends <= mean].mean()
    expected = [np.full(m, mean), np.where(bends > mean, bends, below), bends]
    found = list(factors.candidates(bends))
    assert [each.is_exact for each in found] == [False, False, True]
    for candidate, weights in zip(found, expected, strict=True):
        assert factors.form(*surface.system(candidate.weights), candidate.base)
        solution = factors.solved(right)
        n = X.shape[1] + free
        assert system_of(X, weights / m, lam, free) @ solution[:n] == pytest.approx(right[:n])
        assert factors.own == (candidate.base != mean)


def test_rows_without_curvature_leave_the_exact_system():
    """Of the squared hinge, the rows above the mean are the support."""
    X, data = rows_of()
    bends = (np.arange(len(X)) % 4 == 0).astype(np.float64)
    factors = factored.Factored(data, 1e-3, False, factored.SharedGram(data, 1_000_000))
    first, second, _ = factors.candidates(bends)
    assert first.base == 0.25
    assert second.is_exact
    assert second.base == 0.0
    assert np.array_equal(second.weights, bends)


def test_an_exact_system_that_costs_little_more_comes_first():
    X, data = rows_of()
    few = np.zeros(len(X))
    few[:20] = 1.0
    shared = factored.SharedGram(data, 3)
    first, _ = factored.Factored(data, 1e-3, False, shared).candidates(few)
    assert first.is_exact
    assert first.work < factored.MUCH_LESS * factored.factor_work(data, shared)
    # Of curvatures that fall off slowly, no system is exact.
    first, second, _ = factored.Factored(data, 1e-3, False, shared).candidates(few + 0.01)
    assert not first.is_exact
    assert not second.is_exact


def test_without_a_shared_sum_there_is_one_candidate():
    X, data = rows_of()
    bends = np.linspace(0.0, 1.0, len(X))
    (only,) = factored.Factored(data, 1e-3, False).candidates(bends)
    assert only.is_exact
    assert only.weights is bends


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_the_optimum_does_not_depend_on_what_is_shared(loss, bias, weighted):
    _, data = rows_of(m=600, d=40)
    weights = np.random.default_rng(2).uniform(0.1, 1.9, size=600)
    weights = weights / weights.mean() if weighted else None
    problem = Problem(data, 1e-5, Loss(loss), bias, row_weights=weights)
    best = []
    for shared in (None, factored.SharedGram(data, 5)):
        w, b, alpha = list(smooth.newton(problem, wanted=1e-10, shared=shared))[-1]
        assert relative_gap(problem.primal(w, b), problem.dual(alpha)) <= 1e-10
        best.append(np.append(w, b))
    assert best[0] == pytest.approx(best[1], rel=1e-4, abs=1e-4)


@pytest.mark.parametrize(("loss", "factors"), [("squared-hinge", 0), ("logistic", 40)])
def test_a_shared_sum_saves_work(loss, factors):
    """On noisy dense rows of many columns; those of the logistic loss are correlated."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 400))
    X += rng.normal(size=(2000, factors)) @ rng.normal(size=(factors, 400))
    y = np.where(X @ rng.normal(size=400) + 40.0 * rng.normal(size=2000) > 0.0, 1, -1)
    data = dataset(X, y, "dense float64")
    problem, entries = Problem(data, 1e-3, Loss(loss)), []
    for shared in (None, factored.SharedGram(data, 10)):
        count = WorkCount()
        next(smooth.newton(problem, wanted=1e-4, count=count, unshown=np.inf, shared=shared))
        entries.append(count.entries)
    assert entries[1] < 0.8 * entries[0]


def test_a_system_that_rounding_spoils_leaves_conjugate_gradients_alone():
    _, data = rows_of()
    factors = factored.Factored(data, -1e9, False, factored.SharedGram(data, 2))
    right = np.arange(13.0)
    assert not factors.form(np.zeros(400), np.zeros(13), 0.1)
    assert factors.solved(right) is right


def test_rows_of_a_part_have_sums_of_their_own():
    X, data = rows_of()
    part = take_rows(data, np.arange(0, 400, 3))
    assert factored.SharedGram(part, 2).sums[1][-1] == len(X[::3])


@pytest.mark.parametrize("seed", range(20))
def test_equal_curvatures_have_a_mean_that_is_one_of_them(seed):
    """A mean may be rounded below all of its numbers, and none of them would be left as a base."""
    _, data = rows_of(m=93)
    bends = np.full(93, np.random.default_rng(seed).random())
    first, second, _ = factored.Factored(
        data, 1e-3, False, factored.SharedGram(data, 3)
    ).candidates(bends)
    assert first.base == pytest.approx(bends[0])
    assert second.base == pytest.approx(bends[0])
    assert not second.weights.any()
