"""Dual coordinate descent, with or without a free bias, that yields better and better pairs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.data.derived import constant_feature, without_last_feature
from svmbench.names import HINGES
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.dual.bias import best_bias
from svmbench.solvers.dual.dcd import Dcd, DcdParameters
from svmbench.solvers.dual.progress import PastGaps
from svmbench.solvers.pairs import ROW_WORK, PrimalAndDual, WorkCount, never

#: Value of the feature that represents a free bias, in units of the rows' root mean square norm.
#: A larger value takes fewer multiplier steps but poses harder problems between them.
BIAS_VALUE = 0.3

#: Least regularised constant feature that a smaller one replaces, in multiples of that one: what
#: would be gained with less is hardly worth a copy of the rows. Not tuned.
LARGE_CONSTANT = 2.0

#: A certificate follows once the expected gap is this share of the wanted one, of which the gap
#: after passes was 0.6 to 2 times on two sets of text, and has halved since another.
ENOUGH = 0.7

#: Work of a certificate for each stored entry, in entries of a product of a Newton step (3.8 to 6.9
#: on w8a, adult, mushrooms and covtype.20k).
CERTIFICATE_WORK = 4.0

#: Share by which margins exceed one where no loss is to be left in spite of rounding.
ROUNDED_MARGIN = 1e-13

#: Passes before the first pair that is yielded in any case.
FIRST_SHOWN = 16

#: Share of another method's expected work before the descent is compared with it. The second is
#: that of the logistic loss, whose gap falls evenly from the first passes; it is too soon for the
#: squared hinge with a free bias.
FIRST_COMPARED, FIRST_COMPARED_OF_LOGISTIC = 1 / 8, 1 / 32


def alone(share: float) -> float:
    """Work of another method where there is none: inf."""
    return math.inf


def descent(
    problem: Problem,
    due: Callable[[], bool] = never,
    start: PrimalAndDual | None = None,
    wanted: float = math.inf,
    count: WorkCount | None = None,
    rival: Callable[[float], float] = alone,
    *,
    without_constant: Dataset | None = None,
) -> Iterator[PrimalAndDual]:
    """Shrinking dual coordinate descent, for no bias and no ball.

    If the last feature is a large constant, which is a regularised bias, `_with_smaller_constant`
    descends unless lambda is large.

    - ``wanted``: relative gap (P - D)/D. A pair is yielded where the gap may be within it, and in
      any case for each doubling of the passes.
    - ``rival``: work that another method is expected to take, from the share of the rows with
      alpha_i > 0. Where the descent has fallen behind it, a pair is yielded, and ``count.rival`` is
      this work.
    - ``without_constant``: the rows without their last feature, for where it is a constant.
    """
    turns_of = partial(_Turns, problem, due, wanted, count, rival)
    constant, rho = constant_feature(problem.data), _constant_for(problem.data)
    if constant >= LARGE_CONSTANT * rho and _follows_rows(problem, constant):
        if without_constant is None:
            rows = without_last_feature(problem.data)
        else:
            rows = without_constant.relabelled(problem.data.labels)
        yield from _with_smaller_constant(problem, rows, constant, start, turns_of)
        return
    solver = _started(problem)
    if start is not None:
        solver.resume(start[2], problem.weights(start[2]))
    turns = turns_of(solver)
    while True:
        turns.take()
        if turns.worth_a_certificate(solver.w):
            alpha = solver.alpha
            yield *_separating(problem, problem.weights(alpha), alpha), alpha


def balanced_descent(
    problem: Problem,
    due: Callable[[], bool] = never,
    start: PrimalAndDual | None = None,
    wanted: float = math.inf,
    count: WorkCount | None = None,
    rival: Callable[[float], float] = alone,
) -> Iterator[PrimalAndDual]:
    """Coordinate descent for a free bias, by the method of multipliers.

    A constant feature rho penalises the imbalance a = sum_i alpha_i y_i by (rho a)^2. Its
    multiplier, the bias, is kept in the feature's weight, and grows by rho^2 a/(lam m) a turn.
    """
    turns_of = partial(_Turns, problem, due, wanted, count, rival)
    yield from _with_smaller_constant(problem, problem.data, math.inf, start, turns_of)


def _separating(problem: Problem, w: FloatArray, alpha: FloatArray) -> tuple[FloatArray, float]:
    """W and its best bias, or the multiple of w that leaves no loss, where that has a smaller P.

    With the hinge it has one near the optimum if no alpha is at its bound. Descent comes within
    1e-12 of these margins; a large C makes much of the loss that is left.
    """
    free = problem.bias == "free"
    hard = problem.loss.name == "hinge" and bool((alpha < problem.loss.upper).all())
    if not (free or hard):
        return w, 0.0
    scores = problem.data.rows.dot(w)
    bias = best_bias(problem, scores)
    if not hard:
        return w, bias
    positive = problem.data.labels > 0
    least = float(scores[positive].min(initial=math.inf))
    most = float(scores[~positive].max(initial=-math.inf))
    middle = 0.5 * (least + most) if free else 0.0
    apart = min(least - middle, middle - most) * (1.0 - ROUNDED_MARGIN)
    if not apart > 0.0:
        return w, bias
    losses = problem.counted(np.maximum(0.0, 1.0 - problem.data.labels * (scores + bias)))
    times = 1.0 / apart
    gained = float(losses.mean()) - 0.5 * problem.lam * float(w @ w) * (times * times - 1.0)
    return (times * w, -times * middle) if gained > 0.0 else (w, bias)


def _follows_rows(problem: Problem, constant: float) -> bool:
    """Whether rows decide a regularised bias, rather than its own penalty.

    That has the curvature lam/c^2, and the mean loss at most about the share of the smaller class.
    """
    counts = problem.counted(np.ones(problem.data.n_samples))
    positive = float(counts[problem.data.labels > 0].sum() / counts.sum())
    return min(positive, 1.0 - positive) * constant**2 >= problem.lam


def _with_smaller_constant(
    problem: Problem,
    rows: Dataset,
    constant: float,
    start: PrimalAndDual | None,
    turns_of: Callable[[_Started], _Turns],
) -> Iterator[PrimalAndDual]:
    """Descent for rows whose last feature is a constant, as `balanced_descent` does it.

    With the weight v of the constant c, the bias b = c v costs lam b^2/(2 c^2). Large constants
    make all rows alike, so that descent is slow. A constant rho < c poses proximal steps
    (Rockafellar, SIAM Journal on Control and Optimization 14, 1976): its penalty, with an offset of
    1 - rho^2/c^2 times the last bias, is that of b and a multiple of its squared move.
    """
    data, free = problem.data, problem.bias == "free"
    rho, labels = _constant_for(data), data.labels.astype(np.float64)
    solver, offset = _started(replace(problem, data=rows), rho), 1.0 - (rho / constant) ** 2

    def of_rows(alpha: FloatArray) -> float:
        return float(problem.counted(alpha) @ labels) / (problem.lam * data.n_samples)

    if start is not None:
        w, bias, alpha = start
        bias = bias if free else constant * float(w[-1])
        of_features = problem.weights(alpha)[: rows.n_features]
        solver.resume(alpha, np.append(of_features, rho * of_rows(alpha)))
        solver.shift(offset * bias / rho)
    elif free and rho * rho < problem.lam:
        # The multiplier moves by rho^2/lam at most in a turn: it would come to b too slowly.
        solver.shift(best_bias(problem, np.zeros(data.n_samples)) / rho)
    turns = turns_of(solver)
    while True:
        turns.take()
        alpha, w = solver.alpha, solver.w
        of_alpha, bias = of_rows(alpha), rho * float(w[-1])
        solver.shift(rho * of_alpha - (1.0 - offset) * w[-1])
        w[-1] = 0.0 if free else constant * of_alpha
        if turns.worth_a_certificate(w):
            alpha = problem.repaired(alpha) if free else alpha
            w = problem.weights(alpha)
            if not free:
                w[-1] = bias / constant
            yield *_separating(problem, w, alpha), alpha


def _constant_for(data: Dataset) -> float:
    """The value of the constant feature that represents a bias."""
    size = BIAS_VALUE * math.sqrt(float(data.rows.norms2().mean())) or 1.0
    with np.errstate(over="ignore"):
        single = float(np.float32(size))  # so that rows in single precision may stay so
    return single if 0.0 < single < math.inf else size


class _Started(Dcd):
    """Descent from given dual variables, or with an offset of the last feature's weight."""

    def __init__(self, parameters: DcdParameters, constant: float) -> None:
        super().__init__(parameters)
        self._constant = constant

    def resume(self, alpha: FloatArray, w: FloatArray) -> None:
        """Go on from these dual variables and their w(alpha)."""
        self._kernel.alpha[self._order] = alpha[self._order]  # rows of zeros have their best
        self._kernel.w[:] = w

    def shift(self, amount: float) -> None:
        """Add an offset to the last weight, independent of alpha."""
        self._kernel.w[-1] += amount
        if self._accelerator is not None:
            self._accelerator.shift(amount)
            self._earlier = self._bound()


