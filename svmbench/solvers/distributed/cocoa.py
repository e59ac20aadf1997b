"""cocoa: CoCoA+ with dual coordinate descent as the local solver."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.kernels.counters import Counters
from svmbench.kernels.descent import Descent
from svmbench.kernels.rng import Generator
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.base import parameter
from svmbench.solvers.distributed.sharded_problem import ShardSums, problem_of
from svmbench.solvers.distributed.sharded_solver import ShardedParameters, ShardedSolver
from svmbench.solvers.distributed.shards import dealt, ranges


class CocoaParameters(ShardedParameters):
    """Parameters of cocoa."""

    passes: int = parameter(
        10,
        "Local passes over a shard between two exchanges.",
        source="ours; the paper leaves the accuracy of the local solver open",
        unit="epochs",
        ge=1,
    )
    division: Literal["dealt", "ranges"] = parameter(
        "dealt",
        "How rows are divided. dealt: row i belongs to shard i modulo K. ranges: each shard has "
        "consecutive rows.",
        source="ours",
    )


class Descended(NamedTuple):
    """What a shard's local passes have changed.

    Parameters
    ----------
    change : ndarray of float64, shape (d,)
        Of w(alpha).
    presentations, updates, nonzeros : int
        The work that this took.
    """

    change: FloatArray
    presentations: int
    updates: int
    nonzeros: int


class DescentShard(ShardSums):
    """A shard with its dual variables, which dual coordinate descent improves.

    The local problem is the dual over this shard's rows with the others' fixed, except that its
    own change of w counts sigma' times. Descent on this shard alone, with lambda m/(sigma' m_k)
    for lambda, makes exactly its coordinate steps if it starts at the shared w.

    Parameters
    ----------
    problem : Problem
        The hinge on the shard's rows.
    lam_m : float
        lambda times the number of all rows.
    safety : float
        sigma'.
    seed : int
        For the order of rows.
    """

    def __init__(self, problem: Problem, lam_m: float, safety: float, seed: int) -> None:
        super().__init__(problem)
        data = problem.data
        self._safety, self._rng = safety, Generator(seed)
        self._state = Descent(data.rows, lam_m / (safety * data.n_samples))
        self._w = np.zeros(data.n_features)

    def descend(self, passes: int) -> Descended:
        """Make so many passes over the shard's rows, from the w received last."""
        state, w = self._state, self._state.w[: len(self._w)]
        before = state.presentations, state.updates, state.nonzeros
        w[:] = self._w
        for _ in range(passes):
            state.descend(self._rng, 1, False)
        after = state.presentations, state.updates, state.nonzeros
        made = (int(now - then) for now, then in zip(after, before, strict=True))
        return Descended((w - self._w) / self._safety, *made)

    def receive(self, w: FloatArray) -> tuple[float, float]:
        """Take over the shared w; return the sum of alpha_i and that of the gap's terms at w."""
        self._w = w
        alpha = self.alpha()
        return self.conjugate_sum(alpha), self.gap_sum(w, alpha, 0.0)

    def alpha(self) -> FloatArray:
        """The dual variables of these rows."""
        alpha: FloatArray = self._state.alpha
        return alpha


class Cocoa(ShardedSolver):
    """Local dual descent on each shard between exchanges of w, whose changes are added."""

    name = "cocoa"
    summary = "CoCoA+: dual descent on each shard, changes of w added in every round"
    source = "Ma, Smith, Jaggi, Jordan, Richtárik and Takáč, ICML 2015"
    step = "iteration"
    kernels = ("descent", "sampling", "objective", "terms", "subset", "rows", "rng")
    colour = "#2B7A4B"
    schema = CocoaParameters
    mathematics = """
    problem  max D(α) = 1/m Σ αᵢ - λ/2 ‖w(α)‖² over 0 ≤ αᵢ ≤ 1, the rows in K shards
    update   α = 0, w = 0 at the start; each shard k with v = w passes over its rows i, each
             time in a new random order:
                 αᵢ ← clip(αᵢ + λm (1 - yᵢ v·xᵢ)/(σ' nᵢ), 0, 1),   σ' = K
                 v ← v + σ' (change of αᵢ) yᵢ xᵢ/(λm)
             then w ← w + Σ_k (v_k - w)/σ', which is w(α)
    rounds   two: the changes of w; and w, with two sums for the gap
    stop     (P - D)/D ≤ tolerance
    output   w, certified by D(α) ≤ P*
    cost     a shard: up to 2 passes nnz, and nnz for the gap. Bytes per shard: 16 d
"""
    unstated = (
        "The local solver and its accuracy: passes of dual coordinate descent, 10 by default.",
        "The division of the rows: dealt out in turn, since files may be sorted by class.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        """Divide the rows, with alpha = 0 except for rows without entries, where it is 1."""
        given, rng = self.parameters, Generator(seed)
        divide = dealt if given.division == "dealt" else ranges
        shards = divide(problem.data, given.shards)
        lam_m = problem.lam * problem.data.n_samples
        parts = [
            DescentShard(problem_of(problem, shard), lam_m, float(len(shards)), rng.next())
            for shard in shards
        ]
        self._divide(problem, shards, parts)
        self._w = np.zeros(problem.data.n_features)
        self._bound = self._gap = 0.0
        self.counters = Counters()

    def _iterate(self) -> None:
        counters, problem = self.counters, self._problem
        found = self._executor.call("descend", self.parameters.passes)
        self._w = self._w + np.sum([each.change for each in found], axis=0)
        alpha_sums, gap_sums = zip(*self._executor.call("receive", self._w), strict=True)
        m = problem.data.n_samples
        square = float(self._w @ self._w)
        self._bound = sum(alpha_sums) / m - 0.5 * problem.lam * square
        self._gap = sum(gap_sums) / m
        counters.presentations += sum(each.presentations for each in found) + m
        counters.updates += sum(each.updates for each in found)
        counters.nonzeros += sum(each.nonzeros for each in found) + problem.data.nnz

    def _relative_gap(self) -> float:
        return relative_gap(self._bound + self._gap, self._bound)

    @property
    def w(self) -> FloatArray:
        """The shared weights w(alpha)."""
        return self._w.copy()

    @property
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,)."""
        return self._alpha_of_shards()
