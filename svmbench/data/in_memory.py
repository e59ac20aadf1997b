"""Arrays and sparse matrices in memory as the kernels read them."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]

from svmbench.data.dataset import Array, Dataset

_MOST_COLUMNS = np.iinfo(np.int32).max


def as_dataset(X: Any) -> Dataset:
    """Rows of checked numbers as the kernels read them, copied only where they must be."""
    m, d = X.shape
    if not scipy.sparse.issparse(X):
        return Dataset("X", d, None, None, X.view(), np.ones(m, dtype=np.int8))
    if d > _MOST_COLUMNS:
        raise ValueError(f"X has {d} columns; at most {_MOST_COLUMNS} are possible")
    if X.has_canonical_format:
        found = _of_sorted(X)
        try:
            found.rows  # noqa: B018 (checks the columns)
        except ValueError:  # the flag is what SciPy found before the arrays were changed
            return _of_sorted(_sorted(X))
        return found
    return _of_sorted(_sorted(X))


def _sorted(X: Any) -> Any:
    """A copy whose columns ascend in each row: the user's own matrix stays as it is."""
    X = X.copy()
    X.has_sorted_indices = X.has_canonical_format = False
    X.sum_duplicates()
    return X


def _of_sorted(X: Any) -> Dataset:
    entries = int(X.indptr[-1])  # SciPy allows more of them, which belong to no row
    indptr = np.ascontiguousarray(X.indptr, dtype=np.int64).view()
    indices = np.ascontiguousarray(X.indices[:entries], dtype=np.int32).view()
    values = np.ascontiguousarray(X.data[:entries]).view()
    m, d = X.shape
    kept = None if _are_ones(values) else values
    return Dataset("X", d, indptr, indices, kept, np.ones(m, dtype=np.int8))


def _are_ones(values: Array) -> bool:
    """Whether the kernels can do without these values; the first usually tell."""
    first = values[:1000]
    return bool((first == 1.0).all() and (values == 1.0).all())
