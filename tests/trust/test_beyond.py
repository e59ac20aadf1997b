"""Offsets of entries beyond 2^31 are kept in 64 bits; scripts/trust/beyond.py tries all solvers."""

import sys

import numpy as np
import pytest

from svmbench.kernels import objective
from svmbench.kernels.sgd_primal import PassState, advance_pass
from svmbench.problem import Problem

if not sys.platform.startswith("linux"):
    pytest.skip("rows are mapped repeatedly by calls that Linux has", allow_module_level=True)

from beyond import FEATURES, FILLERS, beyond
from svmbench.solvers.dual.dcd import Dcd

ROWS = 40


def last_rows(data):
    """a after presenting the last rows of the data set alone, from zero."""
    m = data.n_samples
    state, a = PassState(), np.zeros(FEATURES)
    order = np.arange(m - ROWS, m, dtype=np.int32)
    advance_pass(data.rows, a, order, np.zeros(0), state, 1e-3, ROWS)
    assert state.presentations == ROWS
    return a


def test_sparse_rows_beyond_the_offsets_of_32_bits():
    large, small = beyond("uint16+float32", ROWS)
    assert large.indptr[FILLERS] > 1 << 31
    alpha = np.zeros(large.n_samples)
    alpha[-ROWS:] = np.arange(1, ROWS + 1) / ROWS
    combined = [objective.combination(data.rows, alpha) for data in (large, small)]
    assert combined[0].any()
    np.testing.assert_array_equal(*combined)
    ends = [last_rows(data) for data in (large, small)]
    assert ends[0].any()
    np.testing.assert_array_equal(*ends)
    trained = []
    for data in (large, small):
        run = Dcd()  # it leaves rows of norm zero out, and so comes to the last ones at once
        run.start(Problem(data, 1e-3), seed=1)
        run.advance(5 * ROWS)
        trained.append((run.w, run.alpha))
    assert trained[0][0].any()
    for first, second in zip(*trained, strict=True):
        np.testing.assert_array_equal(first, second)


def test_dense_rows_beyond_the_offsets_of_32_bits():
    large, small = beyond("dense float32", ROWS)
    assert large.n_samples * FEATURES - large.n_samples > 1 << 31
    alpha = np.zeros(large.n_samples)
    alpha[-ROWS:] = np.arange(1, ROWS + 1) / ROWS
    combined = [objective.combination(data.rows, alpha) for data in (large, small)]
    assert combined[0].any()
    np.testing.assert_allclose(*combined, rtol=1e-14)
    ends = [last_rows(data) for data in (large, small)]
    assert ends[0].any()
    np.testing.assert_array_equal(*ends)


@pytest.mark.parametrize("storage", ["uint16+float32", "dense float32"])
def test_p_and_d_beyond_the_offsets_of_32_bits(storage):
    large, small = (Problem(data, 1e-3) for data in beyond(storage, ROWS))
    w = np.round(16.0 * np.random.default_rng(0).normal(size=FEATURES)) / 16.0
    assert large.evaluate(w) == small.evaluate(w)
