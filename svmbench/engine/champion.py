"""Our fastest solver, on problems with a free bias as well.

auto knows no bias. A constant feature of the value rho stands for b = rho v, at the price that P
contains lambda/2 v^2, and that alpha is not balanced: at the optimum sum_i alpha_i y_i is lambda m
b/rho^2. With a large rho neither matters, and Newton steps solve their systems exactly.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.data.derived import with_constant
from svmbench.engine.effort import Effort
from svmbench.kernels.objective import balance
from svmbench.problem import Problem
from svmbench.solvers.champion.auto import Auto, AutoParameters
from svmbench.solvers.cholesky import factor_cost
from svmbench.solvers.dual.bias import best_bias
from svmbench.solvers.pairs import PrimalAndDual, WorkCount
from svmbench.solvers.second_order.normal_equations import MOST_FEATURES

#: Passes, or work like theirs, until the first certificate of auto, and its growth from one to
#: the next: a certificate costs three passes.
CERTIFICATE_PASSES, CERTIFICATE_GROWTH = 30.0, 1.25

#: Least value of the constant feature, in units of the rows' root mean square norm. On adult, w8a,
#: mushrooms and covtype.20k, values from 3 to 1000 took the same time within a fifth.
LEAST_VALUE = 10.0

#: Share of the tolerance by which balancing alpha may lower a class's sum.
UNBALANCED_SHARE = 0.1

#: Largest value of the constant feature. Its square is still far inside single precision.
LARGEST_VALUE = 1e15


def knows(problem: Problem) -> bool:
    """Whether auto is for it: the hinge without weights; with a free bias, if features are few."""
    if problem.loss.name != "hinge" or problem.row_weights is not None:
        return False
    return problem.bias == "none" or problem.data.n_features < MOST_FEATURES


class Champion:
    """Our fastest solver on a problem that it `knows`; a start's alpha is where it begins."""

    def __init__(
        self,
        problem: Problem,
        tolerance: float,
        effort: Effort,
        due: Callable[[], bool],
        start: PrimalAndDual | None = None,
    ) -> None:
        self._problem, self._tolerance = problem, tolerance
        self._effort, self._due = effort, due
        self._start = None if start is None else start[2]
        self.count = WorkCount()

    def pairs(self) -> Iterator[PrimalAndDual]:
        """Pairs once its own gap holds, and now and then before.

        Where rounding ends its Newton steps with a free bias, its interior-point method goes on.
        """
        problem = self._problem
        tolerance = max(self._tolerance, sys.float_info.min)  # shares of a smaller one are 0
        wanted, value = UNBALANCED_SHARE * tolerance, first_value(problem, tolerance)
        alpha = self._start
        while True:
            solver = self._begun(value, alpha)
            yield from self._steps(solver, wanted)
            alpha = problem.repaired(solver.alpha)
            grown = value * math.sqrt(2.0 * _unbalanced(problem, solver) / wanted)
            ended = solver.exhausted or solver.rounded
            if ended or not value < grown <= LARGEST_VALUE:
                break
            value = grown
        while solver.rounded and not solver.exhausted:
            solver.advance(1)
            yield _pair(problem, solver)

    def _begun(self, value: float, alpha: FloatArray | None) -> Auto:
        """auto, with a constant feature of this value in place of a free bias."""
        problem, seed = self._problem, self._effort.seed
        parameters = AutoParameters(
            tolerance=self._tolerance, method="newton" if problem.bias == "free" else "choose"
        )
        solver = Auto(parameters)
        solver.halts, solver.threads = True, self._effort.threads
        if alpha is None:
            solver.start(posed(problem, value), seed)
        else:
            solver.resume(posed(problem, value), seed, alpha)
        return solver

    def _steps(self, solver: Auto, wanted: float) -> Iterator[PrimalAndDual]:
        """A solver's pairs, until it has ended or only a larger constant feature helps."""
        problem, count = self._problem, self.count
        before, each = count.entries, 0.0
        if problem.bias == "free":  # all are Newton steps, which factor
            each = factor_cost(problem.data.n_features)
        next_certificate, steps = before + CERTIFICATE_PASSES * problem.data.nnz, 0
        while not solver.exhausted:
            solver.advance(1)
            steps += 1
            count.steps += 1
            count.entries = before + solver.counters.nonzeros + each * steps
            if solver.stopped and _unbalanced(problem, solver) > wanted:
                return
            rounded = problem.bias == "free" and solver.rounded
            ended = solver.stopped or solver.exhausted or rounded
            if ended or count.entries > next_certificate or self._due():
                yield _pair(problem, solver)
                next_certificate = CERTIFICATE_GROWTH * max(next_certificate, count.entries)
                if rounded:  # what knows the bias goes on from here at less cost
                    return
                if solver.stopped:  # its own sums deceived it
                    solver.sharpen()


def posed(problem: Problem, value: float) -> Problem:
    """The problem with a constant feature of this value in place of a free bias."""
    if problem.bias == "none":
        return problem
    single = float(np.float32(value))  # so that rows in single precision stay so
    return Problem(with_constant(problem.data, single), problem.lam, problem.loss)


def first_value(problem: Problem, tolerance: float) -> float:
    """A value of the constant feature that is large enough if |b| is at most 2; 0 without b."""
    if problem.bias == "none":
        return 0.0
    data = problem.data
    norm = math.sqrt(float(data.rows.norms2().mean())) or 1.0
    positive = int(np.count_nonzero(data.labels > 0))
    fewer = min(positive, data.n_samples - positive) or 1
    balanced = 2.0 * problem.lam * data.n_samples / (UNBALANCED_SHARE * tolerance * fewer)
    return min(max(LEAST_VALUE * norm, math.sqrt(balanced)), LARGEST_VALUE)


def _unbalanced(problem: Problem, solver: Auto) -> float:
    """The share by which a class's sum of alpha has to fall; 0 without a free bias."""
    if problem.bias == "none":
        return 0.0
    positive, negative = balance(problem.data.rows, solver.alpha)
    larger = float(max(positive, negative))
    return abs(positive - negative) / larger if larger > 0.0 else 0.0


def _pair(problem: Problem, solver: Auto) -> PrimalAndDual:
    if problem.bias == "none":
        return solver.w, 0.0, solver.alpha
    w = np.ascontiguousarray(solver.w[:-1])
    return w, best_bias(problem, problem.data.rows.dot(w)), problem.repaired(solver.alpha)
