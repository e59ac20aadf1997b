"""What every solver promises, held against each one the registry finds.

A new solver is tested here without being named: it has to come within `ACCURACY` of
the optimum after so many epochs (or iterations, where a step is one) of the small
problems. What a method promises beyond that is tested in a file of its own.
"""

import re
from typing import get_args

import numpy as np
import pytest

from problems import edge_problems, ordinary_problems, with_loss
from svmbench.problem import LOSSES
from svmbench.solvers.base import Parameters
from svmbench.solvers.registry import solvers
from twins.optimum import optimum

ACCURACY = 0.05
EPOCHS = 2000
ITERATIONS = 500

SOLVERS = solvers()
PROBLEMS = {**ordinary_problems(), **edge_problems()}


def precisions(solver):
    return get_args(solver.schema.model_fields["precision"].annotation)


EVERY_TRAINING = [
    pytest.param(solver, loss, precision, id=f"{name}-{loss}-{precision}")
    for name, solver in SOLVERS.items()
    for loss in solver.losses
    for precision in precisions(solver)
]
every_solver = pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS.keys())
every_training = pytest.mark.parametrize(("solver", "loss", "precision"), EVERY_TRAINING)


def started(solver, problem, seed=1, precision="float64"):
    run = solver(solver.schema(precision=precision))
    run.start(problem, seed)
    return run


def steps_of(solver, problem, epochs, iterations):
    return epochs * problem.data.n_samples if solver.step == "presentation" else iterations


def counts(run):
    return run.counters.presentations, run.counters.updates, run.counters.nonzeros


def snapshot(run):
    """All that can be read of a run, as bits."""
    return run.w.tobytes(), counts(run), run.dual(), run.stopped


@every_solver
def test_attributes_are_valid(solver):
    assert re.fullmatch("[a-z0-9]+(-[a-z0-9]+)*", solver.name)
    assert solver.summary
    assert "\n" not in solver.summary
    assert not solver.summary.endswith(".")
    assert solver.source
    assert solver.losses
    assert set(solver.losses) <= set(LOSSES)
    assert len(set(solver.losses)) == len(solver.losses)
    assert solver.step in ("presentation", "iteration")
    assert solver.horizon in ("none", "steps", "accuracy")
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


@every_training
@pytest.mark.parametrize("name", ordinary_problems())
def test_reaches_the_certified_optimum(solver, loss, precision, name):
    problem = with_loss(PROBLEMS[name], loss)
    best = optimum(problem)
    run = started(solver, problem, precision=precision)
    run.advance(steps_of(solver, problem, EPOCHS, ITERATIONS))
    assert problem.primal(run.w) - best.lower <= ACCURACY * best.lower


@every_training
@pytest.mark.parametrize("name", PROBLEMS)
def test_the_duals_and_the_primals_enclose_the_optimum(solver, loss, precision, name):
    problem = with_loss(PROBLEMS[name], loss)
    best = optimum(problem)
    run = started(solver, problem, precision=precision)
    rounding = 1e-12 if precision == "float64" else 1e-4
    for _ in range(40):
        run.advance(steps_of(solver, problem, 1, 1))
        assert problem.primal(run.w) >= best.lower * (1.0 - 1e-12)
        dual = run.dual()
        assert dual is None or dual <= best.upper * (1.0 + rounding)


@every_training
@pytest.mark.parametrize("name", edge_problems())
def test_survives_edge_problems(solver, loss, precision, name):
    problem = with_loss(PROBLEMS[name], loss)
    run = started(solver, problem, precision=precision)
    for steps in (
        1,
        steps_of(solver, problem, 1, 1),
        steps_of(solver, problem, EPOCHS, ITERATIONS),
    ):
        run.advance(steps)
        assert np.isfinite(run.w).all()
        assert run.dual() is None or not np.isnan(run.dual())
    # P(0) is 1 or 1/2: a hundredth of that where P* itself may be next to nothing.
    best = optimum(problem)
    allowed = max(ACCURACY * best.lower, 0.01)
    assert problem.primal(run.w) - best.lower <= allowed


