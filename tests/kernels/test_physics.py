"""The probe of the machine does the work it is timed for."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from svmbench.kernels.physics import stream_sum


@given(st.lists(st.integers(0, 2**64 - 1), max_size=40), st.integers(1, 4))
def test_stream_sum_reads_every_word_in_every_round(words, rounds):
    expected = 0
    for _ in range(rounds):
        expected = (3 * expected + sum(words)) % 2**64
    assert stream_sum(np.array(words, dtype=np.uint64), rounds) == expected
