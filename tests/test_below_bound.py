"""When P counts as below a certified bound: not by rounding, and by anything more."""

import math

import numpy as np
import pytest

from problems import dataset
from svmbench.problem import Loss, Problem

UNIT = 2.0**-53
X = np.array([[3.0, 0.0, 4.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]])
Y = np.array([1.0, -1.0, 1.0])
W = np.array([1e5, 2e5, -2e5])  # of norm 3e5; the longest row has norm 5
CURVATURE = {"hinge": 0.0, "squared-hinge": 1.0, "smoothed-hinge": 0.25}


def explained(loss, storage, bias, primal):
    """What rounding explains, from the docstring's formulas: n + 3 roundings a margin."""
    entries = 3 if storage.startswith("dense") else 2
    off = (entries + 3) * UNIT * (3e5 * 5.0 + abs(bias))
    gamma = CURVATURE[loss]
    if gamma == 0.0:
        return off + 4.0 * UNIT
    return math.sqrt(2.0 * primal / gamma) * off + off * off / gamma + 4.0 * UNIT


@pytest.mark.parametrize("bias", [0.0, -1e6])
@pytest.mark.parametrize("storage", ["dense float64", "int32+float64"])
@pytest.mark.parametrize("loss", CURVATURE)
def test_p_is_below_a_bound_if_rounding_does_not_explain_it(loss, storage, bias):
    problem = Problem(dataset(X, Y, storage), 0.1, Loss(loss, gamma=0.25), "free")
    primal = 1e-10
    slack = explained(loss, storage, bias, primal)
    for share, below in ((0.9, False), (0.99, False), (1.01, True), (1.1, True)):
        bound = (primal + share * slack) / (1.0 - 1e-9)
        assert problem.is_below(bound, primal, W, bias) is below, share


def test_the_logistic_loss_has_a_slope_below_1():
    problem = Problem(dataset(X, Y, "dense float64"), 0.1, Loss("logistic"))
    slack = explained("hinge", "dense float64", 0.0, 1e-10)
    for share, below in ((0.99, False), (1.01, True)):
        bound = (1e-10 + share * slack) / (1.0 - 1e-9)
        assert problem.is_below(bound, 1e-10, W) is below, share


def test_p_may_lie_a_billionth_below_a_bound():
    problem = Problem(dataset(X, Y, "dense float64"), 0.1)
    w = np.zeros(3)
    for share, below in ((2.0, False), (1.0, False), (1.0 - 0.9e-9, False), (1.0 - 1.1e-9, True)):
        assert problem.is_below(0.5, share * 0.5, w) is below, share
    assert not problem.is_below(0.5, math.nan, w)


def test_weights_far_outside_the_ball_are_not_scaled_onto_it():
    data = dataset(np.array([[1.0], [-1.0]]), np.array([1.0, -1.0]), "dense float64")
    found = Problem(data, 0.1, bias="free", l1_radius=1.0).evaluate(np.array([1.5]), -1.2)
    assert (found.primal, found.errors) == (math.inf, 0)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", [*CURVATURE, "logistic"])
def test_of_unknown_weights_rounding_explains_as_much_as_of_any_with_this_p(loss, bias):
    rng = np.random.default_rng(3)
    problem = Problem(dataset(X, Y, "dense float64"), 1e-12, Loss(loss, gamma=0.25), bias)
    for size in 10.0 ** rng.uniform(-3.0, 6.0, size=50):
        w, b = size * rng.normal(size=3), float(rng.normal()) * 10.0 * (bias == "free")
        primal = problem.primal(w, b)
        for share in 10.0 ** rng.uniform(-9.0, 0.0, size=20):
            bound = primal * (1.0 + share)
            if problem.is_below(bound, primal, None):
                assert problem.is_below(bound, primal, w, b)
    assert problem.is_below(0.5, 0.4, None)


def test_unknown_weights_do_not_excuse_what_no_rounding_explains():
    problem = Problem(dataset(X, Y, "dense float64"), 0.1)
    assert problem.is_below(1e-8, 0.99e-8, None)
    assert not problem.is_below(1e-17, 0.99e-17, None)


def test_a_row_that_hardly_counts_may_lie_far_out():
    counts = np.array([1e-9, 3.0 - 2e-9, 1e-9])
    problem = Problem(dataset(X, Y, "dense float64"), 0.1, bias="free", row_weights=counts)
    w, b = np.zeros(3), -1e9
    primal = problem.primal(w, b)
    bound = primal * (1.0 + 1e-8)
    assert not problem.is_below(bound, primal, w, b)
    assert not problem.is_below(bound, primal, None)
    assert problem.is_below(2.0 * primal, primal, None)
