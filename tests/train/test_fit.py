"""Fits of one problem: certified, repeatable, and the same optimum as other programs find."""

from dataclasses import replace

import numpy as np
import pytest
from click.testing import CliRunner
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from problems import assert_bounds, dataset, read_libsvm, scaled
from svmbench.cli import main
from svmbench.engine.effort import Effort
from svmbench.engine.fit import (
    fit,
)
from svmbench.errors import ConfigError
from svmbench.names import TRAINED_LOSSES
from svmbench.problem import Loss, Problem
from svmbench.proof import proven_dual
from svmbench.train.objective import Objective
from twins.exact import exact_dual

NO_TIME = Effort(time_limit=0.0)

TINY = ("tiny-sparse", "tiny-dense", "tiny-separable")


@pytest.fixture(scope="module")
def tiny(request):
    from svmbench.bundled import bundled

    return {name: read_libsvm(bundled("datasets") / "tiny" / f"{name}.libsvm") for name in TINY}


@pytest.mark.parametrize("lam", [1e-1, 1e-3, 1e-6])
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", TRAINED_LOSSES)
@pytest.mark.parametrize("name", TINY)
def test_the_certificate_is_that_of_the_problem(tiny, name, loss, bias, lam):
    problem = Problem(tiny[name], lam, Loss(loss), bias)
    found = fit(problem, 1e-5)
    assert 0.0 <= found.gap <= 1e-5
    assert_bounds(found.primal, problem, found.w, found.bias)
    assert found.dual <= problem.dual(found.alpha)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", TRAINED_LOSSES)
def test_the_same_seed_gives_the_same_weights(tiny, loss, bias):
    problem = Problem(tiny["tiny-sparse"], 1e-4, Loss(loss), bias)
    first, second = fit(problem, 1e-4, Effort(seed=3)), fit(problem, 1e-4, Effort(seed=3))
    assert np.array_equal(first.w, second.w)
    assert (first.bias, first.dual, first.certificates) == (
        second.bias,
        second.dual,
        second.certificates,
    )


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
    assert found.dual / found.lam <= total * (1.0 + 1e-12)
    assert total <= found.primal / found.lam * (1.0 + 1e-6)


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
    assert found.dual / found.lam <= total * (1.0 + 1e-12)
    assert total <= found.primal / found.lam * (1.0 + 1e-6)


def test_a_time_limit_returns_the_best_so_far():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(400) < 0.5, 1, -1)
    data = dataset(rng.normal(size=(400, 50)), labels)
    found = fit(Problem(data, 1e-9), 1e-12, NO_TIME)
    assert found.certificates == 1
    assert found.gap > 1e-12


@pytest.mark.parametrize("loss", TRAINED_LOSSES)
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


@pytest.mark.parametrize("C", [1e-320, 1e303, 1e308])  # the second would leave 1e-309
def test_c_that_leaves_no_lambda_is_refused(C):
    with pytest.raises(ConfigError, match="out of range"):
        Objective(C=C).regularisation(10**6)


def timestamps(m=200, d=3):
    """Rows with a column of nanoseconds since 1970, some years of them."""
    data = scaled(m, 1e16, d=d)
    values = data.values.copy()
    values[:, 0] += 1.7e18
    return replace(data, values=values)


@pytest.mark.parametrize(("loss", "scale"), [("squared-hinge", 1e14), ("hinge", 1e16)])
def test_the_bound_of_a_fit_is_proven(monkeypatch, loss, scale):
    problem, asked = Problem(scaled(60, scale), 1.0 / 60.0, Loss(loss)), [np.zeros(60)]

    def recorded(problem, alpha):
        asked.append(alpha)
        return proven_dual(problem, alpha)

    monkeypatch.setattr("svmbench.engine.best.proven_dual", recorded)
    found = fit(problem, 1e-5)
    assert len(asked) > 1
    assert found.dual <= max(exact_dual(problem, alpha) for alpha in asked)


@pytest.mark.parametrize("loss", TRAINED_LOSSES)
def test_a_fit_without_time_is_no_worse_than_its_start(tiny, loss):
    problem = Problem(tiny["tiny-sparse"], 1e-3, Loss(loss))
    before = fit(problem, 1e-2)
    later = replace(problem, lam=0.5e-3)
    found = fit(later, 1e-9, NO_TIME, start=before)
    assert found.primal <= later.primal(before.w) * (1.0 + 1e-12)
    assert found.gap > 1e-9


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", ["hinge", "squared-hinge"])
def test_a_fit_ends_where_rounding_rules(loss, bias):
    data = timestamps()
    found = fit(Problem(data, 1.0 / data.n_samples, Loss(loss), bias), 1e-4)
    assert found.gap > 1e-4
    assert found.certificates < 2000


