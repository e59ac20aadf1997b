"""Which methods train a problem, in which order, and where they begin."""

import math
from itertools import islice

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from problems import scaled
from svmbench.data.in_memory import as_dataset
from svmbench.problem import Loss, Problem
from svmbench.solvers.second_order import smooth
from svmbench.train import methods as module
from svmbench.train.best import Best
from svmbench.train.effort import Effort
from svmbench.train.fit import fit
from svmbench.train.methods import Methods
from svmbench.train.turns import Candidate, in_turns


def test_the_interior_point_method_takes_part_where_newton_steps_end():
    problem = Problem(scaled(200, 1e9), 1e-9, Loss("squared-hinge"), "free")
    names = set()
    pairs = in_turns(
        Methods(Best(problem, 1e-12, math.inf), Effort(), lambda: False).groups(), lambda: False
    )
    for method, pair in islice(pairs, 200):
        method.note(problem.primal(pair[0], pair[1]), problem.dual(pair[2]))
        names.add(method.name)
    assert names == {"newton", "dcd", "ipm"}


def test_newton_s_work_is_that_of_its_steps(monkeypatch):
    monkeypatch.setattr(module, "HEAD_START", math.inf)
    problem = Problem(scaled(60, 1.0), 0.02, Loss("logistic"))
    start = np.full(3, 5.0), 0.0, np.zeros(60)
    # Of such a tolerance no step is shown, until rounding hides what P falls.
    newton, _ = next(
        Methods(Best(problem, 1e-300, math.inf), Effort(), lambda: False, start).groups()
    )
    done = []
    for _ in range(2):
        assert newton.next() is not None
        newton.note(1.0, 0.5)
        done.append((newton.count.steps, newton.work))
    steps, work = zip(*done, strict=True)
    assert 8 < steps[0] == steps[1] - 1
    # A step reads all entries for its gradient and its margins, and for each product.
    assert work[0] >= steps[0] * 3 * 180
    assert work[1] - work[0] >= 3 * 180


def _starts_of_newton(monkeypatch):
    """The points that Newton steps on smooth losses begin at, as they come."""
    begun, newton = [], smooth.newton

    def recorded(problem, due, start=None, *rest, **given):
        if "least_gain" not in given:  # those of a sample have one
            begun.append(start)
        return newton(problem, due, start, *rest, **given)

    monkeypatch.setattr(smooth, "newton", recorded)
    return begun


def _descent_first(monkeypatch, passes):
    """Dual descent comes before Newton steps, which are expected to take so many passes."""
    monkeypatch.setattr(module, "SMALL", 0.0)
    monkeypatch.setattr(module, "FEW_PASSES", 0.0)
    monkeypatch.setattr(module, "MANY_ROWS", math.inf)
    monkeypatch.setattr(module, "NEWTON_PASSES", passes)
    monkeypatch.setattr(module, "UNFACTORED_PASSES", passes)
    monkeypatch.setattr(module, "NEWTON_FACTORS", 0.0)


def test_newton_steps_need_no_factor_where_conjugate_gradients_cost_less():
    """Rows of two ones among 4,000 columns: a factor takes as long as thousands of passes."""
    rng = np.random.default_rng(4)
    pairs = rng.integers(0, 2000, size=(8000, 2)) + np.array([0, 2000])
    X = csr_matrix((np.ones(16_000), pairs.ravel(), np.arange(0, 16_001, 2)), shape=(8000, 4000))
    y = np.where(X @ rng.normal(size=4000) + rng.normal(size=8000) > 0.0, 1, -1).astype(np.int8)
    problem = Problem(as_dataset(X).relabelled(y), 1e-5, Loss("logistic"))
    found = fit(problem, 1e-3)
    assert (found.method, found.gap <= 1e-3) == ("newton", True)


smooth_losses = pytest.mark.parametrize("loss", ["squared-hinge", "logistic"])


@smooth_losses
@pytest.mark.parametrize("bias", ["none", "free"])
def test_newton_steps_begin_where_dual_descent_has_come(monkeypatch, bias, loss):
    _descent_first(monkeypatch, 40.0)
    begun = _starts_of_newton(monkeypatch)
    problem = Problem(scaled(300, 1.0, d=8), 1e-2, Loss(loss), bias)
    assert fit(problem, 1e-10).gap <= 1e-10
    ((w, b),) = begun
    assert problem.primal(w, b) < 0.9 * problem.primal_at_zero()
    assert b == 0.0 or bias == "free"


@smooth_losses
@pytest.mark.parametrize("bias", ["none", "free"])
@pytest.mark.parametrize(("passes", "first"), [(1e6, "dcd"), (20.0, "newton")])
def test_dual_descent_leads_while_it_is_expected_to_need_less_work(
    monkeypatch, passes, first, bias, loss
):
    _descent_first(monkeypatch, passes)
    found = fit(Problem(scaled(300, 1.0, d=8), 1e-2, Loss(loss), bias), 1e-8)
    assert found.method == first
    assert found.gap <= 1e-8


def test_newton_steps_begin_again_where_another_method_has_come_nearer(monkeypatch):
    begun = _starts_of_newton(monkeypatch)
    problem = Problem(scaled(60, 1.0), 0.02, Loss("logistic"))
    good = fit(problem, 1e-6)
    best = Best(problem, 1e-300, math.inf)
    far = np.full(3, 50.0), 0.0, np.zeros(60)
    newton, _ = next(Methods(best, Effort(time_limit=0.0), lambda: True, far).groups())
    begun.clear()
    best.certify(newton, newton.next())
    best.certify(Candidate("other", iter(())), (good.w, good.bias, good.alpha))
    assert newton.next() is not None
    assert [each[0][0] for each in begun] == [50.0, good.w[0]]


def test_newton_steps_ignore_weights_where_the_logistic_loss_saturates(monkeypatch):
    begun = _starts_of_newton(monkeypatch)
    problem = Problem(scaled(60, 1.0), 0.02, Loss("logistic"))
    good = fit(problem, 1e-6)
    for factor, expected in ((1.0, good.w[0]), (30.0, None)):
        best = Best(problem, 1e-8, math.inf)
        best.certify(Candidate("other", iter(())), (factor * good.w, 0.0, good.alpha))
        begun.clear()
        newton, _ = next(Methods(best, Effort(), lambda: True).groups())
        newton.next()
        assert [each and each[0][0] for each in begun] == [expected]


def test_newton_steps_have_a_finite_head_start_even_if_descent_ends_first(monkeypatch):
    _descent_first(monkeypatch, 40.0)
    problem = Problem(scaled(300, 1.0, d=8), 1e-2, Loss("squared-hinge"))
    dcd, newton = next(Methods(Best(problem, 1e-10, math.inf), Effort(), lambda: False).groups())
    assert dcd.leads()
    expected = 40.0 * problem.data.nnz
    assert newton.head_start() == module.HEAD_START * expected


@pytest.mark.parametrize("loss", ["hinge", "squared-hinge", "logistic"])
def test_a_single_method_takes_part_if_only_that_is_asked_for(loss):
    problem = Problem(scaled(300, 1.0, d=8), 1e-2, Loss(loss), "free")
    for only in ("newton", "dcd"):
        found = fit(problem, 1e-6, only=only)
        assert (found.method, found.gap <= 1e-6) == (only, True)
