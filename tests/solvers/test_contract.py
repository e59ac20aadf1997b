"""The contract of solvers, checked for each one that the registry finds.

These tests include a new solver automatically: it must come within `ACCURACY` of the optimum after
a number of epochs (or iterations, where a step is one) on the small problems. Other properties of a
method have tests in their own file.

For an external program (``foreign``) they check only its description, and nothing that needs it
installed or advanced in pieces; test_peers.py has the other tests.
"""

import re
from typing import NamedTuple, get_args

import numpy as np
import pytest

from problems import edge_problems, has_both_classes, ordinary_problems
from svmbench.problem import BIASES, CONSTRAINTS, LOSSES
from svmbench.solvers.base import Parameters, Solver
from svmbench.solvers.registry import solvers
from twins.optimum import optimum, variant

ACCURACY = 0.05
EPOCHS = 2000
ITERATIONS = 500

SOLVERS = solvers()
PROBLEMS = {**ordinary_problems(), **edge_problems()}


class Training(NamedTuple):
    """A solver, the class of problems it is to train, and its precision."""

    solver: type[Solver]
    loss: str
    bias: str
    constraint: str
    precision: str

    def problem(self, name):
        """The problem of that name in this class."""
        return variant(PROBLEMS[name], self.loss, self.bias, self.constraint)

    def started(self, problem, seed=1):
        run = self.solver(self.solver.schema(precision=self.precision))
        run.start(problem, seed)
        return run

    def steps(self, problem, epochs, iterations):
        return epochs * problem.data.n_samples if self.is_stochastic else iterations

    @property
    def is_stochastic(self):
        return self.solver.step == "presentation"

    @property
    def id(self):
        parts = [self.solver.name, self.loss, self.precision]
        parts += ["bias"] * (self.bias == "free") + [self.constraint] * (self.constraint != "none")
        return "-".join(parts)

    def within(self, run, best):
        """How far above the optimum it may end."""
        if self.loss in self.solver.smoothed:
            return run.parameters.smoothing / 2  # a smoothed loss differs by no more
        return ACCURACY * best.lower


EVERY_TRAINING = [
    Training(solver, loss, bias, constraint, precision)
    for solver in SOLVERS.values()
    if not solver.foreign
    for loss in solver.losses
    for bias in solver.biases
    for constraint in solver.constraints
    for precision in get_args(solver.schema.model_fields["precision"].annotation)
]
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())
every_training = pytest.mark.parametrize("training", EVERY_TRAINING, ids=lambda each: each.id)


def every_training_on(names):
    """Every training with every problem of these that exists in its class."""
    return pytest.mark.parametrize(
        ("name", "training"),
        [
            pytest.param(name, training, id=f"{name}-{training.id}")
            for training in EVERY_TRAINING
            for name in names
            if training.bias == "none" or has_both_classes(PROBLEMS[name])
        ],
    )


def counts(run):
    return run.counters.presentations, run.counters.updates, run.counters.nonzeros


def snapshot(run):
    """All that can be read of a run, as bits."""
    return run.w.tobytes(), run.bias, counts(run), run.dual(), run.stopped


@every_solver
def test_attributes_are_valid(solver):
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", solver.name)
    assert solver.summary
    assert "\n" not in solver.summary
    assert not solver.summary.endswith(".")
    assert solver.source
    assert solver.losses
    assert set(solver.losses) <= set(LOSSES)
    assert set(solver.smoothed) < set(solver.losses)
    assert len(set(solver.losses)) == len(solver.losses)
    assert solver.biases
    assert set(solver.biases) <= set(BIASES)
    assert len(set(solver.biases)) == len(solver.biases)
    assert solver.constraints
    assert set(solver.constraints) <= set(CONSTRAINTS)
    assert len(set(solver.constraints)) == len(solver.constraints)
    assert solver.step in ("presentation", "iteration")
    assert solver.horizon in ("none", "steps", "accuracy")
    assert solver.horizon != "none" or not (solver.ladder or solver.foreign)
    assert re.fullmatch("#[0-9A-Fa-f]{6}", solver.colour)


def test_no_two_solvers_share_a_colour():
    colours = [solver.colour.lower() for solver in SOLVERS.values()]
    assert len(set(colours)) == len(colours)


@every_solver
def test_every_parameter_is_documented(solver):
    assert issubclass(solver.schema, Parameters)
    solver.schema()  # every parameter has a default
    for name, field in solver.schema.model_fields.items():
        assert field.description, name
        assert field.description.endswith("."), name
        assert field.json_schema_extra["source"], name
        assert "unit" in field.json_schema_extra, name


@every_solver
def test_parameters_are_frozen_and_checked(solver):
    parameters = solver.schema()
    with pytest.raises(ValueError, match="frozen"):
        parameters.precision = "float32"
    with pytest.raises(ValueError, match="no_such_parameter"):
        solver.schema(no_such_parameter=1)


@every_solver
def test_the_build_is_recorded(solver):
    build = solver.build()
    assert re.fullmatch("[0-9a-f]{64}", build["source_sha256"])
    assert bool(solver.kernels) == bool(build["flags"]) == bool(build["compiler"])


def test_builds_tell_solvers_apart():
    hashes = [solver.build()["source_sha256"] for solver in SOLVERS.values()]
    assert len(set(hashes)) == len(hashes)


@every_training_on(ordinary_problems())
def test_reaches_the_certified_optimum(training, name):
    problem = training.problem(name)
    best = optimum(problem)
    run = training.started(problem)
    run.advance(training.steps(problem, EPOCHS, ITERATIONS))
    assert problem.admits(run.w)
    assert problem.primal(run.w, run.bias) - best.lower <= training.within(run, best)


