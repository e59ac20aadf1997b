"""LinearSVCPath trains at each C, and keeps scikit-learn's conventions."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils.estimator_checks import parametrize_with_checks

from svmbench import LinearSVC, LinearSVCPath
from svmbench.engine.effort import Effort
from svmbench.train.classes import Training

#: As for LinearSVC (tests/train/test_estimator.py), whose fits these are.
UNEQUAL = {
    f"check_sample_weight_equivalence_on_{kind}_data": "fits end at a certified gap of tol, which "
    "leaves w apart by more than 1e-7"
    for kind in ("dense", "sparse")
}


@pytest.mark.filterwarnings("ignore")
@parametrize_with_checks([LinearSVCPath([0.01, 1.0])], expected_failed_checks=lambda _: UNEQUAL)
def test_scikit_learn_s_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_weights_that_leave_double_precision_are_refused(loss):
    X, y = rows()
    tiny = LinearSVCPath(loss=loss, class_weight=dict.fromkeys(np.unique(y), 1e-200))
    with pytest.raises(ValueError, match="weights from 0 to 0 are out of range"):
        tiny.fit(X, y, np.full(len(y), 1e-200))


def rows(m=90, d=4, classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    score = X @ rng.normal(size=d) + rng.normal(size=m)
    cuts = np.quantile(score, np.arange(1, classes) / classes)
    return X, np.array(["a", "b", "c"])[np.digitize(score, cuts)]


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_each_model_is_optimal_at_its_c(loss, classes):
    X, y = rows(classes=classes)
    found = LinearSVCPath(loss=loss, tol=1e-6).fit(X, y)
    planes = 1 if classes == 2 else 3
    n = len(found.Cs_)
    assert n > 10
    assert found.coefs_.shape == (n, planes, 4)
    assert found.intercepts_.shape == (n, planes)
    for k in (0, n // 2, n - 1):
        C = found.Cs_[k]
        alone = LinearSVC(C=C, loss=loss, tol=1e-6).fit(X, y)
        same = found.model_at(C)
        assert isinstance(same, LinearSVC)
        assert np.array_equal(same.coef_, found.coefs_[k])
        both = zip(
            np.atleast_2d(found.certificates_[k]), np.atleast_2d(alone.certificate_), strict=True
        )
        for ours, theirs in both:
            assert ours[0] == pytest.approx(theirs[0], rel=2e-6)
            assert ours[2] <= 1e-6
        values = X @ found.coefs_[k].T + found.intercepts_[k]
        chosen = values.argmax(axis=1) if classes > 2 else (values[:, 0] > 0.0).astype(int)
        assert np.array_equal(same.predict(X), np.array(["a", "b", "c"])[chosen])
        assert same.get_params() == alone.get_params()


def test_its_own_model_is_that_of_the_largest_c():
    X, y = rows()
    found = LinearSVCPath([1.0, 0.01, 0.1, 0.1]).fit(X, y)
    assert found.Cs_.tolist() == [0.01, 0.1, 1.0]
    assert found.C_ == 1.0
    assert np.array_equal(found.coef_, found.coefs_[-1])
    assert found.certificate_ == found.certificates_[-1]
    assert np.array_equal(found.predict(X), found.model_at(1.0).predict(X))
    assert not np.array_equal(found.decision_function(X), found.model_at(0.01).decision_function(X))


def test_what_makes_no_sense():
    X, y = rows()
    with pytest.raises(NotFittedError):
        LinearSVCPath().model_at(1.0)
    found = LinearSVCPath([0.5, 1.0]).fit(X, y)
    with pytest.raises(ValueError, match=r"no model was trained at C=0.7; known are 0.5, 1"):
        found.model_at(0.7)
    for bad in ([], [0.0], [np.inf], [np.nan], [[1.0]], [-1.0], "a", ["a"]):
        with pytest.raises(ValueError, match="Cs must be positive and finite"):
            LinearSVCPath(bad).fit(X, y)
    for huge in (10**400, [1, 10**400]):
        with pytest.raises(ValueError, match=r"^Cs: a number is too large for double precision$"):
            LinearSVCPath(huge).fit(X, y)
    with pytest.raises(ValueError, match=r"^C: a number is too large"):
        found.model_at(10**400)


def test_a_fit_before_the_last_that_is_not_certified_is_said(monkeypatch):
    real = Training.at

    def hurried(training, objective, *args, **how):
        effort = Effort(time_limit=0.0 if objective.C < 1.0 else np.inf)
        with monkeypatch.context() as patched:
            patched.setattr(training, "_effort", effort)
            return real(training, objective, *args, **how)

    monkeypatch.setattr(Training, "at", hurried)
    X, y = rows()
    estimator = clone(LinearSVCPath([0.1, 1.0], tol=1e-9))
    with pytest.warns(ConvergenceWarning, match=r"not certified to tol=1e-09 at C = 0\.1$"):
        estimator.fit(X, y)
    assert len(estimator.certificates_) == 2


def test_models_that_do_not_fit_into_memory_are_refused(monkeypatch):
    X, y = rows()
    monkeypatch.setattr("svmbench.memory.available_memory", lambda: 600)
    with pytest.raises(ValueError, match="give fewer Cs"):
        LinearSVCPath(np.geomspace(1.0, 2.0, 20)).fit(X, y)
