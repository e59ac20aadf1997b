"""Offsets of entries beyond 2^31 are kept in 64 bits; scripts/trust/beyond.py tries all solvers."""

import sys

import numpy as np
import pytest

from svmbench.kernels import objective
from svmbench.kernels.sgd_primal import Perceptron
from svmbench.problem import Problem

if not sys.platform.startswith("linux"):
    pytest.skip("rows are mapped repeatedly by calls that Linux has", allow_module_level=True)

from beyond import FEATURES, beyond

ROWS = 40


def touched(data):
    """What comes of the last rows alone: their combination, and a after presenting them."""
    m = data.n_samples
    alpha, run = np.zeros(m), Perceptron(data.rows, np.arange(m, dtype=np.int32), 2.0**-10)
    alpha[-ROWS:] = np.arange(1, ROWS + 1) / 64.0
    run.position = m - ROWS
    run.advance(ROWS)
    assert run.presentations == ROWS
    return objective.combination(data.rows, alpha), run.a


@pytest.mark.parametrize("storage", ["uint16+ones", "dense float32"])
def test_rows_beyond_the_offsets_of_32_bits_are_the_rows_that_were_stored(storage):
    large, small = beyond(storage, ROWS)
    assert (large.n_samples - ROWS) * FEATURES > 1 << 31
    for found, expected in zip(touched(large), touched(small), strict=True):
        assert expected.any()
        np.testing.assert_array_equal(found, expected)
    if storage.startswith("dense"):  # the filler rows are zeros: P is that of empty ones
        w = np.round(16.0 * np.random.default_rng(0).normal(size=FEATURES)) / 16.0
        assert Problem(large, 1e-3).evaluate(w) == Problem(small, 1e-3).evaluate(w)