@every_training
def test_a_feature_never_seen_keeps_weight_zero(solver, loss, precision):
    problem = with_loss(PROBLEMS["unseen-features"], loss)
    run = started(solver, problem, precision=precision)
    run.advance(steps_of(solver, problem, 20, 5))
    assert run.w[[0, 3, 5]].tolist() == [0.0, 0.0, 0.0]
    assert run.w[[1, 2, 4]].all()


@every_training
def test_weights_are_a_fresh_array_of_doubles(solver, loss, precision):
    problem = with_loss(PROBLEMS["sparse"], loss)
    run = started(solver, problem, precision=precision)
    assert run.w.shape == (problem.data.n_features,)
    run.advance(steps_of(solver, problem, 3, 3))
    w = run.w
    assert w.shape == (problem.data.n_features,)
    assert w.dtype == np.float64
    assert w.any()
    kept = w.copy()
    w[:] = 7.0
    assert run.w.tobytes() == kept.tobytes()
    run.advance(steps_of(solver, problem, 1, 1))
    assert (w == 7.0).all()


@every_training
@pytest.mark.parametrize("name", ["sparse", "zero-rows", "one-row"])
def test_pieces_make_the_whole_and_reading_changes_nothing(solver, loss, precision, name):
    problem = with_loss(PROBLEMS[name], loss)
    pieces = [*range(1, 40), 3, 1, 100] if solver.step == "presentation" else [1, 2, 1, 3]
    split = started(solver, problem, precision=precision)
    for steps in pieces:
        split.advance(steps)
        snapshot(split)
    whole = started(solver, problem, precision=precision)
    # Pieces are rounded up to whole units, so the presentations made may exceed their sum.
    made = split.counters.presentations
    whole.advance(made if solver.step == "presentation" else sum(pieces))
    assert snapshot(whole) == snapshot(split)


@every_training
def test_a_seed_reproduces_bits(solver, loss, precision):
    problem = with_loss(PROBLEMS["overlapping"], loss)
    steps = steps_of(solver, problem, 7, 3)
    first = started(solver, problem, 2**64 - 1, precision)
    first.advance(steps)
    second = started(solver, problem, 2**64 - 1, precision)
    second.advance(steps)
    assert snapshot(first) == snapshot(second)
    first.start(problem, 2**64 - 1)  # starting again forgets everything
    first.advance(steps)
    assert snapshot(first) == snapshot(second)


@every_training
def test_two_runs_do_not_share_state(solver, loss, precision):
    problem = with_loss(PROBLEMS["sparse"], loss)
    steps = steps_of(solver, problem, 2, 2)
    alone = started(solver, problem, 5, precision)
    alone.advance(steps)
    beside, other = started(solver, problem, 5, precision), started(solver, problem, 6, precision)
    for _ in range(2):
        beside.advance(steps // 2)
        other.advance(steps // 2)
    assert beside.w.tobytes() == alone.w.tobytes()


@every_training
def test_counters_are_honest(solver, loss, precision):
    problem = with_loss(PROBLEMS["sparse"], loss)
    m, nnz = problem.data.n_samples, problem.data.nnz
    run = started(solver, problem, precision=precision)
    run.advance(0)
    last = counts(run)
    assert last == (0, 0, 0)
    for steps in (1, 2, 10, m, 5 * m):
        run.advance(steps if solver.step == "presentation" else 1)
        now = counts(run)
        assert all(isinstance(count, int) for count in now)
        assert all(after >= before for after, before in zip(now, last, strict=True))
        if solver.step == "presentation":
            # Overshoot is less than one unit, and a unit is less than an epoch.
            assert steps <= now[0] - last[0] < steps + m
        last = now
    presentations, updates, nonzeros = last
    assert 0 < updates <= presentations
    assert nonzeros >= nnz


@every_training
def test_data_are_left_alone(solver, loss, precision):
    problem = with_loss(PROBLEMS["overlapping"], loss)
    before = problem.data.values.tobytes(), problem.data.labels.tobytes()
    run = started(solver, problem, precision=precision)
    run.advance(steps_of(solver, problem, 3, 3))
    assert (problem.data.values.tobytes(), problem.data.labels.tobytes()) == before
