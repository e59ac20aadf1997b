"""dcd, newton, svmsgd, and the certificate of a free bias, against scikit-learn."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from problems import dataset, dense, dyadic, edge_problems, labels, ordinary_problems, with_loss
from svmbench.data.load import load
from svmbench.problem import Problem
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.registry import find_solver
from svmbench.solvers.second_order.newton import Newton
from twins.objective import gap_of
from twins.optimum import optimum

from .agreement import (
    ROUNDING,
    assert_same_answer,
    assert_same_plane,
    certified,
    descent_gap,
    gradient_gap,
)

REASON = "the package scikit-learn is not installed"
svm = pytest.importorskip("sklearn.svm", reason=REASON)

ORDINARY = ordinary_problems()
PROBLEMS = {**ORDINARY, **edge_problems()}
TWO_CLASSES = [name for name, problem in PROBLEMS.items() if len(set(problem.data.labels)) == 2]

# --- LinearSVC ---------------------------------------------------------------------

#: Our solver, the loss, and whether LinearSVC takes the dual or the primal.
LINEAR_SVC = {
    "dcd on hinge, dual": (Dcd, "hinge", True),
    "dcd on squared hinge, dual": (Dcd, "squared-hinge", True),
    "newton, primal": (Newton, "squared-hinge", False),
}
every_linear_svc = pytest.mark.parametrize("pair", LINEAR_SVC)


def linear_svc(problem, dual, tolerance, **options):
    """LinearSVC on the problem, without a bias unless ``options`` ask for one."""
    hinge = problem.loss.name == "hinge"
    model = svm.LinearSVC(
        loss="hinge" if hinge else "squared_hinge",
        dual=dual,
        C=1.0 / ((1.0 if hinge else 2.0) * problem.lam * problem.data.n_samples),
        tol=tolerance,
        max_iter=10**6,
        random_state=1,
        **{"fit_intercept": False, **options},
    )
    X = dense(problem.data)[:, :-1] if options.get("fit_intercept") else dense(problem.data)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a run that did not converge warns
        return model.fit(X, problem.data.labels)


def assert_linear_svc_agrees(problem, solver, dual, w, tolerance):
    run = certified(solver, problem)
    allowed = descent_gap(problem, w, tolerance) if dual else gradient_gap(problem, tolerance)
    assert allowed <= 1e-5
    rounding = ROUNDING * max(1.0, problem.primal(run.w))
    excess = problem.primal(w) - problem.dual(run.alpha)
    assert -rounding <= excess <= allowed + gap_of(problem, run.w, run.alpha) + rounding
    assert_same_answer(problem, run.w, w, problem.dual(run.alpha))


@every_linear_svc
@pytest.mark.parametrize("name", TWO_CLASSES)
def test_linear_svc(name, pair):
    solver, loss, dual = LINEAR_SVC[pair]
    problem = with_loss(PROBLEMS[name], loss)
    w = linear_svc(problem, dual, 1e-6).coef_[0]
    assert_linear_svc_agrees(problem, solver, dual, w, 1e-6)


@every_linear_svc
@pytest.mark.parametrize("rho", [1.0, 0.25])
@pytest.mark.parametrize("name", ORDINARY)
def test_linear_svc_with_an_appended_feature(name, rho, pair):
    # Its intercept is the weight of a constant feature, times that feature.
    solver, loss, dual = LINEAR_SVC[pair]
    plain = ORDINARY[name]
    X, y = dense(plain.data), plain.data.labels
    appended = dataset(np.hstack([X, np.full((len(y), 1), rho)]), y)
    problem = with_loss(Problem(appended, plain.lam), loss)
    model = linear_svc(problem, dual, 1e-6, fit_intercept=True, intercept_scaling=rho)
    w = np.append(model.coef_[0], model.intercept_[0] / rho)
    assert_linear_svc_agrees(problem, solver, dual, w, 1e-6)


# --- SVC: SMO, with an unregularised bias ------------------------------------------


def dyadic_bias_problems():
    """Problems with a free bias, of data on which a kernel matrix in float32 is exact."""
    made = {}
    for name, seed, m, d, lam in (("wide", 31, 30, 40, 2.0**-4), ("tall", 32, 80, 6, 2.0**-6)):
        X, y = dyadic(seed, m, d, largest=16)
        X[:, 0] = np.round(16.0 * (X[:, 0] / 4.0 + 0.5 * y + 0.75)) / 16.0  # off the origin
        made[name] = Problem(dataset(X, y, name=name), lam, bias="free")
    X, y = dyadic(33, 60, 5, largest=8)
    y = np.where(X @ [1.0, -1.0, 0.5, 0.0, 0.0] > 0.25, 1, -1)
    made["unbalanced"] = Problem(dataset(X, y, name="unbalanced"), 2.0**-9, bias="free")
    return made


DYADIC = dyadic_bias_problems()
WITH_BIAS = {
    **DYADIC,
    **{name: Problem(PROBLEMS[name].data, PROBLEMS[name].lam, bias="free") for name in TWO_CLASSES},
}
every_with_bias = pytest.mark.parametrize("name", WITH_BIAS)
every_tolerance = pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6])


def svc(problem, tolerance):
    """SVC's w, b and dual variables, these in our units and summing to the same in both classes."""
    m = problem.data.n_samples
    C = 1.0 / (problem.lam * m)
    model = svm.SVC(kernel="linear", C=C, tol=tolerance)
    model.fit(dense(problem.data), problem.data.labels)
    alpha = np.zeros(m)
    alpha[model.support_] = np.abs(model.dual_coef_[0]) / C
    # Its steps move pairs of variables, so that only rounding is to be repaired.
    assert abs(alpha @ labels(problem.data)) <= ROUNDING * m
    assert alpha.max(initial=0.0) <= 1.0 + ROUNDING
    return model.coef_[0], float(model.intercept_[0]), problem.repaired(alpha)


