"""Estimators for many values of C: a model at each, or the one that cross-validation chooses."""

from __future__ import annotations

import numbers
import warnings
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]
from sklearn.utils.validation import check_is_fitted  # type: ignore[import-untyped]

from svmbench.memory import require_memory
from svmbench.train.classes import Trained
from svmbench.train.estimator import Learnt, LinearSVC, in_double_precision, numbers_of
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective
from svmbench.train.path import grid, path
from svmbench.train.validation import SELECTION, USELESS, cross_validate


@dataclass(eq=False, repr=False)
class _OfManyCs(LinearSVC):
    """What both share: values of C, given or found, in place of one."""

    C: float = field(default=1.0, init=False)  # no parameters of these
    warm_start: bool = field(default=False, init=False)
    Cs: Any = None

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if self.Cs is None:
            return
        with in_double_precision("Cs"):
            try:
                values = np.asarray(self.Cs, dtype=np.float64)
            except (TypeError, ValueError):
                values = np.empty(0)
        if values.ndim != 1 or not len(values) or not ((values > 0.0) & (values < np.inf)).all():
            raise ValueError("Cs must be positive and finite numbers, at least one")

    def _values(self, examples: Examples, objective: Objective) -> tuple[float, ...]:
        """The distinct values of C, the smallest first."""
        if self.Cs is None:
            return grid(examples, objective)
        return tuple(np.unique(np.asarray(self.Cs, dtype=np.float64)).tolist())


class LinearSVCPath(_OfManyCs):
    """Linear support vector machines at ascending values of C.

    Each fit begins from the one before. `predict` and what `LinearSVC` has describe the model at
    ``C_``, the largest C that was trained; `model_at` gives that of another C.

    Parameters
    ----------
    Cs : array of floats, optional
        Values to train at, all of them; by default, powers of two around the useful range, until
        nothing changes or a fit is not certified.
    loss, fit_intercept, tol, class_weight, max_seconds, n_jobs, random_state
        As for `LinearSVC`; ``max_seconds`` is for the fits at each C.

    Attributes
    ----------
    Cs_ : ndarray of float64, shape (n,)
        The values trained at, ascending.
    coefs_ : ndarray of float64, shape (n, 1, d), or (n, classes, d) for more than two classes
    intercepts_ : ndarray of float64, shape (n, 1) or (n, classes)
    certificates_ : list of n OptimalityBounds, or of n lists of them for more than two classes
        As ``certificate_`` of `LinearSVC`.
    C_ : float
        The largest value trained at.
    coef_, intercept_, classes_, certificate_, n_iter_, n_features_in_, feature_names_in_
        As for `LinearSVC`, at ``C_``.
    """

    def _train(self, examples: Examples, objective: Objective) -> Trained:
        """Train along the path, keep each model, and return the last."""
        examples = examples.counting()
        values = self._values(examples, objective)
        require_memory(
            8 * len(values) * len(examples.fitted) * examples.rows.n_features,
            f"{len(values)} models of {examples.rows.n_features:,} columns",
            "give fewer Cs",
        )
        learnt, short = [], []
        tol, effort, complete = float(self.tol), self._effort(), self.Cs is not None
        models = path(examples, objective, values, tol, effort, complete=complete)
        for C, trained in zip(values, models, strict=False):
            learnt.append(Learnt.of(trained))
            if trained.gap > tol:
                short.append(C)
        if short[:1] and short[0] < values[len(learnt) - 1]:  # fit warns of the last
            warnings.warn(
                f"not certified to tol={tol:g} at C = {', '.join(f'{C:g}' for C in short)}",
                ConvergenceWarning,
                stacklevel=3,
            )
        self.Cs_ = np.array(values[: len(learnt)])
        self.C_ = float(self.Cs_[-1])
        self.coefs_ = np.stack([each.coef for each in learnt])
        self.intercepts_ = np.stack([each.intercept for each in learnt])
        self.certificates_ = [each.certificate for each in learnt]
        self._n_certificates = [each.n_certificates for each in learnt]
        return trained

    def model_at(self, C: float) -> LinearSVC:
        """The model at one of the values trained at.

        Parameters
        ----------
        C : float
            One of ``Cs_``.

        Returns
        -------
        LinearSVC
            Fitted.

        Raises
        ------
        ValueError
            When C is none of ``Cs_``.
        """
        check_is_fitted(self)
        with numbers_of("C"):
            found = np.flatnonzero(self.Cs_ == float(C))
        if not len(found):
            shown = ", ".join(f"{each:g}" for each in self.Cs_)
            raise ValueError(f"no model was trained at C={C!r}; known are {shown}")
        k, given = int(found[0]), self.get_params()
        shared = LinearSVC().get_params().keys() & given.keys()
        model = LinearSVC(C=float(C), **{name: given[name] for name in shared})
        for name in ("classes_", "n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(model, name, getattr(self, name))
        model.coef_, model.intercept_ = self.coefs_[k].copy(), self.intercepts_[k].copy()
        model.certificate_, model.n_iter_ = self.certificates_[k], self._n_certificates[k]
        return model


@dataclass(eq=False, repr=False)
class LinearSVCCV(_OfManyCs):
    """A linear support vector machine that chooses C by cross-validation.

    Each part of the rows, a fold, has its share of every class. At each C a model is trained on
    the other folds, beginning from the last C and certified to 1e-2, or to ``tol`` if that is
    larger, and its errors on the fold are counted. The final model is trained on all rows at the
    smallest C with the fewest errors. An error counts as much as in training: the weight of its
    row times that of its class. A warning says if the chosen C is the smallest or the largest
    tried, if it is not shown to be better than the larger class, or if columns differ in size.

    Parameters
    ----------
    Cs : array of floats, optional
        Values to try, all of them; by default powers of two around the useful range, until the
        errors have stopped falling.
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

    _: KW_ONLY
    cv: Any = 5

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.cv, numbers.Integral) or self.cv < 2:
            raise ValueError(f"cv must be a whole number, at least 2, not {self.cv!r}")

    def _train(self, examples: Examples, objective: Objective) -> Trained:
        """Choose C by cross-validation, and train at it on all rows."""
        examples = examples.counting()
        values = self._values(examples, objective)
        found = cross_validate(
            examples, objective, self.cv, values, max(float(self.tol), SELECTION), self._effort(),
            complete=self.Cs is not None,
        )  # fmt: skip
        trained = super()._train(examples, replace(objective, C=found.best))
        if found.gap > found.tolerance:
            end = "" if self.Cs is not None else "; a fold's larger values of C repeat its scores"
            warnings.warn(
                f"a fit of cross-validation was not certified to {found.tolerance:g}{end}",
                ConvergenceWarning,
                stacklevel=3,
            )
        if found.extreme is not None:
            warnings.warn(
                f"the chosen C = {found.best:g} is the {found.extreme} tried", stacklevel=3
            )
        if found.useless:
            warnings.warn(USELESS.format(found.constant_error), stacklevel=3)
        if examples.uneven:
            remedy = "scale them, as sklearn.preprocessing.MaxAbsScaler does"
            warnings.warn(f"{examples.uneven}; {remedy}", stacklevel=3)
        self.C_ = found.best
        self.Cs_ = np.array(found.values)
        self.scores_ = 1.0 - found.errors / found.fold_weights[:, None]
        return trained
