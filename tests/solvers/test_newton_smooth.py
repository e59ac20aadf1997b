"""newton-smooth: the certified optima of both losses, and one step of `smooth.newton` at a time."""

from __future__ import annotations

import math
from functools import partial
from itertools import islice

import numpy as np
import pytest

from problems import PROBLEMS, at_start, dataset, has_both_classes, with_class
from svmbench.config.files import load_sweep
from svmbench.errors import ConfigError
from svmbench.names import BIASES
from svmbench.problem import Loss, Problem, relative_gap
from svmbench.solvers.pairs import WorkCount
from svmbench.solvers.second_order import newton_smooth, smooth
from svmbench.solvers.second_order.newton_smooth import NewtonSmooth
from twins.optimum import optimum

started = partial(at_start, NewtonSmooth)
every_loss = pytest.mark.parametrize("loss", smooth.LOSSES)
every_bias = pytest.mark.parametrize("bias", BIASES)


def many_rows(loss, bias="none"):
    """A problem whose steps begin on a sample."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30_000, 5))
    y = np.where(X @ rng.normal(size=5) + rng.normal(size=30_000) > 0.3, 1, -1)
    return Problem(dataset(X, y, "dense float64"), 1e-4, Loss(loss), bias)


def gap_of(problem, run):
    return relative_gap(problem.primal(run.w, run.bias), run.dual())


@every_loss
@pytest.mark.parametrize(
    ("name", "bias"),
    [
        (name, bias)
        for name, problem in PROBLEMS.items()
        for bias in BIASES
        if bias == "none" or has_both_classes(problem)
    ],
)
def test_stops_at_a_certified_gap_and_near_an_independent_optimum(name, bias, loss):
    problem = with_class(PROBLEMS[name], loss, bias)
    run, best = started(problem, tolerance=1e-8), optimum(problem)
    run.halts = True
    run.advance(100)
    assert run.stopped
    assert gap_of(problem, run) <= 1e-8
    assert problem.feasible(run.alpha)
    assert run.dual() <= best.upper * (1.0 + 1e-12)
    assert problem.primal(run.w, run.bias) <= best.upper * (1.0 + 2e-8)
    # lam/2 ||w - w*||^2 is at most what P exceeds P* by.
    np.testing.assert_allclose(run.w, best.w, rtol=0.0, atol=2e-3)


@every_loss
@every_bias
def test_one_step_at_a_time_and_its_work_is_counted(bias, loss):
    problem, count = with_class(PROBLEMS["sparse"], loss, bias), WorkCount()
    pairs = smooth.newton(problem, count=count)
    run = started(problem, tolerance=1e-300)
    w, b, _ = next(pairs)
    assert np.array_equal(run.w, w)
    assert run.bias == b
    for w, b, alpha in islice(pairs, 3):
        run.advance(1)
        assert np.array_equal(run.w, w)
        assert run.bias == b
        assert np.array_equal(run.alpha, alpha)
        counted = run.counters
        assert (counted.presentations, counted.nonzeros) == (count.rows, count.nonzeros)
        assert counted.updates == count.steps
    assert count.steps == 3
    assert count.rows >= 3 * 2 * problem.data.n_samples
    assert count.entries >= count.nonzeros >= 3 * 2 * problem.data.nnz


@every_loss
@every_bias
def test_samples_come_in_the_first_step_and_are_the_same_for_every_seed(bias, loss):
    problem = many_rows(loss, bias)
    runs = [started(problem, seed) for seed in (1, 2**64 - 1)]
    for run in runs:
        run.advance(1)
    one, other = runs
    assert one.w.tobytes() == other.w.tobytes()
    assert one.bias == other.bias
    assert one.w.any()
    early = problem.primal(one.w, one.bias)
    one.advance(20)
    assert early <= 1.05 * one.dual()
    assert one.stopped


def test_a_gap_that_problem_denies_is_no_reason_to_stop(monkeypatch):
    monkeypatch.setattr(newton_smooth, "relative_gap", lambda primal, dual: math.inf)
    run = started(with_class(PROBLEMS["sparse"], "logistic"))
    run.advance(100)
    assert run.exhausted
    assert not run.stopped


@every_loss
def test_after_its_own_stop_it_goes_on_as_far_as_rounding_allows(loss):
    problem = with_class(PROBLEMS["overlapping"], loss)
    run = started(problem, tolerance=0.1)
    run.halts = True
    run.advance(100)
    assert run.stopped
    assert not run.exhausted
    run.advance(100)
    assert run.exhausted
    assert gap_of(problem, run) <= 1e-12
    w, presentations = run.w, run.counters.presentations
    run.advance(4)
    assert np.array_equal(run.w, w)
    assert run.counters.presentations == presentations + 4 * problem.data.n_samples


@pytest.mark.parametrize(
    ("problem", "refused"),
    [
        ("loss: hinge", "loss hinge, only logistic, squared-hinge"),
        ("loss: squared-hinge\nconstraint: {l1: 1.0}", "constraint l1, only none"),
    ],
)
def test_other_problems_are_refused(problem, refused, tmp_path):
    path = tmp_path / "sweep.yaml"
    path.write_text(
        f"version: 1\nname: refused\ndatasets: [tiny-sparse]\nlambda: 1e-3\n{problem}\n"
        "solvers: [newton-smooth]\nstop: {max_epochs: 1}\n"
    )
    with pytest.raises(ConfigError, match=f"newton-smooth cannot train the {refused}; drop"):
        load_sweep(path)
