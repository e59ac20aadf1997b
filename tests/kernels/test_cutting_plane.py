"""The parts of the cutting-plane methods: passes, line search, reduced problem."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.kernels.cutting_plane import line_search, maximise
from twins import cutting_plane as twin


def searched(lam, w, step, old, new):
    room = np.empty(len(old)), np.empty(len(old))
    return line_search(old, new, lam * (w @ step), lam * (step @ step), *room)


@pytest.mark.parametrize("seed", range(60))
def test_line_search_equals_the_walk_along_sorted_kinks(seed):
    rng = np.random.default_rng(seed)
    m = int(rng.integers(1, 300))
    # Multiples of 1/8: rows on the kink, kinks that coincide, and margins that do not move.
    old, new = rng.integers(-16, 17, size=(2, m)) / 8.0
    w, step = rng.integers(-8, 9, size=(2, 4)) / 8.0
    lam = 2.0 ** rng.integers(-8, 3)
    expected = twin.line_search(lam, w, step, old, new)
    assert searched(lam, w, step, old, new) == pytest.approx(expected, rel=1e-12, abs=1e-12)


def enumerated(H, offsets):
    """The greatest value on the simplex: that of the best stationary point of a face."""
    n = len(offsets)
    best = -np.inf
    for size in range(1, n + 1):
        for face in combinations(range(n), size):
            f = list(face)
            system = np.block([[H[np.ix_(f, f)], np.ones((size, 1))], [np.ones(size), 0.0]])
            solution = np.linalg.lstsq(system, np.append(offsets[f], 1.0), rcond=None)[0][:size]
            if np.all(solution >= -1e-12) and abs(solution.sum() - 1.0) < 1e-9:
                best = max(
                    best, offsets[f] @ solution - 0.5 * solution @ H[np.ix_(f, f)] @ solution
                )
    return best


vectors = st.lists(st.lists(st.integers(-8, 8), min_size=2, max_size=2), min_size=1, max_size=3)


@given(vectors, st.lists(st.integers(0, 8), min_size=3, max_size=3), st.integers(-4, 4))
def test_the_reduced_problem_against_all_faces_of_the_simplex(cuts, counts, log_lam):
    G = np.vstack([np.zeros(2), np.array(cuts) / 8.0])
    offsets = np.append(0.0, np.array(counts[: len(cuts)]) / 8.0)
    H = G @ G.T * 2.0**log_lam
    beta = np.zeros(len(G))
    beta[0] = 1.0
    maximise(H, offsets, beta, 1e-12, 100_000)
    assert np.all(beta >= 0.0)
    assert beta.sum() == pytest.approx(1.0, abs=1e-12)
    value = offsets @ beta - 0.5 * beta @ H @ beta
    assert value == pytest.approx(enumerated(H, offsets), abs=1e-11)
    grid = np.linspace(0.0, 1.0, 21)
    for share in grid:  # no point on the way to a corner is better
        for corner in np.eye(len(G)):
            other = (1.0 - share) * beta + share * corner
            assert offsets @ other - 0.5 * other @ H @ other <= value + 1e-11


def test_the_solution_keeps_its_tolerance_and_its_limit_of_steps():
    rng = np.random.default_rng(3)
    G = rng.normal(size=(30, 12))
    H, offsets = G @ G.T, rng.random(30)
    H[0] = H[:, 0] = offsets[0] = 0.0
    value = {}
    for tolerance in (1e-2, 1e-8):
        beta = np.eye(30)[0]
        maximise(H, offsets, beta, tolerance, 10**6)
        gradient = offsets - H @ beta
        assert gradient.max() - gradient @ beta <= tolerance * (1.0 + 1e-6)
        value[tolerance] = offsets @ beta - 0.5 * beta @ H @ beta
    assert value[1e-8] - 1e-2 <= value[1e-2] < value[1e-8]
    # A step leaves two gradients equal, so that rounding soon decides which one is the largest.
    for most in (0, 1, 5, 11):
        beta = np.eye(30)[0]
        assert maximise(H, offsets, beta, 0.0, most) == most
        expected = twin.maximise(H, offsets, np.eye(30)[0], 0.0, most)
        np.testing.assert_allclose(beta, expected, rtol=0.0, atol=1e-14)
