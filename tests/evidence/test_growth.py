"""Exponents of growth: planted ones are found, and what was not reached has its place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from svmbench.evidence.growth import exponent, growing
from svmbench.evidence.page import judge

X = [100.0, 300.0, 1000.0, 10_000.0]


@pytest.mark.parametrize("planted", [-1.0, 0.0, 0.5, 2.0])
def test_a_planted_exponent_is_found(planted):
    random = np.random.default_rng(7)
    y = [[3 * x**planted * math.exp(0.1 * random.standard_normal()) for x in X] for _ in range(20)]
    below, above, within = judge(
        [
            growing(X, y, high=planted + 0.3),
            growing(X, y, low=planted + 0.3),
            growing(X, y, planted - 0.3, planted + 0.3),
        ]
    )
    assert (below.verdict, above.verdict, within.verdict) == ("holds", "does not hold", "holds")
    estimate, low, high = exponent(within)
    assert planted - 0.3 <= low < estimate < high <= planted + 0.3


def test_slopes_are_those_of_least_squares():
    random = np.random.default_rng(8)
    y = np.exp(random.standard_normal((5, 4)))
    expected = [np.polyfit(np.log(X), np.log(row), 1)[0] for row in y]
    assert growing(X, y.tolist(), low=0.0).logs == pytest.approx(tuple(expected))


def test_what_was_not_reached():
    inf = math.inf
    y = [[1, 2, 3, inf], [inf, 2, 3, 4], [inf, 1, 1, inf], [0, 1, 1, 1], [inf] * 4]
    assert growing(X, y, high=1.0).logs == (inf, -inf, inf)
    # The middle of log x has no say, whatever it is.
    assert growing([1.0, 10.0, 100.0], [[1.0, inf, 100.0]], high=2.0).logs == pytest.approx((1.0,))


def test_a_run_that_a_limit_ended_bounds_the_exponent():
    inf, x = math.inf, [1.0, 10.0, 100.0]
    at_large = growing(x, [[1.0, 10.0, inf]], high=3.0, y_least=[[1.0, 10.0, 100.0]])
    assert at_large.logs == pytest.approx((1.0,))
    assert at_large.upper_logs == (inf,)
    at_small = growing(x, [[inf, 10.0, 100.0]], high=3.0, y_least=[[1.0, 10.0, 100.0]])
    assert at_small.logs == (-inf,)
    assert at_small.upper_logs == pytest.approx((1.0,))
    assert growing(x, [[inf, 1.0, inf]], high=3.0, y_least=[[1.0] * 3]).logs == ()
    # One that never arrives has no bound on its other side.
    assert growing(x, [[1.0, 10.0, inf]], high=3.0, y_least=[[1.0, 10.0, inf]]).logs == (inf,)


def test_a_region_has_a_bound():
    with pytest.raises(ValueError, match="without a bound"):
        growing(X, [])
