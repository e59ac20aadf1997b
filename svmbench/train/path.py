"""Values of C in ascending order, each fit started from the one before, and cross-validation.

With a small enough C every row lies within the margin and w only grows in proportion to C; the
grid begins there and doubles C. Along it a fit starts from the weights and dual variables of the
last. It ends early where two values in a row change nothing, for one of two reasons:

- 1/2 ||w||^2 + C sum loss no longer grows with C. Its optimum is concave in C, so that it grows no
  faster later on: no loss is left.
- The weights so far are proven to be within the tolerance at the larger C, too. That proves nothing
  about a still larger C: where a few rows are huge, weights serve those alone for many values of C.
  It counts only in the second half of the values, and once P is well below that of w = 0.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from scipy.special import entr  # type: ignore[import-untyped]

from svmbench.data.dataset import Array, FloatArray
from svmbench.errors import DataError
from svmbench.kernels.objective import combination
from svmbench.train.classes import Trained, train
from svmbench.train.examples import Examples, scaled
from svmbench.train.fit import Fit
from svmbench.train.objective import Objective

#: Values of C in the grid, and the factor between them.
COUNT, FACTOR = 25, 2.0

#: Values of C in a row at which nothing changes, after which larger ones are left out.
_UNCHANGED = 2

#: Largest growth of 1/2 ||w||^2 + C sum loss that counts as none, for any tolerance.
_GROWTH = 0.01

#: Share by which P must be below that of w = 0 before unchanged weights count: a few huge rows
#: lower it by no more than their share of all rows.
_LEARNT = 0.05

#: Minus the slope of each loss at margin 0, times C.
_SLOPES = {"hinge": 1.0, "squared-hinge": 2.0, "logistic": 0.5}

#: Standard deviations around the mean within which a normal variable lies 95 % of the time.
_DEVIATIONS = NormalDist().inv_cdf(0.975)


def grid(examples: Examples, objective: Objective) -> tuple[float, ...]:
    """Powers of two around the useful range of C.

    Parameters
    ----------
    examples : Examples
    objective : Objective
        Its C does not matter.

    Returns
    -------
    tuple of float
        Ascending. The first is at most the C at which a row reaches margin one with w = C v, the
        direction in which w begins to grow from 0.
    """
    reach = 0.0
    for label in examples.classes[: 1 if len(examples.classes) == 2 else None]:
        rows, weights = examples.against_rest(label)
        v = combination(rows.rows, np.ones(rows.n_samples) if weights is None else weights)
        reach = max(reach, _SLOPES[objective.loss] * float(np.abs(rows.rows.dot(v)).max()))
    first = math.floor(-math.log2(reach)) if 0.0 < reach < math.inf else 0
    # Far outside double precision's range of C no problem is left.
    first = min(max(first, -900), 900)
    return tuple(FACTOR ** (first + k) for k in range(COUNT))


def path(
    examples: Examples,
    objective: Objective,
    values: tuple[float, ...],
    tolerance: float = 1e-4,
    *,
    complete: bool = False,
    seed: int = 0,
    time_limit: float = math.inf,
    threads: int = 1,
    progress: Callable[[int, float], None] = lambda label, gap: None,
) -> Iterator[Trained]:
    """Train at each C, from the smallest on, until nothing changes or a fit is not certified.

    Parameters
    ----------
    examples : Examples
    objective : Objective
        Its C does not matter.
    values : tuple of float
        Ascending values of C, each about `FACTOR` times the one before unless ``complete``.
    complete : bool
        Train at every value, whatever changes or is certified.
    tolerance, seed, time_limit, threads, progress
        As for `train`.

    Yields
    ------
    Trained
        One for each C; the last may fall short of its tolerance.
    """
    last: Trained | None = None
    unchanged = 0
    for k, C in enumerate(values):
        before = last
        last = train(
            examples, replace(objective, C=C), tolerance,
            seed=seed, time_limit=time_limit, threads=threads, progress=progress, start=last,
        )  # fmt: skip
        yield last
        if complete:
            continue
        settled = k >= len(values) // 2
        same = before is not None and all(
            _is_exhausted(old, fit, tolerance)
            or (settled and _is_kept(fit, _of_zero(examples, label, objective), tolerance))
            # Of two classes, only the first has a fit.
            for old, fit, label in zip(before.fits, last.fits, last.model.labels, strict=False)
        )
        unchanged = unchanged + 1 if same else 0
        if unchanged >= _UNCHANGED or last.gap > tolerance:
            return


def _is_exhausted(old: Fit, now: Fit, tolerance: float) -> bool:
    """Whether 1/2 ||w||^2 + C sum loss has not grown with C."""
    return now.primal / now.lam <= (1.0 + min(3.0 * tolerance, _GROWTH)) * old.dual / old.lam


def _is_kept(now: Fit, of_zero: float, tolerance: float) -> bool:
    """Whether a fit kept the weights it began from, and they are better than w = 0."""
    return now.method == "start" and now.primal <= (1.0 - max(_LEARNT, 3.0 * tolerance)) * of_zero


def _of_zero(examples: Examples, label: int, objective: Objective) -> float:
    """P at w = 0 and the best b of a class against the rest; at b = 0 if there is no bias."""
    rows, weights = examples.against_rest(label)
    counts = np.ones(rows.n_samples) if weights is None else scaled(weights)[0]
    p = 0.5  # b = 0 is the best b of classes that weigh the same
    if objective.bias != "none":
        p = float(counts[rows.labels > 0].sum() / counts.sum())
    return {
        "hinge": 2.0 * min(p, 1.0 - p),
        "squared-hinge": 2.0 * p * (1.0 - p),
        "logistic": float(entr(p) + entr(1.0 - p)),
    }[objective.loss]


@dataclass(frozen=True, eq=False)
class Validation:
    """Errors on rows that were left out of training.

    A row counts as much as in training: with its own weight times that of its class. Weights are
    scaled by a power of two, so that the largest is at least 1 and below 2.

    Parameters
    ----------
    values : tuple of float
        C, ascending.
    errors : ndarray of float64, shape (K, len(values))
        Weight of each fold's errors, their number without weights. Where a fold's path ended
        early, its last errors are repeated.
    fold_weights : ndarray of float64, shape (K,)
        Weight of each fold's rows, their number without weights.
    effective_rows : float
        Rows that the intervals count, (sum of weights)^2 / sum of weights^2 (Kish, Survey
        Sampling, 1965): all without weights, fewer the more unequal weights are.
    gap : float
        Largest relative gap of all fits.
    """

    values: tuple[float, ...]
    errors: FloatArray
    fold_weights: FloatArray
    effective_rows: float
    gap: float

    def facts(self) -> list[dict[str, float]]:
        """C, error and interval of each value, for a JSON."""
        return [
            {"C": C, "error": error, "low": low, "high": high}
            for C, (error, low, high) in zip(self.values, self.shares(), strict=True)
        ]

    @property
    def best(self) -> float:
        """The smallest C with the least errors."""
        return self.values[int(np.argmin(self.errors.sum(axis=0)))]

    @property
    def extreme(self) -> str | None:
        """Which end of the values tried the best C is, 'smallest' or 'largest'; None if neither.

        None also where only one value was tried.
        """
        if len(self.values) == 1:
            return None
        return {self.values[0]: "smallest", self.values[-1]: "largest"}.get(self.best)

    def shares(self) -> list[tuple[float, float, float]]:
        """For each C the share of errors, and Wilson's 95 % interval around it."""
        shares = np.minimum(1.0, self.errors.sum(axis=0) / self.fold_weights.sum()).tolist()
        return [(share, *_interval(share, self.effective_rows)) for share in shares]


