"""Orders of rows: which are drawn, and that all are equally likely."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from svmbench.kernels.rng import Generator
from svmbench.kernels.sampling import draw_batches, draw_blocks, draw_rows
from twins.blocks import in_blocks
from twins.rng import Generator as Twin

seeds = st.integers(0, 2**64 - 1)


@given(seeds, st.integers(1, 2**31 - 1), st.integers(0, 20))
def test_rows_are_drawn_one_after_the_other(seed, m, length):
    order = np.full(length, -1, dtype=np.int32)
    draw_rows(Generator(seed), order, m)
    plain = Twin(seed)
    assert order.tolist() == [plain.below(m) for _ in range(length)]


@given(seeds, st.integers(1, 12), st.data())
def test_batches_hold_distinct_rows_and_nothing_is_lost(seed, m, data):
    k = data.draw(st.integers(1, m))
    order, permutation = np.full(5 * k, -1, dtype=np.int32), np.arange(m, dtype=np.int32)
    draw_batches(Generator(seed), order, permutation, k)
    assert sorted(permutation) == list(range(m))
    for batch in order.reshape(5, k):
        assert len(set(batch.tolist())) == k
        assert set(batch.tolist()) <= set(range(m))
    assert order[-k:].tolist() == permutation[:k].tolist()


@given(seeds, st.lists(st.integers(0, 999), unique=True, max_size=60), st.integers(1, 70))
def test_blocks_are_those_of_the_plain_form(seed, rows, size):
    order, rows = np.full(len(rows), -1, dtype=np.int32), np.array(sorted(rows), dtype=np.int32)
    rng, plain = Generator(seed), Twin(seed)
    for _ in range(3):
        draw_blocks(rng, order, rows, size)
        assert order.tolist() == in_blocks(plain, rows.tolist(), size)
        assert sorted(order) == rows.tolist()
    assert rng.next() == plain.next()
