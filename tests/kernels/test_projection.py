"""Projections on the l1 ball, held to sorting and to the optimality conditions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.kernels.projection import project_l1
from twins.objective import project_l1 as by_sorting
from twins.online import project_weighted

vectors = st.lists(st.floats(-100.0, 100.0, allow_subnormal=False), min_size=1, max_size=12)


@given(vectors, st.floats(1e-3, 300.0))
def test_the_plain_projection_is_that_of_sorting(y, radius):
    w = np.array(y)
    tau = project_l1(w, radius)
    np.testing.assert_allclose(w, by_sorting(np.array(y), radius), rtol=0.0, atol=1e-12)
    assert np.sum(np.abs(w)) <= radius + 1e-12
    assert (tau == 0.0) == (np.array_equal(w, y))


@given(vectors, st.floats(1e-3, 300.0), st.data())
def test_the_weighted_projection_is_that_of_sorting(y, radius, data):
    weights = st.lists(st.floats(1e-2, 1e2), min_size=len(y), max_size=len(y))
    h, w = np.array(data.draw(weights)), np.array(y)
    tau = project_l1(w, radius, h)
    np.testing.assert_allclose(w, project_weighted(np.array(y), h, radius), rtol=0.0, atol=1e-9)
    # Optimality: what a weight was moved by, times h, is tau where it stays, less where it is 0.
    moved = h * np.abs(np.array(y) - w)
    np.testing.assert_allclose(moved[w != 0.0], tau, rtol=1e-6, atol=1e-9)
    assert np.all(moved <= tau * (1.0 + 1e-6) + 1e-9)


def exactly(y, h, radius):
    """The projection in rational numbers."""
    y, h, radius = [Fraction(v) for v in y], [Fraction(v) for v in h], Fraction(radius)
    total = span = tau = Fraction(0)
    for i in sorted(range(len(y)), key=lambda i: -abs(y[i]) * h[i]):
        total, span = total + abs(y[i]), span + 1 / h[i]
        if abs(y[i]) * h[i] > (total - radius) / span:
            tau = (total - radius) / span
    return [
        float((1 if v > 0 else -1) * max(abs(v) - tau / c, 0)) for v, c in zip(y, h, strict=True)
    ]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("far", [1e3, 1e9, 1e12, 1e15, 1e18])
def test_far_outside_the_ball_the_nearest_point_is_found_all_the_same(far, weighted):
    rng = np.random.default_rng(7)
    for apart in (1.0, 1e-3, 1.0 / far, 1e-15):
        y = far * rng.choice([-1.0, 1.0], size=9) * (1.0 + apart * rng.normal(size=9))
        h = rng.uniform(0.5, 2.0, size=9) if weighted else np.ones(9)
        w = y.copy()
        project_l1(w, 3.0, h if weighted else None)
        np.testing.assert_allclose(w, exactly(y, h, 3.0), rtol=0.0, atol=1e-6)


finite = st.floats(allow_nan=False, allow_infinity=False, allow_subnormal=False)


@given(
    st.lists(finite, min_size=1, max_size=8),
    st.floats(1e-150, 1e150),
    st.one_of(st.none(), st.floats(1e-3, 1e3)),
)
def test_every_finite_point_comes_into_the_ball(y, radius, first):
    w, h = np.array(y), None
    if first is not None:
        h = np.linspace(first, 1.0, len(y))
    project_l1(w, radius, h)
    assert np.sum(np.abs(w)) <= radius * (1.0 + 1e-6)
