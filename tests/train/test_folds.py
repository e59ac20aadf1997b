"""Folds trained at once: certified by their own problems, and no other choice than one by one."""

from dataclasses import replace

import numpy as np
import pytest

from problems import assert_close, dataset
from svmbench.data.derived import with_constant
from svmbench.engine.effort import USUAL, Effort
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.problem import Problem
from svmbench.proof import proven_dual
from svmbench.train.classes import model_of
from svmbench.train.examples import Examples
from svmbench.train.folds import FoldFits
from svmbench.train.objective import Objective
from svmbench.train.path import grid
from svmbench.train.validation import assign_folds, cross_validate

TOLERANCE, ROUNDED = 1e-2, 1e-12

every_loss = pytest.mark.parametrize("loss", TRAINED_LOSSES)
every_bias = pytest.mark.parametrize("bias", TRAINED_BIASES)


def made(m=240, d=12, classes=2, noise=1.0, seed=0, weighted=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d)) * (rng.random((m, d)) < 0.4)
    score = X @ rng.normal(size=d) + noise * rng.normal(size=m) + 0.5
    labels = np.digitize(score, np.quantile(score, np.arange(1, classes) / classes))
    weights = rng.uniform(0.2, 3.0, size=m) if weighted else None
    costs = {1: 2.5} if weighted else {}
    return Examples(dataset(X, np.ones(m)), labels, weights, costs)


def at_once(examples, objective, folds, effort=USUAL):
    """Fits of all folds, and the fold of each row."""
    assert FoldFits.suit(examples, objective, folds)
    of_row = assign_folds(examples, folds, effort.seed)
    return FoldFits(examples, objective, of_row, folds, effort), of_row


def problem_of(examples, label, objective):
    """A class against the rest as `train` poses it."""
    rows, weights = examples.against_rest(label)
    if objective.bias == "regularised":
        rows = with_constant(rows, 1.0)
    lam = objective.regularisation(rows.n_samples)
    bias = "free" if objective.bias == "free" else "none"
    if weights is not None:
        lam, weights = lam / weights.mean(), weights / weights.mean()
    return Problem(rows, lam, objective.as_loss(), bias, row_weights=weights)


@pytest.mark.parametrize(
    ("classes", "folds", "weighted"), [(2, 3, False), (2, 10, True), (3, 3, True)]
)
@every_bias
@every_loss
def test_fits_are_certified_by_their_own_problems(loss, bias, classes, folds, weighted):
    examples, objective = made(classes=classes, weighted=weighted), Objective(loss, bias=bias)
    fits, of_row = at_once(examples, objective, folds)
    values = grid(examples, objective)[1:9]
    seen = 0
    for C in values:
        if not fits.train(C, TOLERANCE, range(folds)):
            break
        wrong = fits.wrong()
        seen += 1
        at = replace(objective, C=C)
        for fold in (0, folds - 1):
            learning, last = fits.learning(fold), fits.last(fold)
            assert learning.rows.n_samples == (of_row != fold).sum()
            for label, state, known in zip(
                examples.classes, last.fits, fits.certified(fold), strict=False
            ):
                if known.method != "start":
                    check(problem_of(learning, label, at), state)
                    assert (state.primal, known.dual) == (known.primal, state.dual)
                assert 0.0 <= known.gap <= TOLERANCE
            if all(known.method != "start" for known in fits.certified(fold)):
                model = model_of(examples.classes, objective, last.fits)
                own = examples.chosen(np.flatnonzero(of_row == fold))
                predicted = model.classes_of(model.decision_values(own.rows))
                assert np.array_equal(wrong[of_row == fold], predicted != own.labels)
    assert seen >= 4


def check(problem, state):
    """P is that of the weights, and D no larger than what alpha proves by other arithmetic."""
    assert_close(problem.lam, state.lam, rtol=1e-14)
    assert_close(state.primal, problem.primal(state.w, state.bias), rtol=1e-12)
    alpha = problem.repaired(state.alpha)
    assert_close(state.dual, proven_dual(problem, alpha), rtol=1e-5)
    assert state.dual <= problem.dual(alpha) * (1.0 + ROUNDED)


@pytest.mark.parametrize("classes", [2, 3])
@every_bias
@every_loss
def test_errors_are_nearly_those_of_folds_trained_one_by_one(loss, bias, classes):
    examples, objective = made(m=600, classes=classes), Objective(loss, bias=bias)
    values = grid(examples, objective)[4:12]
    found = cross_validate(examples, objective, 4, values, 1e-3, complete=True)
    other = cross_validate(examples, objective, 4, values, 1e-3, complete=True, one_by_one=True)
    assert found.gap <= 1e-3
    assert np.abs(found.errors - other.errors).max() <= 0.03 * 150
    assert found.values == other.values == values
    assert np.array_equal(found.fold_weights, other.fold_weights)


def test_a_time_limit_ends_what_is_trained_at_once():
    examples, objective = made(), Objective("hinge")
    fits, _ = at_once(examples, objective, 3, Effort(time_limit=0.0))
    values = grid(examples, objective)[6:]
    assert not fits.train(values[0], 1e-9, [0, 1, 2])
