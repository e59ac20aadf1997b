"""ipm: certified optima in few iterations, merged rows, and the forms of its system."""

import numpy as np
import pytest

from problems import PROBLEMS, dataset, dense, has_both_classes, with_class, with_loss
from svmbench.names import BIASES, CONSTRAINTS, HINGES
from svmbench.problem import Problem
from svmbench.solvers.second_order import ipm, normal_equations
from svmbench.solvers.second_order.ipm import Ipm, IpmParameters, merged
from svmbench.solvers.second_order.l1_ball import BallTerms, centred_ball, room, starting_point
from twins.optimum import optimum, variant

every_loss = pytest.mark.parametrize("loss", HINGES)
every_problem_of_its_class = pytest.mark.parametrize(
    ("name", "bias", "constraint"),
    [
        (name, bias, constraint)
        for name, problem in PROBLEMS.items()
        for bias in BIASES
        for constraint in CONSTRAINTS
        if bias == "none" or has_both_classes(problem)
    ],
)


def ended(problem, **parameters):
    run = Ipm(IpmParameters(**parameters))
    run.start(problem, 0)
    iterations = 0
    while not run.stopped and iterations < 200:
        run.advance(1)
        iterations += 1
    return run, iterations


@every_loss
@every_problem_of_its_class
def test_ends_by_itself_at_the_certified_optimum(name, bias, constraint, loss):
    problem = variant(PROBLEMS[name], loss, bias, constraint)
    run, iterations = ended(problem)
    assert iterations < 150
    alpha = run.alpha
    assert np.all(alpha >= 0.0)
    assert loss == "squared-hinge" or np.all(alpha <= 1.0)
    P = problem.primal(run.w, run.bias)
    assert problem.gap(run.w, alpha, run.bias) <= 1e-9 * max(P, 1e-3)
    best = optimum(problem)
    # lam/2 ||w - w*||^2 is at most what P exceeds P* by: 1e-9 of P is 1e-4 or so of w.
    np.testing.assert_allclose(run.w, best.w, rtol=0.0, atol=1e-4 * (1.0 + np.abs(best.w).max()))


@every_loss
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("lam", [1e-2, 1e-6])
@pytest.mark.parametrize("share", [1e-3, 0.1, 0.9, 1.1, 1e6])
def test_a_ball_of_any_size_is_no_hindrance(loss, bias, lam, share):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(200, 12)) * 10.0 ** np.linspace(-2, 2, 12)
    y = np.where(X[:, 6] / np.abs(X[:, 6]).mean() + rng.normal(size=200) > 0.5, 1, -1)
    whole = with_class(Problem(dataset(X, y, "dense float64"), lam), loss, bias)
    without, _ = ended(whole)
    size = float(np.abs(without.w).sum())
    problem = with_class(whole, loss, bias, share * size)
    run, _ = ended(problem)
    P = problem.primal(run.w, run.bias)
    assert P - run.dual() <= 1e-8 * run.dual()
    assert np.abs(run.w).sum() <= share * size * (1.0 + 1e-12)
    if share > 1.0:
        assert abs(P - whole.primal(without.w, without.bias)) <= 1e-8 * P


@every_loss
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", ["sparse", "duplicate-rows", "overlapping"])
def test_an_idle_ball_costs_nothing(name, bias, loss):
    for radius in (1e8, 1e12):
        problem = with_class(PROBLEMS[name], loss, bias, radius)
        whole = with_class(PROBLEMS[name], loss, bias)
        (run, iterations), (without, its) = ended(problem), ended(whole)
        assert iterations == its
        np.testing.assert_array_equal(run.w, without.w)
        P = problem.primal(run.w, run.bias)
        assert problem.gap(run.w, run.alpha, run.bias) <= 1e-10 * P


