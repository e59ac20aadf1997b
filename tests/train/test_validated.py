"""LinearSVCCV chooses C by cross-validation, and keeps scikit-learn's conventions."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from problems import dataset
from svmbench import LinearSVC, LinearSVCCV
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective
from svmbench.train.validation import SELECTION, cross_validate

#: The checks give the splits themselves as cv, as scikit-learn's own estimators allow.
FOLDS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "cv is a number of folds, no list of splits"
    for kind in ("dense", "sparse")
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([LinearSVCCV(cv=2)], expected_failed_checks=lambda each: FOLDS)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


def rows(m=90, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 0.0, "yes", "no")


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_the_model_is_that_of_the_chosen_c(loss):
    X, y = rows()
    found = LinearSVCCV(cv=3, loss=loss).fit(X, y)
    assert found.scores_.shape == (3, len(found.Cs_))
    assert found.Cs_[found.scores_.mean(axis=0).argmax()] == found.C_  # folds of 30 rows each
    same = LinearSVC(C=found.C_, loss=loss).fit(X, y)
    assert np.array_equal(found.coef_, same.coef_)
    assert found.certificate_ == same.certificate_
    assert found.score(X, y) > 0.6


def test_all_given_values_are_tried():
    X, y = rows()
    values = np.geomspace(0.5, 2.0, 60)
    assert LinearSVCCV(values, cv=2, tol=1e-2).fit(X, y).Cs_.tolist() == values.tolist()
    with pytest.warns(ConvergenceWarning, match="cross-validation was not certified to 0.01$"):
        found = LinearSVCCV(values[:3], cv=2, tol=1e-12, max_seconds=0.0).fit(X, y)
    assert found.scores_.shape == (2, 3)


def test_cv_is_no_list_of_splits():
    X, y = rows()
    splits = [(np.arange(45), np.arange(45, 90))]
    with pytest.raises(ValueError, match="cv must be a whole number"):
        LinearSVCCV(cv=splits).fit(X, y)


def test_a_chosen_c_at_the_end_of_the_values_is_said():
    X, y = rows(200)
    with pytest.warns(UserWarning, match="the chosen C = 1e-09 is the smallest tried"):
        LinearSVCCV([1e-9, 1e-8], cv=2, fit_intercept=False).fit(X, y)
    # With an intercept such a small C predicts the larger class only.
    y = np.where(X[:, 0] > 0.5, "yes", "no")
    with pytest.warns(UserWarning, match="the chosen C = 1 is the largest tried"):
        LinearSVCCV([1e-9, 1.0], cv=2).fit(X, y)


def test_of_equal_values_the_scores_count_the_class_that_is_predicted():
    # Without an intercept, rows without entries have the value 0 for every class.
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    X = rng.normal(size=(90, 3)) + 3.0 * np.eye(3)[y]
    X[y == 0] = 0.0
    cv = LinearSVCCV(Cs=[1.0], cv=3, fit_intercept=False).fit(X, y)
    assert cv.score(X, y) > 0.95
    assert cv.scores_.mean() > 0.95


def test_scores_count_with_weights_of_rows_and_classes():
    X, y = rows()
    weights = np.random.default_rng(1).integers(1, 6, size=90).astype(float)
    found = LinearSVCCV([0.01, 1.0], cv=3, class_weight={"yes": 4.0}).fit(X, y, weights)
    examples = Examples(
        dataset(X, np.ones(90), "dense float64"), (y == "yes").astype(int), weights, {1: 4.0}
    )
    objective = Objective("squared-hinge", bias="free")
    wanted = cross_validate(examples, objective, 3, (0.01, 1.0), SELECTION, found._effort())
    assert found.scores_ == pytest.approx(1.0 - wanted.errors / wanted.fold_weights[:, None])
    plain = LinearSVCCV([0.01, 1.0], cv=3).fit(X, y).scores_
    assert np.abs(found.scores_ - plain).max() > 0.01


def test_folds_in_threads_give_the_same_scores():
    X, y = rows()
    alone, together = (LinearSVCCV(cv=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2))
    assert np.array_equal(alone.scores_, together.scores_)
    assert np.array_equal(alone.coef_, together.coef_)
    with pytest.raises(ValueError, match="out of range"):
        LinearSVCCV([1e308], cv=3, n_jobs=2).fit(X, y)


def test_folds_that_are_not_certified_are_said():
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match="certified to 0.01; a fold's larger values"):
        LinearSVCCV(cv=2, tol=1e-12, max_seconds=0.0).fit(X, y)


@pytest.mark.parametrize(
    "wrong", [{"cv": 1}, {"cv": 2.5}, {"Cs": []}, {"Cs": [0.0]}, {"Cs": [np.nan]}, {"cv": 80}]
)
def test_parameters_out_of_range(wrong):
    with pytest.raises(ValueError, match=r"^cv |^Cs |folds"):
        LinearSVCCV(**wrong).fit(*rows())
