"""Estimators for scikit-learn, an optional dependency: ``pip install scikit-learn``.

They follow its conventions. Two things differ: ``tol`` is a certified relative gap, and the
intercept is not regularised. ``certificate_`` says how near the weights are to the optimum.
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse  # type: ignore[import-untyped]
from scipy.special import expit  # type: ignore[import-untyped]
from sklearn.base import BaseEstimator, ClassifierMixin  # type: ignore[import-untyped]
from sklearn.exceptions import ConvergenceWarning  # type: ignore[import-untyped]
from sklearn.utils import check_random_state  # type: ignore[import-untyped]
from sklearn.utils.class_weight import compute_class_weight  # type: ignore[import-untyped]
from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]
from sklearn.utils.validation import (  # type: ignore[import-untyped]
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from svmbench.data.dataset import Array, FloatArray
from svmbench.data.in_memory import as_dataset
from svmbench.data.libsvm import available_processors
from svmbench.engine.effort import Effort
from svmbench.errors import ConfigError, DataError
from svmbench.train.classes import Trained, train
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective


@contextmanager
def in_double_precision(name: str) -> Iterator[None]:
    """Name the parameter whose conversion to double precision fails."""
    try:
        yield
    except OverflowError:
        raise ValueError(f"{name}: a number is too large for double precision") from None


@contextmanager
def numbers_of(name: str) -> Iterator[None]:
    """Name the parameter whose conversion to numbers fails in any way."""
    with in_double_precision(name):
        try:
            yield
        except (TypeError, ValueError) as error:
            raise ValueError(f"{name}: {error}") from None


def as_numbers(name: str, given: Any) -> Array:
    """A parameter as an array of numbers; what else is wrong with them is not checked."""
    with numbers_of(name):
        found = np.asarray(given)
        return found if found.dtype.kind in "biufc" else found.astype(np.float64)


def check_structure(X: Any) -> None:
    """Refuse sparse rows whose indices lead outside their arrays, where SciPy reads unchecked."""
    if not issparse(X):
        return
    with numbers_of("X"):
        if X.format == "coo":
            type(X)((X.data, (X.row, X.col)), shape=X.shape)
        elif hasattr(X, "check_format"):
            copy(X).check_format()  # it would cut off what the user's arrays have behind the rows


def balanced(examples: Examples) -> FloatArray:
    """Weights of classes 0, 1, ..., inverse to the weights of their rows; mean weight of a row 1.

    As scikit-learn's compute_class_weight, which takes no weights of rows before its version 1.7.
    """
    of_class = np.bincount(examples.labels, weights=examples.costs()).astype(np.float64)
    weights = np.ones_like(of_class)
    with np.errstate(over="ignore"):  # Examples refuses inf
        np.divide(of_class.sum(), len(of_class) * of_class, out=weights, where=of_class > 0.0)
    return weights


class OptimalityBound(NamedTuple):
    """What proves that a fit is near its optimum.

    Parameters
    ----------
    P : float
        C sum loss + 1/2 ||w||^2 at the weights.
    D : float
        A lower bound on the least possible P.
    gap : float
        (P - D)/D; inf where D is not positive.
    """

    P: float
    D: float
    gap: float


class Learnt(NamedTuple):
    """What an estimator keeps of a model: weights, biases and certificates of its classes."""

    coef: FloatArray
    intercept: FloatArray
    certificate: OptimalityBound | list[OptimalityBound]
    n_certificates: int

    @classmethod
    def of(cls, trained: Trained) -> Learnt:
        """Classes in ascending order, as scikit-learn has them."""
        model, fits = trained.model, trained.fits
        certificates = [
            OptimalityBound(each.primal / each.lam, each.dual / each.lam, each.gap) for each in fits
        ]
        return cls(
            model.weights,
            model.biases,
            certificates[0] if len(certificates) == 1 else certificates,
            max(each.certificates for each in fits),
        )


def _classes_of(y: Array) -> tuple[Array, Array]:
    """The classes in ascending order, and each row's number; two numbers are found unsorted."""
    if y.dtype.kind in "biuf":
        classes = np.array([y.min(), y.max()])
        second = y == classes[1]
        if classes[0] < classes[1] and (second | (y == classes[0])).all():
            return classes, second.astype(np.intp)
    return np.unique(y, return_inverse=True)