def _interval(share: float, rows: float) -> tuple[float, float]:
    """Wilson's interval (Journal of the American Statistical Association 22, 1927)."""
    spread = _DEVIATIONS**2 / rows
    centre = share + spread / 2.0
    reach = _DEVIATIONS * math.sqrt((share * (1.0 - share) + spread / 4.0) / rows)
    low, high = (centre - reach) / (1.0 + spread), (centre + reach) / (1.0 + spread)
    return min(share, max(0.0, low)), max(share, min(1.0, high))


def cross_validate(
    examples: Examples,
    objective: Objective,
    folds: int,
    values: tuple[float, ...],
    tolerance: float = 1e-4,
    *,
    complete: bool = False,
    seed: int = 0,
    time_limit: float = math.inf,
    threads: int = 1,
    progress: Callable[[int, float], None] = lambda fold, C: None,
) -> Validation:
    """Errors at each C on each fold, of models trained on the other folds.

    Parameters
    ----------
    examples : Examples
        Their weights count in training and in the errors.
    objective : Objective
    folds : int
        K, at least 2. Each has its share of every class, by numbers of rows.
    values : tuple of float
        Ascending values of C.
    complete : bool
        As for `path`.
    tolerance, seed, time_limit, threads
        As for `train`.
    progress : callable
        Called with the number of a fold and the C trained.

    Raises
    ------
    DataError
        When a class has fewer rows than there are folds.
    """
    of_row = assign_folds(examples, folds, seed)
    costs = examples.costs()
    errors, gap = np.zeros((folds, len(values))), 0.0
    most = 0
    for fold in range(folds):
        learning = examples.chosen(np.flatnonzero(of_row != fold))
        left_out, cost = examples.chosen(np.flatnonzero(of_row == fold)), costs[of_row == fold]
        at = 0
        for trained in path(
            learning, objective, values, tolerance,
            complete=complete, seed=seed, time_limit=time_limit, threads=threads,
        ):  # fmt: skip
            progress(fold, values[at])
            model = trained.model
            predicted = model.classes_of(model.decision_values(left_out.rows))
            errors[fold, at:] = cost[predicted != left_out.labels].sum()
            gap = max(gap, trained.gap)
            at += 1
        most = max(most, at)
    fold_weights = np.bincount(of_row, weights=costs, minlength=folds).astype(np.float64)
    effective_rows = float(costs.sum() ** 2 / (costs @ costs))
    return Validation(values[:most], errors[:, :most], fold_weights, effective_rows, gap)


def assign_folds(examples: Examples, folds: int, seed: int) -> Array:
    """The fold of each row: of every class, each fold has the same number of rows or one more."""
    of_row = np.empty(len(examples.labels), dtype=np.int64)
    rng = np.random.default_rng(seed)
    dealt = 0
    for label in examples.classes:
        members = np.flatnonzero(examples.labels == label)
        if len(members) < folds:
            raise DataError(
                f"{examples.rows.name}: class {examples.named(label)} has {len(members)} rows, "
                f"fewer than the {folds} folds"
            )
        of_row[rng.permutation(members)] = (dealt + np.arange(len(members))) % folds
        dealt += len(members)
    return of_row
