"""Newton steps for smooth losses begin on a sample where there are many rows."""

import math
from itertools import chain, repeat

import numpy as np
import pytest

from problems import dataset
from svmbench.problem import Loss, Problem, relative_gap
from svmbench.solvers.cholesky import factor_cost
from svmbench.solvers.pairs import WorkCount
from svmbench.solvers.second_order import newton_systems, smooth
from svmbench.solvers.second_order.newton_systems import Factored


def many_rows(m=30_000, d=5, seed=0, positive=0.5):
    """Noisy rows of two classes, the positive one with this share."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    scores = X @ rng.normal(size=d) + rng.normal(size=m)
    y = np.where(scores > np.quantile(scores, 1.0 - positive), 1, -1)
    return dataset(X, y, "dense float64")


def trained(problem, wanted, start=None):
    """The gap at the end, and the work."""
    count, primal, dual = WorkCount(), np.inf, 0.0
    for w, b, alpha in smooth.newton(problem, start=start, wanted=wanted, count=count):
        primal, dual = min(primal, problem.primal(w, b)), max(dual, problem.dual(alpha))
        if relative_gap(primal, dual) <= wanted:
            break
    return relative_gap(primal, dual), count


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("wanted", [1e-2, 1e-3])
def test_the_last_step_is_as_exact_as_the_wanted_gap_needs(bias, wanted, monkeypatch):
    """In the mean: a single step may leave less, because rounding changes conjugate gradients."""
    monkeypatch.setattr(newton_systems, "MOST_FEATURES", 0)  # conjugate gradients alone
    loss, gaps, work = Loss("logistic"), [], []
    for seed in range(5):
        even = many_rows(m=3000, d=60, seed=seed)
        data = dataset(even.values * np.logspace(-1, 1, 60), even.labels, "dense float64")
        w, b, _ = list(smooth.newton(Problem(data, 2e-4, loss, bias)))[-1]
        for share in (0.5, 0.0):
            monkeypatch.setattr(smooth, "_SHARE_LEFT", share)
            gap, count = trained(Problem(data, 1e-4, loss, bias), wanted, (w, b))
            gaps.append(gap)
            work.append(count.entries)
    assert max(gaps) <= wanted
    assert sum(gaps[1::2]) < 0.9 * sum(gaps[::2])
    assert sum(work[::2]) < 0.99 * sum(work[1::2])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_a_sample_saves_passes_over_all_rows(loss, bias, weighted):
    data = many_rows()
    weights = np.random.default_rng(1).uniform(0.1, 1.9, size=data.n_samples)
    weights = weights / weights.mean() if weighted else None
    problem = Problem(data, 1e-4, Loss(loss), bias, row_weights=weights)
    gap, count = trained(problem, 1e-6)
    from_zeros, all_rows = trained(problem, 1e-6, (np.zeros(5), 0.0))
    assert max(gap, from_zeros) <= 1e-6
    assert count.entries < 0.8 * all_rows.entries


@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_a_sample_of_one_class_is_not_a_start(loss):
    rare = many_rows(positive=3e-5)
    assert np.count_nonzero(rare.labels > 0) == 1
    problem = Problem(rare, 1e-4, Loss(loss), "free")
    assert smooth._from_sample(problem, smooth.never, WorkCount()) is None
    assert trained(problem, 1e-6)[0] <= 1e-6


def test_few_rows_have_no_sample():
    problem = Problem(many_rows(m=20_000), 1e-4, Loss("logistic"))
    assert smooth._from_sample(problem, smooth.never, WorkCount()) is None


def test_a_sample_draws_each_row_once_and_in_order(monkeypatch):
    drawn, taken = [], smooth.take_rows

    def recorded(data, rows):
        drawn.append(rows)
        return taken(data, rows)

    monkeypatch.setattr(smooth, "take_rows", recorded)
    problem = Problem(many_rows(m=200_000), 1e-4, Loss("logistic"))
    assert smooth._from_sample(problem, smooth.never, WorkCount()) is not None
    assert [len(rows) for rows in drawn] == [30_000, 4500]
    assert all((np.diff(rows) > 0).all() for rows in drawn)


@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_a_sample_is_solved_to_the_accuracy_that_it_can_give_and_its_work_counts(loss, monkeypatch):
    """One that is asked for less takes less work; the end of all steps takes more."""
    problem = Problem(many_rows(), 1e-4, Loss(loss), "free")
    work = {}
    for accuracy in (smooth.sample_accuracy(4500, 5), 0.5, 1e-15):
        monkeypatch.setattr(smooth, "sample_accuracy", lambda *_, a=accuracy: a)
        count = WorkCount()
        assert smooth._from_sample(problem, smooth.never, count) is not None
        work[accuracy] = count.entries
        assert count.steps > 0
    usual, rough, sharp = work.values()
    assert 0.0 < rough < usual < sharp


def test_a_sample_that_is_due_ends_with_its_first_step():
    problem = Problem(many_rows(), 1e-4, Loss("logistic"))
    count = WorkCount()
    assert smooth._from_sample(problem, lambda: True, count) is not None
    assert count.steps <= 1


def test_the_work_of_a_factor_is_that_of_its_sum_and_of_the_factorisation(monkeypatch):
    data = many_rows(m=100)
    rows, factorisation = newton_systems.NormalEquations(data.rows).work, factor_cost(5)
    assert rows > 0.0
    assert newton_systems.SystemWork.of(data).on(1.0) == rows + factorisation
    assert Factored(Problem(data, 1e-4, Loss("logistic"))).work(0.25) == 0.25 * rows + factorisation
    monkeypatch.setattr(newton_systems, "MOST_FEATURES", 5)
    assert newton_systems.SystemWork.of(data).on(1.0) == rows + factorisation
    monkeypatch.setattr(newton_systems, "MOST_FEATURES", 4)
    assert newton_systems.SystemWork.of(data).on(1.0) == np.inf


def test_only_rows_with_curvature_count_as_work_of_a_factor(monkeypatch):
    shares, step = [], smooth.newton_step

    def recorded(system, *rest):
        shares.append(system.share)
        return step(system, *rest)

    monkeypatch.setattr(smooth, "newton_step", recorded)
    problem = Problem(many_rows(m=1000), 1e-4, Loss("squared-hinge"))
    w, b, _ = next(smooth.newton(problem, wanted=1e-6))
    assert shares[0] == 1.0
    shares.clear()
    list(smooth.newton(problem, start=(w, b)))
    assert 0.0 < shares[0] < 1.0
    assert shares[0] == np.mean(problem.margins(w, b) < 1.0)


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_conjugate_gradients_alone_reach_the_optimum(loss, bias, monkeypatch):
    monkeypatch.setattr(newton_systems, "MOST_FEATURES", 0)
    problem = Problem(many_rows(m=1000, d=30), 1e-4, Loss(loss), bias)
    gap, count = trained(problem, 1e-9)
    assert gap <= 1e-9
    assert count.steps <= 20
    assert count.entries <= 20 * 30 * problem.data.nnz


def test_a_factor_counts_as_work(monkeypatch):
    # The most that conjugate gradients may take, what the factor takes, and then nothing.
    works = chain([0.0, 1e12], repeat(0.0))
    monkeypatch.setattr(Factored, "work", lambda *_: next(works))
    problem, count = Problem(many_rows(m=100), 1e-4, Loss("logistic")), WorkCount()
    pairs = smooth.newton(problem, count=count)
    next(pairs)
    assert count.entries == problem.data.nnz  # the gradient
    next(pairs)
    assert count.entries > 1e12


@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_conjugate_gradients_of_several_steps_pay_for_the_first_factor(loss, monkeypatch):
    problem, count = Problem(many_rows(m=1000, d=30), 1e-6, Loss(loss)), WorkCount()
    price = 12.0 * problem.data.nnz
    solve, form = newton_systems.conjugate_gradients, Factored.form
    taken, before_first = [], []

    def recorded(*given):
        begun = count.entries
        found = solve(*given)
        taken.append(count.entries - begun)
        return found

    def formed(self, *given):
        before_first.append(list(taken))
        return form(self, *given)

    monkeypatch.setattr(Factored, "work", lambda *_: price)
    monkeypatch.setattr(newton_systems, "FAR_FACTOR", math.inf)  # without the work of diagonals
    monkeypatch.setattr(newton_systems, "conjugate_gradients", recorded)
    monkeypatch.setattr(Factored, "form", formed)
    list(smooth.newton(problem, count=count))
    spent = before_first[0]
    assert max(spent) < price
    assert sum(spent[:-2]) < price <= sum(spent)


@pytest.mark.parametrize(
    ("entries", "share", "kept"), [(2, 0.5, True), (2, 0.4, False), (60, 0.4, True)]
)
def test_a_factor_is_given_up_where_few_of_its_rows_count_and_a_product_costs_less(
    entries, share, kept
):
    X = np.zeros((400, 60))
    X[:, :entries] = np.random.default_rng(0).normal(size=(400, entries))
    factored = Factored(Problem(dataset(X, np.ones(400)), 1e-3, Loss("squared-hinge")))
    assert factored.form(np.ones(400), np.zeros(61))
    factored.keep_near(share)
    assert factored.formed == kept


@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_the_diagonal_saves_products_where_columns_differ_in_frequency(loss, bias, monkeypatch):
    monkeypatch.setattr(newton_systems, "MOST_FEATURES", 0)  # no factor
    rng = np.random.default_rng(0)
    m, sizes = 3000, np.array([400, 200])
    codes = np.floor(sizes * rng.random((m, 2)) ** 4).astype(int) + np.array([0, 400])
    X = np.zeros((m, 600))
    np.put_along_axis(X, codes, 1.0, axis=1)
    scores = X @ rng.normal(size=600) + rng.normal(size=m)
    data = dataset(X, np.where(scores > 0.0, 1, -1), "uint16+ones")
    problem = Problem(data, 1e-6, Loss(loss), bias)
    gap, with_diagonal = trained(problem, 1e-4)
    monkeypatch.setattr(smooth, "DIAGONAL_SHARE", 0.0)
    plain_gap, without = trained(problem, 1e-4)
    assert max(gap, plain_gap) <= 1e-4
    assert with_diagonal.entries < 0.8 * without.entries


def test_the_diagonal_preconditions_only_where_a_factor_is_far():
    factored = Factored(Problem(many_rows(m=100), 1e-4, Loss("logistic")))
    product = 0.5 * 500
    assert factored.is_far(0.5, 21.0 * product)
    assert not factored.is_far(0.5, 19.0 * product)
    assert factored.form(np.ones(100), np.zeros(6))
    assert not factored.is_far(0.5, 21.0 * product)


@pytest.mark.parametrize("blind", [False, True])
def test_the_diagonal_is_left_where_rounding_hides_whether_p_falls(blind):
    """The gap there is that of the gradient's length, which it would not lower most."""
    asked = []
    every = np.ones(6)
    system = newton_systems.NewtonSystem(
        lambda v: 2.0 * v,
        lambda: pytest.fail("there is no factor"),
        lambda: asked.append(True) or every,
        every,
        1.0,
        lambda left: not left.any(),
    )
    step = newton_systems.newton_step(
        system, None, WorkCount(), smooth.never, exact=blind, ending=False
    )
    assert np.array_equal(step, 0.5 * every)
    assert bool(asked) == (not blind)


