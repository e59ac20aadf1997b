"""Rows in blocks: every method that offers them, against its twin and on rows sorted by label."""

import importlib

import numpy as np
import pytest

from problems import assert_close, dense, labels, ordinary_problems
from svmbench.data.dataset import Dataset
from svmbench.problem import Problem
from svmbench.solvers.checked import names_of
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.registry import find_solver, solvers
from svmbench.solvers.row_order import BlockParameters
from twins.blocks import generator_of_blocks

#: Name of the parameter that has blocks among its choices, for every solver that has them.
CHOICE = {
    name: parameter
    for name, solver in solvers().items()
    if issubclass(solver.schema, BlockParameters)
    for parameter in ("order", "sampling")
    if parameter in names_of(solver.schema)
}
#: Twins that shuffle before every pass: module and how to make one of X, y, lam, loss and seed.
TWINS = {
    "dcd": ("dcd", lambda t, *a: t.Dcd(*a)),
    "sdca": ("sdca", lambda t, *a: t.Sdca(*a, "perm")),
    "svmsgd2": ("sgd_qn", lambda t, *a: t.Svmsgd2(*a, sampling="permuted")),
    "pegasos": (
        "pegasos_options",
        lambda t, X, y, lam, loss, seed: t.Pegasos(X, y, lam, seed, sampling="permuted"),
    ),
}


def started(name, problem, seed, **parameters):
    solver = find_solver(name)
    parameters = {CHOICE[name]: "blocks", "block_bytes": 0, **parameters}
    run = solver(solver.schema(**parameters))
    run.start(problem, seed)
    return run


def moved(run, plain, steps):
    """Both some steps further, whatever the twin calls a step."""
    run.advance(steps)
    if hasattr(plain, "advance"):
        plain.advance(steps)
    else:
        for _ in range(steps):
            plain.step()


@pytest.mark.parametrize("size", [3, 32])
@pytest.mark.parametrize("problem", ordinary_problems().values(), ids=ordinary_problems())
@pytest.mark.parametrize("name", TWINS)
def test_with_blocks_it_equals_its_twin_with_blocks(name, problem, size, monkeypatch):
    module, make = TWINS[name]
    twins = importlib.import_module(f"twins.{module}")
    monkeypatch.setattr(twins, "Generator", generator_of_blocks(size))
    X, y = dense(problem.data), labels(problem.data)
    plain = make(twins, X, y, problem.lam, problem.loss, 8)
    run = started(name, problem, 8, block_rows=size)
    for _ in range(12):  # an odd number of steps, which ends in the midst of passes
        moved(run, plain, 1 + 2 * (problem.data.n_samples // 4))
        size_of_w = 1.0 + np.max(np.abs(plain.w))
        assert_close(run.w, plain.w, rtol=0.0, atol=1e-10 * size_of_w)


def test_the_perceptron_form_equals_its_twin_with_blocks(monkeypatch):
    from twins import sgd as twins  # one whole pass at a time

    monkeypatch.setattr(twins, "Generator", generator_of_blocks(5))
    problem = ordinary_problems()["overlapping"]
    X, y = dense(problem.data), labels(problem.data)
    plain, run = (
        twins.PermutedPasses(X, y, problem.lam, 4),
        started("sgd-s", problem, 4, block_rows=5),
    )
    for _ in range(5):
        run.advance(len(y))
        plain.whole_pass()
        assert_close(run.w, plain.w, rtol=0.0, atol=1e-10)
        assert run.dual() <= problem.primal(run.w)


def sorted_by_label():
    """Rows of two overlapping classes, one class behind the other, and runs of alike rows."""
    rng = np.random.default_rng(5)
    y = np.repeat([1, -1], 600)
    X = np.repeat(rng.normal(size=(120, 6)), 10, axis=0) + 0.3 * rng.normal(size=(1200, 6))
    X[:, 0] += 0.7 * y
    return Problem(Dataset("sorted", 6, None, None, X, y.astype(np.int8)), 1e-3)


@pytest.mark.parametrize("shrinking", [True, False])
def test_on_rows_sorted_by_label_blocks_reach_the_same_certificate(shrinking):
    problem = sorted_by_label()
    m = problem.data.n_samples
    bounds = []
    for order in ("random", "blocks"):
        run = started("dcd", problem, 3, order=order, shrinking=shrinking)
        run.advance(600 * m)
        assert problem.primal(run.w) - run.dual() <= 1e-4 * run.dual()
        bounds.append(run.dual())
    assert bounds[0] == pytest.approx(bounds[1], rel=1e-4)


@pytest.mark.parametrize("name", sorted(set(CHOICE) - {"olbfgs", "dcd"}))
def test_on_rows_sorted_by_label_every_method_converges(name):
    problem = sorted_by_label()
    m = problem.data.n_samples
    reference = Dcd(Dcd.schema(tolerance=1e-8))
    reference.start(problem, 1)
    reference.advance(600 * m)
    run = started(name, problem, 3)
    run.advance(300 * m)
    assert problem.primal(run.w) <= 1.02 * reference.dual()
