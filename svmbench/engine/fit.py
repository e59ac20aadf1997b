"""One problem with two classes, trained until a certificate proves the tolerance.

`Problem` computes the certificate from w, b and alpha; it uses nothing that a method reports.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.engine.best import Best
from svmbench.engine.effort import USUAL, Effort
from svmbench.engine.methods import NOTHING, Known, Methods
from svmbench.engine.turns import Candidate, in_turns
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.pairs import PrimalAndDual

#: Work, in stored entries and in passes over the rows, from which a slow fall of the gap counts
#: against methods: more than most fits take in all, and about a second where rows are few.
AMPLE_WORK, AMPLE_PASSES = 1e9, 1000.0

#: Arrays of a number for each row that may be free at a time, and fewest and most numbers in them:
#: of blocks below 128 KB and above 32 MB, glibc learns nothing.
ARRAYS_KEPT, LEAST_KEPT, MOST_KEPT = 16, 1 << 17, 1 << 21

#: What stands for a method where the weights are those of the start.
AT_START = "start"


@dataclass(frozen=True, eq=False)
class Fit:
    """Weights with their certificate."""

    w: FloatArray
    bias: float  # b; 0 if the problem has none
    primal: float  # primal, dual: no less than P(w, b) and no more than P*, whatever rounding does
    dual: float
    certificates: int  # how many were computed
    seconds: float  # training time, certificates included
    method: str  # the method that found w
    lam: float  # the problem's lambda: P divided by it is 1/2 ||w||^2 + C sum c_i loss
    # (shape (m,)) The dual variables of the best bound, in the order of the problem's rows
    alpha: FloatArray
    rounding: float = 0.0  # what the bounds allow for the rounding of P and D

    @property
    def is_rounded(self) -> bool:
        """Whether half of P - D is rounding that the bounds allow for."""
        return 2.0 * self.rounding >= self.primal - self.dual

    @property
    def gap(self) -> float:
        """(P - D)/D, a bound on (P - P*)/P*; inf while D <= 0."""
        return relative_gap(self.primal, self.dual)


def fit(
    problem: Problem,
    tolerance: float,
    effort: Effort = USUAL,
    *,
    progress: Callable[[float], None] = lambda gap: None,
    start: Fit | None = None,
    known: Known = NOTHING,
    only: str | None = None,
) -> Fit:
    """Train until (P - D)/D is at most the tolerance, on a problem without a ball.

    - ``start``: a fit of the same rows with another lambda, or of similar rows, to begin from. If
      its own weights turn out to be the best, ``method`` is "start".
    - ``only``: leave out all methods but this one, such as "newton", in order to measure it.

    Returns the best w and the best bound found, whether or not they meet the tolerance. Raises
    ValueError for a tolerance that is not positive and finite, InterruptedError when given up.
    """
    if not 0.0 < tolerance < math.inf:
        raise ValueError(f"the tolerance must be positive and finite, not {tolerance!r}")
    begun = time.monotonic()

    def due() -> bool:
        return time.monotonic() - begun >= effort.time_limit or effort.given_up()

    keep_freed_memory(problem)
    best = Best(problem, tolerance, known.longest)
    # A method that diverges yields infinities, which lose against what is known.
    with np.errstate(all="ignore"):
        from_before = None if start is None else _Start.of(problem, start)
        begin = None if from_before is None else from_before.begin(problem)
        groups = Methods(best, effort, due, begin, known).groups()
        if only is not None:
            groups = ([method for method in group if method.name == only] for group in groups)
        _improve(best, groups, from_before, effort, due, progress)
    seconds = time.monotonic() - begun
    dual = best.proven()
    if best.primal < dual:
        raise AssertionError(f"P <= {best.primal!r} is below the proven D = {dual!r}")
    return Fit(
        best.w, best.bias, best.primal, dual, best.certificates, seconds, best.method, problem.lam,
        best.alpha, best.rounding,
    )  # fmt: skip


def keep_freed_memory(problem: Problem) -> None:
    """Have glibc keep the memory of temporary arrays, which methods free and ask for in turns.

    It gives up to the system what exceeds twice the largest block that was ever freed, and a page
    that comes back costs more than to fill it. This block is freed at once, and never touched.
    """
    np.empty(min(max(ARRAYS_KEPT * problem.data.n_samples, LEAST_KEPT), MOST_KEPT))


def _improve(
    best: Best,
    groups: Iterator[list[Candidate]],
    start: _Start | None,
    effort: Effort,
    due: Callable[[], bool],
    progress: Callable[[float], None],
) -> None:
    """Look at the start and at the pairs of all methods, until the best are good enough."""
    stand = Candidate(AT_START, iter(()))
    if start is not None and relative_gap(start.primal, start.dual) <= best.tolerance:
        best.certify(stand, start.pair)
        progress(relative_gap(best.primal, best.dual))
        if best.settled():
            return
    ample = max(AMPLE_WORK, AMPLE_PASSES * best.problem.data.nnz)
    for method, pair in in_turns(groups, due, best.tolerance, ample):
        if effort.given_up():
            break
        best.certify(method, pair)
        progress(relative_gap(best.primal, best.dual))
        if due() or best.settled():
            break
    if effort.given_up():
        raise InterruptedError("the fit was given up")
    if start is not None and (start.primal < best.primal or start.dual > best.dual):
        best.certify(stand, start.pair)


class _Start(NamedTuple):
    """Where a fit begins, and P and D there as they follow from the fit before: no rows are read.

    Only a certificate of the pair makes sure of them.
    """

    pair: PrimalAndDual
    primal: float
    dual: float

    @classmethod
    def of(cls, problem: Problem, before: Fit) -> _Start | None:
        """The weights of the fit before, and the multiple of its alpha with the largest D.

        The mean loss does not depend on lambda, and w(alpha) is proportional to alpha/lambda. None
        where the ratio of both lambdas leaves double precision.
        """
        ratio, m = problem.lam / before.lam, problem.data.n_samples
        if not 0.0 < ratio < math.inf:
            return None
        kept = problem.bias == "free" or before.bias == 0.0
        shrunk = 0.5 * (before.lam - problem.lam) * float(before.w @ before.w)
        conjugates = problem.conjugate_sum(before.alpha) / m
        energy = conjugates - before.dual  # lam/2 ||w||^2 before

        def dual_of(times: float) -> float:
            alpha = np.minimum(times * before.alpha, problem.loss.upper)
            return problem.conjugate_sum(alpha) / m - times * times / ratio * energy

        # The best multiple if the conjugates were linear, as those of the hinge are.
        best = 0.5 * ratio * (before.dual + energy) / energy if energy > 0.0 else 1.0
        duals = {1.0: conjugates - energy / ratio}
        for each in (ratio, min(max(best, 0.0), 1.0)):
            if each not in duals:
                duals[each] = dual_of(each)
        times = max(duals, key=duals.__getitem__)
        pair = before.w, before.bias if kept else 0.0, problem.repaired(times * before.alpha)
        return cls(pair, before.primal - shrunk if kept else math.inf, duals[times])

    def begin(self, problem: Problem) -> PrimalAndDual:
        """What methods begin from: the pair, but for weights that mislead Newton steps.

        On the logistic loss they may not come back from a w where the loss hardly curves.
        """
        w, _, alpha = self.pair
        if problem.loss.name == "logistic" and problem.primal_at_zero() < self.primal < math.inf:
            return np.zeros_like(w), 0.0, alpha
        return self.pair