def test_steps_on_a_rare_class_cost_less_without_factors_of_rows_that_no_longer_count(monkeypatch):
    """Most rows of the other class leave the support in the course of the steps."""
    m, sizes, work = 6000, np.array([3, 10, 60, 150]), {0.5: 0.0, 0.0: 0.0}
    for seed in range(3):
        rng = np.random.default_rng(seed)
        codes = np.floor(sizes * rng.random((m, 4)) ** 2).astype(int) + np.cumsum(sizes) - sizes
        X = np.zeros((m, sizes.sum()))
        np.put_along_axis(X, codes, 1.0, axis=1)
        scores = X @ rng.normal(size=X.shape[1]) + rng.normal(size=m)
        data = dataset(X, np.where(scores > np.quantile(scores, 0.995), 1, -1), "uint16+ones")
        problem = Problem(data, 5e-6, Loss("squared-hinge"))
        for share in work:
            monkeypatch.setattr(newton_systems, "FADED", share)
            gap, count = trained(problem, 1e-4)
            assert gap <= 1e-4
            work[share] += count.entries
    assert work[0.5] < 0.9 * work[0.0]


@pytest.mark.parametrize(
    ("before", "gap", "enough", "ending"),
    [
        (1.0, 0.1, 1e-3, True),  # 0.1 x 0.1^2.5 is 3e-4
        (1.0, 0.1, 1e-4, False),
        (1e-3, 1e-3, 1.0, False),
        (math.inf, 1e-3, 1.0, False),
        (1.0, 0.1, math.inf, False),
    ],
)
def test_few_steps_are_left_where_the_gap_falls_fast(before, gap, enough, ending):
    assert smooth._is_ending(before, gap, enough) == ending


