"""Warm starts, paths of C and cross-validation: certified at each C, and the same optimum."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.base import clone

from problems import assert_bounds, dataset
from svmbench import LinearSVC, LogisticRegression
from svmbench.engine.effort import Effort
from svmbench.engine.fit import fit
from svmbench.errors import DataError
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.problem import Loss, Problem
from svmbench.train.classes import train
from svmbench.train.examples import Examples
from svmbench.train.files import training_errors
from svmbench.train.objective import Objective
from svmbench.train.path import grid, path, point
from svmbench.train.validation import Validation, assign_folds, cross_validate

every_loss = pytest.mark.parametrize("loss", TRAINED_LOSSES)


def noisy(m=80, d=5, classes=2, noise=1.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    score = X @ rng.normal(size=d) + noise * rng.normal(size=m)
    labels = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    return Examples(dataset(X, np.ones(m)), labels)


def wrong(examples, trained):
    return training_errors(examples, trained.model)[0][0]


def shifted():
    """Rows whose two classes differ in number, so that a bias is worth having."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(80, 5)) + 0.5
    return X, np.where(X @ rng.normal(size=5) + rng.normal(size=80) > 1.0, 1, -1)


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
    assert_bounds(warm.primal, other, warm.w, warm.bias)
    assert warm.dual == pytest.approx(cold.dual, rel=1e-7)


@pytest.mark.parametrize("factor", [1.0, 0.1])
@pytest.mark.parametrize(("before", "after"), [("free", "none"), ("none", "free")])
@every_loss
def test_a_warm_start_knows_its_problem_s_bias(loss, before, after, factor):
    data = dataset(*shifted())
    first = fit(Problem(data, 0.01, Loss(loss), before), 1e-6)
    assert (first.bias != 0.0) == (before == "free")
    problem = Problem(data, 0.01 * factor, Loss(loss), after)
    warm, cold = fit(problem, 1e-6, start=first), fit(problem, 1e-6)
    assert (warm.bias != 0.0) == (after == "free")
    assert warm.gap <= 1e-6
    assert_bounds(warm.primal, problem, warm.w, warm.bias)
    assert warm.primal == pytest.approx(cold.primal, rel=2e-6)


@pytest.mark.parametrize("bias", TRAINED_BIASES)
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


@pytest.mark.parametrize("classes", [2, 3])
@every_loss
def test_a_point_of_the_path_is_the_model_s(loss, classes):
    examples = noisy(classes=classes)
    examples = replace(examples, row_weights=np.arange(80) % 3 + 1.0)
    objective = Objective(loss, C=0.5, bias="free")
    trained = train(examples, objective, 1e-8)
    found = point(examples, trained, objective)
    total = of_zero = 0.0
    for label, fit_ in zip(trained.model.labels, trained.fits, strict=False):
        rows, weights = examples.against_rest(label)
        margins = rows.labels * (rows.rows.dot(fit_.w) + fit_.bias)
        each = {
            "hinge": np.maximum(0.0, 1.0 - margins),
            "squared-hinge": np.maximum(0.0, 1.0 - margins) ** 2,
            "logistic": np.logaddexp(0.0, -margins),
        }[loss]
        total += 0.5 * fit_.w @ fit_.w + 0.5 * weights @ each
        of_zero += 0.5 * weights.sum() * (np.log(2.0) if loss == "logistic" else 1.0)
    assert found.objective == pytest.approx(total, rel=1e-12)
    assert found.share_of_zero == pytest.approx(total / of_zero, rel=1e-12)
    assert found.bound <= found.objective <= (1.0 + 1e-8) * found.bound
    predicted = trained.model.classes_of(trained.model.decision_values(examples.rows))
    wrong = predicted != examples.labels
    weights = examples.row_weights
    assert wrong.any()
    assert found.training_error == pytest.approx(weights[wrong].sum() / weights.sum(), rel=1e-12)
    assert found.norm == pytest.approx(np.linalg.norm(trained.model.weights), rel=1e-12)


def test_every_value_is_tried_if_asked():
    examples, values = noisy(), tuple(np.geomspace(0.5, 2.0, 40).tolist())
    few = list(path(examples, Objective(), values, 0.05))
    assert len(few) < 40
    assert len(list(path(examples, Objective(), values, 0.05, complete=True))) == 40
    # Not certified, too.
    short = path(examples, Objective(), values[:4], 1e-12, Effort(time_limit=0.0), complete=True)
    assert len(list(short)) == 4


