"""The optimum of a smooth loss, from Newton steps on w and b.

Minus the slopes of the losses are a feasible alpha, and near the optimum of the logistic loss P - D
is about ||gradient||^2/(2 lambda), which Newton steps square at each turn. The squared hinge's
support takes the part of the curvatures; once it no longer changes, a step reaches the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.data.derived import take_rows
from svmbench.kernels.normal import weighted_product, weighted_squares
from svmbench.kernels.objective import balance, combination
from svmbench.kernels.rng import Generator
from svmbench.kernels.sampling import draw_batches
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.pairs import PrimalAndDual, WorkCount, never
from svmbench.solvers.samples import sample_accuracy, sample_sizes
from svmbench.solvers.second_order.newton_systems import (
    Factored,
    NewtonSystem,
    diagonal_share,
    inner,
    newton_step,
)

#: Losses that Newton steps minimise.
LOSSES = ("logistic", "squared-hinge")

#: Most halvings of a step.
_HALVINGS = 40

#: Share of the gradient that conjugate gradients leave. 0.1 (Lin, Weng and Keerthi, JMLR 9, 2008)
#: took 1.05 times as long on four sets, 0.3 took 1.16 times as long.
_FORCING = 0.2

#: Share of the wanted gap that conjugate gradients may leave, even if this exceeds `_FORCING`. The
#: other half is for the change of the curvatures along the step.
_SHARE_LEFT = 0.5

#: Growth of P, as a share of 1 + P, that counts as rounding.
_ROUNDING = 2.0 * float(np.finfo(np.float64).eps)

#: Expected gain of the last step on a sample, in units of the accuracy that the sample can give: a
#: step leaves far less than it gains. Of 1, 3, 10, 30 and 100, this was the fastest on adult.
_SAMPLE_GAIN = 10.0

#: Steps that are expected to be left, if each lowers the gap as the last one did, from which on the
#: conjugate gradients of a single step have to pay for the first factor; the best of 1 to 5.
_LAST_STEPS = 2.5

#: Steps after which the first is shown that is not within the wanted gap.
_FIRST_SHOWN = 4


def newton(
    problem: Problem,
    due: Callable[[], bool] = never,
    start: tuple[FloatArray, float] | None = None,
    wanted: float = math.inf,
    count: WorkCount | None = None,
    *,
    unshown: float = 0.0,
    least_gain: float = 0.0,
) -> Iterator[PrimalAndDual]:
    """Newton's method for the logistic loss and the squared hinge.

    Steps are solved by truncated conjugate gradients (Dembo and Steihaug, Mathematical Programming
    26, 1983), and by a Cholesky factor once they have done as much work as it takes; it
    preconditions those of later steps. A step is halved until P falls, or where rounding hides
    that, by the slope of P.

    - ``wanted``: relative gap (P - D)/D. Only steps that may be within it are yielded, from the
      fourth on one for each doubling of their number, and the last.
    """
    done = WorkCount() if count is None else count
    surface = Surface(problem, done)
    point = surface.first(start or _from_sample(problem, due, done))
    factored = Factored.of(problem)
    decrement, exact, gap = math.inf, False, math.inf
    refused = False  # a pair whose gradient by w is small enough: a free bias is not balanced yet
    while True:
        slopes, bends = surface.derivatives(point.margins)
        counted, bends = problem.counted(slopes), problem.counted(bends)
        downhill = surface.downhill(point, counted)
        pull = surface.pull(point, counted, downhill) if refused else 0.0
        before, gap = gap, _gap(downhill, pull, problem.lam)
        done.gap = relative_gap(point.primal, point.primal - gap)
        ended = least_gain > 0.0 and 0.5 * decrement <= least_gain * point.primal
        turn = done.entries > unshown and is_turn(done.steps)
        shown = gap <= wanted * point.primal or turn or ended or point.blind or due()
        if shown:
            yield surface.pair(point, slopes)
            refused = refused or gap <= wanted * point.primal < math.inf
        if ended:
            return
        done.steps += 1
        curved, curvatures = surface.curved(bends)
        system = NewtonSystem(
            surface.product(curved, curvatures),
            partial(surface.system, bends),
            partial(surface.diagonal, curved, curvatures),
            downhill,
            len(curved) / surface.m,
            _enough(problem, downhill, counted, pull, wanted, point.primal),
        )
        ending = _is_ending(before, gap, wanted * point.primal)
        step = newton_step(system, factored, done, due, point.blind, ending)
        # Conjugate gradients may have left most of the product out: it is for factors to compare.
        last, decrement = decrement if exact else math.inf, inner(downhill, step)
        exact = point.blind
        ahead = _advanced(surface, point, step, decrement, last)
        if ahead is None:
            if not shown:
                yield surface.pair(point, slopes)
            return
        point = ahead


def _gap(gradient: FloatArray, pull: float, lam: float) -> float:
    """||gradient by w||^2/(2 lambda), with what balances a free bias added to the gradient."""
    length = math.sqrt(inner(gradient[:-1], gradient[:-1])) + pull * abs(float(gradient[-1]))
    return length * length / (2.0 * lam)


def is_turn(steps: int) -> bool:
    """Whether a step is shown in any case: the first are far from the optimum."""
    return steps >= _FIRST_SHOWN and steps & (steps - 1) == 0


def _is_ending(before: float, gap: float, enough: float) -> bool:
    """Whether few steps are expected to be left, from the last two gaps and the wanted one."""
    return gap < before < math.inf and gap * (gap / before) ** _LAST_STEPS <= enough < math.inf


class _Iterate(NamedTuple):
    """w and b as one vector, and what is known there."""

    at: FloatArray  # (shape (d + 1,)) b is last; 0 if the problem has none
    margins: FloatArray  # (shape (m,)) y_i (x_i w + b)
    primal: float  # P
    blind: bool = False  # rounding hides whether steps lower P


class Surface:
    """P as a function of w and b; counts the entries that are read for it."""

    def __init__(self, problem: Problem, done: WorkCount) -> None:
        self._problem, self._lam, self._done = problem, problem.lam, done
        self._rows, self._nnz = problem.data.rows, problem.data.nnz
        self.m, self._d = problem.data.n_samples, problem.data.n_features
        self._free = problem.bias == "free"
        self.labels = problem.data.labels.astype(np.float64)
        self.counts = problem.counted(np.ones(self.m))
        self._everyone = np.arange(self.m)

    def first(self, start: tuple[FloatArray, float] | None) -> _Iterate:
        """The iterate to begin from; zeros without a start."""
        if start is None:
            zeros = np.zeros(self._d + 1), np.zeros(self.m)
            return _Iterate(*zeros, self._problem.primal_at_zero())
        at = np.append(start[0], start[1] if self._free else 0.0)
        margins = self.margins(at)
        return _Iterate(at, margins, self.primal(at, margins))

    def margins(self, at: FloatArray) -> FloatArray:
        """y_i (x_i w + b)."""
        self._count(self.m, self._nnz)
        margins: FloatArray = self._rows.dot(at[:-1])
        if self._free:
            margins += at[-1]
        margins *= self.labels
        return margins

    def primal(self, at: FloatArray, margins: FloatArray) -> float:
        """P, from the margins at w and b."""
        each = self._losses(margins)
        return 0.5 * self._lam * inner(at[:-1], at[:-1]) + inner(self.counts, each) / self.m

    def _losses(self, margins: FloatArray) -> FloatArray:
        """The losses. With AVX-512, NumPy takes at most 0.6 of the time of the kernel."""
        if self._problem.loss.name == "logistic":
            # Of the larger of 1 and exp(-s) nothing is lost, and nothing overflows.
            each: FloatArray = np.log1p(np.exp(-np.abs(margins))) - np.minimum(0.0, margins)
            return each
        below: FloatArray = np.maximum(0.0, 1.0 - margins)
        below *= below
        below *= 0.5
        return below

    def derivatives(self, margins: FloatArray) -> tuple[FloatArray, Array]:
        """Minus the slopes of the losses by the margins, and their curvatures."""
        if self._problem.loss.name == "logistic":
            with np.errstate(over="ignore"):  # beyond it the slope is 0
                slopes: FloatArray = 1.0 / (1.0 + np.exp(margins))
            return slopes, slopes * (1.0 - slopes)
        return np.maximum(0.0, 1.0 - margins), margins < 1.0

    def slope(
        self, at: FloatArray, margins: FloatArray, step: FloatArray, moved: FloatArray
    ) -> float:
        """Slope of P along a step, at its end; ``moved`` is the change of the margins along it."""
        slopes = self.derivatives(margins)[0]
        slopes *= self.counts
        return self._lam * inner(at[:-1], step[:-1]) - inner(slopes, moved) / self.m

    def pair(self, point: _Iterate, slopes: FloatArray) -> PrimalAndDual:
        """What `newton` yields, from minus the slopes of the losses."""
        return point.at[:-1].copy(), float(point.at[-1]), self._problem.repaired(slopes)

    def pull(self, point: _Iterate, counted: FloatArray, downhill: FloatArray) -> float:
        """By how much a slope along b adds to the gradient by w; 0 without a free bias.

        To balance alpha, one label's are scaled down by the slope's share of their sum, which moves
        the sum of alpha_i x_i by the slope times the label's mean row.
        """
        if not self._free:
            return 0.0
        positive = self.sums(counted * (self.labels > 0.0))
        negative = downhill + np.append(self._lam * point.at[:-1], 0.0) - positive
        means = [
            math.sqrt(inner(each[:-1], each[:-1])) / abs(float(each[-1]))
            for each in (positive, negative)
            if each[-1] != 0.0
        ]
        return max(means, default=0.0)

    def downhill(self, point: _Iterate, counted: FloatArray) -> FloatArray:
        """Minus the gradient, from minus the slopes of the losses times the weights of rows."""
        downhill: FloatArray = self.sums(counted) - np.append(self._lam * point.at[:-1], 0.0)
        return downhill

    def curved(self, bends: Array) -> tuple[Array, FloatArray]:
        """The rows that have curvature, and theirs over m."""
        curved = np.flatnonzero(bends) if np.count_nonzero(bends) < self.m else self._everyone
        return curved, (bends if curved is self._everyone else bends[curved]) / self.m

    def product(self, curved: Array, curvatures: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """The product with the Hessian; ``curvatures`` of rows are times their weights, over m."""

        def bent(v: FloatArray) -> FloatArray:
            image = self._lam * v
            last, read = weighted_product(self._rows, curved, curvatures, v[:-1], v[-1], image[:-1])
            self._count(len(curved), read)
            image[-1] = last if self._free else 0.0
            return image

        return bent

    def system(self, bends: Array) -> tuple[FloatArray, FloatArray]:
        """The weights of x_i x_i^T in the Hessian, and its last column if b is free."""
        # A label's square is one.
        return bends / self.m, self.sums(self.labels * bends) if self._free else np.zeros(0)

    def diagonal(self, curved: Array, curvatures: FloatArray) -> FloatArray:
        """The preconditioner of a `NewtonSystem`: lambda, and a share of the Hessian's diagonal."""
        found = np.zeros(self._d + 1)
        read = weighted_squares(self._rows, curved, curvatures, found[:-1])
        self._count(len(curved), read)
        found[-1] = float(curvatures.sum()) if self._free else 0.0
        return self._lam + diagonal_share(self._nnz / self.m) * found

    def sums(self, weights: FloatArray) -> FloatArray:
        """The sum of weights_i y_i x_i / m, that of weights_i y_i / m last."""
        self._count(self.m, self._nnz)
        last = inner(self.labels, weights) / self.m if self._free else 0.0
        return np.append(combination(self._rows, weights) / self.m, last)

    def _count(self, rows: int, nonzeros: int) -> None:
        self._done.rows += rows
        self._done.nonzeros += nonzeros
        self._done.entries += nonzeros


