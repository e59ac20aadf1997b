"""The scale of w that minimises P, against the least of P at every kink and between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import dense, labels, ordinary_problems
from svmbench.solvers.dual.scale import LEAST, MOST, best_scale, share_saved


def cost(margins, energy, c):
    """What depends on c of m P(c w)."""
    return 0.5 * energy * c**2 + np.sum(np.maximum(0.0, 1.0 - c * margins))


def least(margins, energy):
    """The smallest cost at a kink, at a root between two kinks, or at a limit."""
    kinks = [1.0 / s for s in margins if s > 0.0]
    edges = np.unique(np.clip([LEAST, MOST, *kinks], LEAST, MOST))
    middles = (edges[1:] + edges[:-1]) / 2.0
    roots = [np.sum(margins[c * margins < 1.0]) / energy for c in middles]
    scales = np.clip([*edges, *roots], LEAST, MOST)
    return min(cost(margins, energy, c) for c in scales)


numbers = st.floats(-3.0, 3.0).map(lambda s: round(s, 3))


@given(st.lists(numbers, min_size=1, max_size=12), st.integers(0, 2**32 - 1))
def test_no_scale_is_better(margins, seed):
    rng = np.random.default_rng(seed)
    margins = np.array(margins)
    alpha = rng.random(len(margins))
    # With w = w(alpha) over these rows alone, lambda m ||w||^2 is this sum.
    energy = float(alpha @ margins)
    if energy <= 1e-3:
        return
    c = best_scale(margins, alpha, energy)
    assert LEAST <= c <= MOST
    assert cost(margins, energy, c) <= least(margins, energy) + 1e-9


@pytest.mark.parametrize("name", ["sparse", "overlapping"])
def test_rows_at_a_bound_may_be_left_out(name):
    problem = ordinary_problems()[name]
    rng = np.random.default_rng(4)
    X, y = dense(problem.data), labels(problem.data)
    alpha = np.clip(rng.normal(0.5, 0.6, size=len(y)), 0.0, 1.0)
    w = problem.weights(alpha)
    margins = y * (X @ w)
    energy = problem.lam * len(y) * float(w @ w)
    c = best_scale(margins, alpha, energy)
    sides = (margins < 1.0) & (c * margins < 1.0) & (margins * MOST < 1.0)
    kept = ~((alpha == 1.0) & sides)
    assert 0 < np.sum(~kept) < len(y)
    assert best_scale(margins[kept], alpha[kept], energy) == pytest.approx(c, rel=1e-9)


@pytest.mark.parametrize(
    ("margins", "energy"), [([0.5], 0.0), ([np.inf], 1.0), ([0.5], np.inf), ([np.nan], 1.0)]
)
def test_without_a_scale_it_is_one(margins, energy):
    assert best_scale(np.array(margins), np.full(1, 0.5), energy) == 1.0


def test_no_rows_leave_the_length_of_w_alone():
    assert best_scale(np.zeros(0), np.zeros(0), 1.0) == 1.0


@pytest.mark.parametrize("margins", [[1.0], [np.inf], [np.nan]])
def test_nothing_is_saved_where_there_is_no_gap_or_no_number(margins):
    assert share_saved(np.array(margins), np.full(1, 0.5), 1.0, 1.1) == 0.0
