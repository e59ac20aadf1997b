"""Fits of one problem: certified, repeatable, and the same optimum as other programs find."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from problems import dataset
from svmbench.data.libsvm import read_libsvm
from svmbench.errors import ConfigError
from svmbench.problem import Loss, Problem
from svmbench.train.fit import fit
from svmbench.train.objective import LOSSES, Objective

TINY = ("tiny-sparse", "tiny-dense", "tiny-separable")


@pytest.fixture(scope="module")
def tiny(request):
    from svmbench.bundled import bundled

    return {name: read_libsvm(bundled("datasets") / "tiny" / f"{name}.libsvm") for name in TINY}


@pytest.mark.parametrize("lam", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", TINY)
def test_the_certificate_is_that_of_the_problem(tiny, name, loss, bias, lam):
    problem = Problem(tiny[name], lam, Loss(loss), bias)
    found = fit(problem, 1e-5)
    assert 0.0 <= found.gap <= 1e-5
    assert found.primal == problem.primal(found.w, found.bias)
    assert found.dual <= found.primal * (1.0 + 1e-12)
    assert found.errors == problem.evaluate(found.w, found.bias).errors


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_same_seed_gives_the_same_weights(tiny, loss, bias):
    problem = Problem(tiny["tiny-sparse"], 1e-4, Loss(loss), bias)
    first, second = fit(problem, 1e-4, seed=3), fit(problem, 1e-4, seed=3)
    assert np.array_equal(first.w, second.w)
    assert (first.bias, first.dual, first.looks) == (second.bias, second.dual, second.looks)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_scikit_learn_s_optimum_lies_between_the_bounds(tiny, loss):
    data, objective = tiny["tiny-dense"], Objective(loss, C=0.5)
    m = data.n_samples
    found = fit(Problem(data, objective.regularisation(m), objective.as_loss()), 1e-6)
    theirs = LinearSVC(
        loss=loss.replace("-", "_"), C=0.5, fit_intercept=False, tol=1e-10, max_iter=10**6,
        random_state=0,
    ).fit(data.values, data.labels)  # fmt: skip
    w = theirs.coef_[0].astype(float)
    short = np.maximum(0.0, 1.0 - data.labels * (data.values.astype(float) @ w))
    total = 0.5 * w @ w + 0.5 * (short**2 if loss == "squared-hinge" else short).sum()
    assert objective.total(found.dual, m) <= total * (1.0 + 1e-12)
    assert total <= objective.total(found.primal, m) * (1.0 + 1e-6)


def test_scikit_learn_s_logistic_optimum_lies_between_the_bounds(tiny):
    data, objective = tiny["tiny-dense"], Objective("logistic", C=0.5, bias="free")
    m = data.n_samples
    problem = Problem(data, objective.regularisation(m), objective.as_loss(), "free")
    found = fit(problem, 1e-8)
    theirs = LogisticRegression(C=0.5, tol=1e-12, max_iter=10**5, solver="newton-cholesky")
    theirs.fit(data.values.astype(float), data.labels)
    w, b = theirs.coef_[0], theirs.intercept_[0]
    margins = data.labels * (data.values.astype(float) @ w + b)
    total = 0.5 * w @ w + 0.5 * np.logaddexp(0.0, -margins).sum()
    assert objective.total(found.dual, m) <= total * (1.0 + 1e-12)
    assert total <= objective.total(found.primal, m) * (1.0 + 1e-6)


def test_a_time_limit_returns_the_best_so_far():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(400) < 0.5, 1, -1)
    data = dataset(rng.normal(size=(400, 50)), labels)
    found = fit(Problem(data, 1e-9), 1e-12, time_limit=0.0)
    assert found.looks == 1
    assert found.gap > 1e-12


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_rows_without_entries_have_an_optimum_too(loss, bias):
    data = dataset(np.zeros((3, 2)), [1, -1, 1])
    found = fit(Problem(data, 1e-2, Loss(loss), bias), 1e-4)
    assert found.gap <= 1e-4
    assert not found.w.any()


@pytest.mark.parametrize("C", [0.0, -1.0, np.inf, np.nan])
def test_c_must_be_positive(C):
    with pytest.raises(ConfigError, match="C must be positive"):
        Objective(C=C)


@pytest.mark.parametrize("C", [1e-320, 1e308])
def test_c_that_leaves_no_lambda_is_refused(C):
    with pytest.raises(ConfigError, match="out of range"):
        Objective(C=C).regularisation(10**6)
