"""cocoa against its twin, and what its paper proves."""

from functools import partial

import numpy as np
import pytest

from problems import (
    PROBLEMS,
    STORAGES,
    at_start,
    dataset,
    dense,
    every_problem,
    labels,
    ordinary_problems,
)
from svmbench.data.load import load
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem
from svmbench.solvers.distributed.cocoa import Cocoa
from svmbench.solvers.distributed.executor import Threads
from svmbench.solvers.distributed.newton_shards import NewtonShards, NewtonShardsParameters
from twins.cocoa import Cocoa as Twin
from twins.optimum import optimum

every_number = pytest.mark.parametrize("shards", [1, 2, 8])
started = partial(at_start, Cocoa, seed=3)


@every_number
@pytest.mark.parametrize("storage", ["uint16+float64", "int32+float32"])
@every_problem
def test_rounds_are_those_of_the_twin(name, storage, shards):
    problem = PROBLEMS[name]
    problem = Problem(dataset(dense(problem.data), problem.data.labels, storage), problem.lam)
    run = started(problem, shards=shards, passes=2)
    plain = Twin(dense(problem.data), labels(problem.data), problem.lam, 3, shards)
    for _ in range(6):
        plain.iterate(2)
        run.advance(1)
        np.testing.assert_allclose(run.alpha, plain.alpha, rtol=0, atol=1e-9)
        np.testing.assert_allclose(run.w, plain.w, rtol=0, atol=1e-9)


@pytest.mark.parametrize("storage", STORAGES)
@every_number
def test_the_shared_w_is_that_of_alpha_and_the_gap_that_of_problem(shards, storage):
    problem = PROBLEMS["sparse"]
    problem = Problem(dataset(dense(problem.data), problem.data.labels, storage), problem.lam)
    run = started(problem, shards=shards)
    for _ in range(5):
        run.advance(1)
        np.testing.assert_allclose(run.w, problem.weights(run.alpha), rtol=0, atol=1e-12)
        gap, dual = problem.gap(run.w, run.alpha), problem.dual(run.alpha)
        assert run._relative_gap() == pytest.approx(gap / dual, rel=1e-9, abs=1e-14)
        assert run.dual() == pytest.approx(dual, rel=1e-12)


@every_number
@every_problem
def test_no_round_lowers_the_dual(name, shards):
    # Adding is safe with sigma' = K: Ma et al., lemma 4.
    problem = PROBLEMS[name]
    run = started(problem, shards=shards, passes=3)
    last = run.dual()
    for _ in range(30):
        run.advance(1)
        assert run.dual() >= last - 1e-13 * (1.0 + last)
        last = run.dual()


def test_the_safety_is_needed():
    # Equal rows, w = sum of alpha, optimum w = 1: two shards that each go there would reach w = 2.
    X = np.repeat([[1.0]], 4, axis=0)
    problem = Problem(dataset(X, [1, 1, 1, 1], "dense float64"), 0.25)
    run = started(problem, shards=2, passes=50)
    run.advance(1)
    np.testing.assert_allclose(run.w, [1.0], rtol=0, atol=1e-9)
    assert run.alpha.sum() == pytest.approx(1.0)


def test_one_shard_is_dual_descent():
    problem = PROBLEMS["overlapping"]
    run = started(problem, seed=9, shards=1, passes=4)
    rng = Generator(Generator(9).next())
    alone = Descent(problem.data.rows, problem.lam)
    for _ in range(3):
        run.advance(1)
        for _ in range(4):
            alone.descend(rng, 1, False)
        np.testing.assert_allclose(run.alpha, alone.alpha, rtol=0, atol=1e-9)


@pytest.mark.parametrize("division", ["dealt", "ranges"])
@pytest.mark.parametrize("name", ordinary_problems())
def test_it_stops_at_its_tolerance_and_not_before(name, division):
    problem = PROBLEMS[name]
    run = started(problem, shards=4, tolerance=1e-4, division=division)
    rounds = 0
    while not run.stopped:
        assert rounds == 0 or problem.gap(run.w, run.alpha) > 1e-4 * run.dual() * (1.0 - 1e-9)
        run.advance(1)
        rounds += 1
        assert rounds < 500
    assert problem.gap(run.w, run.alpha) <= 1e-4 * run.dual() * (1.0 + 1e-9)
    assert problem.primal(run.w) - optimum(problem).upper <= 1e-4 * run.dual()
    assert run._executor.rounds == 2 * rounds


