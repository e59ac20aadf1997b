"""When steps of the acceleration are taken: intervals, what pays, and what looking costs."""

import numpy as np
import pytest

from problems import ordinary_problems
from svmbench.kernels.counters import Counters
from svmbench.solvers.dual.accelerator import (
    FEATURE_COST,
    PASSES_A_STEP,
    ROW_COST,
    Accelerator,
)

PROBLEM = ordinary_problems()["overlapping"]
M, D = PROBLEM.data.n_samples, PROBLEM.data.n_features
COST = FEATURE_COST * D + ROW_COST * M


def passes_until_steps(gain_after, steps=5, touched=100):
    """Passes from step to step, where a pass after a step raises D by this much of its rise."""
    run = Accelerator(PROBLEM.data.rows, PROBLEM.lam)
    rng, rows = np.random.default_rng(3), np.arange(M, dtype=np.int32)
    alpha = rng.random(M)
    run.may_step(1.0, 10.0, touched)
    run.may_step(0.9, 10.0, touched)
    found, passes, gain = [], 0, 0.8
    while len(found) < steps:
        if run.may_begin:
            run.begin(rows, alpha, PROBLEM.weights(alpha))
            alpha = np.clip(alpha + 0.01 * rng.normal(size=M), 0.0, 1.0)
        passes += 1
        if run.may_step(gain, 10.0, touched):
            w = PROBLEM.weights(alpha)
            run.step(alpha, w, Counters())
            found.append(passes)
            passes, gain = 0, gain_after(run)
    return found, run


def test_steps_that_do_not_pay_are_taken_at_intervals_that_double_for_a_while():
    found, run = passes_until_steps(lambda run: 1e9, steps=8)
    intervals = [1, 2, 4, 8, 16, 16, 16, 16]
    assert found == [np.ceil(PASSES_A_STEP * COST * k / 100) for k in intervals]
    assert (run.steps, run.paid) == (8, 0)


def test_steps_that_pay_are_taken_again_at_once():
    found, run = passes_until_steps(lambda run: 1e-9)
    assert found == [np.ceil(PASSES_A_STEP * COST / 100)] * 5
    assert (run.steps, run.paid) == (5, 4)  # the last is not judged yet


def test_a_step_pays_where_it_gains_as_much_per_entry_as_the_pass_after_it():
    for share, paid in ((0.99, 4), (1.01, 0)):
        _, run = passes_until_steps(lambda run, s=share: s * run._step_gain * 100 / run._step_cost)
        assert run.paid == paid


def test_an_interruption_begins_the_interval_anew():
    run = Accelerator(PROBLEM.data.rows, PROBLEM.lam)
    alpha = np.full(M, 0.5)
    run.may_step(1.0, 10.0, 100)
    assert not run.may_begin
    run.may_step(0.2, 10.0, 100)  # passes do not linger yet
    assert not run.may_begin
    run.may_step(0.1, 10.0, 100)
    assert run.may_begin
    run.begin(np.arange(M, dtype=np.int32), alpha, PROBLEM.weights(alpha))
    assert not run.may_begin
    run.interrupt()
    assert not run.may_step(0.1, 10.0, 10**9)
    assert run.may_begin


@pytest.mark.parametrize("gain", [0.0, 1e-14])
def test_no_step_follows_a_pass_that_rounding_rules(gain):
    run = Accelerator(PROBLEM.data.rows, PROBLEM.lam)
    alpha = np.full(M, 0.5)
    run.may_step(1.0, 10.0, 100)
    run.may_step(0.9, 10.0, 100)
    run.begin(np.arange(M, dtype=np.int32), alpha, PROBLEM.weights(alpha))
    assert not run.may_step(gain, 1.0, 10**9)