@every_training_on(PROBLEMS)
def test_the_duals_and_the_primals_enclose_the_optimum(training, name):
    problem = training.problem(name)
    best = optimum(problem)
    run = training.started(problem)
    rounding = 1e-12 if training.precision == "float64" else 1e-4
    for _ in range(40):
        run.advance(training.steps(problem, 1, 1))
        assert problem.primal(run.w, run.bias) >= best.lower * (1.0 - 1e-12)
        assert problem.admits(run.w)
        dual = run.dual()
        assert dual is None or dual <= best.upper * (1.0 + rounding)


@every_training_on(edge_problems())
def test_survives_edge_problems(training, name):
    problem = training.problem(name)
    run = training.started(problem)
    # As many presentations as the ordinary problems get, however few the rows.
    most = EPOCHS * max(1, 50 // problem.data.n_samples)
    costs = []
    for steps in (
        1,
        training.steps(problem, 1, 1),
        training.steps(problem, most, ITERATIONS),
    ):
        run.advance(steps)
        assert np.isfinite(run.w).all()
        assert np.isfinite(run.bias)
        assert problem.admits(run.w)
        assert run.dual() is None or not np.isnan(run.dual())
        costs.append(problem.primal(run.w, run.bias))
    if (training.loss, training.bias, name) == ("logistic", "free", "one-against-many"):
        # Far out, the loss bends by h = 1/23 only: steps of the bias of lambda/(lambda t) leave
        # a distance that falls as t^-h, which no number of epochs here brings down.
        assert costs == sorted(costs, reverse=True)
        return
    # P(0) is 1 or 1/2: a hundredth of that where P* itself may be next to nothing.
    best = optimum(problem)
    allowed = max(training.within(run, best), 0.01)
    assert problem.primal(run.w, run.bias) - best.lower <= allowed


@every_training
def test_a_feature_never_seen_keeps_weight_zero(training):
    problem = training.problem("unseen-features")
    run = training.started(problem)
    run.advance(training.steps(problem, 20, 5))
    assert run.w[[0, 3, 5]].tolist() == [0.0, 0.0, 0.0]
    # A ball leaves weights out that would not pay.
    assert run.w[[1, 2, 4]].all() or (training.constraint == "l1" and run.w.any())


@every_training
def test_weights_are_a_fresh_array_of_doubles(training):
    problem = training.problem("sparse")
    run = training.started(problem)
    assert run.w.shape == (problem.data.n_features,)
    run.advance(training.steps(problem, 3, 3))
    w = run.w
    assert w.shape == (problem.data.n_features,)
    assert w.dtype == np.float64
    assert w.any()
    kept = w.copy()
    w[:] = 7.0
    assert run.w.tobytes() == kept.tobytes()
    run.advance(training.steps(problem, 1, 1))
    assert (w == 7.0).all()


@every_training_on(["sparse", "zero-rows", "one-row"])
def test_pieces_make_the_whole_and_reading_changes_nothing(training, name):
    problem = training.problem(name)
    pieces = [*range(1, 40), 3, 1, 100] if training.is_stochastic else [1, 2, 1, 3]
    split = training.started(problem)
    for steps in pieces:
        split.advance(steps)
        snapshot(split)
    whole = training.started(problem)
    # Pieces are rounded up to whole units, so the presentations made may exceed their sum.
    made = split.counters.presentations
    whole.advance(made if training.is_stochastic else sum(pieces))
    assert snapshot(whole) == snapshot(split)


@every_training
def test_a_seed_reproduces_bits(training):
    problem = training.problem("overlapping")
    steps = training.steps(problem, 7, 3)
    first = training.started(problem, 2**64 - 1)
    first.advance(steps)
    second = training.started(problem, 2**64 - 1)
    second.advance(steps)
    assert snapshot(first) == snapshot(second)
    first.start(problem, 2**64 - 1)  # starting again forgets everything
    first.advance(steps)
    assert snapshot(first) == snapshot(second)


@every_training
def test_two_runs_do_not_share_state(training):
    problem = training.problem("sparse")
    steps = training.steps(problem, 2, 2)
    alone = training.started(problem, 5)
    alone.advance(steps)
    beside, other = training.started(problem, 5), training.started(problem, 6)
    for _ in range(2):
        beside.advance(steps // 2)
        other.advance(steps // 2)
    assert beside.w.tobytes() == alone.w.tobytes()


@every_training
def test_counters_are_honest(training):
    problem = training.problem("sparse")
    m, nnz = problem.data.n_samples, problem.data.nnz
    run = training.started(problem)
    run.advance(0)
    last = counts(run)
    assert last == (0, 0, 0)
    for steps in (1, 2, 10, m, 5 * m):
        run.advance(steps if training.is_stochastic else 1)
        now = counts(run)
        assert all(isinstance(count, int) for count in now)
        assert all(after >= before for after, before in zip(now, last, strict=True))
        if training.is_stochastic:
            # Overshoot is less than one unit, and a unit is less than an epoch.
            assert steps <= now[0] - last[0] < steps + m
        last = now
    presentations, updates, nonzeros = last
    assert 0 < updates <= presentations
    assert nonzeros >= nnz


@every_training
def test_the_bias_is_a_number_and_none_where_the_problem_has_none(training):
    problem = training.problem("sparse")
    run = training.started(problem)
    for epochs in (0, 3):
        run.advance(training.steps(problem, epochs, epochs))
        assert isinstance(run.bias, float)
        assert training.bias == "free" or run.bias == 0.0


@every_training
def test_data_are_left_alone(training):
    problem = training.problem("overlapping")
    before = problem.data.values.tobytes(), problem.data.labels.tobytes()
    run = training.started(problem)
    run.advance(training.steps(problem, 3, 3))
    assert (problem.data.values.tobytes(), problem.data.labels.tobytes()) == before
