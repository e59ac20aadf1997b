import math
import time
from dataclasses import replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

import plugins
from problems import dataset
from svmbench.harness.measurement import Measurement, Terms
from svmbench.harness.trace import TraceWriter, read_trace
from svmbench.kernels.counters import Counters
from svmbench.problem import Loss, Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.cutting_plane.ocas import Ocas
from svmbench.solvers.cutting_plane.svmperf import Svmperf
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.dual.smo import Smo
from svmbench.solvers.second_order.ipm import Ipm
from svmbench.solvers.second_order.newton import Newton
from svmbench.solvers.stochastic.perceptron import PassParameters
from svmbench.solvers.stochastic.sgd_m import SgdM
from svmbench.solvers.stochastic.sgd_s import SgdS

STOP = {
    "accuracy": [],
    "gap": None,
    "own": False,
    "max_epochs": None,
    "max_updates": None,
    "time_limit": 60.0,
}


@pytest.fixture
def problem():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 5))
    y = np.where(X @ rng.normal(size=5) + rng.normal(size=60) > 0, 1, -1)
    return Problem(dataset(X, y, "dense float64"), 0.05)


@pytest.fixture
def measure(problem, tmp_path):
    optimum = certified_optimum(problem, 1e-9, 10.0)

    def run(solver, test=None, **stop):
        terms = Terms(problem, test, STOP | stop, optimum.dual, optimum.primal)
        measurement = Measurement(solver, terms)
        with TraceWriter(tmp_path / "trace", {}) as writer:
            state = measurement.run(1, writer)
        points = read_trace(tmp_path / "trace").points
        return state, points, measurement

    return run


class Compiled(SgdS):
    """Notes what it is warmed up on, and refuses to be compiled while it trains."""

    name = "compiled"
    seen: ClassVar[list[tuple[SgdS, Problem]]] = []

    def warm_up(self, problem):
        self.start(problem, seed=0)
        self.advance(1)
        self.seen.append((self, problem))

    def start(self, problem, seed):
        assert self.seen or problem.data.n_samples == 2
        super().start(problem, seed)


def test_a_solver_warms_up_on_two_rows_and_not_on_the_clock(measure, problem):
    solver = Compiled(PassParameters())
    state, points, measurement = measure(solver, max_epochs=3.0)
    ((other, small),) = Compiled.seen
    assert other is not solver
    assert sorted(small.data.labels) == [-1, 1]
    assert small.data.values.dtype == problem.data.values.dtype
    assert (small.lam, small.loss) == (problem.lam, problem.loss)
    assert (state, points[-1]["presentations"]) == ("max_steps", 180)
    assert measurement.solver is solver


def test_a_run_ends_at_its_tightest_accuracy(measure):
    state, points, _ = measure(Dcd(), accuracy=[1e-1, 1e-6])
    assert state == "converged"
    assert points[-1]["accuracy"] <= 1e-6 < points[-2]["accuracy"]
    assert points[0]["presentations"] == 0
    assert points[0]["primal"] == 1.0
    assert 0.0 < points[0]["setup_wall"] <= points[0]["wall"]


def test_a_run_ends_at_its_last_epoch(measure, problem):
    state, points, _ = measure(plugins.Idle(), accuracy=[1e-3], max_epochs=12.5)
    assert state == "max_steps"
    assert points[-1]["presentations"] == 12.5 * problem.data.n_samples


