import math
import time
from itertools import pairwise
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
import zoo

import plugins
from problems import dataset
from svmbench.harness.checkpoints import CHECKPOINT_RATIO
from svmbench.harness.clock import Clock
from svmbench.harness.measurement import Measurement, Terms
from svmbench.harness.trace import TraceWriter, read_trace
from svmbench.kernels.counters import Counters
from svmbench.problem import Loss, Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.cutting_plane.ocas import Ocas
from svmbench.solvers.cutting_plane.svmperf import Svmperf
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.dual.smo import Smo
from svmbench.solvers.online.gd import Gd
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


def test_the_clock_runs_inside_its_block_only():
    clock = Clock()
    with clock.running():
        time.sleep(0.02)
    inside = clock.wall
    time.sleep(0.05)
    assert inside >= 0.02e9
    assert clock.wall == inside
    with pytest.raises(ZeroDivisionError), clock.running():
        1 / 0  # noqa: B018
    assert clock.wall > inside


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


def test_with_early_checkpoints_the_first_rows_are_evaluated(measure):
    _, points, _ = measure(plugins.Idle(), max_epochs=0.1, accuracy=[], checkpoints="early")
    assert [point["presentations"] for point in points[:5]] == [0, 1, 2, 3, 4]


def test_with_checkpoints_at_passes_an_accuracy_is_reached_after_whole_passes(measure, problem):
    m = problem.data.n_samples
    state, points, _ = measure(Dcd(), accuracy=[1e-3], checkpoints="passes")
    assert state == "converged"
    assert [point["presentations"] for point in points] == [m * at for at in range(len(points))]
    assert all(point["accuracy"] > 1e-3 for point in points[:-1])
    assert points[-1]["accuracy"] <= 1e-3


def test_a_limit_that_overflows_is_none(measure):
    state, _, _ = measure(plugins.Idle(), accuracy=[1e-3], max_epochs=1e308, time_limit=1e-9)
    assert state == "time_limit"


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


def test_a_limit_of_epochs_is_met_to_the_row_in_a_multiple_pass(measure, problem):
    _, points, _ = measure(SgdM(), max_epochs=2.5)
    assert points[-1]["presentations"] == 2.5 * problem.data.n_samples
    assert points[-1]["visits"] == 0.5 * problem.data.n_samples


def test_a_run_ends_at_its_time_limit(measure):
    state, points, _ = measure(plugins.Idle(), accuracy=[1e-3], time_limit=1e-9)
    assert state == "time_limit"
    assert len(points) == 1


def test_a_run_that_overflows_has_diverged(measure):
    state, points, _ = measure(plugins.Diverging(), accuracy=[1e-3])
    assert state == "diverged"
    assert points[-1]["primal"] is None
    assert all(point["primal"] is not None for point in points[:-1])


def test_a_lower_bound_above_the_optimum_is_exposed(measure):
    state, _, measurement = measure(zoo.BoundTooHigh(), gap=1e-3)
    assert state == "failed"
    assert "lower bound 10.0" in measurement.reason


@pytest.mark.parametrize(
    ("solver", "said"), [(zoo.ReplacesLabels, "labels"), (zoo.ReplacesLambda, "lam")]
)
def test_a_solver_that_changes_its_problem_fools_itself_alone(measure, problem, solver, said):
    constants, labels = problem.facts(), problem.data.labels.copy()
    state, points, measurement = measure(solver(), accuracy=[1e-3], max_epochs=3)
    assert state == "failed"
    assert measurement.reason == f"changed the problem that it was given: {said}"
    assert problem.facts() == constants
    assert (problem.data.labels == labels).all()
    assert all(point["primal"] >= measurement.terms.reference_dual for point in points)


class Reinterpreting(plugins.Idle):
    """Reads the labels as half as many numbers of twice the size, without writing to them."""

    def start(self, problem, seed):
        super().start(problem, seed)
        problem.data.labels.dtype = np.int16


def test_a_solver_that_reinterprets_an_array_fools_itself_alone(measure, problem):
    state, points, measurement = measure(Reinterpreting(), accuracy=[1e-3], max_epochs=3)
    assert (state, problem.data.n_samples) == ("failed", 60)
    assert measurement.reason == "changed the problem that it was given: labels"
    assert {point["primal"] for point in points} == {1.0}


def test_a_cost_below_the_certified_bound_is_no_result(problem, tmp_path):
    solver = Dcd()
    measurement = Measurement(solver, Terms(problem, None, STOP | {"accuracy": [0.1]}, 5.0, 6.0))
    with TraceWriter(tmp_path / "trace", {}) as writer:
        assert measurement.run(1, writer) == "failed"
    assert "is below the certified bound 5.0" in measurement.reason
    (point,) = read_trace(tmp_path / "trace").points
    assert point["primal"] == 1.0
    assert point["accuracy"] is None


def test_where_rounding_explains_a_cost_below_the_bound_the_distance_is_0(
    problem, tmp_path, monkeypatch
):
    monkeypatch.setattr(Problem, "is_below", lambda *_: False)
    for distance in ("relative", "absolute"):
        stop = STOP | {"accuracy": [0.1], "distance": distance}
        measurement = Measurement(Dcd(), Terms(problem, None, stop, 5.0, 6.0))
        with TraceWriter(tmp_path / "trace", {}) as writer:
            assert measurement.run(1, writer) == "converged"
        (point,) = read_trace(tmp_path / "trace").points
        assert (point["primal"], point["accuracy"]) == (pytest.approx(1.0, rel=1e-14), 0.0)


