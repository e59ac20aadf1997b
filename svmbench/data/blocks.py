"""Rows read block by block in double precision: only one block is in memory at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.data.derived import is_single
from svmbench.data.storage import column_type
from svmbench.memory import require_memory

_BLOCK = 1 << 20

#: Numbers per column that statistics of all columns keep in memory.
_NUMBERS_PER_COLUMN = 8


@dataclass(frozen=True, eq=False)
class Block:
    """Some rows of a data set, with their values in double precision."""

    rows: slice
    entries: slice  # place of their values: entries of sparse rows, rows of dense ones
    values: FloatArray  # shape (n,), or (rows, d) for dense rows
    columns: Array | None  # (shape (n,)) None for dense rows
    lengths: Array  # (shape (rows,)) Entries per row

    def per_row(self, numbers: FloatArray) -> FloatArray:
        """Expand numbers, one per row of the data set, to one per value."""
        if self.columns is None:
            return numbers[self.rows, np.newaxis]
        return np.repeat(numbers[self.rows], self.lengths)

    def per_column(self, numbers: FloatArray) -> FloatArray:
        """Expand numbers, one per column, to one per value."""
        return numbers if self.columns is None else numbers[self.columns]

    def of_row(self) -> Array:
        """The row of every entry of sparse rows, from 0 in the block."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)


def blocks(data: Dataset) -> Iterator[Block]:
    """All rows of a data set in order, about a million entries at a time."""
    if data.indices is None:
        assert data.values is not None
        for rows in dense_blocks(data.n_samples, data.n_features):
            values = data.values[rows].astype(np.float64)
            yield Block(rows, rows, values, None, np.full(len(values), data.n_features))
        return
    assert data.indptr is not None
    for rows in row_blocks(data.indptr):
        starts = data.indptr[rows.start : rows.stop + 1]
        entries = slice(int(starts[0]), int(starts[-1]))
        columns = data.indices[entries]
        if data.values is None:
            values = np.ones(len(columns))
        else:
            values = data.values[entries].astype(np.float64)
        yield Block(rows, entries, values, columns, np.diff(starts))


def row_blocks(indptr: Array) -> Iterator[slice]:
    """Slices of consecutive rows with about a million entries, at least one row each."""
    start, m = 0, len(indptr) - 1
    while start < m:
        end = int(np.searchsorted(indptr, indptr[start] + _BLOCK, side="right")) - 1
        # A limit on rows too: rows without entries cost memory as well.
        stop = min(max(end, start + 1), start + _BLOCK, m)
        yield slice(start, stop)
        start = stop