def _drawn(state: np.random.RandomState) -> int:
    return int(state.randint(np.iinfo(np.int32).max))


@lru_cache(maxsize=64)
def _seed_of(number: int) -> int:
    """The first number of scikit-learn's generator with that seed, which is slow to make."""
    return _drawn(check_random_state(number))


@dataclass(eq=False, repr=False)
class _Linear(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """What the estimators share: their parameters, which `fit` checks, as in scikit-learn."""

    C: float = 1.0
    _: KW_ONLY
    loss: str = field(default="logistic", init=False)  # a parameter of some only
    fit_intercept: bool = True
    tol: float = 1e-4
    class_weight: Any = None
    warm_start: bool = False
    max_seconds: float | None = None
    n_jobs: Any = None
    random_state: Any = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> _Linear:
        """Train until every fit is certified to ``tol``.

        Parameters
        ----------
        X : array or sparse matrix, shape (m, d)
            Rows. float32 and float64 are used as they are, CSR and C order without a copy.
        y : array, shape (m,)
            Classes, at least two.
        sample_weight : array, shape (m,), or number, optional
            Factors of the rows' losses, not negative. A row of weight 0 is left out, one of
            weight 2 counts twice.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            When a parameter or a value of X is out of range, or y holds one class only.

        Warns
        -----
        ConvergenceWarning
            When ``max_seconds`` or rounding ended a fit short of ``tol``.
        """
        self._check_parameters()
        try:
            bias = "free" if self.fit_intercept else "none"
            objective = Objective(self._loss(), float(self.C), bias)  # numpy's may be of 32 bits
        except (ConfigError, TypeError) as error:
            raise ValueError(str(error)) from None
        before = self.__dict__.copy()
        try:
            X, y = self._validated(X, y, order="C")
            check_classification_targets(y)
            classes, labels = _classes_of(y)
            if len(classes) < 2:
                raise ValueError(
                    f"{type(self).__name__} needs samples of at least 2 classes in the data, but "
                    f"the data contains only one class: {classes.tolist()[0]!r}"
                )
            trained = self._train(self._examples(X, y, classes, labels, sample_weight), objective)
            self.classes_ = classes
            self._keep(trained)
            self._last = trained if self.warm_start else None
        except BaseException as error:  # Ctrl-C, too, leaves the old model whole
            self.__dict__.clear()
            self.__dict__.update(before)
            if isinstance(error, ConfigError | DataError):
                raise ValueError(str(error)) from None
            raise
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Signed distances to the separating planes, times ||w||.

        Parameters
        ----------
        X : array or sparse matrix, shape (m, d)

        Returns
        -------
        ndarray of float64
            Shape (m,) for two classes, positive for the second; else (m, classes).

        Raises
        ------
        ValueError
            When X is not as `fit` has seen it, or a value leaves double precision.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            product = X @ self.coef_.T
            values: FloatArray = product.toarray() if issparse(product) else np.asarray(product)
            values = values + self.intercept_
        beyond = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if len(beyond):
            raise ValueError(
                f"X[{beyond[0]}]: its decision value leaves double precision; scale the features"
            )
        return values[:, 0] if values.shape[1] == 1 else values

    def predict(self, X: Any) -> Array:
        """The class of each row.

        Parameters
        ----------
        X : array or sparse matrix, shape (m, d)

        Returns
        -------
        ndarray, shape (m,)
        """
        values = self.decision_function(X)
        chosen = (values > 0.0).astype(int) if values.ndim == 1 else values.argmax(axis=1)
        found: Array = self.classes_[chosen]
        return found

    def __sklearn_tags__(self) -> Any:
        """Scikit-learn's tags: sparse rows are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _loss(self) -> str:
        return self.loss

    def _validated(self, X: Any, *y: Any, **how: Any) -> Any:
        """Rows, and labels if any are given, as `validate_data` of scikit-learn leaves them."""
        check_structure(X)
        with in_double_precision("X"):
            types = [np.float64, np.float32]
            return validate_data(self, X, *y, accept_sparse="csr", dtype=types, **how)

    def _check_parameters(self) -> None:
        """Refuse what is no number in the range of its parameter."""
        if not _is_number("C", self.C):  # `Objective` knows its range
            raise ValueError(f"C must be positive and finite, not {self.C!r}")
        if not (_is_number("tol", self.tol) and 0.0 < self.tol < math.inf):
            raise ValueError(f"tol must be positive and finite, not {self.tol!r}")
        for name in ("fit_intercept", "warm_start"):
            if not isinstance(given := getattr(self, name), bool | np.bool_ | numbers.Integral):
                raise ValueError(f"{name} must be True or False, not {given!r}")
        seconds, jobs = self.max_seconds, self.n_jobs
        if seconds is not None and not (_is_number("max_seconds", seconds) and seconds >= 0.0):
            raise ValueError(f"max_seconds must be a number, at least 0, or None, not {seconds!r}")
        if jobs is not None and (not isinstance(jobs, numbers.Integral) or jobs == 0):
            raise ValueError(f"n_jobs must be a whole number other than 0, or None, not {jobs!r}")

    def _examples(
        self, X: Any, y: Any, classes: Array, labels: Array, sample_weight: Any
    ) -> Examples:
        """Rows and labels with the weights of rows and classes, as training takes them."""
        rows = None
        if sample_weight is not None:
            given: Any = as_numbers("sample_weight", sample_weight)
            if given.ndim == 0:  # scikit-learn takes numbers, but no arrays of one
                with numbers_of("sample_weight"):
                    given = float(given.item())
            rows = _check_sample_weight(given, X, dtype=np.float64)
        examples = Examples(as_dataset(X), labels, rows, names=dict(enumerate(classes)))
        if self.class_weight is None:
            return examples
        if isinstance(self.class_weight, str) and self.class_weight == "balanced":
            each = balanced(examples)
        elif not isinstance(self.class_weight, Mapping):
            raise ValueError(
                f"class_weight must be a dict, 'balanced' or None, not {self.class_weight!r}"
            )
        else:  # classes not named weigh 1
            with numbers_of("class_weight"):
                each = compute_class_weight(self.class_weight, classes=classes, y=y)
        weights = {k: float(weight) for k, weight in enumerate(each)}
        return replace(examples, class_weights=weights)

    def _effort(self) -> Effort:
        state = self.random_state
        seed = _seed_of(state) if isinstance(state, int) else _drawn(check_random_state(state))
        jobs = 1 if self.n_jobs is None else self.n_jobs
        return Effort(int(seed), self._time_limit(), jobs if jobs > 0 else available_processors())

    def _time_limit(self) -> float:
        return math.inf if self.max_seconds is None else self.max_seconds

    def _train(self, examples: Examples, objective: Objective) -> Trained:
        start = getattr(self, "_last", None) if self.warm_start else None
        return train(examples, objective, float(self.tol), self._effort(), start=start)

    def _keep(self, trained: Trained) -> None:
        """Set the attributes of a fit; warn where it fell short of ``tol``."""
        learnt = Learnt.of(trained)
        self.coef_, self.intercept_ = learnt.coef, learnt.intercept
        self.certificate_, self.n_iter_ = learnt.certificate, learnt.n_certificates
        tol = float(self.tol)  # fractions have no such form before Python 3.12
        if trained.gap > tol:
            remedy = "raise tol, scale the features, or lower C"
            if trained.out_of_time(tol, self._time_limit()):
                remedy = f"raise max_seconds, {remedy}"
            else:
                remedy = f"rounding allows no more; {remedy}"
            warnings.warn(
                f"certified to {trained.gap:.1e} only, not to tol={tol:g}; {remedy}",
                ConvergenceWarning,
                stacklevel=3,
            )


@dataclass(eq=False, repr=False)
class LinearSVC(_Linear):
    """A linear support vector machine, trained to a certified gap.

    It minimises 1/2 ||w||^2 + C sum_i loss(y_i (w.x_i + b)) with an intercept b that is not
    regularised; each class against the rest if there are more than two.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the losses.
    loss : {'squared_hinge', 'hinge'}, default 'squared_hinge'
    fit_intercept : bool, default True
        Scikit-learn's LinearSVC regularises its intercept; this one does not.
    tol : float, default 1e-4
        Relative gap (P - D)/D at which training ends: P then exceeds the optimum by at most this
        fraction.
    class_weight : dict or 'balanced', optional
        Factors of C for the classes' rows, as in scikit-learn's LinearSVC. With more than two
        classes, each factor counts where its class is trained against the rest.
    warm_start : bool, default False
        Begin from the last fit where the numbers of rows, columns and classes are the same. The
        dual variables of that fit are kept.
    max_seconds : float, optional
        Time limit of each fit. A fit that it ends keeps its best weights, with a warning.
    n_jobs : int, optional
        Classes trained at the same time; -1 for one per processor. One by default. With two
        classes, threads that share the work of auto, which trains with the hinge.
    random_state : int, RandomState instance or None, default 0
        Orders of rows.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d), or (classes, d) for more than two classes
    intercept_ : ndarray of float64, shape (1,) or (classes,)
    classes_ : ndarray, shape (classes,)
    certificate_ : OptimalityBound, or list of them for more than two classes
        P, D and the relative gap. P is 1/2 ||w||^2 + C sum loss, each loss times its weights.
    n_iter_ : int
        Number of certificates computed; with more than two classes, for the class with the most.
    n_features_in_ : int
    feature_names_in_ : ndarray
        If X has names.
    """

    _: KW_ONLY
    loss: str = "squared_hinge"

    def _loss(self) -> str:
        names = {"hinge": "hinge", "squared_hinge": "squared-hinge"}
        if not isinstance(self.loss, str) or self.loss not in names:
            raise TypeError(f"loss must be one of {', '.join(names)}, not {self.loss!r}")
        return names[self.loss]


class LogisticRegression(_Linear):
    """Logistic regression with an l2 penalty, trained to a certified gap.

    It minimises 1/2 ||w||^2 + C sum_i log(1 + exp(-y_i (w.x_i + b))) with an intercept b that is
    not regularised; each class against the rest if there are more than two.

    Parameters
    ----------
    C : float, default 1.0
        Weight of the losses.
    class_weight : dict or 'balanced', optional
        Factors of C for the classes' rows, whichever class is trained against the rest, as in
        scikit-learn's LogisticRegression.
    fit_intercept, tol, warm_start, max_seconds, n_jobs, random_state
        As for `LinearSVC`.

    Attributes
    ----------
    coef_, intercept_, classes_, certificate_, n_iter_, n_features_in_, feature_names_in_
        As for `LinearSVC`.
    """

    def _examples(self, *given: Any) -> Examples:
        return super()._examples(*given).weighed_by_row()

    def predict_proba(self, X: Any) -> FloatArray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : array or sparse matrix, shape (m, d)

        Returns
        -------
        ndarray of float64, shape (m, classes)
            For more than two classes, those of each against the rest, normalised to sum 1.
        """
        values = self.decision_function(X)
        each: FloatArray = expit(values)
        if each.ndim == 1:
            return np.column_stack([expit(-values), each])
        total = each.sum(axis=1, keepdims=True)
        equal = np.full_like(each, 1.0 / each.shape[1])
        shares: FloatArray = np.divide(each, total, out=equal, where=total > 0.0)
        return shares

    def predict_log_proba(self, X: Any) -> FloatArray:
        """Logarithms of `predict_proba`, shape (m, classes).

        For two classes they are finite where the probabilities themselves are rounded to 0.
        """
        check_is_fitted(self)
        if len(self.classes_) == 2:
            values = self.decision_function(X)
            return -np.logaddexp(0.0, np.column_stack([values, -values]))
        with np.errstate(divide="ignore"):
            found: FloatArray = np.log(self.predict_proba(X))
        return found


def _is_number(name: str, value: Any) -> bool:
    """Whether a parameter is a real number; one beyond double precision is refused."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    with in_double_precision(name):
        float(value)
    return True