def _advanced(
    surface: Surface, point: _Iterate, step: FloatArray, decrement: float, last: float
) -> _Iterate | None:
    """The point after a step, halved until P falls; None where the steps are at their end."""
    moved = surface.margins(step)
    hidden = _ROUNDING * (1.0 + point.primal)
    # The step before may have moved w only, which a tiny C keeps near 0: then b may follow.
    stuck = point.blind and not 0.0 < decrement <= 0.5 * last
    for halvings in range(1 if stuck else _HALVINGS):
        length = 0.5**halvings
        at, margins = point.at + length * step, point.margins + length * moved
        primal = surface.primal(at, margins)
        if not primal < point.primal - hidden:
            if stuck or not decrement > 0.0:
                continue
            # Of the differences of P, the length would be chosen by chance. The slope tells more:
            # where it is not positive at the end, P has fallen along the whole step, being convex.
            slope = surface.slope(at, margins, step, moved)
            even = primal <= point.primal + hidden and slope <= 0.5 * decrement
            if not (even or slope <= 0.0):
                continue
        if point.blind or not primal < point.primal:
            return _Iterate(at, surface.margins(at), primal, blind=True)
        return _Iterate(at, margins, primal)
    return None


def _from_sample(
    problem: Problem, due: Callable[[], bool], count: WorkCount
) -> tuple[FloatArray, float] | None:
    """Weights and bias of a sample, as accurate as it can be; None where m is small."""
    data = problem.data
    sizes = sample_sizes(data.n_samples, data.n_features)
    if not sizes:
        return None
    drawn = np.empty(sizes[-1], dtype=np.int32)
    # NumPy's random numbers would do, but their module takes longer to load than many a fit.
    draw_batches(Generator(0), drawn, np.arange(data.n_samples, dtype=np.int32), len(drawn))
    drawn.sort()
    rows = take_rows(data, drawn)
    if abs(int(rows.labels.sum(dtype=np.int64))) == len(drawn):
        return None  # of one class, which a free bias would serve alone
    weights = problem.row_weights
    if weights is not None:
        weights = weights[drawn] / weights[drawn].mean()
    sample = replace(problem, data=rows, row_weights=weights)
    gain = _SAMPLE_GAIN * sample_accuracy(sizes[-1], data.n_features)
    found = None
    for w, b, _ in newton(sample, due, wanted=0.0, count=count, unshown=math.inf, least_gain=gain):
        found = w, b
        if due():
            break
    return found


def _enough(
    problem: Problem,
    downhill: FloatArray,
    slopes: FloatArray,
    pull: float,
    wanted: float,
    least: float,
) -> Callable[[FloatArray], bool]:
    """Whether a step may leave this residual, which is the next gradient if curvatures stay.

    Either `_FORCING` of the gradient is left, or the next gap is within the wanted one.
    """
    lam = problem.lam
    of_w = _SHARE_LEFT * wanted * least
    of_b = 0.0
    if problem.bias == "free":
        classes = balance(problem.data.rows, slopes)
        of_b = _SHARE_LEFT * wanted * min(classes) / problem.data.n_samples

    def size(left: FloatArray) -> float:
        return _gap(left, pull, lam) if pull > 0.0 else inner(left, left)

    forced = _FORCING**2 * size(downhill)

    def is_enough(left: FloatArray) -> bool:
        near = wanted < math.inf and _gap(left, pull, lam) <= of_w and abs(left[-1]) <= of_b
        return near or size(left) <= forced

    return is_enough
