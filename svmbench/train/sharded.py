"""One problem with two classes, trained by a method on shards until a certificate proves it."""

from __future__ import annotations

import math
import time
from typing import Any

from svmbench.data.dataset import Dataset
from svmbench.data.liblinear_model import LiblinearModel
from svmbench.errors import DataError
from svmbench.problem import Problem
from svmbench.proof import proven_dual, proven_primal
from svmbench.solvers.distributed.cocoa import Cocoa
from svmbench.solvers.distributed.newton_shards import MOST_FEATURES, NewtonShards
from svmbench.solvers.distributed.sharded_solver import MakeExecutor, ShardedSolver
from svmbench.train.classes import Trained
from svmbench.train.effort import Effort
from svmbench.train.examples import Examples, SquaredLengths
from svmbench.train.fit import Fit
from svmbench.train.objective import SOLVER_TYPES
from svmbench.train.turns import FRUITLESS_WORK, PROGRESS

#: Iterations within which a method may be slow to come nearer; later, a multiple of those so far.
FEWEST_IN_VAIN = 1000

METHODS: dict[str, type[ShardedSolver]] = {each.name: each for each in (NewtonShards, Cocoa)}


def method_for(rows: Dataset) -> str:
    """newton-shards where matrices of d x d numbers can travel, else cocoa."""
    return NewtonShards.name if rows.n_features <= MOST_FEATURES else Cocoa.name


def train_on_shards(
    examples: Examples,
    lam: float,
    tolerance: float,
    effort: Effort,
    *,
    method: str,
    shards: int,
    executor: MakeExecutor,
) -> Trained:
    """Train a model of two classes with the hinge, without a bias.

    The certificate is computed here from the rows, and uses nothing that the shards report.

    Parameters
    ----------
    examples : Examples
    lam : float
    tolerance : float
        Relative gap (P - D)/D.
    effort : Effort
        Its seed and its time limit count.
    method : {'newton-shards', 'cocoa'}
    shards : int
    executor : callable
        Makes the executor from the makers of the shards.

    Raises
    ------
    DataError
        When there are not two classes, or a value is too large to be squared.
    """
    classes = examples.classes
    if len(classes) != 2:
        raise DataError(
            f"{examples.rows.name}: {len(classes)} classes; shards are for two. Train others with "
            "svmbench train"
        )
    rows, _ = examples.against_rest(classes[0])
    SquaredLengths.of(rows).require(lam, rows.name)  # no step would ever help
    given: Any = {"shards": shards, "tolerance": tolerance}
    run = METHODS[method](METHODS[method].schema(**given))
    run.executor, run.halts = executor, True
    found = _fit(Problem(rows, lam), run, tolerance, effort)
    weights = found.w[None, :]
    model = LiblinearModel(SOLVER_TYPES["hinge"], classes, weights, weights[:, 0] * 0.0)
    return Trained(model, (found,))


def _fit(problem: Problem, run: ShardedSolver, tolerance: float, effort: Effort) -> Fit:
    """Iterate until a certificate shows the tolerance, nothing comes nearer or time is up."""
    begun = time.monotonic()
    run.load()
    run.start(problem, effort.seed)
    certificates = iterations = fell = 0
    least = math.inf
    while True:
        run.advance(1)
        iterations += 1
        gap = run.gap
        if gap < (1.0 - PROGRESS) * least:
            least, fell = gap, iterations
        # Dual descent cannot say itself that rounding is all that it changes.
        in_vain = iterations > max(FEWEST_IN_VAIN, (1.0 + FRUITLESS_WORK) * fell)
        over = in_vain or run.exhausted or time.monotonic() - begun > effort.time_limit
        if not (run.stopped or over):
            continue
        certificates += 1
        found = _certified(problem, run, certificates, time.monotonic() - begun)
        if over or found.gap <= tolerance:
            return found
        # Its own sums have rounding errors of their own, and deceived it.
        run.sharpen()


def _certified(problem: Problem, run: ShardedSolver, certificates: int, seconds: float) -> Fit:
    w, alpha = run.w, run.alpha
    primal, w, bias = proven_primal(problem, w)
    dual = max(0.0, proven_dual(problem, alpha))
    method = f"{run.name}, {run.remark}"
    return Fit(w, bias, primal, dual, certificates, seconds, method, problem.lam, alpha)
