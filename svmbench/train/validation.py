"""Cross-validation: errors at each C on rows that were left out of training."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.engine.effort import USUAL, Effort
from svmbench.errors import DataError
from svmbench.records.spelling import counted
from svmbench.train.classes import OneThread, Trained, run_in_threads, weight_of_errors
from svmbench.train.examples import Examples
from svmbench.train.folds import FoldFits
from svmbench.train.objective import Objective
from svmbench.train.path import COUNT, FACTOR, MOST, Ending, of_zero, path

#: Relative gap to which the fits that choose C are certified, unless the model's is larger.
SELECTION = 1e-2

#: What is said where C is chosen for a model that is `Validation.useless`.
USELESS = (
    "at no C are the errors shown to be fewer than those of the larger class for every row, {:.2%}"
)

#: As many more values of C are tried at a time, as long as the last ones lowered the least error
#: to this share of it.
_AHEAD, _FALL = 4, 0.95


@dataclass(frozen=True, eq=False)
class Validation:
    """Errors on rows that were left out of training.

    A row counts as much as in training. Weights are `scaled`.
    """

    values: tuple[float, ...]  # C, ascending
    # (shape (K, len(values)) Weight of each fold's errors, their number without weights. Where a
    # fold's path ended early, its last errors are repeated.
    errors: FloatArray
    # (shape (K,)) Weight of each fold's rows, their number without weights
    fold_weights: FloatArray
    # rows that the intervals count, (sum of weights)^2 / sum of weights^2 (Kish, Survey Sampling,
    # 1965): all without weights, fewer the more unequal weights are
    effective_rows: float
    constant_error: float  # share of errors if the class of most weight is predicted for every row
    gap: float  # largest relative gap of all fits
    tolerance: float  # gap that was asked for

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
    def useless(self) -> bool:
        """Whether the best C is not shown to have fewer errors than one class for every row."""
        _, _, high = self.shares()[self.values.index(self.best)]
        return high >= self.constant_error

    @property
    def falls(self) -> bool:
        """Whether the last values of C have clearly fewer errors than all before them."""
        before, last = np.split(self.errors.sum(axis=0), [-_AHEAD])
        return len(before) > 0 and bool(last.min() < _FALL * before.min())

    @property
    def extreme(self) -> str | None:
        """Which end of several values the best C is, 'smallest' or 'largest'; None if neither."""
        if len(self.values) == 1:
            return None
        return {self.values[0]: "smallest", self.values[-1]: "largest"}.get(self.best)

    def shares(self) -> list[tuple[float, float, float]]:
        """For each C the share of errors, and Wilson's 95 % interval around it."""
        shares = np.minimum(1.0, self.errors.sum(axis=0) / self.fold_weights.sum()).tolist()
        return [(share, *_interval(share, self.effective_rows)) for share in shares]


def _interval(share: float, rows: float) -> tuple[float, float]:
    """Wilson's interval (Journal of the American Statistical Association 22, 1927)."""
    spread = _deviations() ** 2 / rows
    centre = share + spread / 2.0
    reach = _deviations() * math.sqrt((share * (1.0 - share) + spread / 4.0) / rows)
    low, high = (centre - reach) / (1.0 + spread), (centre + reach) / (1.0 + spread)
    return min(share, max(0.0, low)), max(share, min(1.0, high))


@cache
def _deviations() -> float:
    """Standard deviations around the mean that hold 95 % of a normal distribution."""
    from statistics import NormalDist  # slow to load, and most fits have no intervals

    return NormalDist().inv_cdf(0.975)


