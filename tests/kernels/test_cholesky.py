"""Solutions of factored systems against NumPy's, and the factor itself."""

from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.kernels.normal import solution
from svmbench.solvers import cholesky
from svmbench.solvers.cholesky import factor_of


def system(seed, d):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(d + 3, d))
    return rows.T @ rows + np.eye(d), rng.normal(size=d)


@pytest.mark.parametrize("large", [0, 1000], ids=["scipy", "numpy"])
@given(seed=st.integers(0, 2**32 - 1), d=st.integers(1, 40))
def test_it_is_the_system_s_solution(large, seed, d):
    matrix, right = system(seed, d)
    given_before = right.copy()
    cholesky.load()
    with mock.patch.object(cholesky, "LARGE", large):
        found = solution(factor_of(matrix), right)
    # Cholesky is backward stable: the error is a multiple of d units of roundoff.
    bound = 8.0 * (d + 1) * np.finfo(float).eps * np.linalg.cond(matrix)
    wanted = np.linalg.solve(matrix, right)
    assert np.linalg.norm(found - wanted) <= bound * np.linalg.norm(wanted)
    assert np.array_equal(right, given_before)


@pytest.mark.parametrize("large", [0, 1000], ids=["scipy", "numpy"])
def test_an_indefinite_system_has_no_factor(large, monkeypatch):
    cholesky.load()
    monkeypatch.setattr(cholesky, "LARGE", large)
    assert factor_of(np.diag([1.0, -1e-3])) is None
    assert factor_of(np.zeros((2, 2))) is None
