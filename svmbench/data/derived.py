"""Rows made of others: some of them, with other entries, or with a constant feature."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from svmbench.data.blocks import Block, blocks, row_starts
from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.data.storage import FLOAT32_DIGITS
from svmbench.kernels import subset

#: Least number that single precision holds with all its digits.
TINY32 = float(np.finfo(np.float32).tiny)


def take_rows(data: Dataset, chosen: Array) -> Dataset:
    """Rows of a data set, in the order given, copied into new arrays.

    Parameters
    ----------
    data : Dataset
    chosen : ndarray of integers, shape (n,)
        Row numbers; a row may occur several times.
    """
    taken = subset.take_rows(data.rows, np.asarray(chosen, dtype=np.int32))
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


def rebuilt(
    data: Dataset,
    n_features: int,
    compute: Callable[[Block], tuple[Array, Array, FloatArray]],
    dtype: np.dtype[Any],
) -> Dataset:
    """Sparse rows with new entries; ``compute`` gives a block's lengths, columns and values."""
    lengths, columns, values = [np.zeros(0, dtype=np.int64)], [], []
    narrow = np.dtype(np.uint16 if n_features <= 1 << 16 else np.int32)
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


def with_constant(data: Dataset, value: float) -> Dataset:
    """The rows with a last feature that has the same value in each.

    Parameters
    ----------
    data : Dataset
    value : float
        Positive and finite. Rows in single precision stay so if it holds the value.
    """
    single = is_single(data) and is_single_number(value)
    dtype = np.dtype(np.float32 if single else np.float64)
    d = data.n_features
    if data.indices is None:
        assert data.values is not None
        values = np.empty((data.n_samples, d + 1), dtype=dtype)
        values[:, :d] = data.values
        values[:, d] = value
        return replace(data, n_features=d + 1, values=values)

    def with_last(block: Block) -> tuple[Array, Array, FloatArray]:
        assert block.columns is not None
        ends = np.cumsum(block.lengths)
        return (
            block.lengths + 1,
            np.insert(block.columns.astype(np.int32), ends, d),
            np.insert(block.values, ends, value),
        )

    return rebuilt(data, d + 1, with_last, dtype)
