"""LinearSVCCV chooses C by cross-validation, and keeps scikit-learn's conventions."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.estimator_checks import parametrize_with_checks

from svmbench import LinearSVC, LinearSVCCV

#: scikit-learn's LogisticRegressionCV fails the same: what is left out belongs to other folds.
FOLDS = {
    f"check_sample_weight_equivalence_on_{kind}_data": "weights and repeated rows have other folds"
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


def test_given_values_of_c_are_tried_in_ascending_order():
    X, y = rows()
    found = LinearSVCCV([1.0, 0.01, 0.1, 0.01], cv=3).fit(X, y)
    assert found.Cs_.tolist() == [0.01, 0.1, 1.0]


def test_a_row_of_weight_0_is_in_no_fold():
    X, y = rows()
    weights = np.ones(90)
    weights[::7] = 0.0
    some = LinearSVCCV(cv=3).fit(X, y, sample_weight=weights)
    left = LinearSVCCV(cv=3).fit(X[weights > 0.0], y[weights > 0.0])
    assert np.array_equal(some.scores_, left.scores_)


def test_folds_that_are_not_certified_are_said():
    X, y = rows()
    with pytest.warns(ConvergenceWarning, match="a fold's values of C end"):
        LinearSVCCV(cv=2, tol=1e-12, max_seconds=0.0).fit(X, y)


@pytest.mark.parametrize(
    "wrong", [{"cv": 1}, {"cv": 2.5}, {"Cs": []}, {"Cs": [0.0]}, {"Cs": [np.nan]}, {"cv": 80}]
)
def test_parameters_out_of_range(wrong):
    with pytest.raises(ValueError, match=r"^cv |^Cs |folds"):
        LinearSVCCV(**wrong).fit(*rows())
