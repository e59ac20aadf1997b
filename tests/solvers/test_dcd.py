"""dcd against its twin, the optimality conditions, and its own stopping rule."""

from functools import partial

import numpy as np
import pytest

import twins.dcd
from problems import (
    PROBLEMS,
    assert_close,
    at_start,
    dense,
    every_precision,
    every_problem,
    labels,
    ordinary_problems,
    weighted,
    with_loss,
)
from svmbench.errors import SvmbenchError
from svmbench.names import HINGES, LOSSES
from svmbench.solvers.dual import accelerator
from svmbench.solvers.dual.dcd import Dcd
from twins import coordinate, objective
from twins.dcd import Dcd as Twin
from twins.objective import gap_of
from twins.optimum import optimum

ACCURACY = {"float64": 1e-6, "float32": 1e-4}
every_loss = pytest.mark.parametrize("loss", LOSSES)
every_hinge = pytest.mark.parametrize("loss", HINGES)
weighted_or_not = pytest.mark.parametrize("counted", [False, True], ids=["", "weighted"])
started = partial(at_start, Dcd)


def twin_of(problem, seed=1, **parameters):
    X, y = dense(problem.data), labels(problem.data)
    return Twin(
        X, y, problem.lam, problem.loss, seed, row_weights=problem.row_weights, **parameters
    )


def violations(problem, run):
    """Projected gradients of all rows with n_i > 0, at the current alpha."""
    X, y = dense(problem.data), labels(problem.data)
    alpha, w = run.alpha, objective.weights(X, y, problem.lam, run.alpha)
    loss, margins = problem.loss, y * (X @ w)
    G = [
        coordinate.projected(loss, a, coordinate.gradient(loss, a, s))
        for a, s in zip(alpha, margins, strict=True)
    ]
    return np.array(G)[np.any(X != 0.0, axis=1)]


def follow(name, loss, seed, atol=1e-9, *, counted=False, **options):
    """Advance it and its twin until a decision is close to a tie."""
    problem = with_loss(PROBLEMS[name], loss)
    if counted:
        problem = weighted(problem)
    is_dense = problem.data.indptr is None
    run = started(problem, seed, **options)
    plain = twin_of(problem, seed, dense=is_dense, **options)
    scale = 1.0 + np.max(np.abs(plain.X)) / problem.lam
    for _ in range(60):
        steps = 1 + problem.data.n_samples // 5
        run.advance(steps)
        plain.advance(steps)
        # A gradient of rounding's size is a violation or none: it decides what shrinks.
        extremes = (run.counters.upper, run.counters.lower, plain.above, plain.below)
        tie = min(np.min(np.abs(extremes)), plain.closest) < 1e-13
        tie = tie or (plain.acceleration and plain.plane.closest < 1e-10)
        if tie or gap_of(problem, plain.w, plain.alpha) < 1e-13:
            break
        seen = run.counters.presentations, run.counters.active, run.stopped
        assert seen == (plain.presentations, plain.active, plain.stopped)
        assert abs(run.counters.updates - plain.updates) <= plain.negligible
        assert_close(run.alpha, plain.alpha, rtol=0.0, atol=atol)
        assert_close(run.w, plain.w, rtol=0.0, atol=atol * scale)


@pytest.mark.parametrize(
    "parameters",
    [{}, {"shrinking": False}, {"tolerance": 1e-9, "restore_after": 2.0}, {"tolerance": 10.0}],
    ids=["default", "unshrunk", "budget", "loose"],
)
@weighted_or_not
@every_loss
@every_problem
def test_equals_its_twin(name, loss, counted, parameters):
    follow(name, loss, 31, 1e-12, counted=counted, **parameters)


@pytest.mark.parametrize("acceleration", [False, True])
@every_hinge
@every_problem
def test_greedy_it_equals_its_twin(name, loss, acceleration):
    follow(name, loss, 31, greedy=True, acceleration=acceleration)


@pytest.fixture
def frequent_steps(monkeypatch):
    """Let steps of the acceleration follow a few passes, also over rows as short as these."""
    monkeypatch.setattr(accelerator, "ROW_COST", 0.0)
    monkeypatch.setattr(twins.dcd, "COSTS", (accelerator.FEATURE_COST, 0.0))


@weighted_or_not
@every_hinge
@pytest.mark.parametrize("name", PROBLEMS)
def test_accelerated_it_equals_its_twin(name, loss, counted, frequent_steps):
    for seed in (31, 32):
        follow(name, loss, seed, counted=counted, acceleration=True)


@pytest.mark.parametrize(
    ("options", "loss", "counted", "message"),
    [
        ({"acceleration": True, "precision": "float32"}, "hinge", False, "needs precision float64"),
        ({"acceleration": True}, "logistic", False, "acceleration is for hinges"),
    ],
)
def test_options_that_do_not_fit_the_problem_are_refused(options, loss, counted, message):
    problem = with_loss(PROBLEMS["overlapping"], loss)
    if counted:
        problem = weighted(problem)
    with pytest.raises(SvmbenchError, match=message):
        started(problem, **options)


@pytest.mark.parametrize("name", ordinary_problems())
@every_loss
def test_float32_follows_its_twin_for_some_epochs(name, loss):
    problem = with_loss(PROBLEMS[name], loss)
    run, plain = started(problem, 5, precision="float32"), twin_of(problem, 5)
    for _ in range(4 * problem.data.n_samples):
        run.advance(1)
        plain.advance(1)
        assert (run.counters.active, run.stopped) == (plain.active, plain.stopped)
        # A step of single precision's rounding is an update to one of them and none to the other.
        assert abs(run.counters.updates - plain.updates) <= 1 + 0.01 * plain.presentations
        assert_close(run.alpha, plain.alpha, rtol=0.0, atol=2e-4)
        assert_close(run.w, plain.w, rtol=0.0, atol=2e-4)


@every_precision
@every_loss
@pytest.mark.parametrize("name", PROBLEMS)
def test_reaches_its_stated_accuracy(name, loss, precision):
    problem = with_loss(PROBLEMS[name], loss)
    best = optimum(problem)
    for shrinking in (True, False):
        run = started(problem, precision=precision, shrinking=shrinking)
        run.advance(2000 * problem.data.n_samples)
        allowed = ACCURACY[precision] * best.lower
        assert problem.primal(run.w) - best.lower <= allowed
        assert best.upper - run.dual() <= allowed
        assert gap_of(problem, run.w, run.alpha) <= allowed


@every_loss
@pytest.mark.parametrize("tolerance", [0.1, 1e-3, 1e-6])
@every_problem
def test_when_it_stops_the_optimality_conditions_hold(name, loss, tolerance):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(problem, tolerance=tolerance)
    assert run.stopped is False
    while not run.stopped and run.counters.presentations < 10**6:
        run.advance(1)
    assert run.stopped
    # Each gradient was within the tolerance when its row was visited; the visits after it
    # move alpha_i by lam m tol/n_i at most, and so the margin of row j by tol |x_j|/|x_i|.
    norms = np.linalg.norm(dense(problem.data), axis=1)
    norms = norms[norms > 0.0]
    drift = tolerance * norms * np.sum(1.0 / norms)
    assert np.all(np.abs(violations(problem, run)) <= 1.01 * (tolerance + drift) + 1e-12)
    if tolerance <= 1e-6:
        assert gap_of(problem, run.w, run.alpha) <= 1e-4 * optimum(problem).upper
