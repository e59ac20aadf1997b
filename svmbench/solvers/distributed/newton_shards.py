"""newton-shards: the method of multipliers with Newton steps, its sums made by shards."""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.errors import ConfigError
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.base import parameter
from svmbench.solvers.champion.multiplier_steps import FROM_ZERO, MultiplierSteps, weights_or_zeros
from svmbench.solvers.champion.work import add_work
from svmbench.solvers.distributed.executor import Executor
from svmbench.solvers.distributed.sharded_multipliers import MultipliersShard, ShardedMultipliers
from svmbench.solvers.distributed.sharded_problem import ShardMaker
from svmbench.solvers.distributed.sharded_solver import ShardedParameters, ShardedSolver
from svmbench.solvers.distributed.shards import Shard, ranges
from svmbench.solvers.second_order.normal_equations import NormalEquations

#: Most features. Every step sends a triangle of d (d + 1)/2 numbers from each shard.
MOST_FEATURES = 5000


class NewtonShardsParameters(ShardedParameters):
    """Parameters of newton-shards."""

    growth: float = parameter(
        3.0, "Factor of sigma from one inner problem to the next.", source="ours, as auto", gt=1.0
    )


class ShardedPhase(MultiplierSteps):
    """The champion's Newton steps on all rows, which begin at w = 0 and know sums only.

    The first penalty stays, however many steps its inner problem takes.

    Parameters
    ----------
    problem : Problem
    executor : Executor
        Its shards are `MultipliersShard`.
    growth : float
        Factor of the penalty from one inner problem to the next.
    """

    def __init__(self, problem: Problem, executor: Executor, growth: float) -> None:
        super().__init__(problem.lam, growth)
        self._state = self._sums = ShardedMultipliers(problem, executor)
        self._largest = np.zeros(problem.data.n_features)
        self._begun = False

    def iterate(self) -> None:
        """Take one Newton step, and first begin, or begin the next inner problem, if it is due."""
        if not self._begun:
            # With this penalty every row has curvature at w = 0, so that the first step solves a
            # least-squares problem.
            self._sums.begin(0.5, FROM_ZERO)
            self._begun = True
            add_work(self.counters, self._sums)
        super().iterate()

    @property
    def _complete(self) -> bool:
        return self._begun


class NewtonShards(ShardedSolver):
    """Newton steps of the method of multipliers, of which shards compute the sums over rows."""

    name = "newton-shards"
    summary = "Newton steps on multipliers, sums over shards; the same steps for any number"
    source = "ours, after Yan and Li (2020); see docs/distributed.md"
    step = "iteration"
    colour = "#7A5C00"
    schema = NewtonShardsParameters
    mathematics = """
    problem  min P(w) = λ/2 ‖w‖² + 1/m Σ max(0, 1 - sᵢ), the rows in K shards
    update   w = 0, cᵢ = 1/2, σ = 0.4 at the start; αᵢ = clip(cᵢ + σ(1 - sᵢ), 0, 1),
             u = 1/m Σ αᵢ yᵢ xᵢ, J = {i: 0 < αᵢ < 1}
                 (λI + σ/m Σ_J xᵢ xᵢᵀ) dw = u - λw, and a line search along dw
             until ‖λw - u‖²/(2λ) is a small part of the gap; then c ← α, and σ grows
    rounds   one for each: dw and slopes at 16 lengths; slopes at 16 more, if needed;
             the length, u, the change of Σ_J xᵢ xᵢᵀ and the gap; new centres
    stop     (P - D)/D ≤ tolerance
    output   w, certified by D(α) ≤ P*
    cost     a shard: 2 nnz per step, n²/2 for a row of n entries that enters or leaves J;
             the caller: d³/3. Bytes per shard and step: 4 d² + 16 d
"""
    unstated = (
        "The start: w = 0, where the choice of shards can have no influence.",
        "The line search: 16 slopes per round, until one is at most 0.001 of that at the start.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        """Cut the rows into shards; nothing is computed yet, and no random number is used."""
        d = problem.data.n_features
        if d > MOST_FEATURES:
            raise ConfigError(
                f"newton-shards takes at most {MOST_FEATURES} features, not {d}: shards exchange "
                "triangles of d x d numbers; use cocoa"
            )
        shards: list[Shard] = ranges(problem.data, self.parameters.shards)
        makers = [ShardMaker(_shard, problem, shard) for shard in shards]
        self._divide(problem, shards, makers)
        self._phase = ShardedPhase(problem, self._executor, self.parameters.growth)
        self.counters = self._phase.counters

    def _iterate(self) -> None:
        self._phase.iterate()

    def _relative_gap(self) -> float:
        bound = self._phase.bound()
        return relative_gap(bound + self._phase.gap, bound)

    @property
    def w(self) -> FloatArray:
        """The current weights, or zeros while these are known to be better."""
        phase = self._phase
        return weights_or_zeros(phase.w, phase.bound(), phase.gap)

    @property
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,); zeros before the first step or while D < 0."""
        if self._phase.gap == math.inf or self._phase.bound() < 0.0:
            return np.zeros(self._problem.data.n_samples)
        return self._alpha_of_shards()

    @property
    def exhausted(self) -> bool:
        """Whether rounding allows no further progress."""
        return bool(self._phase.exhausted)


def _shard(problem: Problem) -> MultipliersShard:
    return MultipliersShard(problem, NormalEquations(problem.data.rows))
