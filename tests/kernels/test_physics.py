"""The probes of the machine do the work they are timed for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.kernels.physics import gather_add, gather_sum, stream_sum


@given(st.lists(st.integers(0, 2**64 - 1), max_size=40), st.integers(1, 4))
def test_stream_sum_reads_every_word_in_every_round(words, rounds):
    expected = 0
    for _ in range(rounds):
        expected = (3 * expected + sum(words)) % 2**64
    assert stream_sum(np.array(words, dtype=np.uint64), rounds) == expected


@given(st.lists(st.integers(0, 6), max_size=40), st.integers(1, 4))
def test_gathers_touch_what_the_index_names(index, rounds):
    places = np.array(index, dtype=np.uint32)
    table = 2.0 ** np.arange(7)
    assert gather_sum(places, table, rounds) == rounds * table[places].sum()
    gather_add(places, table, 0.5, rounds)
    counts = np.bincount(places, minlength=7)
    np.testing.assert_array_equal(table, 2.0 ** np.arange(7) + 0.5 * rounds * counts)


@pytest.mark.parametrize("probe", [gather_sum, lambda i, t: gather_add(i, t, 1.0)])
def test_an_index_beyond_the_table_is_refused(probe):
    with pytest.raises(IndexError, match="index 3 is not below 3"):
        probe(np.array([0, 3], dtype=np.uint32), np.zeros(3))
