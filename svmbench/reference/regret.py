"""Regret of online learning: what a run was charged, less what the best fixed w would have been.

    regret_T = sum_{t=1}^T f_t(w_t) - min_w sum_{t=1}^T f_t(w)
    f_t(w) = lam/2 ||w||^2 + loss(y_t w.x_t)

w_t is the iterate that step t starts from. The drawn rows, each as often as it was drawn, are a
data set of T rows, and the minimum is T times that problem's P*: with D <= P* <= P certified for
it, the regret lies between sum f_t(w_t) - T P and sum f_t(w_t) - T D.

A run's rows and costs are found by playing it again, one step at a time, so that the run that
is timed keeps no record. Of a long run only its first steps are played, and the last record is
theirs.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from svmbench.data.dataset import Array, FloatArray, Provenance
from svmbench.kernels.online import presentation_cost
from svmbench.problem import Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.base import Solver
from svmbench.solvers.second_order.ipm import take_rows

#: Steps from which on regrets are told: the bounds on them are stated from there.
LEAST_STEPS = 3

#: Steps that are played again, and weights that they copy: both bound the time, and neither
#: depends on how fast a machine is.
MOST_STEPS, MOST_WEIGHTS = 2**20, 2**30

#: Time for the steps up to a record, beyond which there is none, and for its comparator:
#: together less than a silent worker is borne with.
REPLAY_SECONDS, SECONDS = 8.0, 18.0

#: Steps between two looks at the clock.
GLANCE = 256


@runtime_checkable
class Online(Protocol):
    """A solver that takes one row a step and tells which, and from where."""

    def start(self, problem: Problem, seed: int) -> None:
        """As in `svmbench.solvers.base.Solver`."""

    def advance(self, steps: int) -> None:
        """As in `svmbench.solvers.base.Solver`."""

    @property
    def iterate(self) -> FloatArray:
        """The vector that the next step starts from, shape (d,)."""

    @property
    def presented(self) -> int | None:
        """Row of the last step; None where a step has several."""

    def regret_bound(self, steps: int) -> float | None:
        """A proved bound on the regret after so many steps, or None."""


class Regret(NamedTuple):
    """An interval that holds the regret."""

    low: float
    high: float


class Follower:
    """Starts a solver again and notes, step by step, what it draws and what that costs.

    Parameters
    ----------
    solver : Online
    problem : Problem
        Without a bias.
    seed : int

    Attributes
    ----------
    cost : float
        sum f_t(w_t) so far.
    """

    def __init__(self, solver: Online, problem: Problem, seed: int) -> None:
        self._solver, self._problem = solver, problem
        self._drawn: list[int] = []
        self.cost = 0.0
        solver.start(problem, seed)

    @property
    def drawn(self) -> Array:
        """The rows drawn so far, in order, shape (T,)."""
        return np.array(self._drawn, dtype=np.int64)

    def follow(self, steps: int, time_limit: float = math.inf) -> bool:
        """Take so many more steps; whether the time, in seconds, did for them.

        Raises
        ------
        ValueError
            When a step of the solver has several rows.
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
    """The regret of a run that was charged ``online_cost`` for the rows ``drawn``.

    Parameters
    ----------
    problem : Problem
        Its loss, lambda and ball are the comparator's, too.
    drawn : ndarray of int, shape (T,)
        At least one row.
    online_cost : float
        sum f_t(w_t).
    gap : float
        Relative gap asked for of the comparator's value.
    time_limit : float
        Seconds for it; where they do not do, the interval is wider.
    """
    data = replace(
        take_rows(problem.data, drawn), provenance=_provenance(problem.data.provenance, drawn)
    )
    sequence = replace(problem, data=data)
    best = certified_optimum(sequence, gap, time_limit)
    steps = len(drawn)
    # Where the optimum is exact the bounds differ by rounding alone, whichever way.
    low, high = sorted(online_cost - steps * value for value in (best.primal, best.dual))
    return Regret(low, high)


def regrets(solver: Solver, problem: Problem, seed: int) -> Iterator[dict[str, Any]]:
    """Regrets of the run the solver has made, after 4, 8, 16, ... steps and after the last.

    The last is step `MOST_STEPS`, or the one by which `MOST_WEIGHTS` have been copied, where the
    run is longer; and where even so the steps up to a record take more than `REPLAY_SECONDS`,
    the record before it is the last.

    Parameters
    ----------
    solver : Solver
        Started anew and followed; the presentations it has made are the steps.
    problem : Problem
    seed : int
        The run's.

    Yields
    ------
    dict
        presentations T, online_cost sum f_t(w_t), the interval regret_low to regret_high, and
        regret_bound, None where none is proved. Nothing for a method whose steps are not of one
        row, or a problem with a bias, and after fewer than three steps.
    """
    d = problem.data.n_features
    last = min(solver.counters.presentations, MOST_STEPS, max(MOST_WEIGHTS // d, LEAST_STEPS))
    if last < LEAST_STEPS or problem.bias != "none":
        return
    if not isinstance(solver, Online) or solver.presented is None:
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
            "regret_bound": solver.regret_bound(steps),
        }


def _provenance(source: Provenance, drawn: Array) -> Provenance:
    """Tells the drawn rows from others, and so their comparator in the cache."""
    digest = hashlib.sha256(np.asarray(drawn, dtype="<i8").tobytes()).hexdigest()
    return replace(source, transforms=(*source.transforms, f"drawn rows {digest[:32]}"))