def test_the_last_step_alone_has_to_pay_for_a_factor(monkeypatch):
    even = many_rows(m=1000, d=30)
    data = dataset(even.values * np.logspace(-1, 1, 30), even.labels, "dense float64")
    problem = Problem(data, 1e-2, Loss("logistic"))
    multiply, form, reads, formed = smooth.weighted_product, Factored.form, [], []

    def recorded(*given):
        last, read = multiply(*given)
        reads.append(read)
        return last, read

    def forming(self, *given):
        formed.append(1)
        return form(self, *given)

    with monkeypatch.context() as alone:
        alone.setattr(newton_systems, "MOST_FEATURES", 0)
        alone.setattr(smooth, "weighted_product", recorded)
        trained(problem, 1e-6)
    # All steps together would pay for a factor shortly before the end.
    price = sum(reads[:-5])
    monkeypatch.setattr(Factored, "work", lambda *_: price)
    monkeypatch.setattr(Factored, "form", forming)
    monkeypatch.setattr(smooth, "_LAST_STEPS", 0.0)
    trained(problem, 1e-6)
    assert formed
    formed.clear()
    monkeypatch.undo()
    monkeypatch.setattr(Factored, "work", lambda *_: price)
    monkeypatch.setattr(Factored, "form", forming)
    trained(problem, 1e-6)
    assert not formed


