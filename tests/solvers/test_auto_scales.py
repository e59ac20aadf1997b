"""auto on features of very different scales: what it ends with is certified, and never absurd."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems import dataset
from svmbench.problem import Problem
from svmbench.solvers.champion.auto import Auto, AutoParameters

#: Largest relative gap of a certificate, and the absolute gap that rounding at P near 0 allows.
TOLERANCE, NEAR_ZERO = 1e-3, 1e-9
MOST = 1500


@st.composite
def scaled_problems(draw):
    """Few rows or many features, scales of features from 1e-10 to 1e10."""
    m = draw(st.sampled_from([1, 2, 7, 30, 90]))
    d = draw(st.sampled_from([1, 2, 6, 25, 80]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < draw(st.sampled_from([0.3, 1.0])))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 0.0, 1, -1)
    low, high = sorted(draw(st.lists(st.floats(-10.0, 10.0), min_size=2, max_size=2)))
    X = X * 10.0 ** rng.uniform(low, high, size=d)
    kind = draw(st.sampled_from(["plain", "repeated rows", "constant", "repeated columns"]))
    if kind == "repeated rows":
        X, y = np.repeat(X, 3, axis=0), rng.choice([-1, 1], size=3 * m)
    elif kind == "constant":
        X[:, 0] = 10.0 ** rng.uniform(-10.0, 10.0)
    elif kind == "repeated columns":
        X[:, -1] = X[:, 0]
    storage = draw(st.sampled_from(["dense float64", "uint16+float64"]))
    return Problem(dataset(X, y, storage), 10.0 ** draw(st.floats(-6.0, 0.0)))


def ended(problem, method):
    """P and D at the end of a run that is continued, as in training, where its D was too good."""
    run = Auto(AutoParameters(method=method))
    run.halts = True
    run.start(problem, 1)
    for _ in range(10):
        run.advance(MOST)
        primal, dual = problem.primal(run.w), run.dual()
        if not run.stopped or primal - dual <= TOLERANCE * dual:
            break
        run.sharpen()
    return primal, dual


@pytest.mark.parametrize("method", ["choose", "newton", "dual-newton"])
@settings(max_examples=60)
@given(problem=scaled_problems())
def test_scales_of_features_do_not_matter(problem, method):
    primal, dual = ended(problem, method)
    assert 0.0 <= dual <= primal * (1.0 + 1e-9)
    assert primal <= 1.0 + 1e-12
    assert primal - dual <= max(TOLERANCE * (1.0 + 1e-6) * dual, NEAR_ZERO)


@pytest.mark.parametrize("seed", range(10))
def test_repeated_rows_of_large_features_are_solved(seed):
    primal, dual = ended(repeated(seed), "newton")
    assert primal - dual <= TOLERANCE * (1.0 + 1e-6) * dual


def repeated(seed):
    """Rows three times each with random labels, and features of up to 1e9."""
    rng = np.random.default_rng(seed)
    X = np.repeat(rng.normal(size=(7, 25)) * 10.0 ** rng.uniform(0.0, 9.0, size=25), 3, axis=0)
    return Problem(dataset(X, rng.choice([-1, 1], size=21), "dense float64"), 1e-3)


@pytest.mark.parametrize("power", [6, 8, 10])
@pytest.mark.parametrize("lam", [1e-3, 1e-5, 1e-7])
def test_one_feature_far_larger_than_the_others_is_solved(power, lam):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 10))
    y = np.where(X @ rng.normal(size=10) + rng.normal(size=500) > 0.0, 1, -1)
    X[:, 0] *= 10.0**power
    problem = Problem(dataset(X, y, "dense float64"), lam)
    run = Auto()
    run.halts = True
    run.start(problem, 1)
    run.advance(200)
    assert run.stopped
    assert problem.primal(run.w) - run.dual() <= TOLERANCE * (1.0 + 1e-6) * run.dual()


def test_a_sample_that_rounding_keeps_from_being_solved_is_left():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(27_000, 2))
    y = np.where(X[:, 0] + rng.normal(size=27_000) > 0.0, 1, -1)
    X[:, 1] = 1.7e12 + 1e10 * X[:, 1]  # milliseconds since 1970
    problem = Problem(dataset(X, y, "dense float64"), 1e-9)
    run = Auto(AutoParameters(method="newton"))
    run.halts = True
    run.start(problem, 1)
    for _ in range(5000):
        run.advance(1)
        assert np.isfinite(run.w).all()
        if run.stopped or run.exhausted:
            break
    assert run.stopped or run.exhausted
    assert problem.primal(run.w) <= 1.0 + 1e-9
