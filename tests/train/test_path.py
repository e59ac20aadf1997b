"""Warm starts, paths of C and cross-validation: certified at each C, and the same optimum."""

from dataclasses import replace

import numpy as np
import pytest

from problems import dataset
from svmbench import LinearSVC, LogisticRegression
from svmbench.errors import DataError
from svmbench.problem import Loss, Problem
from svmbench.train.classes import train
from svmbench.train.examples import Examples
from svmbench.train.fit import fit
from svmbench.train.objective import BIASES, LOSSES, Objective
from svmbench.train.path import assign_folds, cross_validate, grid, path

every_loss = pytest.mark.parametrize("loss", LOSSES)


def noisy(m=80, d=5, classes=2, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    score = X @ rng.normal(size=d) + noise * rng.normal(size=m)
    labels = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return Examples(dataset(X, np.ones(m)), labels)


@pytest.mark.parametrize("factor", [1e-3, 0.5, 1.0, 2.0, 1e3])
@pytest.mark.parametrize("bias", ["none", "free"])
@every_loss
def test_a_warm_start_is_certified_at_another_c(loss, bias, factor):
    rows = noisy().against_rest(1)[0]
    problem = Problem(rows, 0.01, Loss(loss), bias)
    first = fit(problem, 1e-8)
    other = replace(problem, lam=0.01 * factor)
    warm, cold = fit(other, 1e-8, start=first), fit(other, 1e-8)
    assert warm.gap <= 1e-8
    assert warm.primal == other.primal(warm.w, warm.bias)
    assert warm.dual == pytest.approx(cold.dual, rel=1e-7)


@every_loss
def test_a_fit_that_starts_at_its_own_end_is_over_at_once(loss):
    problem = Problem(noisy().against_rest(1)[0], 0.01, Loss(loss))
    first = fit(problem, 1e-8)
    again = fit(problem, 1e-6, start=first)
    assert (again.looks, again.method) == (1, "start")
    assert np.array_equal(again.w, first.w)


@pytest.mark.parametrize("bias", BIASES)
@every_loss
def test_a_path_is_certified_at_each_c(loss, bias):
    examples, objective = noisy(classes=3), Objective(loss, bias=bias)
    values = grid(examples, objective)
    trained = list(path(examples, objective, values, 1e-6))
    for C, each in list(zip(values, trained, strict=False))[::4]:
        cold = train(examples, replace(objective, C=C), 1e-6)
        for warm, fresh in zip(each.fits, cold.fits, strict=True):
            assert warm.gap <= 1e-6
            assert warm.lam == fresh.lam
            assert warm.primal == pytest.approx(fresh.primal, rel=2e-6)


@every_loss
def test_the_grid_begins_where_all_rows_lie_within_the_margin(loss):
    examples, objective = noisy(), Objective(loss)
    first, second, *_ = values = grid(examples, objective)
    assert len(values) == 25
    assert second == 2.0 * first
    at_first, at_half = (
        train(examples, replace(objective, C=C), 1e-10) for C in (first, first / 2)
    )
    w, half = at_first.fits[0].w, at_half.fits[0].w
    assert float(w @ half) / np.sqrt(float(w @ w) * float(half @ half)) > 0.99


def test_c_grows_no_further_once_no_loss_is_left():
    X = np.array([[1.0, 0.2], [2.0, -0.1], [-1.0, 0.3], [-1.5, 0.1]])
    examples = Examples(dataset(X, np.ones(4)), np.array([1, 1, 0, 0]))
    values = grid(examples, Objective())
    trained = list(path(examples, Objective(), values))
    assert len(trained) < 10
    largest = train(examples, Objective(C=values[-1]), 1e-6).fits[0]
    last = trained[-1].fits[0]
    assert last.primal / last.lam == pytest.approx(largest.primal / largest.lam, rel=1e-3)


def test_a_path_does_not_end_where_w_begins_to_grow():
    # 3 % positive rows: at small C the losses hardly depend on w.
    rng = np.random.default_rng(2)
    labels = (np.arange(600) % 33 == 0).astype(int)
    X = 0.01 * rng.normal(size=(600, 3)) + 0.02 * labels[:, None]
    examples, objective = Examples(dataset(X, np.ones(600)), labels), Objective(bias="free")
    values = grid(examples, objective)
    trained = list(path(examples, objective, values))
    at_last = train(examples, Objective(C=values[-1], bias="free")).fits[0]
    assert trained[-1].fits[0].errors <= at_last.errors + 3


@pytest.mark.parametrize("classes", [2, 4])
def test_folds_share_out_every_class(classes):
    examples = noisy(m=83, classes=classes)
    of_row = assign_folds(examples, 5, seed=3)
    for label in examples.classes:
        counts = np.bincount(of_row[examples.labels == label], minlength=5)
        assert counts.max() - counts.min() <= 1
    assert np.ptp(np.bincount(of_row)) <= 1
    assert not np.array_equal(of_row, assign_folds(examples, 5, seed=4))


def test_more_folds_than_rows_of_a_class():
    examples = Examples(dataset(np.ones((6, 1)), np.ones(6)), np.array([1, 1, 1, 1, 2, 2]))
    with pytest.raises(DataError, match="class 2 has 2 rows, fewer than the 3 folds"):
        cross_validate(examples, Objective(), 3, (1.0,))


@every_loss
def test_validation_errors_are_those_of_models_without_the_fold(loss):
    examples, objective = noisy(classes=3), Objective(loss, bias="free")
    values = (0.01, 0.1, 1.0)
    found = cross_validate(examples, objective, 4, values, 1e-8, seed=1)
    of_row = assign_folds(examples, 4, seed=1)
    for fold, column in ((0, 1), (3, 2)):
        model = train(
            examples.chosen(np.flatnonzero(of_row != fold)),
            replace(objective, C=values[column]), 1e-8,
        ).model  # fmt: skip
        left = examples.chosen(np.flatnonzero(of_row == fold))
        wrong = model.classes_of(model.decision_values(left.rows)) != left.labels
        assert found.errors[fold, column] == wrong.sum()
    assert found.rows == 80
    assert found.best == values[int(found.errors.sum(axis=0).argmin())]
    for error, low, high in found.shares():
        assert 0.0 <= low <= error <= high <= 1.0


@pytest.mark.parametrize(
    "estimator", [LinearSVC(), LinearSVC(loss="hinge"), LogisticRegression()], ids=str
)
def test_estimators_start_from_their_last_fit(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    y = np.where(X @ rng.normal(size=5) + rng.normal(size=80) > 0.0, "yes", "no")
    estimator.set_params(warm_start=True, tol=1e-8).fit(X, y)
    first = estimator.coef_.copy()
    estimator.set_params(tol=1e-6).fit(X, y)
    assert estimator.n_iter_ == 1
    assert np.array_equal(estimator.coef_, first)
    estimator.set_params(C=10.0, tol=1e-8).fit(X, y)
    cold = type(estimator)(**{**estimator.get_params(), "warm_start": False}).fit(X, y)
    assert pytest.approx(cold.certificate_.P, rel=1e-7) == estimator.certificate_.P
    estimator.fit(X[:50, :3], y[:50])  # of other sizes
    assert estimator.coef_.shape == (1, 3)
