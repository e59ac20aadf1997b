"""Newton steps on multipliers for the hinge, with weights and a free bias.

tests/train/test_weights.py has the optima that they find.
"""

from itertools import islice

import numpy as np
import pytest

from problems import dataset
from svmbench.engine import multipliers
from svmbench.engine.descents import balanced_descent
from svmbench.engine.fit import fit
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.pairs import WorkCount
from svmbench.solvers.second_order.newton_systems import SystemWork


def posed(bias="none", weighted=True, m=400, d=8, lam=1e-4, scale=1.0):
    """Noisy rows off the origin, with weights from 0.1 to 1.9 before they are scaled."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(m, d)) + 0.5
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=m) > 1.0, 1, -1)
    weights = rng.uniform(0.1, 1.9, size=m)
    row_weights = weights / weights.mean() if weighted else None
    return Problem(dataset(X * scale, y, "dense float64"), lam, bias=bias, row_weights=row_weights)


def gap_of(problem, pair):
    w, b, alpha = pair
    return relative_gap(problem.primal(w, b), problem.dual(alpha))


kinds = pytest.mark.parametrize(
    ("bias", "weighted"), [("none", True), ("free", True), ("free", False)]
)


@kinds
@pytest.mark.parametrize("scale", [1e-3, 1.0])
def test_steps_go_on_until_rounding_hides_the_gain(bias, weighted, scale):
    problem = posed(bias, weighted, scale=scale)
    count = WorkCount()
    pairs = list(multipliers.newton(problem, wanted=1e-300, count=count))
    assert min(gap_of(problem, pair) for pair in pairs) <= 1e-9
    assert count.steps <= 400


@kinds
def test_only_pairs_that_may_be_good_enough_are_yielded(bias, weighted):
    problem, count = posed(bias, weighted), WorkCount()
    unshown = 1e9 * problem.data.nnz
    pair = next(multipliers.newton(problem, wanted=1e-4, count=count, unshown=unshown))
    assert gap_of(problem, pair) <= 1.5e-4
    assert 4 < count.steps <= 60
    assert count.entries >= count.steps * 2 * problem.data.nnz


def test_a_pair_is_yielded_for_each_doubling_of_the_steps_and_when_time_is_over():
    problem, count, steps = posed(lam=1e-6), WorkCount(), []
    for _ in multipliers.newton(problem, wanted=1e-300, count=count):
        steps.append(count.steps)
    assert steps[:3] == [4, 8, 16]
    count = WorkCount()
    next(multipliers.newton(problem, lambda: True, count=count, wanted=1e-300))
    assert count.steps == 0


@kinds
def test_a_warm_start_saves_steps(bias, weighted):
    problem = posed(bias, weighted)
    *_, before = multipliers.newton(posed(bias, weighted, lam=1.2e-4), wanted=1e-300)
    steps = []
    for start in (None, before):
        count = WorkCount()
        for pair in multipliers.newton(problem, start=start, wanted=1e-4, count=count):
            if gap_of(problem, pair) <= 1e-4:
                break
        steps.append(count.steps)
    assert steps[1] < 0.7 * steps[0]


def test_a_bias_so_far_out_that_no_row_has_curvature_returns():
    problem = posed("free", m=100)
    start = np.zeros(8), 1e4, np.zeros(100)
    pairs = multipliers.newton(problem, start=start, wanted=1e-6)
    assert min(gap_of(problem, pair) for pair in pairs) <= 1e-6


@kinds
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_other_methods_go_on_where_rounding_ends_the_steps(bias, weighted, scale):
    assert fit(posed(bias, weighted, scale=scale), 1e-6).gap <= 1e-6


def test_a_step_reads_all_entries_and_factors_a_system():
    few, many = posed(m=400, d=8).data, posed(m=400, d=80).data
    of_few, of_many = (multipliers.step_work(each, SystemWork.of(each)) for each in (few, many))
    assert of_many > of_few > 3 * few.nnz


def nearly_separated(m=300, d=100, lam=1e-6, seed=0):
    """Rows that a plane separates but for a few: the dual variables are far below 1."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    scores = X @ rng.normal(size=d)
    y = np.where(scores + 0.1 * scores.std() * rng.normal(size=m) > 0.0, 1, -1)
    return Problem(dataset(X, y, "dense float64"), lam, bias="free")


def steps_to(problem, wanted, start=None):
    """Newton steps to a certified gap; more than 1000 if they end short of it."""
    count = WorkCount()
    for pair in multipliers.newton(problem, start=start, wanted=wanted, count=count, unshown=1e99):
        if gap_of(problem, pair) <= wanted:
            return count.steps
    return 1001


def descended(problem, turns):
    """The pair of dual descent after so many turns, each of a pass at first."""
    return next(islice(balanced_descent(problem), turns - 1, None))


@pytest.mark.parametrize("seed", range(4))
def test_inner_problems_that_take_long_do_not_end_the_steps(seed):
    assert steps_to(nearly_separated(seed=seed), 1e-4) <= 300


def test_small_dual_variables_of_a_start_that_is_far_off_tell_the_penalty():
    cold = warm = 0
    for seed in range(4):
        problem = nearly_separated(seed=seed)
        start = descended(problem, 8)
        assert gap_of(problem, start) > multipliers._LARGEST_GAP
        cold += steps_to(problem, 1e-4)
        warm += steps_to(problem, 1e-4, start)
    assert warm < 0.7 * cold


def test_a_start_that_is_far_off_is_left_where_dual_variables_reach_one():
    problem = posed(bias="free", lam=1e-2)
    w, b, alpha = descended(problem, 20)
    far = 100.0 * w, b, alpha
    assert alpha.max() == 1.0
    begun = multipliers._InnerProblems(problem, WorkCount())
    begun.begin(far)
    assert not begun.pair()[0].any()
    assert begun.penalty == multipliers.FROM_ZERO


def test_a_small_gap_that_a_certificate_denies_is_told_once_in_each_inner_problem(monkeypatch):
    problem, count = posed(lam=1e-3), WorkCount()
    moved, told = [0], 0
    move = multipliers._InnerProblems.move_centres

    def counted(self, solved):
        moved[0] += 1
        move(self, solved)

    monkeypatch.setattr(multipliers._InnerProblems, "move_centres", counted)
    for _ in multipliers.newton(problem, wanted=1e-3, count=count, unshown=1e99):
        told += 1
    # The last pair is yielded because the steps end.
    assert told <= moved[0] + 2
    assert count.steps > 1.5 * told
