"""Values of C in ascending order, each fit started from the one before, and cross-validation.

With a small enough C every row lies within the margin and w only grows in proportion to C; the
grid begins there and doubles C. Along it a fit starts from the weights and dual variables of the
last. It ends where nothing changes any more: where at the next values of C the weights so far are
proven to be within the tolerance before any further step, or 1/2 ||w||^2 + C sum loss no longer
grows, because no loss is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import binomtest  # type: ignore[import-untyped]

from svmbench.data.dataset import Array
from svmbench.errors import DataError
from svmbench.kernels.objective import combination
from svmbench.train.classes import Trained, train
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective

#: Values of C in the grid, and the factor between them.
COUNT, FACTOR = 25, 2.0

#: Values of C in a row at which nothing changes, after which larger ones are left out.
_UNCHANGED = 2

#: Minus the slope of each loss at margin 0, times C.
_SLOPES = {"hinge": 1.0, "squared-hinge": 2.0, "logistic": 0.5}


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
        Ascending values of C.
    tolerance, seed, time_limit, threads, progress
        As for `train`.

    Yields
    ------
    Trained
        One for each C; the last may fall short of its tolerance.
    """
    last: Trained | None = None
    unchanged = 0
    for C in values:
        before = last
        last = train(
            examples, replace(objective, C=C), tolerance,
            seed=seed, time_limit=time_limit, threads=threads, progress=progress, start=last,
        )  # fmt: skip
        yield last
        unchanged = unchanged + 1 if _is_unchanged(before, last, tolerance) else 0
        if unchanged >= _UNCHANGED or last.gap > tolerance:
            return


def _is_unchanged(before: Trained | None, now: Trained, tolerance: float) -> bool:
    """Whether a larger C has changed no fit by more than its tolerance."""
    if before is None:
        return False
    return all(
        fit.method == "start"
        or fit.primal / fit.lam <= (1.0 + 3.0 * tolerance) * old.dual / old.lam
        for old, fit in zip(before.fits, now.fits, strict=True)
    )


@dataclass(frozen=True, eq=False)
class Validation:
    """Errors on rows that were left out of training.

    Parameters
    ----------
    values : tuple of float
        C, ascending.
    errors : ndarray of int64, shape (K, len(values))
        Errors of each fold. Where its path ended early, its last errors are repeated.
    fold_rows : ndarray of int64, shape (K,)
        Rows of each fold.
    gap : float
        Largest relative gap of all fits.
    """

    values: tuple[float, ...]
    errors: Array
    fold_rows: Array
    gap: float

    @property
    def rows(self) -> int:
        """Rows of all folds together."""
        return int(self.fold_rows.sum())

    def facts(self) -> list[dict[str, float]]:
        """C, error and interval of each value, for a JSON."""
        return [
            {"C": C, "error": error, "low": low, "high": high}
            for C, (error, low, high) in zip(self.values, self.shares(), strict=True)
        ]

    @property
    def best(self) -> float:
        """The smallest C with the fewest errors."""
        return self.values[int(np.argmin(self.errors.sum(axis=0)))]

    def shares(self) -> list[tuple[float, float, float]]:
        """For each C the share of errors, and Wilson's 95 % interval around it."""
        found = []
        for wrong in self.errors.sum(axis=0):
            test = binomtest(int(wrong), self.rows)
            around = test.proportion_ci(0.95, method="wilson")
            found.append((int(wrong) / self.rows, float(around.low), float(around.high)))
        return found


def cross_validate(
    examples: Examples,
    objective: Objective,
    folds: int,
    values: tuple[float, ...],
    tolerance: float = 1e-4,
    *,
    seed: int = 0,
    time_limit: float = math.inf,
    threads: int = 1,
    progress: Callable[[int, float], None] = lambda fold, C: None,
) -> Validation:
    """Errors at each C on each fold, of models trained on the other folds.

    Parameters
    ----------
    examples : Examples
    objective : Objective
    folds : int
        K, at least 2. Each has its share of every class.
    values : tuple of float
        Ascending values of C.
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
    errors, gap = np.zeros((folds, len(values)), dtype=np.int64), 0.0
    most = 0
    for fold in range(folds):
        learning = examples.chosen(np.flatnonzero(of_row != fold))
        left_out = examples.chosen(np.flatnonzero(of_row == fold))
        at = 0
        for trained in path(
            learning, objective, values, tolerance,
            seed=seed, time_limit=time_limit, threads=threads,
        ):  # fmt: skip
            progress(fold, values[at])
            model = trained.model
            predicted = model.classes_of(model.decision_values(left_out.rows))
            errors[fold, at:] = np.count_nonzero(predicted != left_out.labels)
            gap = max(gap, trained.gap)
            at += 1
        most = max(most, at)
    return Validation(values[:most], errors[:, :most], np.bincount(of_row), gap)


def assign_folds(examples: Examples, folds: int, seed: int) -> Array:
    """The fold of each row: of every class, each fold has the same number of rows or one more."""
    of_row = np.empty(len(examples.labels), dtype=np.int64)
    rng = np.random.default_rng(seed)
    dealt = 0
    for label in examples.classes:
        members = np.flatnonzero(examples.labels == label)
        if len(members) < folds:
            raise DataError(
                f"{examples.rows.name}: class {label} has {len(members)} rows, fewer than the "
                f"{folds} folds"
            )
        of_row[rng.permutation(members)] = (dealt + np.arange(len(members))) % folds
        dealt += len(members)
    return of_row