def test_threads_change_no_bit():
    problem = PROBLEMS["sparse"]
    beside, alone = Cocoa(), Cocoa()
    beside.executor = Threads
    for run in (beside, alone):
        run.start(problem, 5)
        run.advance(4)
    assert beside.w.tobytes() == alone.w.tobytes()
    assert beside.remark == alone.remark


def test_a_round_sends_one_w_each_way():
    problem = PROBLEMS["sparse"]
    d = problem.data.n_features
    run = started(problem, shards=3)
    run.advance(2)
    executor = run._executor
    assert executor.sent == 2 * 3 * 8 * (1 + d)
    assert executor.received == 2 * 3 * 8 * (d + 4 + 2)


@pytest.mark.parametrize("portions", [1, 3])
@every_number
@every_problem
def test_searching_never_lowers_the_dual_and_keeps_w_at_alpha(name, shards, portions):
    problem = PROBLEMS[name]
    run = started(problem, shards=shards, passes=3, merging="search", portions=portions)
    last = run.dual()
    for _ in range(30):
        run.advance(1)
        assert run.dual() >= last - 1e-13 * (1.0 + last)
        last = run.dual()
        np.testing.assert_allclose(run.w, problem.weights(run.alpha), rtol=1e-9, atol=1e-12)
    assert run.dual() <= optimum(problem).upper * (1.0 + 1e-12)


def test_the_search_takes_the_share_at_which_the_dual_is_largest():
    # Equal rows: each of two shards goes to w = 1 by itself, which is the optimum, so that half of
    # the sum is best.
    X = np.repeat([[1.0]], 4, axis=0)
    problem = Problem(dataset(X, [1, 1, 1, 1], "dense float64"), 0.25)
    run = started(problem, shards=2, passes=50, merging="search")
    run.advance(1)
    np.testing.assert_allclose(run.w, [1.0], rtol=0, atol=1e-9)
    assert run.alpha.sum() == pytest.approx(1.0)


def test_portions_cost_a_round_each():
    problem = PROBLEMS["sparse"]
    run = started(problem, shards=2, portions=4)
    run.advance(3)
    assert run._executor.rounds == 3 * 5
    d = problem.data.n_features
    # Portions after the first have a number, w and a share.
    assert run._executor.sent == 3 * 2 * 8 * ((1 + 3 * (1 + 1 + d + 1)) + d)


def test_one_shard_in_portions_visits_every_row_in_each_iteration():
    problem = PROBLEMS["overlapping"]
    run = started(problem, shards=1, passes=1, portions=5)
    run.advance(1)
    seen = run.counters.presentations - problem.data.n_samples
    assert seen == int(np.any(dense(problem.data) != 0.0, axis=1).sum())


@pytest.mark.usefixtures("real_data")
def test_text_takes_few_rounds_and_less_regularisation_many():
    """The figures of docs/distributed.md."""
    data = load("imdb.tfidf").train
    run = started(Problem(data, 1e-3), seed=1, shards=8)
    run.advance(4)
    assert run.stopped
    assert run._executor.rounds == 8
    far = started(Problem(data, 1e-4), seed=1, shards=8)
    far.advance(10)
    assert far._relative_gap() > 1e-2


@pytest.mark.usefixtures("real_data")
def test_kddcup10_takes_the_same_rounds_for_two_shards():
    """The figures of docs/distributed.md."""
    problem = Problem(load("kddcup10").train, 1e-5)
    run = NewtonShards(NewtonShardsParameters(shards=2, tolerance=1e-6))
    run.start(problem, 0)
    run.advance(38)
    assert run.stopped
    assert run._executor.rounds == 115
    assert problem.gap(run.w, run.alpha) <= 1e-6 * problem.dual(run.alpha)
