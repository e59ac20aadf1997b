"""Shards: every row once, the sums of Problem to rounding, and what travels counted."""

import math
import pickle
from dataclasses import replace
from functools import partial
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from problems import PROBLEMS, STORAGES, dataset, dense, dyadic, dyadic_problems, labels, with_loss
from svmbench.names import LOSSES
from svmbench.problem import Problem
from svmbench.solvers.distributed import shards as shards_module
from svmbench.solvers.distributed.executor import InProcess, Threads, size_of
from svmbench.solvers.distributed.sharded_problem import (
    ShardedProblem,
    ShardMaker,
    ShardSums,
    in_threads,
    problem_of,
)
from svmbench.solvers.distributed.shards import dealt, ranges

CUTS = (ranges, dealt)

every_cut = pytest.mark.parametrize("cut", CUTS, ids=lambda cut: cut.__name__)
every_executor = pytest.mark.parametrize("kind", [InProcess, Threads])
every_number = pytest.mark.parametrize("number", [1, 2, 8])


def over_shards(problem, cut, number, kind=InProcess):
    shards = cut(problem.data, number)
    makers = [partial(ShardSums, problem_of(problem, shard)) for shard in shards]
    return ShardedProblem(
        problem.data, problem.lam, problem.loss, executor=kind(makers), shards=shards
    )


@every_cut
@every_number
@pytest.mark.parametrize("storage", STORAGES)
def test_the_shards_are_the_rows(storage, number, cut):
    data = dataset(*dyadic(5, 21, 9), storage)
    shards = cut(data, number)
    assert len(shards) == number
    assert {shard.data.storage for shard in shards} == {storage}
    sizes = [shard.data.n_samples for shard in shards]
    assert max(sizes) - min(sizes) <= 1
    X, y = dense(data), labels(data)
    seen = []
    for shard in shards:
        np.testing.assert_array_equal(dense(shard.data), X[shard.place])
        np.testing.assert_array_equal(labels(shard.data), y[shard.place])
        seen += range(21)[shard.place]
    assert sorted(seen) == list(range(21))


@every_cut
def test_there_are_no_more_shards_than_rows(cut):
    shards = cut(PROBLEMS["more-features-than-rows"].data, 8)
    assert [shard.data.n_samples for shard in shards] == [1] * 5


@pytest.mark.parametrize("storage", STORAGES)
def test_ranges_copy_no_entry(storage):
    data = dataset(*dyadic(5, 21, 9), storage)
    for shard in ranges(data, 4):
        for name in ("indices", "values", "labels"):
            array = getattr(shard.data, name)
            assert array is None or np.shares_memory(array, getattr(data, name))


@pytest.mark.parametrize("storage", STORAGES)
def test_threads_have_the_ranges(storage):
    problem = Problem(dataset(*dyadic(5, 21, 9), storage), 1e-2)
    parts = in_threads(problem, 4)
    for shard, other in zip(parts.shards, ranges(problem.data, 4), strict=True):
        assert shard.place == other.place
        assert shard.data.storage == storage
        np.testing.assert_array_equal(dense(shard.data), dense(other.data))
        np.testing.assert_array_equal(labels(shard.data), labels(other.data))
    require_sums_of(problem, parts)


def test_dealt_shards_have_both_classes_where_the_file_has_one_after_the_other():
    X, _ = dyadic(3, 40, 4)
    data = dataset(X, np.repeat([1, -1], 20))
    assert {len(set(labels(shard.data))) for shard in ranges(data, 2)} == {1}
    assert [labels(shard.data).sum() for shard in dealt(data, 4)] == [0.0] * 4


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", PROBLEMS)
def test_sums_are_those_of_problem(name, loss):
    problem = with_loss(PROBLEMS[name], loss)
    for number, cut, kind in product([1, 2, 8], CUTS, [InProcess, Threads]):
        try:
            require_sums_of(problem, over_shards(problem, cut, number, kind))
        except AssertionError as error:
            error.add_note(f"{number} shards, {cut.__name__}, {kind.__name__}")
            raise


def require_sums_of(problem, parts):
    rng = np.random.default_rng(8)
    w = rng.normal(size=problem.data.n_features)
    alpha = rng.random(problem.data.n_samples)
    whole, pieces = problem.evaluate(w), parts.evaluate(w)
    assert pieces.errors == whole.errors
    assert pieces.primal == pytest.approx(whole.primal, rel=1e-12)
    size = 1.0 + problem.lam * float(problem.weights(alpha) @ problem.weights(alpha))
    assert parts.dual(alpha) == pytest.approx(problem.dual(alpha), rel=1e-12, abs=1e-12 * size)
    assert parts.gap(w, alpha) == pytest.approx(problem.gap(w, alpha), rel=1e-12)
    np.testing.assert_allclose(parts.weights(alpha), problem.weights(alpha), rtol=0, atol=1e-10)


