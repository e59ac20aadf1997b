"""The optimum of the hinge, from Newton steps on multipliers, with weights of rows and a free bias.

Given centres c and a penalty sigma, w and b minimise the smooth convex function

    lam/2 ||w||^2 + 1/m sum u_i max {a (1 - s_i) - (a - c_i)^2/(2 sigma) : 0 <= a <= 1}

of the margins s and the weights u of the rows, by Newton steps with a line search. The maximisers a
then become the centres, and sigma grows: the proximal method of multipliers (Rockafellar, 1976)
with semismooth Newton steps (Yan and Li, 2020), as in
`svmbench.solvers.champion.multiplier_steps`. As u_i multiplies the penalty too, a is a feasible
alpha. Only the rows with 0 < a_i < 1 have curvature. As in `svmbench.reference.search`, `Problem`
certifies what is yielded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.champion.multiplier_steps import (
    FALLING,
    FROM_ZERO,
    INNER_SHARE,
    INNER_STEPS,
    LARGEST_PENALTY,
    LOWERED,
    UNSOLVED,
)
from svmbench.solvers.dual.bias import best_bias
from svmbench.solvers.pairs import PrimalAndDual, WorkCount, never
from svmbench.solvers.second_order.newton_systems import Factored, SystemWork, inner
from svmbench.solvers.second_order.smooth import Surface, is_turn

#: The penalty, `FROM_ZERO` at first unless a start tells another, grows by the first after an inner
#: problem that is solved, and falls by the second after one that is not: where a plane nearly
#: separates the rows, dual variables are small, and a large penalty leaves few rows with curvature.
_GROWTH, _FALL = 3.0, 9.0

#: A warm start's penalty, times its relative gap; and a usual one for dual variables up to 1, as
#: the first of `auto`.
_WARM_PENALTY, _USUAL_PENALTY = 0.05, 1.5

#: Relative gap of a start beyond which nothing is gained by it. On 60 generated problems, steps to
#: 1e-4 from dual descent took 0.6 of the time that those from zeros took where its gap was below
#: 0.1, 0.9 up to 1, and 1.0 beyond (scripts/champion/adversary.py, seeds 0 to 3, a free bias).
_LARGEST_GAP = 1.0

#: Share of the wanted gap by which the bias may leave alpha unbalanced.
_UNBALANCED_SHARE = 0.1

#: A line search ends at this share of the first slope, or after so many slopes.
_SLOPE_LEFT, _MOST_SLOPES = 0.1, 30

#: Share of the rows that is taken to have curvature.
_CURVED_SHARE = 0.1

#: Work of a step and of a slope for each row besides that on its entries, in stored entries.
_STEP_WORK, _SLOPE_WORK = 60.0, 30.0


def newton(
    problem: Problem,
    due: Callable[[], bool] = never,
    start: PrimalAndDual | None = None,
    wanted: float = math.inf,
    count: WorkCount | None = None,
    unshown: float = 0.0,
) -> Iterator[PrimalAndDual]:
    """Newton steps on multipliers for the hinge, whose systems are solved by Cholesky factors.

    They end where rounding makes a system indefinite, or where inner problems in turn are not
    solved and do not lower P.
    """
    done = WorkCount() if count is None else count
    smoothed = _Smoothed(problem, done)
    point = smoothed.first(start)
    inner_steps, unsolved, before, solvable, found = 0, 0, math.inf, True, False
    while True:
        seen = smoothed.seen(point)
        near = seen.within(wanted)
        ended = unsolved >= UNSOLVED or smoothed.penalty > LARGEST_PENALTY or not solvable
        turn = done.entries > unshown and is_turn(done.steps)
        # If a certificate did not confirm a small gap, rounding may hide it in all steps to come.
        if (near and not found) or turn or ended or due():
            yield smoothed.pair(point)
        if ended:
            return
        found = found or near
        solved = seen.solves(wanted)
        if solved or inner_steps >= INNER_STEPS:
            unsolved = 0 if solved or seen.primal <= FALLING * before else unsolved + 1
            before, inner_steps, found = seen.primal, 0, False
            smoothed.move_centres(point, solved)
            point = smoothed.at(point.at, point.scores)
            seen = smoothed.seen(point)
        inner_steps += 1
        done.steps += 1
        step = smoothed.step(point, seen.downhill)
        solvable = step is not None
        if step is not None:
            point = smoothed.advanced(point, step, seen.downhill)


def step_work(data: Dataset, system: SystemWork) -> float:
    """Estimated work of a step on these rows, in stored entries."""
    of_rows = 3.0 * data.nnz + (_STEP_WORK + 2.0 * _SLOPE_WORK) * data.n_samples
    return of_rows + system.on(_CURVED_SHARE)


class _Position(NamedTuple):
    """w and b as one vector, with what follows from them."""

    at: FloatArray  # (shape (d + 1,)) b is last; 0 if the problem has none
    scores: FloatArray  # (shape (m,)) x_i w + b
    alpha: FloatArray  # (shape (m,)) The maximisers


class _Seen(NamedTuple):
    """What is known at a point."""

    downhill: FloatArray  # (shape (d + 1,)) Minus the gradient
    primal: float
    gap: float  # P - D, where alpha is balanced
    rest: float  # the gap without the gradient's part
    imbalance: float  # |sum u_i alpha_i y_i|/m; 0 without a free bias

    def within(self, wanted: float) -> bool:
        """Whether the relative gap is as wanted, and alpha balanced enough for it to be true."""
        balanced = self.imbalance <= _UNBALANCED_SHARE * wanted * self.primal
        return balanced and self.gap <= wanted * (self.primal - self.gap)

    def solves(self, wanted: float) -> bool:
        """Whether the inner problem is solved as far as its centres make it worth while."""
        most = _UNBALANCED_SHARE * max(wanted * self.primal, self.rest)
        return self.imbalance <= most and self.gap - self.rest <= INNER_SHARE * self.rest


class _Smoothed:
    """The smooth function, as its centres move."""

    def __init__(self, problem: Problem, done: WorkCount) -> None:
        self._problem, self._done = problem, done
        self._surface = Surface(problem, done)
        self._factored = Factored(problem)
        self._free, self._m = problem.bias == "free", problem.data.n_samples
        self._labels, self._counts = self._surface.labels, self._surface.counts
        self._centres = np.full(self._m, 0.5)
        self.penalty = FROM_ZERO

    def first(self, start: PrimalAndDual | None) -> _Position:
        """The point to begin from: zeros without a start, or with one that is far off.

        Small dual variables are of use even then, because they tell the penalty.
        """
        if start is not None:
            w, b, alpha = start
            at = np.append(w, b if self._free else 0.0)
            primal, dual = self._problem.primal(w, float(at[-1])), self._problem.dual(alpha)
            least = min(FROM_ZERO, _USUAL_PENALTY * float(alpha.max()))
            if relative_gap(primal, dual) <= _LARGEST_GAP or 0.0 < least < LOWERED * FROM_ZERO:
                gap = max(primal - dual, 1e-9 * primal)
                self._centres = alpha.copy()
                self.penalty = max(_WARM_PENALTY * dual / gap, least or FROM_ZERO)
                return self.at(at, self._surface.scores(at))
        return self.at(np.zeros(self._problem.data.n_features + 1), np.zeros(self._m))

    def at(self, at: FloatArray, scores: FloatArray) -> _Position:
        """The point with these weights and scores."""
        return _Position(at, scores, self._alpha(1.0 - self._labels * scores))

    def _alpha(self, slack: FloatArray) -> FloatArray:
        """The maximisers, from 1 - s."""
        alpha: FloatArray = np.clip(self._centres + self.penalty * slack, 0.0, 1.0)
        return alpha

    def seen(self, point: _Position) -> _Seen:
        """The gradient, P and the gap at a point."""
        w, slack = point.at[:-1], 1.0 - self._labels * point.scores
        losses = np.maximum(slack, 0.0)
        m, lam = self._m, self._problem.lam
        mean = inner(self._counts, losses) / m
        rest = mean - inner(self._counts * point.alpha, slack) / m
        downhill = self._surface.sums(self._problem.counted(point.alpha))
        downhill[:-1] -= lam * w
        gap = rest + inner(downhill[:-1], downhill[:-1]) / (2.0 * lam)
        imbalance = abs(float(downhill[-1]))
        return _Seen(downhill, 0.5 * lam * inner(w, w) + mean, gap, rest, imbalance)

    def move_centres(self, point: _Position, solved: bool) -> None:
        """Begin the next inner problem, an easier one where the last was not solved."""
        self._centres = point.alpha
        self.penalty *= _GROWTH if solved else 1.0 / _FALL

    def step(self, point: _Position, downhill: FloatArray) -> FloatArray | None:
        """Newton's step; None where rounding has made its system indefinite."""
        curved = (point.alpha > 0.0) & (point.alpha < 1.0)
        bends = self._problem.counted(np.where(curved, self.penalty, 0.0))
        weights, border = self._surface.system(bends)
        if self._free:  # as if a row had curvature, where none has
            border[-1] = max(border[-1], self.penalty / self._m)
        work = self._factored.work(float(np.count_nonzero(curved)) / self._m)
        self._done.entries += work + self._factored.solving + _STEP_WORK * self._m
        return self._factored.solved(downhill) if self._factored.form(weights, border) else None

    def advanced(self, point: _Position, step: FloatArray, downhill: FloatArray) -> _Position:
        """The point where the slope along a step is small, by Newton's method within bounds."""
        w, v, lam = point.at[:-1], step[:-1], self._problem.lam
        moved = self._surface.scores(step)
        ahead, slack = self._labels * moved, 1.0 - self._labels * point.scores
        first, energy, bent = -inner(downhill, step), lam * inner(w, v), lam * inner(v, v)
        least, most, length = 0.0, math.inf, 1.0
        for _ in range(_MOST_SLOPES):
            alpha = self._alpha(slack - length * ahead)
            counted = self._counts * ahead
            slope = energy + length * bent - inner(counted, alpha) / self._m
            self._done.entries += _SLOPE_WORK * self._m
            if abs(slope) <= _SLOPE_LEFT * abs(first):
                break
            curved = (alpha > 0.0) & (alpha < 1.0)
            curvature = bent + self.penalty * inner(counted * curved, ahead) / self._m
            least, most = (length, most) if slope < 0.0 else (least, length)
            length -= slope / curvature if curvature > 0.0 else 0.0
            if not least < length < most:
                length = 0.5 * (least + most) if most < math.inf else 2.0 * least
        else:
            alpha = self._alpha(slack - length * ahead)
        return _Position(point.at + length * step, point.scores + length * moved, alpha)

    def pair(self, point: _Position) -> PrimalAndDual:
        """What is yielded: with the best bias, and with a balanced alpha."""
        w = point.at[:-1].copy()
        bias = best_bias(self._problem, self._problem.data.rows.dot(w)) if self._free else 0.0
        return w, bias, self._problem.repaired(point.alpha)