def _started(problem: Problem, constant: float = 0.0) -> _Started:
    """Descent from zeros, in an order of rows that is fast beyond the caches, too.

    With a constant, it is one more, last feature of each row.
    """
    accelerated = problem.loss.name in HINGES
    parameters = DcdParameters(order="blocks", greedy=True, acceleration=accelerated)
    solver = _Started(parameters, constant)
    solver.start(problem, seed=0)
    return solver


class _Turns:
    """Turns of a descent: each is a pass, or an eighth of the passes so far."""

    def __init__(
        self,
        problem: Problem,
        due: Callable[[], bool],
        wanted: float,
        count: WorkCount | None,
        rival: Callable[[float], float],
        solver: _Started,
    ) -> None:
        self._problem, self._solver, self._due, self._wanted = problem, solver, due, wanted
        self._count = WorkCount() if count is None else count
        self._rival, self._past, self._certificates = rival, PastGaps(), 0
        self._shown = FIRST_SHOWN * problem.data.n_samples // 2
        self._expected = math.inf
        logistic = problem.loss.name == "logistic"
        self._first_compared = FIRST_COMPARED_OF_LOGISTIC if logistic else FIRST_COMPARED

    def take(self) -> None:
        m, solver = self._problem.data.n_samples, self._solver
        left = max(m, solver.counters.presentations // 8)
        while left > 0:
            solver.advance(min(m, left))
            left -= m
            if self._due():
                break
        done = solver.counters
        self._count.steps += 1
        self._count.entries = (
            done.nonzeros
            + ROW_WORK * done.presentations
            + CERTIFICATE_WORK * self._problem.data.nnz * self._certificates
        )

    def worth_a_certificate(self, w: FloatArray) -> bool:
        """Whether the gap may be within the wanted one, or the descent has just fallen behind."""
        if self._wanted == math.inf:
            return True
        problem, presentations = self._problem, self._solver.counters.presentations
        alpha = self._solver.alpha
        conjugates = problem.conjugate_sum(alpha) / problem.data.n_samples
        dual = conjugates - 0.5 * problem.lam * float(w @ w)
        expected = self._solver.expected_gap
        behind = self._falls_behind(relative_gap(dual + expected, dual), alpha)
        far = expected > min(ENOUGH * self._wanted * dual, 0.5 * self._expected)
        if far and not behind and presentations < 2 * self._shown and not self._due():
            return False
        self._shown, self._expected = presentations, expected
        self._certificates += 1
        return True

    def _falls_behind(self, gap: float, alpha: FloatArray) -> bool:
        """Whether the rival is expected to take less work, for the first time."""
        count, past = self._count, self._past
        past.add(count.entries, gap)
        if count.rival < math.inf:
            return False
        rival = self._rival(np.count_nonzero(alpha) / len(alpha))
        if count.entries < self._first_compared * rival:
            return False
        remaining = past.remaining(self._wanted)
        if max(count.entries, remaining) <= rival:
            return False
        count.rival, count.remaining = rival, remaining
        return True