def test_a_ball_around_nearly_separable_rows_is_no_hindrance():
    # Without the path, predictor and corrector stall here long before the optimum.
    rng = np.random.default_rng(3)
    X = (rng.random((3000, 12)) < 0.3) * rng.choice([0.1, 0.5, 1.0], size=(3000, 12))
    y = np.where(X @ rng.normal(size=12) > 0.1, 1, -1)
    y = np.where(rng.random(3000) < 0.002, -y, y)
    for bias in BIASES:
        problem = with_class(Problem(dataset(X, y), 1e-6), "hinge", bias, 30.0)
        run, iterations = ended(problem)
        assert iterations < 200
        assert problem.primal(run.w, run.bias) - run.dual() <= 1e-9 * run.dual()


def test_the_terms_of_the_ball_solve_its_conditions():
    # The eliminated step satisfies the linear equations that it was eliminated from.
    rng = np.random.default_rng(8)
    d, radius = 5, 7.0
    x, s = rng.uniform(0.1, 2.0, size=(2, 2 * d + 1))
    of_x, pull = rng.normal(size=2 * d + 1), rng.normal(size=d)
    base = rng.normal(size=(d, d))
    base = base @ base.T
    for towards in (True, False):
        terms = BallTerms(x, s, radius)
        system = base.copy()
        terms.add_to(system)
        demand = terms.demand(of_x, towards)
        dw = np.linalg.solve(system, pull + demand.right)
        dx, ds = terms.complete(demand, dw)
        np.testing.assert_allclose(dx[:d] - dx[d:-1], dw, rtol=1e-9)
        np.testing.assert_allclose(s * dx + x * ds, of_x, rtol=1e-9)
        unmet = radius - x.sum() if towards else 0.0
        assert -dx[:-1].sum() + unmet == pytest.approx(dx[-1], rel=1e-9)
        # zeta_p - tau and tau - zeta_n are the slope, lam w - w(alpha)'s pull
        up, down = s[:d] - s[-1], s[-1] - s[d:-1]
        slope = base @ dw - pull
        wanted_up = slope - (up if towards else 0.0)
        wanted_down = slope - (down if towards else 0.0)
        np.testing.assert_allclose(ds[:d] - ds[-1], wanted_up, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(ds[-1] - ds[d:-1], wanted_down, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("mu", [1e-12, 1e-3, 1.0, 1e3])
def test_a_centred_ball_satisfies_its_conditions(mu):
    rng = np.random.default_rng(9)
    for size in (0.0, 0.5, 1.0 - 1e-9):
        w = rng.normal(size=6) * [1.0, 1e-9, 1.0, 0.0, 1e-3, 1.0]
        w *= size * 4.0 / np.abs(w).sum()
        x, s = centred_ball(w, 4.0, mu)
        assert np.all(x > 0.0)
        np.testing.assert_allclose(x * s, mu, rtol=1e-14)
        np.testing.assert_allclose(x[:6] - x[6:-1], w, rtol=0.0, atol=1e-14)
        assert x.sum() == pytest.approx(4.0, abs=1e-12)
        # zeta_p + zeta_n = 2 tau
        np.testing.assert_allclose(s[:6] + s[6:-1], 2.0 * s[-1], rtol=1e-5)


def test_room_is_all_of_a_step_that_stays_inside():
    w, dw = np.array([0.5, -0.25]), np.array([1.0, 1.0])
    assert room(w, dw, 10.0) == 1.0
    length = room(w, dw, 1.0)
    assert 0.1 < length < 1.0
    assert np.abs(w + length * dw).sum() < 1.0


@pytest.mark.parametrize("radius", [1e-3, 2.0, 1e9])
def test_the_starting_point_satisfies_all_but_centrality(radius):
    pull = np.array([3.0, -1.0, 0.0])
    x, s = starting_point(pull, radius, 0.01)
    assert np.all(x > 0.0)
    assert np.all(s > 0.0)
    assert x.sum() == pytest.approx(radius, rel=1e-12)
    np.testing.assert_array_equal(x[:3], x[3:6])
    np.testing.assert_allclose(s[:3] - s[-1], -pull, rtol=0.0, atol=1e-15 * s.max())
    np.testing.assert_allclose(s[-1] - s[3:6], -pull, rtol=0.0, atol=1e-15 * s.max())


@every_loss
@pytest.mark.parametrize("lam", [1e-2, 1e-5, 1e-8])
def test_columns_of_very_different_scales_do_not_matter(loss, lam):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 10)) * 10.0 ** np.linspace(-3, 4, 10)
    y = np.where(X[:, 2] / np.abs(X[:, 2]).mean() + rng.normal(size=300) > 0, 1, -1)
    problem = with_loss(Problem(dataset(X, y, "dense float64"), lam), loss)
    run, _ = ended(problem)
    assert problem.primal(run.w) - run.dual() <= 1e-8 * run.dual()


