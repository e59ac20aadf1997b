"""Regret: the replayed run, the certified comparator, and the bound on pegasos's."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from problems import PROBLEMS, dataset, dense, labels, with_class
from svmbench.config import Stop
from svmbench.problem import Problem
from svmbench.reference import regret as module
from svmbench.reference.regret import Follower, Online, regret, regrets
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.online.sgd_sqrt import SgdSqrt
from svmbench.solvers.stochastic.pegasos import Pegasos, PegasosParameters, logarithmic_bound
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


def test_following_in_pieces_is_following_at_once():
    problem = PROBLEMS["sparse"]
    whole = followed(SgdSqrt(), problem, 2, 150)
    pieces = Follower(SgdSqrt(), problem, 2)
    for steps in (1, 0, 70, 79):
        pieces.follow(steps)
    assert pieces.cost == whole.cost
    assert np.array_equal(pieces.drawn, whole.drawn)


@pytest.mark.parametrize("name", SOME)
def test_the_interval_holds_the_regret(name):
    problem = PROBLEMS[name]
    follower = followed(SgdSqrt(), problem, 4, 40)
    found = regret(problem, follower.drawn, follower.cost)
    best = optimum(_rows(problem, follower.drawn))
    assert found.low <= follower.cost - 40 * best.lower + 1e-9
    assert found.high >= follower.cost - 40 * best.upper - 1e-9
    assert 0.0 <= found.high - found.low <= 2e-6 * 40 * best.upper


def test_drawn_rows_count_as_often_as_they_were_drawn():
    # w = 1 for the row that was drawn three times, against one that says -1: P* by hand.
    problem = Problem(dataset([[1.0], [1.0]], [1, -1]), 1.0)
    found = regret(problem, np.array([0, 1, 0, 0]), 10.0)
    # 4 P(w) = 2 w^2 + 3 (1 - w) + (1 + w) is least at w = 1/2.
    assert found.low == pytest.approx(10.0 - 3.5, abs=1e-4)
    assert found.high == pytest.approx(10.0 - 3.5, abs=1e-4)


def test_other_rows_drawn_are_another_comparator(own_cache):
    problem = PROBLEMS["overlapping"]
    first, second = (regret(problem, np.array(rows), 0.0) for rows in ([1, 2, 3], [4, 5, 6]))
    again = regret(problem, np.array([1, 2, 3]), 0.0)
    assert first == again
    assert len(list((own_cache / "references").iterdir())) == 2
    assert first != second


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


def test_the_comparator_lies_in_the_ball():
    problem = PROBLEMS["overlapping"]
    drawn = np.arange(40)
    free, confined = (
        regret(with_class(problem, l1_radius=radius), drawn, 40.0) for radius in (math.inf, 1.0)
    )
    best = optimum(with_class(_rows(problem, drawn), l1_radius=1.0))
    assert confined.high < free.low
    assert confined.low <= 40.0 - 40 * best.lower + 1e-9
    assert confined.high >= 40.0 - 40 * best.upper - 1e-9


def _rows(problem, drawn):
    X, y = dense(problem.data)[drawn], labels(problem.data)[drawn]
    return Problem(dataset(X, y, "dense float64"), problem.lam)


def test_the_bounds_are_those_of_their_subgradients():
    # R = 5, lam = 1/4: c = (5 + 5)^2, (1/2 + 5)^2 and (1/4 3 + 5)^2.
    problem = Problem(dataset([[3.0, 4.0], [1.0, 0.0]], [1, -1]), 0.25)
    grows = (1.0 + math.log(7.0)) / 0.5
    assert logarithmic_bound(problem, 7) == pytest.approx(100.0 * grows)
    assert logarithmic_bound(problem, 7, in_ball=True) == pytest.approx(5.5**2 * grows)
    confined = replace(problem, l1_radius=3.0)
    assert logarithmic_bound(confined, 7) == pytest.approx(5.75**2 * grows)


@pytest.mark.parametrize("radius", [math.inf, 1.0])
@pytest.mark.parametrize("project", [False, True])
def test_subgradients_on_the_way_are_no_larger_than_the_bound_says(project, radius):
    problem = with_class(PROBLEMS["overlapping"], l1_radius=radius)
    if project and radius < math.inf:
        problem = PROBLEMS["separable"]
    X, y, lam = dense(problem.data), labels(problem.data), problem.lam
    solver = Pegasos(PegasosParameters(project=project))
    solver.start(problem, 1)
    most = math.sqrt(2.0 * lam * solver.regret_bound(1))
    for _ in range(200):
        w = solver.iterate
        solver.advance(1)
        i = solver.presented
        g = lam * w - (y[i] * (X[i] @ w) < 1.0) * y[i] * X[i]
        assert np.linalg.norm(g) <= most * (1.0 + 1e-12)


def test_who_can_be_followed():
    for solver in (Pegasos(), SgdSqrt()):
        solver.start(PROBLEMS["sparse"], 1)
        assert isinstance(solver, Online)
    assert not isinstance(Dcd(), Online)
    with pytest.raises(ValueError, match="steps of one row"):
        followed(Pegasos(PegasosParameters(batch=3)), PROBLEMS["sparse"], 1, 1)


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


def test_where_time_is_up_the_records_end(monkeypatch):
    problem = PROBLEMS["overlapping"]
    ticks = iter(range(1000))
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: 3.0 * next(ticks)))
    # Looks at the clock: one before the steps up to a record, and one every 256 of them.
    assert [record["presentations"] for record in records(problem, 3000)][-1] == 1024


class Stub:
    """Draws the first row in each step, and stays where it is."""

    def __init__(self, presentations, presented=0):
        self.counters = SimpleNamespace(presentations=presentations)
        self.presented = presented
        self.iterate = np.zeros(8)

    def start(self, problem, seed):
        pass

    def advance(self, steps):
        pass

    def regret_bound(self, steps):
        return None


def test_no_regret_without_rows_of_its_own_few_steps_or_a_bias():
    problem = PROBLEMS["overlapping"]
    assert [record["presentations"] for record in regrets(Stub(3), problem, 1)] == [3]
    assert list(regrets(Stub(2), problem, 1)) == []
    assert list(regrets(Stub(9, presented=None), problem, 1)) == []
    assert list(regrets(Stub(9), with_class(problem, bias="free"), 1)) == []
    other = Dcd()
    other.start(problem, 1)
    other.advance(9)
    assert list(regrets(other, problem, 1)) == []


def test_a_record_takes_no_longer_than_a_silent_worker_may(monkeypatch):
    """The parent kills a worker that writes nothing for the grace."""
    asked = []

    def certified(problem, gap, time_limit):
        asked.append(time_limit)
        return SimpleNamespace(primal=1.0, dual=1.0)

    monkeypatch.setattr(module, "certified_optimum", certified)
    assert len(list(regrets(Stub(9), PROBLEMS["overlapping"], 1))) == 3
    assert len(asked) == 3
    assert max(asked) + module.REPLAY_SECONDS < Stop.model_fields["grace"].default
