"""A problem whose sums over rows are sums over shards."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from svmbench.data.dataset import FloatArray
from svmbench.problem import Problem
from svmbench.solvers.distributed.executor import Executor, Threads
from svmbench.solvers.distributed.shards import Shard, places


class ShardSums:
    """A shard, and the sums of `Problem` over its rows.

    Parameters
    ----------
    problem : Problem
        The loss on the shard's rows. Its sums depend on neither lambda nor the number of rows.
    """

    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def loss_and_errors(self, w: FloatArray, bias: float) -> tuple[float, int]:
        """Sum of the losses, and number of errors."""
        return self.problem.loss_and_errors(w, bias)

    def conjugate_sum(self, alpha: FloatArray) -> float:
        """Sum of q(alpha_i)."""
        return self.problem.conjugate_sum(np.ascontiguousarray(alpha))

    def row_sum(self, alpha: FloatArray) -> FloatArray:
        """Sum of alpha_i y_i x_i, shape (d,)."""
        return self.problem.row_sum(np.ascontiguousarray(alpha))

    def gap_sum(self, w: FloatArray, alpha: FloatArray, bias: float) -> float:
        """Sum of the rows' terms of the gap."""
        return self.problem.gap_sum(w, np.ascontiguousarray(alpha), bias)


def problem_of(problem: Problem, shard: Shard) -> Problem:
    """The problem on the rows of a shard, for a `ShardSums`.

    Raises
    ------
    ValueError
        If the problem is more than a loss on rows that all count alike.
    """
    if problem.row_weights is not None or problem.bias != "none" or problem.constraint != "none":
        raise ValueError("shards know no row weights, no free bias and no ball")
    return replace(problem, data=shard.data)


@dataclass(frozen=True, eq=False)
class ShardMaker:
    """Makes a `ShardSums`; its rows are cut where it is made, or when they travel there.

    Parameters
    ----------
    kind : callable
        From a shard's problem, and what else is given, to its `ShardSums`.
    problem : Problem
        On all rows.
    shard : Shard
    given : tuple
    """

    kind: Callable[..., ShardSums]
    problem: Problem
    shard: Shard
    given: tuple[Any, ...] = ()

    @property
    def nbytes(self) -> int:
        """About as many bytes as its rows take."""
        m = self.problem.data.n_samples
        return self.problem.data.nbytes * len(range(m)[self.shard.place]) // m

    def __call__(self) -> ShardSums:
        """What keeps the shard."""
        return self.kind(problem_of(self.problem, self.shard), *self.given)

    def __reduce__(self) -> tuple[Any, ...]:
        """Only the shard's rows travel."""
        return partial, (self.kind, problem_of(self.problem, self.shard), *self.given)


@dataclass(frozen=True, eq=False)
class ShardedProblem(Problem):
    """The same P, D, gap and errors as `Problem`, with every sum over rows made by the shards.

    The formulas are those of `Problem`. Sums differ by rounding only: each shard's is compensated,
    and so is that of the shards. Nothing of this counts as a round (`Executor.read`).

    Parameters
    ----------
    executor : Executor
        Its shards are `ShardSums`.
    shards : sequence of Shard
    """

    executor: Executor = field(kw_only=True)
    shards: Sequence[Shard] = field(kw_only=True)

    def loss_and_errors(self, w: FloatArray, bias: float = 0.0) -> tuple[float, int]:
        """Sum of the losses, and number of errors."""
        found = self.executor.read("loss_and_errors", *self._to_all(w, bias))
        losses, errors = zip(*found, strict=True)
        return _sum(losses), sum(errors)

    def conjugate_sum(self, alpha: FloatArray) -> float:
        """Sum of q(alpha_i); -inf where an alpha_i lies outside its box."""
        return _sum(self.executor.read("conjugate_sum", self._by_shard(alpha)))

    def row_sum(self, alpha: FloatArray) -> FloatArray:
        """Sum of alpha_i y_i x_i, shape (d,)."""
        found = self.executor.read("row_sum", self._by_shard(alpha))
        return np.asarray(np.sum(found, axis=0))

    def gap_sum(self, w: FloatArray, alpha: FloatArray, bias: float = 0.0) -> float:
        """Sum of the rows' terms of the gap."""
        weights, biases = self._to_all(w, bias)
        return _sum(self.executor.read("gap_sum", weights, self._by_shard(alpha), biases))

    def _to_all(self, w: FloatArray, bias: float) -> tuple[list[FloatArray], list[float]]:
        return [w] * len(self.shards), [bias] * len(self.shards)

    def _by_shard(self, alpha: FloatArray) -> list[FloatArray]:
        return [alpha[shard.place] for shard in self.shards]


def in_threads(problem: Problem, threads: int) -> Problem:
    """The same problem, each thread with a range of the rows for the sums of P and D.

    Parameters
    ----------
    problem : Problem
        As `problem_of` takes it. One thread leaves it as it is.
    threads : int
    """
    if threads == 1:
        return problem
    data = problem.data
    # Not `ranges`, whose rows kernels would check once more, while the clock runs.
    found = places(data.n_samples, threads)
    shards = [Shard.of(data.between(place.start, place.stop), place) for place in found]
    executor = Threads([partial(ShardSums, problem_of(problem, each)) for each in shards])
    return ShardedProblem(data, problem.lam, problem.loss, executor=executor, shards=shards)


def _sum(found: Sequence[float]) -> float:
    """Correctly rounded sum; inf or nan where it is not finite."""
    rough = float(sum(found))
    return math.fsum(found) if math.isfinite(rough) else rough