@every_loss
def test_merging_equal_rows_changes_nothing_but_the_work(loss):
    rng = np.random.default_rng(2)
    base = rng.integers(-8, 9, size=(12, 4)) / 4.0
    X = base[rng.integers(0, 12, size=200)]
    y = np.where(rng.random(200) < 0.4, -1, 1)
    problem = with_loss(Problem(dataset(X, y), 0.05), loss)
    merging, _ = ended(problem)
    plain, _ = ended(problem, merge=False)
    np.testing.assert_allclose(merging.w, plain.w, rtol=0.0, atol=1e-7)
    assert merging.counters.nonzeros < plain.counters.nonzeros / 4
    distinct, counts, group = merged(problem.data)
    assert counts.sum() == 200
    assert np.array_equal(dense(distinct)[group], X)
    assert np.array_equal(distinct.labels[group], y)


def test_few_equal_rows_are_not_merged():
    data = PROBLEMS["overlapping"].data
    same, counts, group = merged(data)
    assert same is data
    assert group is None
    assert np.array_equal(counts, np.ones(data.n_samples))


@every_loss
def test_both_ways_to_the_system_agree(loss, monkeypatch):
    problem = with_loss(PROBLEMS["overlapping"], loss)
    ends = []
    for cost in (0.0, np.inf):
        monkeypatch.setattr(normal_equations, "BLAS_COST", cost)
        monkeypatch.setattr(normal_equations, "BLOCK_BYTES", 7 * 8 * problem.data.n_features)
        run = Ipm()
        run.start(problem, 0)
        run.advance(6)
        ends.append(run.w)
    np.testing.assert_allclose(ends[0], ends[1], rtol=0.0, atol=1e-9)


def test_centred_rows_satisfy_their_conditions():
    excess = np.concatenate([-np.logspace(8, -12, 50), [0.0], np.logspace(-12, 8, 50)])
    for mu in (1e-14, 1e-6, 1.0, 1e3):
        alpha, v = ipm.centred(excess, mu)
        assert np.all((alpha > 0.0) & (v > 0.0))
        np.testing.assert_allclose(alpha + v, 1.0, rtol=1e-15)
        size = np.abs(excess) + 2.0 * mu
        assert np.all(np.abs(mu / alpha - mu / v - excess) <= 1e-9 * size)


def test_many_rows_at_the_kink_are_no_hindrance():
    # Nearly separable, most rows alike: steps on all variables at once stall here for hundreds
    # of iterations.
    rng = np.random.default_rng(3)
    X = (rng.random((3000, 12)) < 0.3) * rng.choice([0.1, 0.5, 1.0], size=(3000, 12))
    y = np.where(X @ rng.normal(size=12) > 0.1, 1, -1)
    flips = rng.random(3000) < 0.002
    problem = Problem(dataset(X, np.where(flips, -y, y)), 1e-6)
    run, iterations = ended(problem)
    assert iterations < 200
    assert problem.primal(run.w) - run.dual() <= 1e-9 * run.dual()
