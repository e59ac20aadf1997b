"""Our fastest solver as a method of a fit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from svmbench.problem import Problem
from svmbench.solvers.champion.auto import Auto, AutoParameters
from svmbench.solvers.pairs import PrimalAndDual, WorkCount
from svmbench.train.effort import Effort

#: Passes, or work like theirs, until the first certificate of auto, and its growth from one to
#: the next: a certificate costs three passes.
CERTIFICATE_PASSES, CERTIFICATE_GROWTH = 30.0, 1.25


def knows(problem: Problem) -> bool:
    """Whether auto is for it: the hinge without weights and without a free bias."""
    return problem.loss.name == "hinge" and problem.row_weights is None and problem.bias == "none"


def pairs(
    problem: Problem,
    tolerance: float,
    effort: Effort,
    due: Callable[[], bool],
    start: PrimalAndDual | None,
    count: WorkCount,
) -> Iterator[PrimalAndDual]:
    """Pairs of auto once its own gap holds, and now and then before.

    - ``effort``: its seed and its threads count.
    - ``due``: whether to yield what there is.
    - ``start``: its alpha is where auto begins.
    - ``count``: what it has done so far.
    """
    solver = Auto(AutoParameters(tolerance=tolerance))
    solver.halts, solver.threads = True, effort.threads
    if start is None:
        solver.start(problem, effort.seed)
    else:
        solver.resume(problem, effort.seed, start[2])
    next_certificate = CERTIFICATE_PASSES * problem.data.nnz
    while not solver.exhausted:
        solver.advance(1)
        count.steps += 1
        count.entries = float(solver.counters.nonzeros)
        ended = solver.stopped or solver.exhausted
        if ended or count.entries > next_certificate or due():
            yield solver.w, 0.0, solver.alpha
            next_certificate = CERTIFICATE_GROWTH * max(next_certificate, count.entries)
            if solver.stopped:  # its own sums deceived it
                solver.sharpen()
