"""Objective sums against the definitions, exact sums, and each other."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import dataset
from svmbench.kernels.objective import conjugate_sum, loss_and_errors
from svmbench.problem import Loss
from twins import objective as twin

WIDTHS = (2.0**-20, 0.25, 1.0, 4.0)
EVERY_LOSS = [Loss("hinge"), Loss("squared-hinge"), *(Loss("smoothed-hinge", g) for g in WIDTHS)]
every_loss = pytest.mark.parametrize(
    "loss", EVERY_LOSS, ids=lambda loss: f"{loss.name}-{loss.gamma}"
)


def margins_as_rows(s):
    """Rows of one feature whose margins at w = [1] are s."""
    return dataset(np.reshape(s, (-1, 1)), np.ones(len(s)), "dense float64").rows


@every_loss
@given(st.integers(0, 64).map(lambda k: k / 64.0))
def test_the_conjugate_is_the_lower_envelope(loss, alpha):
    # q(alpha) = min over s of loss(s) + alpha s, attained at s = 1 - nu alpha.
    q = conjugate_sum(np.array([alpha]), loss.code, loss.gamma)
    s = np.concatenate([np.linspace(-9.0, 11.0, 2001), [1.0 - twin.curvature(loss) * alpha]])
    envelope = np.min(twin.loss_values(loss, s) + alpha * s)
    assert q == pytest.approx(envelope, rel=1e-12, abs=1e-9)


def test_sums_are_compensated():
    # Plain summation of the losses 1e16, 1, 1, ... would drop every one of the ones.
    s = 1.0 - np.array([1e16] + [1.0] * 1000)
    total, _ = loss_and_errors(margins_as_rows(s), np.ones(1), 0)
    assert total == 1e16 + 1000.0
    # The digits of a small sum are kept when a large term joins it, and the other way round.
    s = 1.0 - np.array([7.0, 1e17, 7.0])
    assert loss_and_errors(margins_as_rows(s), np.ones(1), 0)[0] == 1e17 + 16.0
    alpha = np.array([1e8, *[1.0] * 1000, 3e8])  # q = alpha - alpha^2 / 2
    exact = sum(Fraction(a) - Fraction(a) ** 2 / 2 for a in alpha)
    assert conjugate_sum(alpha, 1) == float(exact)


@given(st.lists(st.floats(0.0, 1e15), min_size=1, max_size=40))
def test_sums_are_as_good_as_exact_ones(shortfalls):
    s = 1.0 - np.array(shortfalls)
    total, _ = loss_and_errors(margins_as_rows(s), np.ones(1), 0)
    assert total == pytest.approx(math.fsum(1.0 - s[s < 1.0]), rel=3e-16, abs=0.0)
