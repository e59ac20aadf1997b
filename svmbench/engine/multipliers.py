"""The optimum of the hinge, from Newton steps on multipliers, with weights of rows and a free bias.

The smooth function is that of `svmbench.kernels.multipliers`, whose a is a feasible alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from svmbench.data.dataset import Dataset
from svmbench.kernels.multipliers import Multipliers
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.champion.multiplier_steps import (
    FALLING,
    FROM_ZERO,
    INNER_SHARE,
    INNER_STEPS,
    LARGEST_PENALTY,
    LOWERED,
    NEGLIGIBLE,
    UNSOLVED,
    InnerProblem,
    Seen,
)
from svmbench.solvers.cholesky import factor_cost
from svmbench.solvers.dual.bias import best_bias
from svmbench.solvers.pairs import PrimalAndDual, WorkCount, never
from svmbench.solvers.second_order.newton_systems import SystemWork
from svmbench.solvers.second_order.smooth import is_turn

#: The penalty, `FROM_ZERO` at first unless a start tells another, grows by the first after an inner
#: problem that is solved; by the second it falls: a large one may leave few rows with curvature.
_GROWTH, _FALL = 3.0, 9.0

#: A warm start's penalty, times its relative gap; and a usual one for dual variables up to 1, as
#: the first of `auto`.
_WARM_PENALTY, _USUAL_PENALTY = 0.05, 1.5

#: Relative gap of a start beyond which nothing is gained by it, on 60 generated problems.
_LARGEST_GAP = 1.0

#: Share of the wanted gap by which the bias may leave alpha unbalanced.
_UNBALANCED_SHARE = 0.1

#: Inner problems in turn that may pass without halving the gap: only rounding is left after them.
_STALLED = 8

#: Share of the rows that is taken to have curvature.
_CURVED_SHARE = 0.1

#: Work of a step for each row besides that on its entries, in stored entries.
_STEP_WORK = 120.0


def newton(
    problem: Problem,
    due: Callable[[], bool] = never,
    start: PrimalAndDual | None = None,
    wanted: float = math.inf,
    count: WorkCount | None = None,
    unshown: float = 0.0,
) -> Iterator[PrimalAndDual]:
    """Newton steps on multipliers for the hinge, whose systems are solved by Cholesky factors."""
    done = WorkCount() if count is None else count
    inner = _InnerProblems(problem, done)
    inner.start(start)
    inner_steps, unsolved, before, solvable, found = 0, 0, math.inf, True, False
    least, stalled = math.inf, 0
    while True:
        seen = inner.seen()
        near = inner.within(seen, wanted)
        ended = unsolved >= UNSOLVED or stalled >= _STALLED or not solvable
        ended = ended or inner.penalty > LARGEST_PENALTY or not math.isfinite(seen.primal)
        turn = done.entries > unshown and is_turn(done.steps)
        # If a certificate did not confirm a small gap, rounding may hide it in all steps to come.
        if (near and not found) or turn or ended or due():
            yield inner.pair()
        if ended:
            return
        found = found or near
        solved = inner.solved(seen, wanted)
        if solved or inner_steps >= INNER_STEPS:
            unsolved = 0 if solved or seen.primal <= FALLING * before else unsolved + 1
            before, inner_steps, found = seen.primal, 0, False
            stalled = 0 if seen.gap <= 0.5 * least else stalled + 1
            least = min(least, seen.gap)
            inner.move_centres(solved)
        inner_steps += 1
        done.steps += 1
        solvable = inner.step()


def step_work(data: Dataset, system: SystemWork) -> float:
    """Estimated work of a step on these rows, in stored entries."""
    return 3.0 * data.nnz + _STEP_WORK * data.n_samples + system.on(_CURVED_SHARE)


class _InnerProblems(InnerProblem):
    """The smooth function, as its centres move, and the point on it."""

    _floor = -1.0  # none

    def __init__(self, problem: Problem, done: WorkCount) -> None:
        free = problem.bias == "free"
        state = Multipliers(problem.data.rows, problem.lam, counts=problem.row_weights, free=free)
        super().__init__(state, problem.lam, free)
        self._problem, self._done = problem, done
        self._factoring = factor_cost(problem.data.n_features + free)

    @property
    def penalty(self) -> float:
        return float(self.state.penalty)

    def start(self, start: PrimalAndDual | None) -> None:
        """Begin from zeros without a start, or with one that is far off.

        Small dual variables are of use even then, because they tell the penalty.
        """
        data = self._problem.data
        if start is not None:
            w, b, alpha = start
            bias = float(b) if self._free else 0.0
            primal, dual = self._problem.primal(w, bias), self._problem.dual(alpha)
            least = min(FROM_ZERO, _USUAL_PENALTY * float(alpha.max()))
            if relative_gap(primal, dual) <= _LARGEST_GAP or 0.0 < least < LOWERED * FROM_ZERO:
                gap = max(primal - dual, 1e-9 * primal)
                penalty = max(_WARM_PENALTY * dual / gap, least or FROM_ZERO)
                self.begin(w, alpha, penalty, bias)
                return
        self.begin(np.zeros(data.n_features), np.full(data.n_samples, 0.5), FROM_ZERO)

    @property
    def _imbalance(self) -> float:
        """|sum r_i alpha_i y_i|/m; 0 without a free bias."""
        return abs(self.state.bias_pull) if self._free else 0.0

    def within(self, seen: Seen, wanted: float) -> bool:
        """Whether the relative gap is as wanted, and alpha balanced enough for it to be true."""
        balanced = self._imbalance <= _UNBALANCED_SHARE * wanted * seen.primal
        return balanced and seen.gap <= wanted * (seen.primal - seen.gap)

    def solved(self, seen: Seen, wanted: float) -> bool:
        """Whether the inner problem is solved as far as its centres make it worth while."""
        rounding = 0.1 * NEGLIGIBLE * seen.primal
        balanced = max(_UNBALANCED_SHARE * max(wanted * seen.primal, seen.rest), rounding)
        enough = max(INNER_SHARE * seen.rest, rounding)
        return self._imbalance <= balanced and seen.left <= enough

    def move_centres(self, solved: bool) -> None:
        """Begin the next inner problem, an easier one where the last was not solved."""
        self.state.recentre(self.penalty * (_GROWTH if solved else 1.0 / _FALL))

    def step(self) -> bool:
        before = self.state.nonzeros
        moved = super().step()
        each = self._factoring + _STEP_WORK * self._problem.data.n_samples
        self._done.entries += self.state.nonzeros - before + each
        return moved

    def pair(self) -> PrimalAndDual:
        """What is yielded: with the best bias, and with a balanced alpha."""
        w, problem = np.array(self.state.w), self._problem
        bias = best_bias(problem, problem.data.rows.dot(w)) if self._free else 0.0
        return w, bias, problem.repaired(np.array(self.state.alpha))