@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_a_pair_is_shown_only_where_it_may_be_within_the_wanted_gap(loss):
    problem, count = Problem(many_rows(m=1000), 1e-4, Loss(loss)), WorkCount()
    w, b, alpha = next(smooth.newton(problem, wanted=1e-6, count=count))
    gap = relative_gap(problem.primal(w, b), problem.dual(alpha))
    assert gap <= 1e-6 or count.steps == 4


def test_the_bias_of_a_start_is_ignored_where_the_problem_has_none():
    problem = Problem(many_rows(m=1000), 1e-4, Loss("logistic"))
    assert {b for _, b, _ in smooth.newton(problem, start=(np.zeros(5), 5.0))} == {0.0}


@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_a_start_far_from_the_optimum_is_left(loss):
    problem = Problem(many_rows(m=1000), 1e-4, Loss(loss), "free")
    gap, _ = trained(problem, 1e-9, (np.full(5, -300.0), 10.0))
    assert gap <= 1e-9


@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_a_pair_is_shown_when_the_time_is_over_and_for_each_doubling_of_the_steps(loss):
    problem, count = Problem(many_rows(m=1000, d=30), 1e-6, Loss(loss)), WorkCount()
    next(smooth.newton(problem, lambda: True, wanted=0.0, count=count))
    assert count.steps == 0
    next(smooth.newton(problem, wanted=0.0, count=count))
    assert count.steps == 4
    count = WorkCount()
    next(smooth.newton(problem, wanted=0.0, count=count, unshown=10.0 * problem.data.nnz))
    assert count.steps in (4, 8, 16)
    assert count.entries > 10.0 * problem.data.nnz


@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_steps_end_after_one_that_gains_little(loss):
    problem, primals = Problem(many_rows(m=1000, d=30), 1e-6, Loss(loss)), []
    for least_gain in (0.3, 1e-2, 1e-12):
        *_, (w, b, _) = smooth.newton(problem, wanted=0.0, unshown=np.inf, least_gain=least_gain)
        primals.append(problem.primal(w, b))
    rough, fair, sharp = primals
    assert sharp < fair < 1.01 * sharp
    assert fair < rough < 2.0 * sharp


@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_the_last_pair_is_shown_and_is_as_exact_as_rounding_allows(loss):
    problem = Problem(many_rows(m=1000, d=30), 1e-6, Loss(loss))
    *_, (w, b, alpha) = smooth.newton(problem, wanted=0.0)
    gap = relative_gap(problem.primal(w, b), problem.dual(alpha))
    assert gap <= 1e-12


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize("loss", smooth.LOSSES)
def test_columns_of_any_scales_reach_the_wanted_gap(loss, bias, seed):
    # P is at its least, as far as rounding shows, long before alpha balances the largest column.
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 31))
    X = rng.normal(size=(300, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=300) > 0.0, 1, -1)
    X += rng.normal(size=d)
    weights = rng.uniform(0.1, 3.0, size=300)
    data = dataset(X * 10.0 ** rng.uniform(-10.0, 10.0, size=d), y, "dense float64")
    lam = 10.0 ** rng.uniform(-6.0, -1.0)
    for c in (None, weights / weights.mean()):
        gap, count = trained(Problem(data, lam, Loss(loss), bias, row_weights=c), 1e-4)
        assert gap <= 1e-4
        assert count.steps <= 100


def test_scores_count_their_work():
    problem, count = Problem(many_rows(m=50), 1e-2, "squared-hinge"), WorkCount()
    surface = smooth.Surface(problem, count)
    surface.scores(np.zeros(6))
    assert count.entries == problem.data.nnz
