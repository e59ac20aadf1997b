"""olbfgs against a twin with H as a matrix, and what its damping promises."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import problems
from problems import (
    assert_close,
    at_start,
    dense,
    dyadic_problems,
    labels,
    with_loss,
)
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.olbfgs import Olbfgs
from twins.olbfgs import Olbfgs as Twin

PROBLEMS = {
    name: with_loss(problem, "squared-hinge") for name, problem in problems.PROBLEMS.items()
}
every_problem = pytest.mark.parametrize("name", PROBLEMS)
started = partial(at_start, Olbfgs)


def twin_of(problem, seed=1, rank=10, gain=0.1, **parameters):
    kind = type("Twin", (Twin,), {"rank": rank, "gain": gain})
    X, y = dense(problem.data), labels(problem.data)
    return kind(X, y, problem.lam, problem.loss, seed, **parameters)


def pairs_of(run):
    """The stored pairs (sigma, psi), oldest first, as float64."""
    kernel = run._kernel
    slots = [(kernel.head - kernel.pairs + k) % kernel.rank for k in range(kernel.pairs)]
    return [(kernel.sigmas[k].astype(float), kernel.psis[k].astype(float)) for k in slots]


@pytest.mark.parametrize("parameters", [{}, {"rank": 1}, {"rank": 3, "gain": 1.0}])
@pytest.mark.parametrize("sampling", ["fixed", "permuted"])
@every_problem
def test_equals_its_twin_step_by_step(name, sampling, parameters):
    problem = PROBLEMS[name]
    run = started(problem, 31, sampling=sampling, t0=200.0, **parameters)
    plain = twin_of(problem, 31, sampling=sampling, t0=200.0, **parameters)
    for _ in range(2 * problem.data.n_samples + 3):
        run.advance(1)
        plain.step()
        assert run.counters.updates == plain.updates
        assert run.counters.pairs == len(plain.pairs)
        size = 1.0 + np.max(np.abs(plain.w))
        assert_close(run.w, plain.w, rtol=0.0, atol=1e-9 * size)
    for ours, theirs in zip(pairs_of(run), plain.pairs, strict=True):
        for one, other in zip(ours, theirs, strict=True):
            size = np.max(np.abs(other))
            assert_close(one, other, rtol=0.0, atol=1e-6 * size)


@given(
    problem=dyadic_problems(),
    t0=st.floats(1.0, 1e6),
    rank=st.integers(1, 12),
    seed=st.integers(0, 2**64 - 1),
)
def test_damping_keeps_every_pairs_curvature_at_least_t0(problem, t0, rank, seed):
    problem = Problem(problem.data, problem.lam, Loss("squared-hinge"))
    run = started(problem, seed, t0=t0, rank=rank)
    for step in range(1, 25):
        run.advance(1)
        if not np.isfinite(run.w).all():
            return
        assert run.counters.pairs <= min(step, rank)
        for sigma, psi in pairs_of(run):
            length2 = sigma @ sigma
            if 1e-200 < length2 < 1e200:
                assert sigma @ psi >= (problem.lam + t0) * length2 * (1.0 - 1e-9)
