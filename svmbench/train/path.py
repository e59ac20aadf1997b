"""Values of C in ascending order, each fit started from the one before.

With a small enough C every row lies within the margin and w only grows in proportion to C; the grid
begins there and doubles C. It ends early where two values in a row change nothing:

- 1/2 ||w||^2 + C sum loss no longer grows with C, and later on no faster, being concave in C; or
- the weights so far are proven to be within the tolerance at the larger C, too. Where a few rows
  are huge, weights serve those alone for many values of C: it counts only in the second half of the
  last 25 values, and once P is well below that of w = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.engine.effort import USUAL, Effort
from svmbench.engine.fit import AT_START, Fit
from svmbench.kernels.objective import combination
from svmbench.train.classes import (
    Trained,
    Training,
    require_rows_in_memory,
    weight_of_errors,
)
from svmbench.train.examples import Examples, scaled
from svmbench.train.objective import LOSS_AT_ZERO, Objective

#: Values of C in the grid where columns are of one size, the factor between them, and the most
#: values for any rows, which span 30 powers of ten.
COUNT, FACTOR, MOST = 25, 2.0, 100

#: Values of C in a row at which nothing changes, after which larger ones are left out.
_UNCHANGED = 2

#: Largest growth of 1/2 ||w||^2 + C sum loss that counts as none, for any tolerance.
_GROWTH = 0.01

#: Share by which P must be below that of w = 0 before unchanged weights count: a few huge rows
#: lower it by no more than their share of all rows.
_LEARNT = 0.05

#: Minus the slope of each loss at margin 0, times C.
_SLOPES = {"hinge": 1.0, "squared-hinge": 2.0, "logistic": 0.5}


def grid(examples: Examples, objective: Objective) -> tuple[float, ...]:
    """Powers of two around the useful range of C, which is longer for uneven columns.

    A column of half the size needs twice the weight, whose square costs four times as much. At the
    first C no row reaches margin one with w = C v, v the direction in which w begins to grow from
    0.

    Raises DataError when the rows are in a file and exceed the free memory.
    """
    remedy = "train with one C, or on fewer rows"
    require_rows_in_memory(examples.rows, f"training with {COUNT} values of C", remedy)
    reach = 0.0
    for label in examples.fitted:
        with np.errstate(all="ignore"):  # what is out of range, training refuses
            reach = max(reach, _reach(*examples.against_rest(label), objective))
    first = math.floor(-math.log2(reach)) if 0.0 < reach < math.inf else 0
    # Far outside double precision's range of C no problem is left.
    first = min(max(first, -900), 900)
    uneven = examples.uneven
    more = math.ceil(2.0 * uneven.doublings) if uneven else 0
    return tuple(FACTOR ** (first + k) for k in range(min(COUNT + more, MOST)))


def _reach(rows: Dataset, weights: FloatArray | None, objective: Objective) -> float:
    """Largest decision value over C with w = C v, and with w = C times a row's own part of v.

    v is the sum of minus the slopes at w = 0 times y_i x_i. With a free bias, decision values count
    from the middle of theirs, rows from their mean.
    """
    pull = _pull_of_zero(rows, weights, objective)
    v = combination(rows.rows, pull)
    values, squares = rows.rows.dot(v), rows.rows.norms2()
    if objective.bias == "regularised":  # the constant feature is one in every row
        values, squares = values + float(pull @ rows.labels), squares + 1.0
    if objective.bias != "free":
        return max(float(np.abs(values).max()), float((pull * squares).max()))
    mean = combination(rows.rows, rows.labels / rows.n_samples)
    squares = squares - 2.0 * rows.rows.dot(mean) + float(mean @ mean)
    return max(float(np.ptp(values)) / 2.0, float((pull * squares).max()))


def _pull_of_zero(rows: Dataset, weights: FloatArray | None, objective: Objective) -> FloatArray:
    """Minus the slopes of the losses at w = 0 and its best bias, each times its weight."""
    counts = np.ones(rows.n_samples) if weights is None else weights
    if objective.bias != "free":
        return _SLOPES[objective.loss] * counts
    positive = rows.labels > 0
    sums = float(counts[positive].sum()), float(counts[~positive].sum())
    if min(sums) == 0.0:  # one class, or its weights have no place in double precision
        return 0.0 * counts
    if objective.loss == "hinge":
        shares = min(sums) / sums[0], min(sums) / sums[1]
    else:
        shares = 2.0 * sums[1] / sum(sums), 2.0 * sums[0] / sum(sums)
    return _SLOPES[objective.loss] * counts * np.where(positive, *shares)


def path(
    examples: Examples,
    objective: Objective,
    values: tuple[float, ...],
    tolerance: float = 1e-4,
    effort: Effort = USUAL,
    *,
    complete: bool = False,
    ending: Ending | None = None,
    last: Trained | None = None,
) -> Iterator[Trained]:
    """Train at each C, from the smallest on, until nothing changes or a fit is not certified.

    - ``complete``: train at every value, whatever changes or is certified.
    - ``ending, last``: of a path that was begun elsewhere, at smaller values.
    """
    training = Training(examples, objective, effort)
    ending = ending or Ending(lambda k: of_zero(examples, k, objective), tolerance, len(values))
    for C in values:
        last = training.at(replace(objective, C=C), tolerance, start=last)
        yield last
        if ending.after(last.fits) and not complete:
            return


class Ending:
    """Whether a path has come to its end, asked after each C in turn and kept as ``over``."""

    def __init__(self, of_zero: Callable[[int], float], tolerance: float, count: int) -> None:
        self._of_zero, self._tolerance, self.over = cache(of_zero), tolerance, False
        self._settled = count - COUNT // 2 - 1
        self._seen = self._unchanged = 0
        self._before: Sequence[Fit] = ()

    def after(self, fits: Sequence[Fit]) -> bool:
        """Whether larger values are left out after these fits, one for each class."""
        settled = self._seen >= self._settled
        same = bool(self._before) and all(
            _is_exhausted(old, fit, self._tolerance) or (settled and self._is_kept(k, fit))
            for k, (old, fit) in enumerate(zip(self._before, fits, strict=True))
        )
        self._unchanged = self._unchanged + 1 if same else 0
        self._seen, self._before = self._seen + 1, fits
        uncertified = max(fit.gap for fit in fits) > self._tolerance
        self.over = uncertified or self._unchanged >= _UNCHANGED
        return self.over

    def _is_kept(self, k: int, now: Fit) -> bool:
        """Whether a fit kept the weights it began from, and they are better than w = 0."""
        enough = 1.0 - max(_LEARNT, 3.0 * self._tolerance)
        return now.method == AT_START and now.primal <= enough * self._of_zero(k)


def _is_exhausted(old: Fit, now: Fit, tolerance: float) -> bool:
    """Whether 1/2 ||w||^2 + C sum loss has not grown with C."""
    return now.primal / now.lam <= (1.0 + min(3.0 * tolerance, _GROWTH)) * old.dual / old.lam


def of_zero(
    examples: Examples, k: int, objective: Objective, chosen: Array | slice = slice(None)
) -> float:
    """P at w = 0 and the best b, if there is one, of class k against the rest on these rows."""
    p = 0.5  # b = 0 is the best b of classes that weigh the same
    if objective.bias != "none":
        label = examples.classes[k]
        positive, weights = examples.labels[chosen] == label, examples.weights_against_rest(label)
        counts = np.ones(len(positive)) if weights is None else scaled(weights[chosen])[0]
        p = float(counts[positive].sum() / counts.sum())
    return {
        "hinge": 2.0 * min(p, 1.0 - p),
        "squared-hinge": 2.0 * p * (1.0 - p),
        "logistic": -math.fsum(q * math.log(q) for q in (p, 1.0 - p) if q > 0.0),
    }[objective.loss]


@dataclass(frozen=True)
class Point:
    """Facts about a model at one C."""

    C: float
    objective: float  # 1/2 ||w||^2 + C sum weight loss, summed over the classes
    bound: float  # a lower bound on the least possible objective
    gap: float  # the largest relative gap of its fits
    # the objective divided by that of w = 0 and b = 0: near 1 while C is too small to matter
    share_of_zero: float
    norm: float  # ||w|| of all classes together, without their biases
    # share of the rows that the model predicts wrongly, each counted by its weight times its
    # class's
    training_error: float


def point(examples: Examples, trained: Trained, objective: Objective) -> Point:
    """Describe what was trained on these examples at the objective's C."""
    examples = examples.counting()
    fits, costs = trained.fits, examples.costs()
    primal = math.fsum(each.primal / each.lam for each in fits)
    of_zero = math.fsum(LOSS_AT_ZERO[objective.loss] / each.lam for each in fits)
    return Point(
        objective.C,
        primal,
        math.fsum(each.dual / each.lam for each in fits),
        trained.gap,
        primal / of_zero,
        float(np.linalg.norm(trained.model.weights)),
        weight_of_errors(trained.model, examples, costs) / float(costs.sum()),
    )
