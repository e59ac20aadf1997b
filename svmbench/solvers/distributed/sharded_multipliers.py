"""The method of multipliers on shards: what each keeps, and the sums that a step needs of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.kernels.multipliers import SEARCHED
from svmbench.problem import Problem
from svmbench.solvers.distributed.executor import Executor
from svmbench.solvers.distributed.sharded_problem import ShardSums
from svmbench.solvers.second_order.normal_equations import NormalEquations

#: Most rounds of a line search.
SEARCH_ROUNDS = 12

#: Lengths that one round of the line search asks for.
LENGTHS = 16


class Response(NamedTuple):
    """A shard's sums at w.

    Parameters
    ----------
    row_sum : ndarray of float64, shape (d,)
        Of alpha_i y_i x_i.
    curvature : ndarray of float64, shape (d (d + 1)/2,)
        Change of the sum of x_i x_i^T over J since the last response: its upper triangle by rows.
    alpha_sum, slack_sum : float
        Of alpha_i, and of the rows' shares of the certificate.
    nonzeros : int
        Entries that were read.
    """

    row_sum: FloatArray
    curvature: FloatArray
    alpha_sum: float
    slack_sum: float
    nonzeros: int


class MultipliersShard(ShardSums):
    """A shard with the centres, margins and dual variables of its rows.

    Parameters
    ----------
    problem : Problem
        The hinge on the shard's rows.
    equations : NormalEquations
        Of the same rows.
    """

    def __init__(self, problem: Problem, equations: NormalEquations) -> None:
        super().__init__(problem)
        data = problem.data
        self._lengths = data.rows.lengths()
        self._equations = equations
        self._upper = upper_triangle(data.n_features)

    def begin(self, w: FloatArray, centre: float, penalty: float) -> Response:
        """Take up the method at w, with the same centre for every row."""
        m = self.problem.data.n_samples
        self._alpha = np.full(m, centre)
        self._inside = np.zeros(m, dtype=bool)
        return self.recentre(w, penalty)

    def recentre(self, w: FloatArray, penalty: float) -> Response:
        """Make alpha the centres; the margins are computed anew, without rounding of the past."""
        self._centres, self._penalty = self._alpha, penalty
        self._margins = self.problem.margins(w)
        return self._respond(self.problem.data.nnz)

    def look(self, step: FloatArray, lengths: FloatArray) -> FloatArray:
        """The slopes that these rows contribute along a step, as `slopes` has them."""
        self._change = self.problem.margins(step)
        t = self._responses()
        moving = clip(t - self._penalty * self._change) != self._alpha
        # alpha is monotone along a step: if it is the same at the end, it is so on the way.
        self._moving = t[moving], self._change[moving], self._alpha[moving]
        return self.slopes(lengths)

    def slopes(self, lengths: FloatArray) -> FloatArray:
        """Sum of (alpha_i at w + length step - alpha_i) y_i x_i.step for each of these lengths."""
        t, change, alpha = self._moving
        rates = self._penalty * change
        return np.array([float((clip(t - x * rates) - alpha) @ change) for x in lengths])

    def take(self, length: float) -> Response:
        """Go this share of the step that was looked at."""
        self._margins = self._margins + length * self._change
        return self._respond(self.problem.data.nnz)

    def alpha(self) -> FloatArray:
        """The dual variables of these rows."""
        return self._alpha

    def _responses(self) -> FloatArray:
        return self._centres + self._penalty * (1.0 - self._margins)

    def _respond(self, read: int) -> Response:
        t, margins = self._responses(), self._margins
        alpha = self._alpha = clip(t)
        inside = (t > 0.0) & (t < 1.0)
        entered, left = inside & ~self._inside, self._inside & ~inside
        self._inside = inside
        slack = (1.0 - alpha) * np.maximum(0.0, 1.0 - margins)
        slack += alpha * np.maximum(0.0, margins - 1.0)
        read += int(self._lengths[alpha > 0.0].sum() + self._lengths[entered | left].sum())
        return Response(
            self.problem.row_sum(alpha),
            self._gram(entered) - self._gram(left),
            float(alpha.sum()),
            float(slack.sum()),
            read,
        )

    def _gram(self, chosen: Array) -> FloatArray:
        """Upper triangle of the sum of x_i x_i^T over the chosen rows."""
        gram: FloatArray = self._equations.gram(chosen.astype(np.float64))[self._upper]
        return gram


class ShardedMultipliers:
    """w, and the sums over all shards of what its next step needs.

    The attributes are those of `svmbench.kernels.multipliers.Multipliers`, which has the same
    method on one set of rows.

    Parameters
    ----------
    problem : Problem
    executor : Executor
        Its shards are `MultipliersShard`.
    """

    def __init__(self, problem: Problem, executor: Executor) -> None:
        self._executor = executor
        self._data, self.lam = problem.data, problem.lam
        d = problem.data.n_features
        self.m = problem.data.n_samples
        self.w, self.pull = np.zeros(d), np.zeros(d)
        self.curvature = np.zeros((d, d))
        self.penalty = self.alpha_sum = self.slack_sum = 0.0
        self.presentations = self.updates = self.nonzeros = 0
        self._upper = upper_triangle(d)

    def begin(self, centre: float, penalty: float) -> None:
        """Begin at w = 0 with the same centre for all rows: a round."""
        self.penalty = penalty
        self.curvature[:] = 0.0
        self._gather(self._executor.call("begin", self.w, centre, penalty))
        self.presentations += self.m

    def recentre(self, penalty: float) -> None:
        """Make alpha the centres, and this the penalty: a round."""
        self.penalty = penalty
        self._gather(self._executor.call("recentre", self.w, penalty))
        self.presentations += self.m

    def move(self, step: FloatArray) -> float:
        """Go along a step as far as the smooth function falls; return the share of it."""

        def slopes(lengths: FloatArray) -> FloatArray:
            asked = ("look", step) if first[0] else ("slopes",)
            first[0] = False
            found = self._executor.call(*asked, lengths)
            return np.asarray(np.sum(found, axis=0)) / self.m

        first = [True]
        base = float((self.lam * self.w - self.pull) @ step)
        length = line_minimum(slopes, base, self.lam * float(step @ step))
        self.w = self.w + length * step
        self._gather(self._executor.call("take", length))
        self.presentations += self.m
        self.updates += 1
        return length

    def _gather(self, found: Sequence[Response]) -> None:
        self.pull = np.sum([each.row_sum for each in found], axis=0) / self.m
        self.curvature[self._upper] += np.sum([each.curvature for each in found], axis=0)
        self.alpha_sum = float(sum(each.alpha_sum for each in found))
        self.slack_sum = float(sum(each.slack_sum for each in found))
        self.nonzeros += sum(each.nonzeros for each in found)


def line_minimum(slopes: Callable[[FloatArray], FloatArray], base: float, square: float) -> float:
    """The minimum along a step, in (0, 1], of a function whose slope is piecewise linear.

    The slope at x is base + x square - slopes(x), and does not fall. Each call of ``slopes``
    costs a round however many lengths it is given: each asks for lengths all over the bracket.

    Parameters
    ----------
    slopes : callable
        From lengths in (0, 1] to what the rows contribute to the slopes there.
    base, square : float
        The slope at 0, negative; and its least rise.
    """
    low, high = 0.0, 1.0
    low_slope, high_slope = base, 0.0
    for turn in range(SEARCH_ROUNDS):
        lengths = low + (high - low) * np.arange(1, LENGTHS + 1) / LENGTHS
        if turn and low_slope < 0.0:
            # Between kinks the slope is linear, and this is the minimum.
            lengths[-1] = low - low_slope * (high - low) / (high_slope - low_slope)
        lengths.sort()
        found = base + lengths * square - slopes(lengths)
        if turn == 0 and found[-1] <= 0.0:
            return 1.0
        best = int(np.argmin(np.abs(found)))
        rising = np.flatnonzero(found > 0.0)
        after = int(rising[0]) if len(rising) else len(found)
        if after < len(found):
            high, high_slope = float(lengths[after]), float(found[after])
        if after > 0:
            low, low_slope = float(lengths[after - 1]), float(found[after - 1])
        if abs(found[best]) <= SEARCHED * abs(base) or not low < high:
            break
    return float(lengths[best])


def upper_triangle(d: int) -> Array:
    """Mask of a matrix's upper triangle with its diagonal, shape (d, d)."""
    return np.tri(d, dtype=bool).T


def clip(t: FloatArray) -> FloatArray:
    """t, moved into [0, 1]."""
    clipped: FloatArray = np.clip(t, 0.0, 1.0)
    return clipped
