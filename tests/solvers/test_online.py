"""The online methods against plain steps, in their ball and at its edge."""

import numpy as np
import pytest

from problems import (
    PRECISIONS,
    PROBLEMS,
    assert_close,
    dataset,
    dense,
    dyadic,
    labels,
    ordinary_problems,
    with_class,
)
from problems import at_start as started
from svmbench.problem import Problem
from svmbench.solvers.checked import checked, names_of
from svmbench.solvers.online.adagrad import Adagrad
from svmbench.solvers.online.gd import Gd
from svmbench.solvers.online.pgd import Pgd
from svmbench.solvers.online.seg_pm import SegPm
from svmbench.solvers.online.sgd_sqrt import SgdSqrt
from svmbench.solvers.online.smd import Smd
from twins import online
from twins.objective import project_l1
from twins.optimum import variant

TOLERANCE = {"float64": 1e-11, "float32": 3e-5}
DRAWING = {"sgd-sqrt": SgdSqrt, "smd": Smd, "seg-pm": SegPm, "adagrad": Adagrad}
every_drawing = pytest.mark.parametrize("name", DRAWING)
every_output = pytest.mark.parametrize("kind", ["average", "last"])


def twin_of(name, run, problem, seed):
    X, y = dense(problem.data), labels(problem.data)
    arguments = (X, y, problem.lam, problem.l1_radius, seed)
    if name == "adagrad":
        assert run.parameters.epochs is not None
        return online.Adagrad(*arguments, run._eta0)
    if name == "seg-pm":
        return online.SegPm(*arguments, run._eta0)
    twin = {"sgd-sqrt": online.SgdSqrt, "smd": online.Smd}[name](*arguments)
    twin.eta0 = run._eta0
    return twin


def held_to_twin(name, problem, precision="float64", kind="average", steps=300, **options):
    if name == "adagrad":
        options["epochs"] = steps / problem.data.n_samples
    run = started(DRAWING[name], problem, 17, output=kind, precision=precision, **options)
    plain = twin_of(name, run, problem, 17)
    size = max(problem.l1_radius if problem.constraint == "l1" else 1.0 / problem.lam, 1.0)
    for _ in range(steps):
        plain.step()
        run.advance(1)
        assert run.counters.updates == plain.updates
        assert run.presented == plain.picked[-1]
        shown = plain.w if kind == "last" else plain.average
        close = {"rtol": 0.0, "atol": TOLERANCE[precision] * size}
        assert_close(run.w, shown, **close)
        assert_close(run.iterate, plain.w, **close)
    return plain


@every_drawing
@every_output
@pytest.mark.parametrize("case", [*ordinary_problems(), "zero-rows", "one-row", "one-class"])
def test_equals_its_twin_in_the_ball(name, case, kind):
    held_to_twin(name, variant(PROBLEMS[case], constraint="l1"), kind=kind)


@pytest.mark.parametrize("precision", PRECISIONS)
@every_output
@pytest.mark.parametrize("constraint", ["none", "l1"])
@pytest.mark.parametrize("case", [*ordinary_problems(), "one-class"])
def test_sgd_sqrt_equals_its_twin_in_both_precisions(case, constraint, kind, precision):
    problem = variant(PROBLEMS[case], constraint=constraint)
    held_to_twin("sgd-sqrt", problem, precision, kind)


@pytest.mark.parametrize("precision", PRECISIONS)
def test_steps_that_only_shrink_may_leave_the_ball(precision):
    # lam eta > 2: w leaves the ball by shrinking alone, without a margin error.
    X, y = dyadic(3, 20, 4)
    problem = Problem(dataset(4.0 * X, y), 8.0, l1_radius=2.0)
    plain = held_to_twin("sgd-sqrt", problem, precision, steps=60, eta0=2.0)
    left = 0
    for t, (i, w) in enumerate(zip(plain.picked, plain.iterates, strict=True), start=1):
        fine = plain.y[i] * (plain.X[i] @ w) >= 1.0
        left += fine and abs(1.0 - 8.0 * 2.0 / np.sqrt(t)) * np.sum(np.abs(w)) > 2.0
    assert left > 0


