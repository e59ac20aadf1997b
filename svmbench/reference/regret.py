"""Regret of online learning: the cost of a run minus the cost of the best fixed w.

    regret_T = sum_{t=1}^T f_t(w_t) - min_w sum_{t=1}^T f_t(w)
    f_t(w) = lam/2 ||w||^2 + loss(y_t w.x_t)

w_t is the iterate at the start of step t. The drawn rows form a data set of T rows, and the minimum
is T times that problem's certified P*. A run is replayed for them, one step at a time, so that the
timed run keeps no record; of a long run only the first steps are replayed.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from svmbench.data.dataset import Array, Provenance
from svmbench.data.derived import take_rows
from svmbench.kernels.online import presentation_cost
from svmbench.problem import Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.base import Solver

#: Fewest steps for which regret is reported: the bounds on it are stated from there on.
LEAST_STEPS = 3

#: Limits on the steps that are replayed and on the weights that they copy. Both bound the time,
#: and neither depends on the speed of the machine.
MOST_STEPS, MOST_WEIGHTS = 2**20, 2**30

#: Seconds for the steps up to a record, beyond which there is no record, and for its comparator: a
#: worker may be silent for so much longer.
REPLAY_SECONDS, SECONDS = 8.0, 18.0

#: Steps between two readings of the clock.
GLANCE = 256


class Regret(NamedTuple):
    """An interval that contains the regret."""

    low: float
    high: float


class Follower:
    """Replays a solver, without a bias, and records each step's row and the sum of the costs."""

    def __init__(self, solver: Any, problem: Problem, seed: int) -> None:
        self._solver, self._problem = solver, problem
        self._drawn: list[int] = []
        self.cost = 0.0
        solver.start(problem, seed)

    @property
    def drawn(self) -> Array:
        """The rows drawn so far, in order, shape (T,)."""
        return np.array(self._drawn, dtype=np.int64)

    def follow(self, steps: int, time_limit: float = math.inf) -> bool:
        """Take that many more steps; False if the time limit in seconds stopped them.

        Raises ValueError when a step of the solver has several rows.
        """
        solver, problem = self._solver, self._problem
        rows, lam, loss = problem.data.rows, problem.lam, problem.loss
        end = time.monotonic() + time_limit
        for step in range(steps):
            if step % GLANCE == 0 and time.monotonic() > end:
                return False
            w = solver.iterate
            solver.advance(1)
            row = solver.presented
            if row is None:
                raise ValueError("regret is defined here for steps of one row")
            self._drawn.append(row)
            self.cost += presentation_cost(rows, row, w, lam, loss.code, loss.gamma)
        return True


def regret(
    problem: Problem,
    drawn: Array,
    online_cost: float,
    gap: float = 1e-6,
    time_limit: float = 60.0,
) -> Regret:
    """The regret of a run with cost ``online_cost`` on the rows ``drawn``."""
    data = replace(
        take_rows(problem.data, drawn), provenance=_provenance(problem.data.provenance, drawn)
    )
    sequence = replace(problem, data=data)
    best = certified_optimum(sequence, gap, time_limit)
    steps = len(drawn)
    # If the optimum is exact, the bounds differ by rounding alone, in either direction.
    low, high = sorted(online_cost - steps * value for value in (best.primal, best.dual))
    return Regret(low, high)


def regrets(solver: Solver, problem: Problem, seed: int) -> Iterator[dict[str, Any]]:
    """Regrets of the solver's run, after 4, 8, 16, ... steps and after the last step.

    Nothing is yielded if the method's steps have more than one row, if the problem has a bias, or
    after fewer than three steps; a long run ends early.
    """
    d = problem.data.n_features
    last = min(
        solver.counters.presentations, MOST_STEPS, max(MOST_WEIGHTS // max(d, 1), LEAST_STEPS)
    )
    if last < LEAST_STEPS or problem.bias != "none":
        return
    online: Any = solver
    if not all(hasattr(online, name) for name in ("presented", "iterate", "regret_bound")):
        return
    if online.presented is None:  # its steps have several rows
        return
    follower = Follower(solver, problem, seed)
    for steps in (*(2**k for k in range(2, last.bit_length()) if 2**k < last), last):
        if not follower.follow(steps - len(follower.drawn), REPLAY_SECONDS):
            return
        low, high = regret(problem, follower.drawn, follower.cost, time_limit=SECONDS)
        yield {
            "presentations": steps,
            "online_cost": follower.cost,
            "regret_low": low,
            "regret_high": high,
            "regret_bound": online.regret_bound(steps),
        }


def _provenance(source: Provenance, drawn: Array) -> Provenance:
    """Provenance that identifies the drawn rows, and so their comparator in the cache."""
    digest = hashlib.sha256(np.asarray(drawn, dtype="<i8").tobytes()).hexdigest()
    return replace(source, transforms=(*source.transforms, f"drawn rows {digest[:32]}"))