def svc_gap(problem, tolerance, exact_kernel=False):
    """The gap that SVC's tolerance leaves.

    At its stop y_i G_i of any two rows that could still move are within the tolerance, G being the
    gradient, and b lies between them: of alpha_i (s_i - 1) and (1 - alpha_i)(1 - s_i) none is
    above the tolerance, and the gap is the mean of those that are positive. It holds kernel
    values in float32: off by a share 2^-24, and G, whose dual variables sum to 1/lambda at most,
    by that of the largest value over lambda; twice, for two rows.
    """
    largest = problem.data.rows.norms2().max()
    kernel = 0.0 if exact_kernel else 2.0 * 2.0**-24 * largest / problem.lam
    return tolerance + kernel + ROUNDING * max(1.0, largest / problem.lam)


def assert_svc_is_certified(problem, tolerance, exact_kernel=False):
    w, b, alpha = svc(problem, tolerance)
    X, y = dense(problem.data), labels(problem.data)
    longest = np.sqrt(problem.data.rows.norms2().max())
    assert np.linalg.norm(w - problem.weights(alpha)) <= ROUNDING * longest / problem.lam
    gap = gap_of(problem, w, alpha, b)
    assert 0.0 <= gap <= svc_gap(problem, tolerance, exact_kernel)
    primal = problem.primal(w, b)
    assert abs(primal - problem.dual(alpha) - gap) <= ROUNDING * max(1.0, primal)
    assert problem.evaluate(w, b).errors == int(np.sum(y * (X @ w + b) <= 0.0))


@every_tolerance
@every_with_bias
def test_the_certificate_of_svc_is_within_its_tolerance(name, tolerance):
    assert_svc_is_certified(WITH_BIAS[name], tolerance, exact_kernel=name in DYADIC)


@pytest.mark.parametrize("lam", [1e-1, 1e-2])
@pytest.mark.usefixtures("real_data")
def test_the_certificate_of_svc_on_real_data(lam, tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path))
    data = load("heart_scale", offline=True).train
    assert_svc_is_certified(Problem(data, lam, bias="free"), 1e-3)


@every_with_bias
def test_svc_finds_the_plane_of_the_interior_point_method(name):
    problem = WITH_BIAS[name]
    best = optimum(problem)
    w, b, alpha = svc(problem, 1e-6)
    rounding = ROUNDING * max(1.0, best.upper)
    # Each one's bound holds for the other's point, and neither is far above it.
    assert problem.dual(alpha) <= best.upper + rounding
    allowed = svc_gap(problem, 1e-6, exact_kernel=name in DYADIC)
    assert -rounding <= problem.primal(w, b) - best.lower <= allowed + best.upper - best.lower
    assert_same_plane(problem, (w, b), (best.w, best.bias), best.alpha)


@pytest.mark.parametrize("name", DYADIC)
def test_a_free_bias_pays(name):
    # P* with b free is at most P* without, and less on rows that lie off the origin.
    problem = WITH_BIAS[name]
    w, b, _ = svc(problem, 1e-6)
    plain = Problem(problem.data, problem.lam)
    assert problem.primal(w, b) < plain.dual(certified(Dcd, plain).alpha)


@every_tolerance
@every_with_bias
def test_smo_keeps_the_promise_of_svc(name, tolerance):
    problem = WITH_BIAS[name]
    smo = find_solver("smo")
    run = smo(smo.schema(tolerance=tolerance))
    run.start(problem, 0)
    run.halts = True
    run.advance(10**6)
    assert run.stopped
    assert run.counters.presentations < 10**6
    exact = name in DYADIC
    w, b, alpha = svc(problem, tolerance)
    rounding = svc_gap(problem, 0.0, exact_kernel=True)
    # The same rule, so the same promise: and ours has no kernel values to round.
    assert gap_of(problem, run.w, problem.repaired(run.alpha), run.bias) <= tolerance + rounding
    excess = problem.primal(run.w, run.bias) - problem.dual(alpha)
    assert -rounding <= excess <= tolerance + svc_gap(problem, tolerance, exact)
    assert_same_plane(problem, (run.w, run.bias), (w, b), problem.repaired(run.alpha))
    assert_same_plane(problem, (run.w, run.bias), (w, b), alpha)