@pytest.mark.parametrize("tolerance", [1e-14, 1e-18, 5e-324])
@pytest.mark.parametrize(("m", "d", "seed", "C"), [(15, 30, 0, 1e-2), (3, 3, 1, 100.0)])
def test_a_tolerance_that_rounding_may_forbid_ends_soon(m, d, seed, C, tolerance):
    # Descent alone would come nearer for ever, at the gap's inverse in epochs.
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    y = np.where(X[:, 0] + rng.normal(size=m) > 0.0, 1, -1)
    problem = Problem(dataset(X, y, "dense float64"), 1.0 / (C * m), bias="free")
    gaps = []
    effort = Effort(given_up=lambda: len(gaps) > 200)
    found = fit(problem, tolerance, effort, progress=gaps.append)
    assert 1e-18 < found.gap < 3e-14
    assert found.certificates < 100


@pytest.mark.parametrize("loss", TRAINED_LOSSES)
@pytest.mark.parametrize("bias", ["none", "free"])
def test_a_fit_that_is_given_up_ends_after_a_few_passes(loss, bias):
    rng = np.random.default_rng(0)
    data = dataset(rng.normal(size=(300, 40)), rng.choice([-1, 1], size=300))
    asked = []

    def given_up():
        asked.append(1)
        return len(asked) > 4

    with pytest.raises(InterruptedError):
        fit(Problem(data, 1e-7, Loss(loss), bias), 1e-15, Effort(given_up=given_up))
    assert len(asked) < 20


@pytest.mark.parametrize("tolerance", [0.0, -1.0, np.inf, np.nan])
def test_the_tolerance_must_be_positive_and_finite(tolerance):
    with pytest.raises(ValueError, match="tolerance must be"):
        fit(Problem(dataset([[1.0], [2.0]], [1, -1]), 1.0), tolerance)


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize("scale", [1e-10, 1e6, 1e7, 1e8, 1e9, 1e10])
def test_logistic_regression_does_not_need_scaled_columns(scale, seed):
    data = scaled(300, scale, seed, d=6)
    assert fit(Problem(data, 1.0 / 30000.0, Loss("logistic")), 1e-4).gap <= 1e-4


def test_a_lambda_out_of_range_is_named():
    with pytest.raises(ConfigError, match="lambda = 1e-320 is out of range for 10 rows"):
        Objective.of_lambda("hinge", 1e-320, 10, "none")
    with pytest.raises(ConfigError, match="lambda = 1e-310 is out of range for 1000000 rows"):
        Objective.of_lambda("hinge", 1e-310, 10**6, "none")  # it would leave C = 1e304
    with pytest.raises(ConfigError, match="lambda = 1e\\+308 is out of range for 10 rows"):
        Objective.of_lambda("hinge", 1e308, 10, "none")


@pytest.mark.parametrize(("C", "bias"), [(1e-12, "none"), (1e-30, "none"), (1e-12, "free")])
@pytest.mark.parametrize("loss", TRAINED_LOSSES)
def test_a_tiny_c_gives_weights_that_predict(loss, C, bias):
    # w = 0 is within the tolerance, too; P is the same in double precision.
    data, objective = scaled(300, 1.0), Objective(loss, C, bias)
    m = data.n_samples
    problem = Problem(data, objective.regularisation(m), objective.as_loss(), bias)
    found = fit(problem, 1e-4)
    assert found.gap <= 1e-4
    assert found.w.any()
    direction = data.labels @ data.values
    if bias == "none":  # a free one is for the larger class
        assert np.mean(problem.margins(found.w) <= 0.0) < 0.3
        # All rows lie within the margin, and w is proportional to the sum of y x.
        assert found.w @ direction > 0.999 * np.linalg.norm(found.w) * np.linalg.norm(direction)


@pytest.mark.parametrize(("bias", "weighted"), [("free", False), ("free", True), ("none", True)])
def test_rows_of_many_features_reach_the_hard_margin(bias, weighted):
    """Dual descent leaves margins 1e-12 below one, of which C = 1e8 makes 0.2 of the objective."""
    rng = np.random.default_rng(0)
    labels, weights = np.where(np.arange(30) % 3, 1, -1), np.linspace(0.5, 1.5, 30)
    problem = Problem(
        dataset(rng.normal(size=(30, 6000)), labels),
        1.0 / (1e8 * 30),
        Loss("hinge"),
        bias,
        row_weights=weights if weighted else None,
    )
    found = fit(problem, 1e-6)
    assert found.gap <= 1e-6
    assert problem.margins(found.w, found.bias).min() >= 1.0


def test_a_bound_above_p_is_an_error(monkeypatch):
    data = scaled(60, 1.0)
    monkeypatch.setattr("svmbench.engine.best.proven_by_norms", lambda *given: 1e3)
    with pytest.raises(AssertionError, match="is below the proven D = 1000"):
        fit(Problem(data, 0.1), 1e-4)


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
@pytest.mark.parametrize("bias", ["none", "regularised", "free"])
def test_rows_without_entries_have_a_model(loss, bias, tmp_path):
    for entry in ("", " 3:0"):
        (tmp_path / "rows").write_text(f"1{entry}\n-1{entry}\n1{entry}\n" * 4)
        for more in ([], ["--cv", "2", "--Cs", "1,2"]):
            words = ["train", str(tmp_path / "rows"), "-o", str(tmp_path / "m")]
            done = CliRunner().invoke(main, [*words, "--loss", loss, "--bias", bias, *more])
            assert done.exit_code == 0, done.output
