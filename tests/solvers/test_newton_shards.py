"""newton-shards: the same steps for any number of shards, and those of its twin."""

import re
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
from svmbench.errors import ConfigError
from svmbench.problem import Problem
from svmbench.solvers.champion import multiplier_steps
from svmbench.solvers.distributed.executor import InProcess, Threads
from svmbench.solvers.distributed.newton_shards import (
    MOST_FEATURES,
    NewtonShards,
)
from svmbench.solvers.distributed.sharded_multipliers import (
    LENGTHS,
    MultipliersShard,
    ShardedMultipliers,
    line_minimum,
)
from svmbench.solvers.distributed.sharded_problem import problem_of
from svmbench.solvers.distributed.shards import ranges
from svmbench.solvers.second_order.normal_equations import NormalEquations
from twins.newton_shards import NewtonShards as Twin
from twins.optimum import optimum

every_ordinary = pytest.mark.parametrize("name", ordinary_problems())
started = partial(at_start, NewtonShards)


def twin_of(problem, growth=3.0):
    return Twin(dense(problem.data), labels(problem.data), problem.lam, growth)


def drawn(seed=4, m=400, d=12, storage="dense float64", lam=1e-3):
    """Overlapping classes, with many rows per feature."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.6)
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 0, 1, -1)
    return Problem(dataset(X, y, storage), lam)


@pytest.mark.parametrize("shards", [1, 3])
@every_ordinary
def test_steps_are_those_of_the_twin(name, shards):
    problem = PROBLEMS[name]
    run, plain = started(problem, shards=shards), twin_of(problem)
    compared = 0
    while plain.gap > 1e-9 and plain.closest > 1e-6 and compared < 60:
        plain.iterate()
        run.advance(1)
        np.testing.assert_allclose(run._phase.w, plain.w, rtol=0, atol=1e-7)
        compared += 1
    assert compared >= 8
    np.testing.assert_allclose(run._phase.gap, plain.gap, rtol=1e-3, atol=1e-9)


@pytest.mark.parametrize("storage", STORAGES)
def test_steps_are_those_of_the_twin_in_every_storage(storage):
    problem = drawn(storage=storage)
    run, plain = started(problem, growth=5.0), twin_of(problem, 5.0)
    for _ in range(10):
        plain.iterate()
        run.advance(1)
        np.testing.assert_allclose(run._phase.w, plain.w, rtol=0, atol=1e-7)


@pytest.mark.parametrize("problem", [drawn(), drawn(9, storage="uint16+float32")], ids=str)
def test_the_number_of_shards_changes_no_step(problem):
    runs = [started(problem, shards=shards, tolerance=1e-8) for shards in (1, 2, 8)]
    steps = 0
    while not runs[0].stopped:
        for run in runs:
            run.advance(1)
        steps += 1
        for run in runs[1:]:
            np.testing.assert_allclose(run.w, runs[0].w, rtol=0, atol=1e-9)
            np.testing.assert_allclose(run.alpha, runs[0].alpha, rtol=0, atol=1e-6)
            assert run.stopped == runs[0].stopped
        assert steps < 100
    assert steps >= 10
    assert len({run._executor.rounds for run in runs}) == 1
    assert len({run.counters.nonzeros for run in runs}) == 1


def test_the_first_penalty_stays_however_many_steps_it_takes(monkeypatch):
    found = []
    for patience in (multiplier_steps.PATIENCE, 1):
        monkeypatch.setattr(multiplier_steps, "PATIENCE", patience)
        run = started(drawn())
        run.advance(8)
        found.append(run.w.tobytes())
    assert found[0] == found[1]


def test_threads_change_no_bit():
    problem = drawn()
    beside, alone = NewtonShards(), started(problem)
    beside.executor = Threads
    beside.start(problem, 0)
    for run in (beside, alone):
        run.advance(12)
    assert beside.w.tobytes() == alone.w.tobytes()
    assert beside.alpha.tobytes() == alone.alpha.tobytes()
    assert beside.remark == alone.remark


@every_problem
def test_certificates_are_those_of_problem(name):
    problem = PROBLEMS[name]
    run = started(problem, tolerance=1e-9)
    for _ in range(30):
        run.advance(1)
        phase = run._phase
        size = 1.0 + abs(problem.primal(phase.w)) + problem.lam * float(phase.w @ phase.w)
        alpha = run._alpha_of_shards()
        assert phase.gap + phase.bound() == pytest.approx(
            problem.primal(phase.w), rel=1e-9, abs=1e-12 * size
        )
        assert phase.gap >= problem.gap(phase.w, alpha) * (1.0 - 1e-6) - 1e-12 * size
        assert run.dual() == pytest.approx(
            max(0.0, problem.dual(run.alpha)), rel=1e-12, abs=1e-12 * size
        )
    best = optimum(problem)
    assert run.dual() <= best.upper * (1.0 + 1e-12)


@every_ordinary
def test_it_stops_at_its_tolerance_and_not_before(name):
    problem = PROBLEMS[name]
    run = started(problem, tolerance=1e-6)
    while not run.stopped:
        assert problem.primal(run.w) - run.dual() > 1e-6 * run.dual() * (1.0 - 1e-6)
        run.advance(1)
        assert run.counters.updates < 100
    assert problem.gap(run.w, run.alpha) <= 1e-6 * run.dual() * (1.0 + 1e-6)
    assert problem.primal(run.w) - optimum(problem).upper <= 1e-6 * run.dual()


def test_rounds_and_bytes_are_those_that_the_page_says():
    problem = drawn(d=12)
    run = started(problem, shards=4)
    assert run._executor.rounds == 0
    run.advance(1)
    # begin; the step and 16 slopes; the length
    executor, triangle = run._executor, 12 * 13 // 2
    assert executor.rounds == 3
    numbers = (12 + 1 + 1) + (12 + LENGTHS) + 1
    assert executor.sent == 4 * 8 * numbers
    assert executor.received == 4 * 8 * (2 * (12 + triangle + 3) + LENGTHS)
    found = re.fullmatch(
        r"4 shards, 3 rounds, (\S+) MB to the shards and (\S+) MB from them", run.remark
    )
    assert float(found[1]) == pytest.approx(executor.sent / 1e6, rel=1e-2)
    assert float(found[2]) == pytest.approx(executor.received / 1e6, rel=1e-2)


def test_reading_costs_no_round():
    run = started(drawn())
    run.advance(3)
    before = run.remark
    assert run.dual() <= drawn().primal(run.w)
    assert run.alpha.shape == (400,)
    assert run.remark == before


def test_too_many_features_are_refused():
    X = np.zeros((2, MOST_FEATURES + 1))
    X[:, -1] = 1.0
    with pytest.raises(ConfigError, match="at most 5000 features, not 5001"):
        started(Problem(dataset(X, [1, -1]), 0.1))


def test_the_curvature_is_kept_in_step():
    problem = drawn()
    shards = ranges(problem.data, 3)
    makers = [
        partial(MultipliersShard, problem_of(problem, shard), NormalEquations(shard.data.rows))
        for shard in shards
    ]
    state, plain = ShardedMultipliers(problem, InProcess(makers)), twin_of(problem)
    state.begin(0.5, 0.4)
    for k in range(12):
        step = plain.newton_step()
        assert state.move(step) == pytest.approx(plain.move(step), rel=1e-9)
        np.testing.assert_allclose(np.triu(state.curvature), np.triu(plain.curvature), atol=1e-10)
        np.testing.assert_allclose(state.pull, plain.pull, atol=1e-12)
        assert state.slack_sum == pytest.approx(plain.slack_sum)
        assert state.alpha_sum == pytest.approx(plain.alpha_sum)
        if k % 3 == 2:
            state.recentre(3.0 * state.penalty)
            plain.recentre(3.0 * plain.penalty)


@pytest.mark.parametrize("kink", [0.001, 0.03, 0.4999, 0.7, 0.99])
def test_the_line_search_finds_the_minimum_of_a_kinked_line(kink):
    asked = []

    def slopes(lengths):
        asked.append(lengths)
        return -np.maximum(0.0, lengths - kink) * 40.0

    # -1 + x/2 + 40 (x - kink)_+ = 0
    root = (1.0 + 40.0 * kink) / 40.5
    found = line_minimum(slopes, -1.0, 0.5)
    if root >= 1.0:
        assert found == 1.0
    else:
        assert abs(-1.0 + found / 2 + 40.0 * max(0.0, found - kink)) <= 1e-3
    assert len(asked) <= 3


def test_a_step_that_falls_to_its_end_is_taken_whole():
    assert line_minimum(lambda lengths: 0.0 * lengths, -1.0, 1.0) == 1.0
    assert line_minimum(lambda lengths: 0.0 * lengths, -1.0, 4.0) == pytest.approx(0.25)
