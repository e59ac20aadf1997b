"""What users of the estimators give, checked, and weights of classes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from typing import Any

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]

from svmbench.data.dataset import Array, FloatArray
from svmbench.train.examples import Examples


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
    if not scipy.sparse.issparse(X):
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
