"""dcd and newton against LIBLINEAR itself.

LIBLINEAR minimises J = 1/2 ||w||^2 + C sum max(0, 1 - s), which is P/lambda for C = 1/(lambda m);
with its squared loss, C sum max(0, 1 - s)^2, for C = 1/(2 lambda m).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

import numpy as np
import pytest

from problems import (
    PROBLEMS,
    dataset,
    dense,
    every_problem,
    has_both_classes,
    labels,
    with_class,
    with_loss,
)
from svmbench.data.load import load
from svmbench.problem import Loss, Problem
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.registry import find_solver
from svmbench.solvers.second_order.newton import Newton
from twins.objective import gap_of

from .agreement import (
    ROUNDING,
    assert_same_answer,
    certified,
    descent_gap,
    gradient_gap,
    matrix,
)

REASON = "the package liblinear-official is not installed"
liblinear = pytest.importorskip("liblinear.liblinear", reason=REASON)
liblinearutil = pytest.importorskip("liblinear.liblinearutil", reason=REASON)

#: LIBLINEAR's -s, by loss.
DUAL = {"hinge": 3, "squared-hinge": 1}
PRIMAL = 2

#: Pairs of our solver and the type of LIBLINEAR's that it is held against.
PAIRS = {
    "dcd on hinge, -s 3": (Dcd, "hinge", DUAL["hinge"]),
    "dcd on squared hinge, -s 1": (Dcd, "squared-hinge", DUAL["squared-hinge"]),
    "newton, -s 2": (Newton, "squared-hinge", PRIMAL),
    "newton, -s 1": (Newton, "squared-hinge", DUAL["squared-hinge"]),
}
every_pair = pytest.mark.parametrize("pair", PAIRS)

#: Where LIBLINEAR's rule does not come to hold: a gradient that is zero but for rounding from
#: the start does not get smaller; and its dual descent ends after 300 passes at the latest.
UNFINISHED = {("contradicting-rows", PRIMAL), ("one-against-many", DUAL["hinge"])}

#: LIBLINEAR prints its objective with six decimals.
PRINTED = 0.5e-6


@dataclass(frozen=True, eq=False)
class Answer:
    """What LIBLINEAR leaves behind: w and b for the label +1, and what it said on the way."""

    w: np.ndarray
    bias: float
    model: object
    said: str

    @property
    def finished(self):
        """Whether its rule held, rather than its limit of passes or its precision ended it."""
        return "WARNING" not in self.said and "switching" not in self.said

    @property
    def dual_objective(self):
        """Its lower bound on J, and how many dual variables are not zero."""
        objective = re.search(r"Objective value = (\S+)", self.said)
        support = re.search(r"nSV = (\d+)", self.said)
        return -float(objective[1]), int(support[1])


def cost(problem):
    """C."""
    factor = 1.0 if problem.loss.name == "hinge" else 2.0
    return 1.0 / (factor * problem.lam * problem.data.n_samples)


def answer(problem, kind, tolerance, signs=(1.0, -1.0), options="-B -1"):
    """LIBLINEAR's answer; ``signs`` are the labels that it is told instead of +1 and -1."""
    told = np.where(problem.data.labels > 0, *signs)
    said = []
    parameter = liblinear.parameter(f"-s {kind} -c {cost(problem)!r} -e {tolerance!r} {options}")
    parameter.print_func = liblinear.PRINT_STRING_FUN(lambda text: said.append(text.decode()))
    rows = liblinear.problem(told.tolist(), matrix(problem.data))
    model = liblinearutil.train(rows, parameter)
    # Its w is for the label it has met first (or for +1 where labels are +1 and -1).
    sign = 1.0 if model.get_labels()[0] == signs[0] else -1.0
    w = np.zeros(problem.data.n_features)
    decision, bias = model.get_decfun()
    w[: len(decision)] = sign * np.array(decision)
    return Answer(w, sign * bias, model, "".join(said))


def promised(problem, kind, tolerance, w):
    """P(w) - P* that LIBLINEAR's tolerance implies for its own w."""
    if kind != PRIMAL:
        return descent_gap(problem, w, tolerance)
    return gradient_gap(problem, tolerance)


def assert_agreement(problem, run, other, kind, tolerance):
    """Objectives, weights and predictions of the two programs."""
    primal, dual = problem.primal(run.w), problem.dual(run.alpha)
    excess = problem.primal(other.w) - dual
    rounding = ROUNDING * max(1.0, primal)
    assert excess >= -rounding  # our bound holds for its point
    if other.finished:
        ours = gap_of(problem, run.w, run.alpha)  # which P* may lie above our bound
        assert excess <= promised(problem, kind, tolerance, other.w) + ours + rounding
    if kind != PRIMAL:
        bound = problem.lam * (other.dual_objective[0] - PRINTED)
        assert bound <= primal + rounding  # and its bound for ours
    assert_same_answer(problem, run.w, other.w, dual)