def test_more_folds_than_rows_of_a_class():
    examples = Examples(dataset(np.ones((6, 1)), np.ones(6)), np.array([1, 1, 1, 1, 2, 2]))
    with pytest.raises(DataError, match="class 2 has 2 rows, fewer than the 3 folds"):
        cross_validate(examples, Objective(), 3, (1.0,))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [2, 3])
@every_loss
def test_validation_errors_are_those_of_models_without_the_fold(loss, classes, weighted):
    """They count with the weights of training."""
    examples, costs = noisy(classes=classes), np.ones(80)
    if weighted:
        given = np.random.default_rng(7).integers(1, 6, size=80).astype(float)
        examples = replace(examples, row_weights=given, class_weights={1: 3.0})
        costs = given * np.where(examples.labels == 1, 3.0, 1.0)
    objective, values = Objective(loss, bias="free"), (0.01, 0.1, 1.0)
    found = cross_validate(examples, objective, 4, values, 1e-8, Effort(seed=1))
    of_row = assign_folds(examples, 4, seed=1)
    for fold, column in ((0, 1), (3, 2)):
        model = train(
            examples.chosen(np.flatnonzero(of_row != fold)),
            replace(objective, C=values[column]), 1e-8,
        ).model  # fmt: skip
        left = examples.chosen(np.flatnonzero(of_row == fold))
        wrong = model.classes_of(model.decision_values(left.rows)) != left.labels
        share = found.errors[fold, column] / found.fold_weights[fold]
        cost = costs[of_row == fold]
        assert share == pytest.approx(cost[wrong].sum() / cost.sum(), rel=1e-14)
    assert found.effective_rows == pytest.approx(costs.sum() ** 2 / (costs**2).sum(), rel=1e-14)
    assert found.best == found.values[int(found.errors.sum(axis=0).argmin())]
    assert found.errors.any()
    for error, low, high in found.shares():
        assert 0.0 <= low <= error <= high <= 1.0


@pytest.mark.parametrize("wrong", [0, 1, 13, 79, 80])
def test_intervals_are_wilson_s(wrong):
    errors, weights = np.array([[wrong / 2], [wrong / 2]]), np.array([30.0, 50.0])
    found = Validation((1.0,), errors, weights, 80.0, 0.5, 0.0, 1e-2)
    ((share, low, high),) = found.shares()
    theirs = binomtest(wrong, 80).proportion_ci(0.95, method="wilson")
    assert share == wrong / 80
    assert (low, high) == pytest.approx((theirs.low, theirs.high), rel=1e-12, abs=1e-15)
    wider = replace(found, effective_rows=40.0).shares()[0]
    assert wider[2] - wider[1] > high - low


@pytest.mark.parametrize(
    ("errors", "said"),
    [([3, 2, 1], "largest"), ([1, 2, 3], "smallest"), ([2, 1, 3], None), ([1, 2, 1], "smallest")],
)
def test_a_best_c_at_the_end_of_the_values_is_said(errors, said):
    each = np.array([errors], dtype=float)
    found = Validation((0.5, 1.0, 2.0), each, np.array([9.0]), 9.0, 0.5, 0.0, 1e-2)
    assert found.extreme == said
    alone = replace(found, values=(1.0,), errors=np.array([[2.0]]))
    assert alone.extreme is None


@pytest.mark.parametrize("C", [1.0, 20.0])
@pytest.mark.parametrize(
    "estimator", [LinearSVC(), LinearSVC(loss="hinge"), LogisticRegression()], ids=str
)
def test_estimators_start_without_the_intercept_that_they_no_longer_fit(estimator, C):
    X, y = shifted()
    first = clone(estimator).set_params(warm_start=True).fit(X, y)
    assert first.intercept_[0] != 0.0
    warm = first.set_params(fit_intercept=False, C=C).fit(X, y)
    cold = clone(estimator).set_params(fit_intercept=False, C=C).fit(X, y)
    assert warm.intercept_.tolist() == [0.0]
    assert pytest.approx(cold.certificate_.P, rel=2e-4) == warm.certificate_.P
    again = warm.set_params(fit_intercept=True, C=1.0).fit(X, y)
    fresh = clone(estimator).fit(X, y)
    assert again.intercept_[0] != 0.0
    assert pytest.approx(fresh.certificate_.P, rel=2e-4) == again.certificate_.P