def test_first_steps_are_those_of_least_bound_unless_given():
    # R = 2: z/(sqrt 2 (lam z + R)) in the ball, 1/(R sqrt(2 lam)) without.
    problem = Problem(dataset([[2.0, 0.0], [0.0, 1.0]], [1, -1]), 0.5)
    confined = with_class(problem, l1_radius=4.0)
    assert started(SgdSqrt, problem)._eta0 == pytest.approx(0.5)
    for solver in (SgdSqrt, Smd):
        assert started(solver, confined)._eta0 == pytest.approx(1.0 / np.sqrt(2.0))
        assert started(solver, confined, eta0=1.0)._eta0 == 1.0
    assert started(SegPm, confined)._eta0 == pytest.approx(2.0 * np.sqrt(np.log(4.0)))
    assert started(SgdSqrt, PROBLEMS["only-zero-rows"])._eta0 == 8.0  # 1/(2 lambda)


def test_adagrad_without_a_horizon_has_steps_that_fall():
    problem = with_class(PROBLEMS["overlapping"], l1_radius=2.0)
    X, y = dense(problem.data), labels(problem.data)
    run = started(Adagrad, problem, 5)
    plain = online.Adagrad(X, y, problem.lam, 2.0, 5, 0.0)
    for t in range(1, 101):
        plain.eta = 1.0 / (problem.lam * np.sqrt(t))
        plain.step()
        run.advance(1)
        assert_close(run.w, plain.average, rtol=0.0, atol=1e-11)


@pytest.mark.parametrize(("solver", "constraint"), [(Gd, "none"), (Pgd, "l1")])
@pytest.mark.parametrize("eta0", [None, 1.0])
@pytest.mark.parametrize("case", [*ordinary_problems(), "zero-rows"])
def test_full_steps_equal_plain_ones(case, eta0, solver, constraint):
    problem = variant(PROBLEMS[case], constraint=constraint)
    X, y, lam = dense(problem.data), labels(problem.data), problem.lam
    run, w = started(solver, problem, eta0=eta0), np.zeros(X.shape[1])
    updates = nonzeros = 0
    entries = np.full(len(y), X.shape[1])
    if problem.data.indptr is not None:
        entries = np.count_nonzero(X, axis=1)
    for t in range(1, 101):
        errors = y * (X @ w) < 1.0
        updates += int(errors.sum())
        nonzeros += entries.sum() + entries[errors].sum()
        w = w - (eta0 or 1.0 / lam) / t * (lam * w - (y * errors) @ X / len(y))
        if constraint == "l1":
            w = project_l1(w, problem.l1_radius)
        run.advance(1)
        assert (run.counters.updates, run.counters.nonzeros) == (updates, nonzeros)
        assert_close(run.w, w, rtol=0.0, atol=1e-11)
    assert run.counters.presentations == 100 * len(y)


def test_exponents_far_beyond_those_of_a_double_are_borne():
    # Rows of 1e5 make the logarithms about 1e5 in one step.
    X, y = dyadic(4, 12, 3)
    problem = Problem(dataset(1e5 * X, y), 2.0**-4, l1_radius=3.0)
    run = started(SegPm, problem, output="last")
    for _ in range(50):
        run.advance(1)
        assert np.isfinite(run.w).all()
        assert np.sum(np.abs(run.w)) <= 3.0 * (1.0 + 1e-12)
    assert np.sum(np.abs(run.w)) >= 2.9  # all the mass on what is largest


def test_adagrad_is_told_its_horizon():
    problem = with_class(PROBLEMS["overlapping"], l1_radius=2.0)
    assert started(Adagrad, problem, epochs=8.0)._eta0 == 1.0 / (problem.lam * 20.0)
    assert Adagrad().horizon == "steps"
    assert Adagrad(Adagrad.schema(eta=0.1)).horizon == "none"
    assert Adagrad.horizon_parameter in names_of(Adagrad.schema)
    with pytest.raises(ValueError, match="'epochs' is for a step that depends on them"):
        checked(Adagrad.schema, {"eta": 0.1, "epochs": 3.0})
