"""The generator against published sequences, its twin, and chance."""

from itertools import islice

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.kernels.rng import Generator
from twins import rng as twin

seeds = st.integers(0, 2**64 - 1)


def test_splitmix64_twin_gives_the_published_sequence_of_seed_0():
    assert list(islice(twin.splitmix64(0), 4)) == [
        0xE220A8397B1DCDAF,
        0x6E789E6AA1B965F4,
        0x06C45D188009454F,
        0xF88BB8A8724C81EC,
    ]


def test_xoshiro_twin_gives_the_published_sequence_of_state_1_2_3_4():
    generator = twin.Generator(0)
    generator.state = [1, 2, 3, 4]
    assert [generator.next() for _ in range(6)] == [
        41943041,
        58720359,
        3588806011781223,
        3591011842654386,
        9228616714210784205,
        9973669472204895162,
    ]


def test_kernel_gives_the_known_sequence_of_seed_0():
    generator = Generator(0)
    assert [generator.next() for _ in range(4)] == [
        5987356902031041503,
        7051070477665621255,
        6633766593972829180,
        211316841551650330,
    ]


@given(seeds)
def test_bits_are_the_twins(seed):
    kernel, plain = Generator(seed), twin.Generator(seed)
    assert [kernel.next() for _ in range(20)] == [plain.next() for _ in range(20)]


@given(seeds, st.lists(st.integers(1, 2**32 - 1), min_size=1, max_size=20))
def test_bounded_integers_are_the_twins(seed, bounds):
    kernel, plain = Generator(seed), twin.Generator(seed)
    drawn = [kernel.below(n) for n in bounds]
    assert drawn == [plain.below(n) for n in bounds]
    assert all(0 <= k < n for k, n in zip(drawn, bounds, strict=True))


def test_refused_draws_are_refused_by_both():
    # Just above 2^31 nearly half of all draws are refused: the loop must run.
    n = 2**31 + 1
    kernel, plain = Generator(5), twin.Generator(5)
    assert [kernel.below(n) for _ in range(200)] == [plain.below(n) for _ in range(200)]
    unrefused = twin.Generator(5)
    for _ in range(200):
        unrefused.next()
    assert unrefused.state != plain.state


@given(seeds, st.integers(0, 200))
def test_shuffle_is_the_twins_and_a_permutation(seed, m):
    order, plain = np.arange(m, dtype=np.int32), list(range(m))
    kernel, other = Generator(seed), twin.Generator(seed)
    for _ in range(3):  # each continues from the last order
        kernel.shuffle(order)
        other.shuffle(plain)
        assert order.tolist() == plain
        assert sorted(plain) == list(range(m))


def test_seeds_and_bounds_outside_their_range_are_refused():
    with pytest.raises(OverflowError):
        Generator(-1)
    with pytest.raises(OverflowError):
        Generator(2**64)
    with pytest.raises(ValueError, match="below 0"):
        Generator(0).below(0)
