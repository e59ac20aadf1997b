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
from svmbench.solvers.distributed.sharded_problem import ShardMaker, ShardSums
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
    merging: Literal["add", "search"] = parameter(
        "add",
        "add: each shard counts its own change of w K times, and all changes are added. search: it "
        "counts it once, and the share of the sum at which D is largest is added.",
        source="add: CoCoA+. search: Lee and Roth, ICML 2015",
    )
    portions: int = parameter(
        1,
        "Portions of a shard; changes are exchanged after the passes over each of them.",
        source="ours",
        ge=1,
    )


class Descended(NamedTuple):
    """What a shard's local passes have changed.

    Parameters
    ----------
    change : ndarray of float64, shape (d,)
        Of w(alpha).
    rise : float
        Of the sum of alpha_i.
    presentations, updates, nonzeros : int
        The work that this took.
    """

    change: FloatArray
    rise: float
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
    portions : int
        Of the shard, which are visited in turn.
    """

    def __init__(
        self, problem: Problem, lam_m: float, safety: float, seed: int, portions: int = 1
    ) -> None:
        super().__init__(problem)
        self._safety, self._rng = safety, Generator(seed)
        self._portions = ranges(problem.data, portions)
        self._states = [
            Descent(each.data.rows, lam_m / (safety * each.data.n_samples))
            for each in self._portions
        ]
        self._w = np.zeros(problem.data.n_features)
        self._last = 0
        self._before = self._states[0].alpha

    def descend(
        self, passes: int, turn: int = 0, w: FloatArray | None = None, share: float = 1.0
    ) -> Descended:
        """Make so many passes over a portion of the rows.

        Parameters
        ----------
        passes, turn : int
            The turn is the number of the portion, from 0; there may be fewer.
        w : ndarray of float64, shape (d,), optional
            Where to begin; otherwise at the w received last.
        share : float
            The part of the last change that is in this w.
        """
        if w is not None:
            self._take(w, share)
        self._last = turn % len(self._states)
        state = self._states[self._last]
        self._before = state.kept_alpha().copy()
        v = state.w[: len(self._w)]
        before = state.alpha_sum, state.presentations, state.updates, state.nonzeros
        v[:] = self._w
        for _ in range(passes):
            state.descend(self._rng, 1, False)
        after = state.alpha_sum, state.presentations, state.updates, state.nonzeros
        rise, *made = (now - then for now, then in zip(after, before, strict=True))
        return Descended((v - self._w) / self._safety, float(rise), *map(int, made))

    def receive(self, w: FloatArray, share: float = 1.0) -> tuple[float, float]:
        """Take over the shared w, with this share of the last change.

        Returns
        -------
        tuple of float
            The sum of alpha_i, and that of the gap's terms at w.
        """
        self._take(w, share)
        alpha = self.alpha()
        return self.conjugate_sum(alpha), self.gap_sum(w, alpha, 0.0)

    def _take(self, w: FloatArray, share: float) -> None:
        self._w = w
        if share < 1.0:
            state = self._states[self._last]
            alpha = state.kept_alpha()
            made = float((alpha - self._before).sum())
            alpha[:] = self._before + share * (alpha - self._before)
            state.take_alpha((share - 1.0) * made)

    def alpha(self) -> FloatArray:
        """The dual variables of these rows."""
        return np.concatenate([state.alpha for state in self._states])


class Cocoa(ShardedSolver):
    """Local dual descent on each shard between exchanges of w, whose changes are added."""

    name = "cocoa"
    summary = "CoCoA+: dual descent on each shard, changes of w added in every round"
    source = "Ma, Smith, Jaggi, Jordan, Richtárik and Takáč, ICML 2015"
    step = "iteration"
    colour = "#2B7A4B"
    schema = CocoaParameters
    mathematics = """
    problem  max D(α) = 1/m Σ αᵢ - λ/2 ‖w(α)‖² over 0 ≤ αᵢ ≤ 1, the rows in K shards
    update   α = 0, w = 0 at the start; each shard k with v = w passes over its rows i, each
             time in a new random order:
                 αᵢ ← clip(αᵢ + λm (1 - yᵢ v·xᵢ)/(σ' nᵢ), 0, 1),   σ' = K
                 v ← v + σ' (change of αᵢ) yᵢ xᵢ/(λm)
             then w ← w + Σ_k (v_k - w)/σ', which is w(α)
             merging: search has σ' = 1 and adds the share of the changes, at most 1, at
             which D is largest, to w and to α
    rounds   two: the changes of w; and w, with two sums for the gap. One more for each
             further portion
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
        safety = float(len(shards)) if given.merging == "add" else 1.0
        makers = [
            ShardMaker(DescentShard, problem, shard, (lam_m, safety, rng.next(), given.portions))
            for shard in shards
        ]
        self._divide(problem, shards, makers)
        self._w = np.zeros(problem.data.n_features)
        self._bound = self._gap = 0.0
        self.counters = Counters()

    def _iterate(self) -> None:
        counters, problem, given = self.counters, self._problem, self.parameters
        share = 1.0
        for turn in range(given.portions):
            # The first portion begins at the w of the last certificate.
            new = (turn, self._w, share) if turn else ()
            found = self._executor.call("descend", given.passes, *new)
            change = np.sum([each.change for each in found], axis=0)
            if given.merging == "search":
                share = self._share(change, sum(each.rise for each in found))
            self._w = self._w + share * change
            counters.presentations += sum(each.presentations for each in found)
            counters.updates += sum(each.updates for each in found)
            counters.nonzeros += sum(each.nonzeros for each in found)
        received = self._executor.call("receive", self._w, *((share,) if share < 1.0 else ()))
        alpha_sums, gap_sums = zip(*received, strict=True)
        m = problem.data.n_samples
        square = float(self._w @ self._w)
        self._bound = sum(alpha_sums) / m - 0.5 * problem.lam * square
        self._gap = sum(gap_sums) / m
        counters.presentations += m
        counters.nonzeros += problem.data.nnz

    def _share(self, change: FloatArray, rise: float) -> float:
        """The share of a change of w, in [0, 1], at which D is largest."""
        problem = self._problem
        slope = rise / problem.data.n_samples - problem.lam * float(self._w @ change)
        curvature = problem.lam * float(change @ change)
        return min(1.0, max(0.0, slope / curvature)) if curvature > 0.0 else 1.0

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
