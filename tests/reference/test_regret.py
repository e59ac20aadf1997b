"""Regret: the replayed run, the certified comparator, and the bound on pegasos's."""

import math

import pytest

from problems import PROBLEMS, dataset, dense, labels, with_class
from svmbench.problem import Problem
from svmbench.reference import regret as module
from svmbench.reference.regret import Follower, regret, regrets
from svmbench.solvers.online.sgd_sqrt import SgdSqrt
from svmbench.solvers.stochastic.pegasos import Pegasos, PegasosParameters
from twins import online
from twins.objective import primal
from twins.optimum import optimum

pytestmark = pytest.mark.usefixtures("own_cache")

SOME = ["sparse", "overlapping", "separable", "one-row", "one-class", "zero-rows"]


def followed(solver, problem, seed, steps):
    follower = Follower(solver, problem, seed)
    follower.follow(steps)
    return follower


@pytest.mark.parametrize("constraint", ["none", "l1"])
@pytest.mark.parametrize("output", ["last", "average"])
def test_a_run_is_followed_row_by_row(output, constraint):
    radius = 2.0 if constraint == "l1" else math.inf
    problem = with_class(PROBLEMS["overlapping"], l1_radius=radius)
    X, y = dense(problem.data), labels(problem.data)
    follower = followed(Pegasos(PegasosParameters(output=output)), problem, 5, 200)
    plain = online.Pegasos(X, y, problem.lam, radius, 5)
    for _ in range(200):
        plain.step()
    assert follower.drawn.tolist() == plain.picked
    costs = [
        primal(X[[i]], y[[i]], problem.lam, problem.loss, w)
        for i, w in zip(plain.picked, plain.iterates, strict=True)
    ]
    assert follower.cost == pytest.approx(sum(costs), rel=1e-12)


@pytest.mark.parametrize("name", SOME)
def test_the_interval_holds_the_regret(name):
    problem = PROBLEMS[name]
    follower = followed(SgdSqrt(), problem, 4, 40)
    found = regret(problem, follower.drawn, follower.cost)
    best = optimum(_rows(problem, follower.drawn))
    assert found.low <= follower.cost - 40 * best.lower + 1e-9
    assert found.high >= follower.cost - 40 * best.upper - 1e-9
    assert 0.0 <= found.high - found.low <= 2e-6 * 40 * best.upper


@pytest.mark.parametrize(
    ("project", "radius"), [(False, math.inf), (True, math.inf), (False, 0.5), (False, 2.0)]
)
@pytest.mark.parametrize("name", SOME)
def test_regret_of_pegasos_is_within_its_bound(name, project, radius):
    problem = with_class(PROBLEMS[name], l1_radius=radius)
    for seed in (1, 2, 3):
        solver = Pegasos(PegasosParameters(project=project))
        follower = Follower(solver, problem, seed)
        for steps in (3, 10, 100):
            follower.follow(steps - len(follower.drawn))
            found = regret(problem, follower.drawn, follower.cost)
            assert found.low <= found.high <= solver.regret_bound(steps)


def _rows(problem, drawn):
    X, y = dense(problem.data)[drawn], labels(problem.data)[drawn]
    return Problem(dataset(X, y, "dense float64"), problem.lam)


def records(problem, steps):
    solver = SgdSqrt()
    solver.start(problem, 3)
    solver.advance(steps)
    return list(regrets(solver, problem, 3))


@pytest.mark.parametrize(
    ("steps", "most_steps", "most_weights", "told"),
    [
        (10, 2**20, 2**30, [4, 8, 10]),
        (100, 20, 2**30, [4, 8, 16, 20]),
        (100, 16, 2**30, [4, 8, 16]),
        (100, 2**20, 9 * 8 + 7, [4, 8, 9]),  # 8 features
        (100, 2**20, 1, [3]),
    ],
)
def test_of_a_long_run_the_first_steps_are_played(
    steps, most_steps, most_weights, told, monkeypatch
):
    problem = PROBLEMS["overlapping"]
    assert problem.data.n_features == 8
    monkeypatch.setattr(module, "MOST_STEPS", most_steps)
    monkeypatch.setattr(module, "MOST_WEIGHTS", most_weights)
    found = records(problem, steps)
    assert [record["presentations"] for record in found] == told
    whole = followed(SgdSqrt(), problem, 3, told[-1])
    assert found[-1]["online_cost"] == whole.cost
