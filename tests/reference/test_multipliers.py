"""Newton steps on multipliers for the hinge, with weights and a free bias.

tests/train/test_weights.py has the optima that they find.
"""

import numpy as np
import pytest

from problems import dataset
from svmbench.engine import multipliers
from svmbench.engine.fit import fit
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.pairs import WorkCount


def posed(bias="none", weighted=True, m=400, d=8, lam=1e-4, scale=1.0):
    """Noisy rows off the origin, with weights from 0.1 to 1.9 before they are scaled."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(m, d)) + 0.5
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 1.0, 1, -1)
    weights = rng.uniform(0.1, 1.9, size=m)
    row_weights = weights / weights.mean() if weighted else None
    return Problem(dataset(X * scale, y, "dense float64"), lam, bias=bias, row_weights=row_weights)


def gap_of(problem, pair):
    w, b, alpha = pair
    return relative_gap(problem.primal(w, b), problem.dual(alpha))


kinds = pytest.mark.parametrize(
    ("bias", "weighted"), [("none", True), ("free", True), ("free", False)]
)


@kinds
@pytest.mark.parametrize("scale", [1e-3, 1.0])
def test_steps_go_on_until_rounding_hides_the_gain(bias, weighted, scale):
    problem = posed(bias, weighted, scale=scale)
    count = WorkCount()
    pairs = list(multipliers.newton(problem, wanted=1e-300, count=count))
    assert min(gap_of(problem, pair) for pair in pairs) <= 1e-9
    assert count.steps <= 400


def test_a_bias_so_far_out_that_no_row_has_curvature_returns():
    problem = posed("free", m=100)
    start = np.zeros(8), 1e4, np.zeros(100)
    pairs = multipliers.newton(problem, start=start, wanted=1e-6)
    assert min(gap_of(problem, pair) for pair in pairs) <= 1e-6


@kinds
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_other_methods_go_on_where_rounding_ends_the_steps(bias, weighted, scale):
    assert fit(posed(bias, weighted, scale=scale), 1e-6).gap <= 1e-6