@every_pair
@every_problem
def test_small_problems(name, pair):
    solver, loss, kind = PAIRS[pair]
    problem = with_loss(PROBLEMS[name], loss)
    other = answer(problem, kind, 1e-6)
    assert other.finished or (name, kind) in UNFINISHED
    # What is promised is little: a wrong C or a half too much would exceed it by far.
    assert promised(problem, kind, 1e-6, other.w) <= 1e-5
    assert_agreement(problem, certified(solver, problem), other, kind, 1e-6)


@pytest.mark.parametrize("name", [n for n, p in PROBLEMS.items() if has_both_classes(p)])
def test_a_free_bias(name):
    # -R leaves the bias out of the regulariser, in the primal of the squared hinge alone.
    problem = with_class(PROBLEMS[name], "squared-hinge", bias="free")
    tolerance = 1e-6
    other = answer(problem, PRIMAL, tolerance, options="-B 1 -R")
    # A warning of too few steps of its inner method; what it comes to is held to all below.
    assert other.finished or name in ("only-zero-rows", "contradicting-rows", "one-against-many")
    run = certified(find_solver("smo"), problem)
    primal = problem.primal(run.w, run.bias)
    excess = problem.primal(other.w, other.bias) - primal
    # Our point is optimal, so that its own can only be worse; and by convexity no worse than
    # by its gradient, within its tolerance of the one at zero, times how far apart they are.
    ours = gap_of(problem, run.w, problem.repaired(run.alpha), run.bias)
    rounding = ROUNDING * max(1.0, primal)
    apart = np.append(run.w - other.w, run.bias - other.bias)
    y = labels(problem.data)
    first = np.append(y @ dense(problem.data), y.sum()) / len(y)
    rarer = min(np.sum(y > 0.0), np.sum(y < 0.0)) / len(y)
    slope = tolerance * rarer * np.linalg.norm(first)
    assert -ours - rounding <= excess <= slope * np.linalg.norm(apart) + rounding
    assert np.linalg.norm(apart[:-1]) <= sum(
        np.sqrt(2.0 * (worse + ours + rounding) / problem.lam) for worse in (0.0, max(excess, 0.0))
    )


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("first", [1, -1])
@pytest.mark.parametrize("signs", [(1.0, -1.0), (5.0, 2.0), (2.0, 5.0)])
def test_whichever_label_comes_first(first, kind, signs):
    loss = "hinge" if kind == DUAL["hinge"] else "squared-hinge"
    plain = with_loss(PROBLEMS["overlapping"], loss)
    order = np.argsort(-first * plain.data.labels, kind="stable")
    X, y = dense(plain.data)[order], plain.data.labels[order]
    assert y[0] == first
    problem = Problem(dataset(X, y), plain.lam, plain.loss)
    other = answer(problem, kind, 1e-6, signs)
    assert other.model.get_labels()[0] == (
        1 if signs == (1.0, -1.0) else np.where(y > 0, *signs)[0]
    )
    run = certified(Dcd, problem)
    assert_agreement(problem, run, other, kind, 1e-6)
    # Its own predictions are the signs of our scores, where those are not in doubt.
    told = np.where(y > 0, *signs).tolist()
    predicted = liblinearutil.predict(told, matrix(problem.data), other.model, "-q")[0]
    expected = np.where(X @ other.w > 0.0, *signs)
    np.testing.assert_array_equal(predicted, expected)
    assert int(np.sum(predicted != np.array(told))) == problem.evaluate(other.w).errors


@pytest.mark.parametrize("pair", PAIRS)
def test_a_wrong_constant_would_be_found(pair):
    # The comparisons above are worth something only if they fail where they should.
    solver, loss, kind = PAIRS[pair]
    problem = with_loss(PROBLEMS["overlapping"], loss)
    run = certified(solver, problem)
    off = Problem(problem.data, problem.lam * 1.01, problem.loss)
    with pytest.raises(AssertionError):
        assert_agreement(problem, run, answer(off, kind, 1e-6), kind, 1e-6)


@cache
def real(name):
    return load(name, offline=True).train


@every_pair
@pytest.mark.parametrize(
    ("name", "lam", "tolerance"), [("adult", 3e-2, 1e-6), ("reuters21578", 1e-3, 1e-6)]
)
@pytest.mark.usefixtures("real_data")
def test_real_data(name, lam, tolerance, pair, tmp_path, monkeypatch):
    monkeypatch.setenv("SVMBENCH_CACHE", str(tmp_path))
    solver, loss, kind = PAIRS[pair]
    problem = Problem(real(name), lam, Loss(loss))
    other = answer(problem, kind, tolerance)
    assert other.finished
    assert promised(problem, kind, tolerance, other.w) <= 1e-5
    assert_agreement(problem, certified(solver, problem, 1e-8), other, kind, tolerance)