@given(dyadic_problems(), st.integers(1, 4), st.sampled_from(CUTS), st.randoms())
def test_the_gap_of_shards_is_p_minus_d(problem, number, cut, rng):
    parts = over_shards(problem, cut, number)
    w = np.array([rng.uniform(-2, 2) for _ in range(problem.data.n_features)])
    alpha = np.array([rng.random() for _ in range(problem.data.n_samples)])
    difference = parts.primal(w) - parts.dual(alpha)
    size = 1.0 + abs(parts.primal(w)) + abs(parts.dual(alpha))
    assert parts.gap(w, alpha) == pytest.approx(difference, rel=1e-9, abs=1e-12 * size)


@every_number
def test_an_infeasible_alpha_certifies_nothing(number):
    problem = PROBLEMS["sparse"]
    parts = over_shards(problem, ranges, number)
    alpha = np.full(problem.data.n_samples, 0.5)
    alpha[-1] = 1.5
    assert parts.dual(alpha) == -math.inf
    assert parts.conjugate_sum(alpha) == -math.inf
    assert parts.gap(np.zeros(problem.data.n_features), alpha) == math.inf


@every_number
def test_a_w_that_overflows_has_an_infinite_p(number):
    problem = PROBLEMS["sparse"]
    w = np.full(problem.data.n_features, 1e200)
    assert over_shards(problem, ranges, number).primal(w) == math.inf


@pytest.mark.parametrize(
    "change",
    [{"bias": "free"}, {"l1_radius": 2.0}, {"row_weights": np.ones(60)}],
    ids=lambda change: next(iter(change)),
)
def test_problems_that_sums_over_shards_do_not_cover_are_refused(change):
    problem = replace(PROBLEMS["sparse"], **change)
    with pytest.raises(ValueError, match="shards know no row weights, no free bias and no ball"):
        problem_of(problem, ranges(problem.data, 2)[0])


def test_rows_are_dealt_out_where_a_part_is_made_and_travel_without_the_others(monkeypatch):
    copied = []

    def counted(rows, numbers, take=shards_module.take_rows):
        copied.append(len(numbers))
        return take(rows, numbers)

    monkeypatch.setattr(shards_module, "take_rows", counted)
    problem = Problem(dataset(*dyadic(5, 4000, 9)), 1e-2)
    whole = len(pickle.dumps(problem))
    makers = [ShardMaker(ShardSums, problem, shard) for shard in dealt(problem.data, 4)]
    assert copied == []
    there = [pickle.dumps(make) for make in makers]
    assert copied == [1000] * 4
    assert 0.2 < len(there[0]) / whole < 0.3
    w = np.ones(9)
    for make, text in zip(makers, there, strict=True):
        assert pickle.loads(text)().loss_and_errors(w, 0.0) == make().loss_and_errors(w, 0.0)


class Echo:
    """A shard that returns what it is given, or fails."""

    def __init__(self, number):
        self.number = number

    def add(self, vector, number):
        return vector + number + self.number, self.number

    def fail(self):
        raise RuntimeError(f"shard {self.number} failed")


@every_executor
def test_calls_reach_all_parts_in_order_and_are_counted(kind):
    executor = kind([partial(Echo, k) for k in range(3)])
    found = executor.call("add", np.zeros(10), 5.0)
    assert [(vector.tolist(), k) for vector, k in found] == [([5.0 + k] * 10, k) for k in range(3)]
    assert (executor.rounds, executor.sent, executor.received) == (1, 3 * 88, 3 * 88)
    executor.read("add", [np.zeros(1)] * 3, [1.0, 2.0, 3.0])
    assert (executor.rounds, executor.sent, executor.received) == (1, 3 * 88, 3 * 88)


@every_executor
def test_reading_gives_each_shard_arguments_of_its_own(kind):
    executor = kind([partial(Echo, k) for k in range(3)])
    found = executor.read("add", [np.full(1, 10.0 * k) for k in range(3)], [1.0, 2.0, 3.0])
    assert [vector[0] for vector, _ in found] == [1.0, 13.0, 25.0]
    with pytest.raises(ValueError, match="argument"):
        executor.read("add", [np.zeros(1)] * 3, [1.0, 2.0])


@every_executor
def test_the_failure_of_a_shard_is_raised(kind):
    with pytest.raises(RuntimeError, match="shard 0 failed"):
        kind([partial(Echo, k) for k in range(3)]).call("fail")


def test_sizes_are_those_of_arrays_and_numbers():
    assert size_of((np.zeros(3), [1, 2.0], np.zeros(2, dtype=np.float32))) == 24 + 16 + 8