def test_rounding_below_the_certified_bound_is_no_failure(measure, problem):
    reached = certified_optimum(problem, 1e-9, 10.0)
    value = problem.primal(reached.w)
    assert not problem.is_below(value * (1.0 + 1e-10), value, reached.w)
    assert problem.is_below(value * (1.0 + 1e-8), value, reached.w)
    # A cost near 0 is a mean of differences, each off by an absolute amount.
    far = Problem(problem.data, 1e-12)
    w = 100.0 * reached.w
    assert not far.is_below(1e-13, 0.99e-13, w)
    assert far.is_below(1e-3, 0.99e-3, w)


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


def test_all_rules_asked_for_must_hold(measure):
    _, points, _ = measure(Dcd(), accuracy=[1e-1], gap=1e-6)
    assert points[-1]["gap"] <= 1e-6


def test_a_rule_a_solver_does_not_have_is_not_waited_for(measure):
    state, points, _ = measure(plugins.Idle(), accuracy=[1e9], gap=1e-6, own=True)
    assert state == "converged"
    assert points[-1]["stopped"] is None


def test_a_run_without_any_rule_of_its_solver_goes_to_the_limit(measure):
    state, _, _ = measure(plugins.Idle(), own=True, max_epochs=2)
    assert state == "max_steps"


def test_test_errors_are_those_of_the_test_rows(measure, problem):
    flipped = dataset(problem.data.values, -problem.data.labels.astype(int), "dense float64")
    _, points, _ = measure(Dcd(), test=flipped, accuracy=[1e-3])
    last = points[-1]
    assert math.isclose(last["train_error"] + last["test_error"], 1.0)


def test_steps_of_iteration_methods_are_taken_one_by_one(measure):
    class Batch(plugins.Idle):
        step = "iteration"
        calls: list[int] = []  # noqa: RUF012

        def advance(self, steps):
            self.calls.append(steps)
            self.counters.presentations += 60

    _, points, _ = measure(Batch(), accuracy=[1e-3], max_epochs=20)
    assert set(Batch.calls) == {1}
    assert [p["presentations"] for p in points[:12]] == [60 * k for k in range(12)]


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


class Uncounted(Iterating):
    presentations = 0


@pytest.mark.parametrize("solver", [Iterating, Uncounted])
def test_ten_thousand_iterations_are_each_seen_at_first_and_then_a_tenth_apart(measure, solver):
    # 60 rows, and an update an iteration
    state, points, measurement = measure(solver(), accuracy=[1e-3], max_updates=10_000 / 60)
    assert state == "max_steps"
    assert measurement.solver.iterations == 10_000
    seen = [point["updates"] for point in points]
    assert seen[:101] == list(range(101))
    assert seen[-1] == 10_000
    assert all(after <= before * CHECKPOINT_RATIO for before, after in pairwise(seen[100:]))
    assert len(seen) < 101 + 120


def test_ten_thousand_passes_of_gd_end_at_their_limit(measure):
    state, points, measurement = measure(Gd(), accuracy=[1e-12], max_epochs=10_000)
    assert state == "max_steps"
    assert measurement.solver.counters.presentations == 10_000 * 60
    assert len(points) < 101 + 120


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


def test_an_iteration_that_meets_the_own_rule_is_the_last(measure):
    state, points, measurement = measure(Stopping(), own=True)
    assert state == "converged"
    assert measurement.solver.iterations == points[-1]["updates"] == 1_003
    assert len(points) > 100


def test_an_iteration_that_meets_a_horizon_of_accuracy_is_the_last(measure):
    class Tolerant(Stopping):
        horizon = "accuracy"

    state, points, measurement = measure(Tolerant())
    assert state == "converged"
    assert measurement.solver.iterations == 1_003
    assert len(points) == 2


def test_with_anytime_a_horizon_is_judged_at_every_checkpoint(measure):
    class Anytime(Stopping):
        horizon = "accuracy"
        anytime = True

    state, points, measurement = measure(Anytime(), accuracy=[1e-9], max_updates=2_000 / 60)
    assert state == "max_steps"  # its own rule holds long before, and is no target
    assert measurement.solver.iterations >= 2_000
    assert len(points) > 100
    state, points, _ = measure(Anytime(), accuracy=[1e9])
    assert (state, len(points)) == ("converged", 1)


def test_a_rule_that_holds_already_does_not_have_each_iteration_evaluated(measure):
    class Stopped(Iterating):
        stopped = True

    _, points, _ = measure(Stopped(), own=True, accuracy=[1e-3], max_updates=10_000 / 60)
    assert len(points) < 101 + 120


def test_a_horizon_of_steps_is_met_to_the_iteration(measure):
    class Horizon(Iterating):
        horizon = "steps"
        horizon_parameter = "epochs"
        parameters = SimpleNamespace(epochs=1_003, precision="float64")

        def __init__(self):
            self.counters = Counters()

    state, points, measurement = measure(Horizon())
    assert state == "converged"
    assert measurement.solver.iterations == 1_003
    assert len(points) == 2


def test_a_gap_among_iterations_is_found_at_checkpoints_and_paid_for(measure, monkeypatch):
    evaluate = Problem.evaluate

    def slowly(self, w, bias=0.0):
        time.sleep(0.001)
        return evaluate(self, w, bias)

    monkeypatch.setattr(Problem, "evaluate", slowly)

    class Certified(Iterating):
        def dual(self):
            return 0.3 if self.iterations >= 1_000 else 0.0

    state, points, _ = measure(Certified(), gap=3.0)  # P(0) = 1
    assert state == "converged"
    assert 1_000 <= points[-1]["updates"] <= 1_100
    assert points[-1]["wall"] >= 0.001 * (len(points) - 1)


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
