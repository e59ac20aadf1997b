"""Projections on the l1 ball, held to sorting and to the optimality conditions."""

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


def test_one_survivor_keeps_the_whole_radius():
    w = np.array([0.1, -7.0, 0.2])
    assert project_l1(w, 2.0) == 5.0
    assert w.tolist() == [0.0, -2.0, 0.0]


def test_what_lies_inside_is_left_as_it_is():
    w = np.array([0.5, -0.25, 0.0])
    assert project_l1(w, 0.75) == 0.0
    assert w.tolist() == [0.5, -0.25, 0.0]
    assert project_l1(np.zeros(0), 1.0) == 0.0


def test_the_zero_vector_lies_in_every_ball():
    w = np.zeros(3)
    assert project_l1(w, 1e-300) == 0.0
    assert w.tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("weights", [None, np.array([4.0, 0.5, 1.0, 2.0])])
def test_a_tiny_radius_leaves_the_strongest_its_sign(weights):
    y = np.array([1.0, 3.0, -8.0, 2.0])
    w = y.copy()
    project_l1(w, 1e-12, weights)
    assert np.flatnonzero(w).tolist() == [2]
    # the difference of two numbers of the order of 8
    np.testing.assert_allclose(w[2], -1e-12, rtol=0.0, atol=2e-15)


def test_equal_sizes_shrink_alike():
    w = np.array([3.0, -3.0, 3.0, 3.0])
    project_l1(w, 2.0)
    np.testing.assert_allclose(w, [0.5, -0.5, 0.5, 0.5], rtol=0.0, atol=1e-15)


def test_wrong_arguments_are_refused():
    with pytest.raises(ValueError, match="radius must be positive"):
        project_l1(np.ones(2), 0.0)
    with pytest.raises(ValueError, match="1 weights for 2 entries"):
        project_l1(np.ones(2), 1.0, np.ones(1))


@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5])])
def test_a_ball_below_the_rounding_of_the_point_is_kept_to_all_the_same(weights):
    # tau rounds to the largest entry, and no entry is left above it.
    for y in ([1e20, 1.0, -1e3], [3e17, -3e17, 3e17], [0.0, 0.0, 1e300]):
        w = np.array(y)
        assert project_l1(w, 1.0, weights) > 0.0
        assert np.sum(np.abs(w)) <= 1.0