def test_with_checkpoints_at_passes_nothing_is_evaluated_within_the_first_one(measure, problem):
    state, points, _ = measure(plugins.Idle(), max_epochs=3, accuracy=[], checkpoints="passes")
    m = problem.data.n_samples
    assert state == "max_steps"
    assert [point["presentations"] for point in points] == [0, m, 2 * m, 3 * m]
    _, points, _ = measure(plugins.Idle(), max_epochs=0.5, accuracy=[], checkpoints="passes")
    assert [point["presentations"] for point in points] == [0, m // 2]


def test_with_checkpoints_at_passes_an_accuracy_is_reached_after_whole_passes(measure, problem):
    m = problem.data.n_samples
    state, points, _ = measure(Dcd(), accuracy=[1e-3], checkpoints="passes")
    assert state == "converged"
    assert [point["presentations"] for point in points] == [m * at for at in range(len(points))]
    assert all(point["accuracy"] > 1e-3 for point in points[:-1])
    assert points[-1]["accuracy"] <= 1e-3


def test_multiple_passes_are_evaluated_at_their_ends(measure, problem):
    m = problem.data.n_samples
    solver = SgdM()
    state, points, _ = measure(solver, max_epochs=700)
    assert state == "max_steps"
    assert points[-1]["presentations"] >= 700 * m
    assert points[-2]["presentations"] < 700 * m
    passes = [point["visits"] / m for point in points if point["visits"] >= 10 * m]
    assert passes[:81] == list(range(10, 91))
    assert all(number % 9 == 0 for number in passes[80:-1])
    epochs = {point["visits"] / m: point["presentations"] / m for point in points}
    assert (epochs[1], epochs[4], epochs[9], epochs[13]) == (5, 20, 25, 45)


def test_a_run_ends_at_its_time_limit(measure):
    state, points, _ = measure(plugins.Idle(), accuracy=[1e-3], time_limit=1e-9)
    assert state == "time_limit"
    assert len(points) == 1


def test_a_run_that_overflows_has_diverged(measure):
    state, points, _ = measure(plugins.Diverging(), accuracy=[1e-3])
    assert state == "diverged"
    assert points[-1]["primal"] is None
    assert all(point["primal"] is not None for point in points[:-1])


def test_a_cost_below_the_certified_bound_is_no_result(problem, tmp_path):
    solver = Dcd()
    measurement = Measurement(solver, Terms(problem, None, STOP | {"accuracy": [0.1]}, 5.0, 6.0))
    with TraceWriter(tmp_path / "trace", {}) as writer:
        assert measurement.run(1, writer) == "failed"
    assert "is below the certified bound 5.0" in measurement.reason
    (point,) = read_trace(tmp_path / "trace").points
    assert point["primal"] == 1.0
    assert point["accuracy"] is None


def test_a_gap_stop_uses_the_solvers_own_certificate(measure):
    state, points, _ = measure(Dcd(), gap=1e-5)
    assert state == "converged"
    assert points[-1]["gap"] <= 1e-5 < points[-2]["gap"]
    assert points[-1]["accuracy"] <= points[-1]["gap"]


def test_an_own_stop_waits_for_the_solvers_rule(measure):
    state, points, _ = measure(SgdS(PassParameters(epsilon=0.05)), own=True, max_epochs=10000)
    assert state == "converged"
    assert points[-1]["stopped"]
    assert points[-1]["accuracy"] <= 0.05


def test_a_rule_a_solver_does_not_have_is_not_waited_for(measure):
    state, points, _ = measure(plugins.Idle(), accuracy=[1e9], gap=1e-6, own=True)
    assert state == "converged"
    assert points[-1]["stopped"] is None


def test_test_errors_are_those_of_the_test_rows(measure, problem):
    flipped = dataset(problem.data.values, -problem.data.labels.astype(int), "dense float64")
    _, points, _ = measure(Dcd(), test=flipped, accuracy=[1e-3])
    last = points[-1]
    assert math.isclose(last["train_error"] + last["test_error"], 1.0)


class Iterating(plugins.Idle):
    """Never moves, in iterations that count as many presentations as asked."""

    step = "iteration"
    presentations = 60

    def start(self, problem, seed):
        super().start(problem, seed)
        self.iterations = 0

    def advance(self, steps):
        self.iterations += steps
        self.counters.presentations += steps * self.presentations
        self.counters.updates += steps


def test_the_time_limit_is_looked_at_after_each_iteration(measure):
    class Slow(Iterating):
        def advance(self, steps):
            super().advance(steps)
            if self.iterations > 1_000:
                time.sleep(0.01)

    state, _, measurement = measure(Slow(), accuracy=[1e-3], time_limit=0.1)
    assert state == "time_limit"
    # The checkpoints that surround it are 1,000 and 1,080 or more.
    assert measurement.solver.iterations <= 1_012


class Stopping(Iterating):
    @property
    def stopped(self):
        return self.iterations >= 1_003


class Tolerant(Stopping):
    horizon = "accuracy"


class Horizon(Iterating):
    horizon = "steps"
    horizon_parameter = "epochs"
    parameters = SimpleNamespace(epochs=1_003, precision="float64")

    def __init__(self):
        self.counters = Counters()


@pytest.mark.parametrize(
    ("solver", "stop", "points"),
    [(Stopping, {"own": True}, 100), (Tolerant, {}, 2), (Horizon, {}, 2)],
)
def test_an_iteration_that_meets_the_own_rule_or_the_horizon_is_the_last(
    measure, solver, stop, points
):
    state, found, measurement = measure(solver(), **stop)
    assert state == "converged"
    assert measurement.solver.iterations == found[-1]["updates"] == 1_003
    assert (len(found) == points) if points == 2 else (len(found) > points)


@pytest.mark.parametrize(
    ("solver", "loss", "bias"),
    [
        (Ocas, "hinge", "none"),
        (Svmperf, "hinge", "none"),
        (Newton, "squared-hinge", "none"),
        (Ipm, "hinge", "none"),
        (Smo, "hinge", "free"),
    ],
)
def test_a_run_ends_once_no_iteration_changes_anything(problem, tmp_path, solver, loss, bias):
    posed = Problem(problem.data, 0.05, Loss(loss), bias)
    method = solver(Svmperf.schema(epsilon=1e-300)) if solver is Svmperf else solver()
    stop = STOP | {"accuracy": [-1.0], "time_limit": 20.0}  # nobody can have that
    measurement = Measurement(method, Terms(posed, None, stop, 1e-3, 1.0))
    begun = time.monotonic()
    with TraceWriter(tmp_path / "trace", {}) as writer:
        state = measurement.run(1, writer)
    assert state == "max_steps"
    assert time.monotonic() - begun < 10.0
    assert method.exhausted
    w, dual = method.w.tobytes(), method.dual()
    method.advance(5)
    assert (method.w.tobytes(), method.dual()) == (w, dual)


def test_rows_are_checked_before_the_clock_runs(problem):
    seen = []

    class Looks(SgdS):
        name = "looks"

        def start(self, problem, seed):
            seen.append("rows" in vars(problem.data))
            super().start(problem, seed)

    fresh = replace(problem, data=replace(problem.data))
    assert "rows" not in vars(fresh.data)
    Measurement(Looks(), Terms(fresh, None, STOP | {"max_epochs": 1}, 0.0, math.inf)).run(0, [])
    assert seen == [True]
