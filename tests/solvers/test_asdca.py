"""asdca against its twin, its certificate, and what theta decides."""

import math
from functools import partial

import numpy as np
import pytest

import problems
from problems import (
    assert_close,
    at_start,
    dataset,
    dense,
    every_precision,
    labels,
    ordinary_problems,
    with_loss,
)
from svmbench.problem import Loss, Problem
from svmbench.solvers.dual.asdca import Asdca
from twins.asdca import Asdca as Twin
from twins.iterates import mean_from
from twins.objective import gap_of
from twins.optimum import optimum

PROBLEMS = {
    name: with_loss(problem, "smoothed-hinge") for name, problem in problems.PROBLEMS.items()
}
every_problem = pytest.mark.parametrize("name", PROBLEMS)
started = partial(at_start, Asdca)


def twin_of(run, problem, seed=1):
    X, y = dense(problem.data), labels(problem.data)
    used = run.counters
    return Twin(X, y, problem.lam, problem.loss.gamma, seed, used.theta, used.batch)


@pytest.mark.parametrize("theta", [None, 0.25, 1.0])
@pytest.mark.parametrize("batch", [None, 1, 4, 1000])
@every_problem
def test_equals_its_twin_batch_by_batch(name, batch, theta):
    problem = PROBLEMS[name]
    run = started(problem, 31, batch=batch, theta=theta)
    plain = twin_of(run, problem, 31)
    size = 1.0 + np.max(np.abs(plain.X)) / problem.lam
    # A theta far above its bound makes rounding grow from step to step.
    for step in range(1, 60 if theta is None else 20):
        run.advance(run.counters.batch)
        plain.step()
        assert run.counters.presentations == step * run.counters.batch
        assert_close(run.alpha, plain.alpha, rtol=0.0, atol=1e-12)
        assert_close(run.w, plain.x, rtol=0.0, atol=1e-12 * size)


@pytest.mark.parametrize("caution", [0.25, 0.5, 1.0])
@pytest.mark.parametrize("batch", [1, 8])
def test_theta_is_the_bounds_share(batch, caution):
    for name in ("sparse", "overlapping", "one-class"):
        problem = PROBLEMS[name]
        run = started(problem, batch=batch, caution=caution)
        largest = np.max(np.sum(dense(problem.data) ** 2, axis=1))
        c = 0.5 / largest * problem.lam * problem.data.n_samples
        bounds = (1.0, math.sqrt(c / batch), c, np.cbrt(c**2 / batch))
        assert run.counters.theta == pytest.approx(caution * min(bounds), rel=1e-12)
        assert started(problem, theta=0.15).counters.theta == 0.15
    assert started(PROBLEMS["only-zero-rows"], caution=0.25).counters.theta == 0.25


def test_the_batch_is_8_or_an_eighth_of_the_rows():
    expected = {"sparse": 7, "zero-rows": 3, "one-row": 1, "more-features-than-rows": 1}
    assert {name: started(PROBLEMS[name]).counters.batch for name in expected} == expected
    assert started(PROBLEMS["one-row"], batch=8).counters.batch == 1
    problem = Problem(dataset(np.ones((100, 1)), np.ones(100)), 1.0, Loss("smoothed-hinge"))
    assert started(problem).counters.batch == 8


@pytest.mark.parametrize("batch", [1, 6])
@pytest.mark.parametrize("name", ordinary_problems())
def test_the_gap_falls_at_the_proofs_rate_with_the_proofs_theta(name, batch):
    # Theorem 1: the expected gap after n batches is at most (1 - theta k/m)^n of the first.
    problem = PROBLEMS[name]
    m = problem.data.n_samples
    runs = [started(problem, seed, batch=batch, caution=0.25) for seed in range(20)]
    first = problem.primal(np.zeros(problem.data.n_features))
    for batches in (m, 4 * m, 16 * m):
        for run in runs:
            run.advance(batches * batch - run.counters.presentations)
        gap = np.mean([gap_of(problem, run.w, run.alpha) for run in runs])
        assert gap <= first * (1.0 - runs[0].counters.theta * batch / m) ** batches


@every_precision
@pytest.mark.parametrize("steps", [4, 26, 63])
def test_the_average_is_of_the_iterates_from_its_beginning_on(steps, precision):
    problem, options = PROBLEMS["sparse"], {"output": "average", "begin": steps // 2}
    run = started(problem, 9, precision=precision, **options)
    plain = twin_of(run, problem, 9)
    tolerance = {"float64": 1e-12, "float32": 1e-5}[precision]
    for _ in range(steps):
        plain.step()
        run.advance(run.counters.batch)
        expected = mean_from(steps // 2, plain.iterates, plain.x)
        assert_close(run.w, expected, rtol=0.0, atol=tolerance)
    split = started(problem, 9, precision=precision, **options)
    while split.counters.presentations < steps * run.counters.batch:
        split.advance(1)
    assert split.w.tobytes() == run.w.tobytes()


@every_precision
@pytest.mark.parametrize("name", ordinary_problems())
def test_on_the_hinge_it_minimises_the_smoothed_hinge(name, precision):
    hinge = with_loss(PROBLEMS[name], "hinge")
    for gamma in (1.0, 0.01):
        smoothed = with_loss(PROBLEMS[name], "smoothed-hinge", gamma)
        run, other = (
            started(hinge, 3, smoothing=gamma, precision=precision),
            started(smoothed, 3, precision=precision),
        )
        for one in (run, other):
            one.advance(2000 * hinge.data.n_samples)
        assert run.w.tobytes() == other.w.tobytes()
        best = optimum(hinge)
        assert run.dual() == hinge.dual(run.alpha) <= best.upper * (1 + 1e-12)
        # Smoothed and plain hinge differ by at most gamma/2.
        slack = {"float64": 1e-6, "float32": 1e-4}[precision]
        assert hinge.primal(run.w) <= best.upper + gamma / 2 + slack