def cross_validate(
    examples: Examples,
    objective: Objective,
    folds: int,
    values: tuple[float, ...],
    tolerance: float = 1e-4,
    effort: Effort = USUAL,
    *,
    complete: bool = False,
    progress: Callable[[int | None, float], None] = lambda fold, C: None,
    one_by_one: bool = False,
) -> Validation:
    """Errors at each C on each fold, of models trained on the other folds.

    - ``values``: ascending values of C. Unless ``complete``, larger ones follow as long as errors
      fall, and where all models are useless, as columns far from 0 make them at first.
    - ``progress``: called with the number of a fold from 0, or None where all are trained at once,
      and with C.
    - ``one_by_one``: do not train folds at once, in order to measure what that saves.

    Raises DataError when a class has fewer rows than there are folds, InterruptedError when given
    up.
    """
    of_row = assign_folds(examples, folds, effort.seed)
    costs, failed = examples.costs(), threading.Event()
    fold_weights = np.bincount(of_row, weights=costs, minlength=folds).astype(np.float64)
    tried, gaps = list(values), [0.0]
    errors: list[list[float]] = [[] for _ in range(folds)]
    endings = [
        Ending(
            partial(of_zero, examples, objective=objective, chosen=of_row != fold),
            tolerance,
            len(values),
        )
        for fold in range(folds)
    ]
    lasts: dict[int, Trained | None] = {}

    def note(fold: int, cost: float, gap: float) -> None:
        errors[fold].append(cost)
        gaps.append(gap)

    def found() -> Validation:
        most = max(map(len, errors))
        table = np.array([each + each[-1:] * (most - len(each)) for each in errors])
        return Validation(
            tuple(tried[:most]), table, fold_weights,
            float(costs.sum() ** 2 / (costs @ costs)),
            examples.larger_class[1], max(gaps), tolerance,
        )  # fmt: skip

    def goes_on() -> bool:
        """Whether larger values of C are to be tried, which are added."""
        now = found()
        hopeful = now.falls or (now.useless and len(tried) < len(values) + COUNT)
        if complete or len(tried) >= MOST or not hopeful:
            return False
        more = min(_AHEAD, MOST - len(tried))
        tried.extend([tried[-1] * FACTOR ** (1 + k) for k in range(more)])
        return True

    at_once = None
    if not one_by_one and FoldFits.suit(examples, objective, folds):
        at_once = FoldFits(examples, objective, of_row, folds, effort)
    each = replace(
        effort,
        threads=max(1, effort.threads // folds),
        given_up=lambda: failed.is_set() or effort.given_up(),
    )

    def train_at_once() -> list[int]:
        """Train all folds at once; those that are better trained by themselves from here on."""
        left, k = list(range(folds)), 0
        while at_once is not None and left:
            if k == len(tried) and not goes_on():
                return []
            progress(None, tried[k])
            if not at_once.train(tried[k], tolerance, left):
                return left
            wrong = costs * at_once.wrong()
            cost_of = np.bincount(of_row, weights=wrong, minlength=folds).tolist()
            fits_of = {fold: at_once.certified(fold) for fold in left}
            for fold, fits in fits_of.items():
                note(fold, cost_of[fold], max(fit.gap for fit in fits))
                if endings[fold].after(fits) and not complete:
                    left.remove(fold)
            k += 1
        return left

    def train_fold(fold: int) -> None:
        """Train a fold by itself at the values that are left."""
        left_out, cost = examples.chosen(np.flatnonzero(of_row == fold)), costs[of_row == fold]
        if at_once is None:
            learning = examples.chosen(np.flatnonzero(of_row != fold))
        else:
            learning = at_once.learning(fold)
            if fold not in lasts:
                lasts[fold] = at_once.last(fold)
        rest = tuple(tried[len(errors[fold]) :])
        for trained in path(
            learning, objective, rest, tolerance, each, complete=complete,
            ending=endings[fold], last=lasts.get(fold),
        ):  # fmt: skip
            progress(fold, tried[len(errors[fold])])
            note(fold, weight_of_errors(trained.model, left_out, cost), trained.gap)
            lasts[fold] = trained

    with OneThread().held():
        left = train_at_once()
        while left:
            run_in_threads(train_fold, left, min(effort.threads, folds), failed)
            left = [fold for fold in left if not endings[fold].over]
            if not (left and goes_on()):
                break
    return found()


def assign_folds(examples: Examples, folds: int, seed: int) -> Array:
    """The fold of each row; of every class, each fold has the same number of rows or one more."""
    of_row = np.empty(len(examples.labels), dtype=np.int64)
    rng = np.random.default_rng(seed)
    dealt = 0
    for label in examples.classes:
        members = np.flatnonzero(examples.labels == label)
        if len(members) < folds:
            raise DataError(
                f"{examples.rows.name}: class {examples.named(label)} has "
                f"{counted(len(members), 'row')}, fewer than the {folds} folds"
            )
        of_row[rng.permutation(members)] = (dealt + np.arange(len(members))) % folds
        dealt += len(members)
    return of_row
