"""What methods on shards have in common: parameters, the division of the rows, and the results."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.names import MOST_SHARDS
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter
from svmbench.solvers.distributed.executor import Executor, InProcess, MakeShard
from svmbench.solvers.distributed.sharded_problem import ShardedProblem
from svmbench.solvers.distributed.shards import Shard

#: Makes an executor from the makers of the shards.
MakeExecutor = Callable[[Sequence[MakeShard]], Executor]


class ShardedParameters(Parameters):
    """Parameters of the methods on shards."""

    precision: Literal["float64"] = parameter(
        "float64", "Sums over shards are in double precision.", source="ours"
    )
    shards: int = parameter(
        8, "Number of shards; there are never more than rows.", source="ours", ge=1, le=MOST_SHARDS
    )
    tolerance: float = parameter(
        1e-3, "Relative gap (P - D)/D at which its own stopping rule holds.", source="ours", gt=0.0
    )


class ShardedSolver(Solver):
    """A method whose rows are in shards, each kept by a `ShardSums` of an executor.

    Attributes
    ----------
    executor : callable
        Makes the executor from the makers of the shards: `InProcess` unless it is changed before
        `start`. A sweep measures one thread and leaves it.
    """

    executor: MakeExecutor = InProcess

    def _divide(
        self, problem: Problem, shards: Sequence[Shard], makers: Sequence[MakeShard]
    ) -> None:
        """Let an executor make the shards, which are `ShardSums`."""
        self._shards = shards
        self._executor = self.executor(makers)
        self._problem = ShardedProblem(
            problem.data, problem.lam, problem.loss, executor=self._executor, shards=shards
        )
        self._stopped, self._enough = False, self.parameters.tolerance

    def advance(self, steps: int) -> None:
        """Take ``steps`` iterations."""
        for _ in range(steps):
            self._iterate()
            if not self._stopped and self._relative_gap() <= self._enough:
                self._stopped = True
                if self.halts:
                    return

    def sharpen(self) -> None:
        """Seek a tenth of the gap: sums made anew did not confirm that the tolerance was met."""
        self._stopped, self._enough = False, 0.1 * self._enough

    @property
    def gap(self) -> float:
        """(P - D)/D of the current w and alpha, by the shards' sums."""
        return self._relative_gap()

    @abstractmethod
    def _iterate(self) -> None:
        """Take one iteration."""

    @abstractmethod
    def _relative_gap(self) -> float:
        """(P - D)/D of the current w and alpha."""

    @property
    @abstractmethod
    def alpha(self) -> FloatArray:
        """The dual variables, shape (m,)."""

    def _alpha_of_shards(self) -> FloatArray:
        whole = np.empty(self._problem.data.n_samples)
        for shard, values in zip(self._shards, self._executor.read("alpha"), strict=True):
            whole[shard.place] = values
        return whole

    def dual(self) -> float:
        """D(alpha), with w(alpha) recomputed by the shards; 0, which is D(0), if that is more."""
        return max(0.0, self._problem.dual(self.alpha))

    @property
    def stopped(self) -> bool:
        """Whether the gap has been within the tolerance."""
        return self._stopped

    @property
    def remark(self) -> str:
        """The shards, and what they exchanged."""
        executor = self._executor
        sent, received = executor.sent / 1e6, executor.received / 1e6
        return (
            f"{executor.n_shards} shards, {executor.rounds} rounds, {sent:.3g} MB to the shards "
            f"and {received:.3g} MB from them"
        )
