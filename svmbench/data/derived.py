"""Rows made of others: some of them, with other entries, or with a constant feature."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from svmbench.data.dataset import Array, Dataset
from svmbench.data.storage import FLOAT32_DIGITS, column_type
from svmbench.kernels.rows import take_rows as taken_rows

#: Least number that single precision holds with all its digits.
TINY32 = float(np.finfo(np.float32).tiny)

#: Columns for each entry up to which those with entries are found by a mark for each column; beyond
#: them, to sort the entries takes less time and memory.
MARKED_COLUMNS = 8

#: Rows of more columns, most of which are empty, are trained on without the empty ones. Weights of
#: all would not fit into caches, a certificate and a step of Newton's would take as long as columns
#: are many, and the rules that choose a method would take them for features.
MANY_COLUMNS = 100


def take_rows(data: Dataset, chosen: Array) -> Dataset:
    taken = taken_rows(data.rows, np.asarray(chosen, dtype=np.int32))
    return replace(
        data,
        indptr=taken.indptr,
        indices=taken.indices,
        values=taken.values,
        labels=taken.labels,
    )


def is_single(data: Dataset) -> bool:
    """Whether rows are stored in single precision, or as implicit ones."""
    return data.values is None or data.values.dtype == np.float32


def is_single_number(number: float) -> bool:
    """Whether a constant can be added to such rows without making them double."""
    from decimal import Decimal  # slow to load, and seldom needed

    digits = Decimal(repr(number)).normalize().as_tuple().digits
    exact = float(np.float32(number)) == number if number <= 3e38 else False
    return exact or (len(digits) <= FLOAT32_DIGITS and TINY32 <= number <= 3e38)


def without_empty_columns(data: Dataset, most: int) -> tuple[Dataset, Array] | None:
    """The rows without empty columns, and the others' numbers if they are at most ``most``."""
    if data.indices is None or data.nnz == 0 or data.n_features <= MANY_COLUMNS:
        return None
    if data.n_features > MARKED_COLUMNS * data.nnz:
        columns = np.sort(data.indices)
        used = columns[np.append(True, columns[1:] != columns[:-1])]  # np.unique loads numpy.ma
        if len(used) > most:
            return None
        indices = np.searchsorted(used, data.indices).astype(column_type(len(used)))
    else:
        marked = _columns_with_entries(data.n_features, data.indices, most)
        if marked is None:
            return None
        used = np.flatnonzero(marked)
        # Where a type without sign leaves its range, before and after the subtraction, it returns.
        places = np.cumsum(marked, dtype=column_type(len(used)))
        places -= 1
        indices = places[data.indices]
    return replace(data, n_features=len(used), indices=indices), used


def _columns_with_entries(d: int, indices: Array, most: int) -> Array | None:
    """Which columns have entries, shape (d,); None if more than ``most``."""
    marked, done, each = np.zeros(d, dtype=bool), 0, most + 1
    while done < len(indices):
        marked[indices[done : done + each]] = True
        if np.count_nonzero(marked) > most:
            return None
        done += each
        each = done
    return marked


def with_constant(data: Dataset, value: float) -> Dataset:
    """The rows with a last feature of that positive value, in single precision if that holds it."""
    single = is_single(data) and is_single_number(value)
    dtype = np.dtype(np.float32 if single else np.float64)
    m, d = data.n_samples, data.n_features
    if data.indices is None:
        assert data.values is not None
        values = np.empty((m, d + 1), dtype=dtype)
        values[:, :d] = data.values
        values[:, d] = value
        return replace(data, n_features=d + 1, values=values)
    assert data.indptr is not None
    longer = replace(
        data,
        n_features=d + 1,
        indptr=data.indptr + np.arange(m + 1),
        indices=_with_last(data.indptr, data.indices, d, column_type(d + 1)),
    )
    if data.values is None and value == 1.0:
        return longer
    values = np.ones(data.nnz) if data.values is None else data.values
    return replace(longer, values=_with_last(data.indptr, values, value, dtype))


def _with_last(indptr: Array, given: Array, last: float, dtype: Any) -> Array:
    """The entries of all rows, with the same last one in each."""
    entries = np.ascontiguousarray(given, dtype=dtype)
    return np.insert(entries, indptr[1:], last)


def constant_feature(data: Dataset) -> float:
    """The positive value that the last feature has in all rows; 0 if there is no such value."""
    if data.n_samples == 0 or data.n_features == 0:
        return 0.0
    if data.indices is None:
        assert data.values is not None
        last = data.values[:, -1]
    else:
        assert data.indptr is not None
        ends = data.indptr[1:] - 1
        if (ends < data.indptr[:-1]).any() or (data.indices[ends] != data.n_features - 1).any():
            return 0.0
        last = np.ones(1) if data.values is None else data.values[ends]
    return float(last[0]) if last[0] > 0.0 and (last == last[0]).all() else 0.0


def without_last_feature(data: Dataset) -> Dataset:
    """A copy of the rows without their last feature, which all of them have."""
    d = data.n_features - 1
    if data.indices is None:
        assert data.values is not None
        return replace(data, n_features=d, values=np.ascontiguousarray(data.values[:, :-1]))
    assert data.indptr is not None
    left = np.ones(data.nnz, dtype=bool)
    left[data.indptr[1:] - 1] = False
    return replace(
        data,
        n_features=d,
        indptr=data.indptr - np.arange(len(data.indptr)),
        indices=data.indices[left].astype(column_type(d)),
        values=None if data.values is None else data.values[left],
    )
