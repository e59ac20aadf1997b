"""When runs are evaluated."""

from itertools import islice, pairwise, takewhile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svmbench.harness.checkpoints import (
    CHECKPOINT_RATIO,
    checkpoints,
    early_checkpoints,
    iteration_checkpoints,
    whole_passes,
)


@given(st.integers(1, 10**7))
def test_checkpoints_ascend_by_at_most_a_tenth_and_meet_every_epoch(m):
    found = list(islice(checkpoints(m), 400))
    assert found[0] == max(1, m // 100)
    for before, after in pairwise(found):
        assert before < after
        close = 10 * after <= 11 * before or after == before + 1
        next_epoch = after % m == 0 and after - before <= m
        assert close or next_epoch
    early = set(takewhile(lambda at: at <= 10 * m, found))
    assert {m * epoch for epoch in range(1, 11)} <= early
    assert all(at % m == 0 for at in found if at > 10 * m)


def test_a_long_run_has_few_checkpoints():
    m = 32561
    assert sum(1 for _ in takewhile(lambda at: at <= 1000 * m, checkpoints(m))) < 150


def test_with_a_cycle_checkpoints_are_whole_passes_and_then_whole_cycles():
    m, cycle = 1000, 9
    found = list(takewhile(lambda at: at <= 3000 * m, checkpoints(m, cycle)))
    plain = list(takewhile(lambda at: at < 10 * m, checkpoints(m)))
    assert found[: len(plain)] == plain
    passes = [at / m for at in found[len(plain) :]]
    assert passes[:81] == list(range(10, 91))
    later = passes[80:]
    assert all(number % cycle == 0 for number in later)
    assert all(a < b <= max(a + cycle, 1.1 * a) for a, b in pairwise(later))
    assert len(later) < 45


@pytest.mark.parametrize("cycle", [1, 9])
def test_checkpoints_at_passes_are_the_ends_of_all_passes_and_then_close(cycle):
    m = 1000
    found = list(islice(whole_passes(m, cycle), 4000))
    assert found[:2000] == [m * number for number in range(1, 2001)]
    assert all(at % m == 0 for at in found)
    assert all(200 * a < 200 * b <= 201 * a for a, b in pairwise(found[1999:]))


@given(st.integers(1, 10**7))
def test_early_checkpoints_begin_with_the_first_row_and_go_on_as_the_usual_ones(m):
    found = list(islice(early_checkpoints(m), 400))
    first = max(1, m // 100)
    before = [at for at in found if at < first]
    assert found[0] == 1
    assert [*before, first][:11] == list(range(1, min(first, 11) + 1))
    assert all(b <= max(a + 1, 1.1 * a) for a, b in pairwise([*before, first]))
    assert found[len(before) :] == list(islice(checkpoints(m), 400 - len(before)))


def test_checkpoints_never_end():
    *_, last = islice(checkpoints(1), 20_000)
    assert last > 10**308
    *_, last = islice(iteration_checkpoints(), 20_000)
    assert last > 10**308


def test_iterations_are_each_seen_at_first_and_then_a_tenth_apart():
    found = list(islice(iteration_checkpoints(), 1_000))
    assert found[:100] == list(range(1, 101))
    assert all(1 < after / before <= CHECKPOINT_RATIO for before, after in pairwise(found[99:200]))