def dense_blocks(m: int, d: int) -> Iterator[slice]:
    """The same for m dense rows of d entries."""
    step = max(1, _BLOCK // max(d, 1))
    for start in range(0, m, step):
        yield slice(start, min(start + step, m))


def row_starts(lengths: Array) -> Array:
    """Starts of rows of these lengths, and the end of the last one: int64, shape (m + 1,)."""
    indptr = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    return indptr


def _require_room(data: Dataset) -> None:
    require_memory(
        8 * _NUMBERS_PER_COLUMN * data.n_features,
        f"data set {data.name}: computing statistics of {data.n_features:,} columns",
        "if most of them are empty, put the transform compact-columns first",
    )


def column_extremes(data: Dataset) -> tuple[FloatArray, FloatArray]:
    """Least and largest value of every column; absent entries count as zeros."""
    _require_room(data)
    low, high = np.full(data.n_features, np.inf), np.full(data.n_features, -np.inf)
    present = np.zeros(data.n_features, dtype=np.int64)
    for block in blocks(data):
        if block.columns is None:
            np.minimum(low, block.values.min(axis=0), out=low)
            np.maximum(high, block.values.max(axis=0), out=high)
            present += len(block.values)
        else:
            np.minimum.at(low, block.columns, block.values)
            np.maximum.at(high, block.columns, block.values)
            present += np.bincount(block.columns, minlength=data.n_features)
    absent = present < data.n_samples
    low[absent] = np.minimum(low[absent], 0.0)
    high[absent] = np.maximum(high[absent], 0.0)
    return low, high


def column_sizes(data: Dataset) -> FloatArray:
    """Largest absolute value of every column; 1 where all stored values are one."""
    if data.values is None:
        return np.ones(data.n_features)
    _require_room(data)
    sizes = np.zeros(data.n_features, dtype=data.values.dtype)
    if data.indices is None:
        for rows in dense_blocks(*data.values.shape):
            np.maximum(sizes, np.abs(data.values[rows]).max(axis=0), out=sizes)
    else:
        for start in range(0, data.nnz, _BLOCK):
            part = slice(start, start + _BLOCK)
            np.maximum.at(sizes, data.indices[part], np.abs(data.values[part]))
    return sizes.astype(np.float64)


def column_moments(data: Dataset) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of every column; exactly its value and 1 if it is constant.

    They take two passes, because the variance as a difference of means loses digits.
    """
    m = data.n_samples
    low, high = column_extremes(data)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        mean = _column_sums(data, lambda block: block.values)[0] / m
        mean = np.where(low == high, low, mean)  # exactly: rounding would leave a remainder
        squares, present = _column_sums(
            data, lambda block: np.square(block.values - block.per_column(mean))
        )
        deviation = np.sqrt((squares + (m - present) * mean**2) / m)
    # Constant, or so nearly constant that the squares underflow: nothing to scale by.
    deviation[deviation == 0.0] = 1.0
    return mean, deviation


def _column_sums(
    data: Dataset, term: Callable[[Block], FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Sums of a term over the stored entries of every column, and the number of entries."""
    d = data.n_features
    sums, counts = np.zeros(d), np.zeros(d)
    for block in blocks(data):
        if block.columns is None:
            sums += term(block).sum(axis=0)
            counts += len(block.values)
        else:
            sums += np.bincount(block.columns, weights=term(block), minlength=d)
            counts += np.bincount(block.columns, minlength=d)
    return sums, counts


def occurring_columns(data: Dataset) -> Array:
    """Columns with a nonzero entry: numbered from 0, ascending, int64."""
    found = np.zeros(0, dtype=np.int64)
    for block in blocks(data):
        if block.columns is None:
            here = np.flatnonzero((block.values != 0.0).any(axis=0))
        else:
            here = np.unique(block.columns[block.values != 0.0])
        found = np.union1d(found, here)
    return found


def row_maxima(data: Dataset) -> FloatArray:
    """Largest absolute value of every row; 0 for a row without entries."""
    out = np.zeros(data.n_samples)
    for block in blocks(data):
        sizes = np.abs(block.values)
        if block.columns is None:
            out[block.rows] = sizes.max(axis=1, initial=0.0)
        elif len(sizes):
            filled = np.flatnonzero(block.lengths)
            starts = row_starts(block.lengths)[filled]
            out[block.rows.start + filled] = np.maximum.reduceat(sizes, starts)
    return out


def rebuilt(
    data: Dataset,
    n_features: int,
    compute: Callable[[Block], tuple[Array, Array, FloatArray]],
    dtype: np.dtype[Any],
) -> Dataset:
    """Sparse rows with new entries, block by block."""
    lengths, columns, values = [np.zeros(0, dtype=np.int64)], [], []
    narrow = column_type(n_features)
    for block in blocks(data):
        of_rows, of_columns, of_values = compute(block)
        lengths.append(of_rows)
        columns.append(of_columns.astype(narrow))
        values.append(of_values.astype(dtype))
    return replace(
        data,
        n_features=n_features,
        indptr=row_starts(np.concatenate(lengths)),
        indices=np.concatenate([np.zeros(0, dtype=narrow), *columns]),
        values=np.concatenate([np.zeros(0, dtype=dtype), *values]),
    )


def with_columns(data: Dataset, chosen: Array) -> Dataset:
    """The same rows with the chosen columns only."""
    if data.indices is None:
        assert data.values is not None
        values = np.ascontiguousarray(data.values[:, chosen])
        return replace(data, n_features=len(chosen), values=values)

    def remaining(block: Block) -> tuple[Array, Array, FloatArray]:
        assert block.columns is not None
        number = np.searchsorted(chosen, block.columns)
        left = chosen[np.minimum(number, len(chosen) - 1)] == block.columns
        lengths = np.bincount(block.of_row()[left], minlength=len(block.lengths))
        return lengths, number[left], block.values[left]

    dtype = np.dtype(np.float32) if is_single(data) else np.dtype(np.float64)
    return rebuilt(data, len(chosen), remaining, dtype)
