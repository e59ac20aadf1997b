"""New entries of rows, stored by the precision rule in the package's docstring."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from svmbench.data.blocks import Block, blocks, dense_blocks, rebuilt, row_starts
from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.data.derived import TINY32, is_single
from svmbench.data.storage import FLOAT32_DIGITS, compact
from svmbench.data.transforms.step import Transform


def rewritten(
    transform: Transform,
    data: Dataset,
    compute: Callable[[Block], FloatArray],
    *,
    keeps_digits: bool = True,
) -> Dataset:
    """The same entries with new values, stored by the package's rule."""
    values = None
    if keeps_digits and is_single(data):
        values = _computed(transform, data, compute, np.dtype(np.float32))
    if values is None:
        values = _computed(transform, data, compute, np.dtype(np.float64))
    return replace(data, values=values)


def _computed(
    transform: Transform,
    data: Dataset,
    compute: Callable[[Block], FloatArray],
    dtype: np.dtype[Any],
) -> Array | None:
    """New values of all entries; None if single precision cannot hold one of them."""
    shape = (data.nnz,) if data.indices is not None else (data.n_samples, data.n_features)
    out = np.empty(shape, dtype=dtype)
    for block in blocks(data):
        with np.errstate(over="ignore", under="ignore"):
            exact = compute(block)
            rounded = exact.astype(dtype)
        if not np.isfinite(exact).all():
            transform.refuse(data, "a value becomes too large for a double; use a smaller factor")
        good = (rounded == exact) | (np.isfinite(rounded) & (np.abs(rounded) >= TINY32))
        if not good.all():
            return None
        out[block.entries] = rounded
    return out


def settled(data: Dataset) -> Dataset:
    """The same rows in their smallest form.

    Values in double become single if that holds them all exactly; they were rounded, if at
    all, when they were computed.
    """
    if data.indices is None:
        assert data.values is not None
        indptr, indices, values = _compact_dense(data.values)
    else:
        assert data.indptr is not None
        indptr, indices, values = compact(
            data.indptr, data.indices, data.values, data.n_features, FLOAT32_DIGITS + 1
        )
    return replace(data, indptr=indptr, indices=indices, values=values)


def listed(data: Dataset) -> Dataset:
    """Dense rows as column numbers and nonzero values; sparse rows unchanged."""
    if data.indices is not None:
        return data
    assert data.values is not None

    def nonzeros(block: Block) -> tuple[Array, Array, FloatArray]:
        of_row, column = np.nonzero(block.values)
        lengths = np.bincount(of_row, minlength=len(block.values))
        return lengths, column, block.values[of_row, column]

    return rebuilt(data, data.n_features, nonzeros, data.values.dtype)


def _compact_dense(values: Array) -> tuple[Array | None, Array | None, Array | None]:
    m, d = values.shape
    if values.dtype != np.float32 and _holds_exactly(values):
        values = values.astype(np.float32)
    nonzeros, ones = 0, True
    for rows in dense_blocks(m, d):
        block = values[rows]
        nonzeros += int(np.count_nonzero(block))
        ones = ones and bool(np.all((block == 0.0) | (block == 1.0)))
    entry = (2 if d <= 1 << 16 else 4) + (0 if ones else values.itemsize)
    if 8 * (m + 1) + nonzeros * entry > values.nbytes:
        return None, None, values
    starts = np.zeros(m, dtype=np.int64)
    columns, entries = [], []
    for rows in dense_blocks(m, d):
        block = values[rows]
        of_row, column = np.nonzero(block)
        starts[rows] = np.bincount(of_row, minlength=len(block))
        columns.append(column.astype(np.int32))
        entries.append(block[of_row, column])
    return compact(
        row_starts(starts), np.concatenate(columns), np.concatenate(entries), d, FLOAT32_DIGITS + 1
    )


def _holds_exactly(values: Array) -> bool:
    with np.errstate(over="ignore", under="ignore"):
        return all(
            np.array_equal(values[rows].astype(np.float32), values[rows])
            for rows in dense_blocks(*values.shape)
        )
