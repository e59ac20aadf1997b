"""Estimators that choose C by cross-validation."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]

from svmbench.train.arrays import ascending, require_values
from svmbench.train.classes import Trained
from svmbench.train.estimator import LinearSVC
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective
from svmbench.train.path import grid
from svmbench.train.validation import cross_validate


class LinearSVCCV(LinearSVC):
    """A linear support vector machine that chooses C by cross-validation.

    Each part of the rows, a fold, has its share of every class. At each C a model is trained on
    the other folds, beginning from the last C, and its errors on the fold are counted. The final
    model is trained on all rows at the smallest C with the fewest errors. An error counts as much
    as in training: the weight of its row times that of its class. A warning says if the chosen C
    is the smallest or the largest tried.

    Parameters
    ----------
    Cs : array of floats, optional
        Values to try, all of them; 25 powers of two around the useful range by default.
    cv : int, default 5
        Number of folds, at least 2.
    loss, fit_intercept, tol, class_weight, max_seconds, n_jobs, random_state
        As for `LinearSVC`.

    Attributes
    ----------
    C_ : float
        The chosen C.
    Cs_ : ndarray of float64, shape (n,)
        The values tried, ascending. The largest powers of two are left out once nothing changes.
    scores_ : ndarray of float64, shape (cv, n)
        Weighted share of correct predictions on each fold.
    coef_, intercept_, classes_, certificate_, n_iter_, n_features_in_, feature_names_in_
        As for `LinearSVC`.
    """

    def __init__(
        self,
        Cs: Any = None,
        *,
        cv: int = 5,
        loss: str = "squared_hinge",
        fit_intercept: bool = True,
        tol: float = 1e-4,
        class_weight: Any = None,
        max_seconds: float | None = None,
        n_jobs: int | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            loss=loss,
            fit_intercept=fit_intercept,
            tol=tol,
            class_weight=class_weight,
            max_seconds=max_seconds,
            n_jobs=n_jobs,
            random_state=random_state,
        )
        self.Cs = Cs
        self.cv: Any = cv  # checked by fit, as in scikit-learn

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.cv, numbers.Integral) or self.cv < 2:
            raise ValueError(f"cv must be a whole number, at least 2, not {self.cv!r}")
        require_values(self.Cs)

    def _train(self, examples: Examples, objective: Objective) -> Trained:
        examples = examples.counting()
        values = grid(examples, objective) if self.Cs is None else ascending(self.Cs)
        found = cross_validate(
            examples, objective, self.cv, values, self.tol,
            complete=self.Cs is not None, **self._how(),
        )  # fmt: skip
        trained = super()._train(examples, replace(objective, C=found.best))
        if found.gap > self.tol:
            end = "" if self.Cs is not None else "; a fold's larger values of C repeat its scores"
            warnings.warn(
                f"a fit of cross-validation was not certified to tol={self.tol:g}{end}",
                ConvergenceWarning,
                stacklevel=3,
            )
        if found.extreme is not None:
            warnings.warn(
                f"the chosen C = {found.best:g} is the {found.extreme} tried", stacklevel=3
            )
        self.C_ = found.best
        self.Cs_ = np.array(found.values)
        self.scores_ = 1.0 - found.errors / found.fold_weights[:, None]
        return trained
