"""Transforms that fill, remove or add columns."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from svmbench.data.blocks import (
    Block,
    blocks,
    column_moments,
    occurring_columns,
    rebuilt,
    with_columns,
)
from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.data.derived import with_constant
from svmbench.data.transforms.entries import rewritten
from svmbench.data.transforms.step import Columns, OfTrain, PositiveNumber, TrainAndTest, Transform
from svmbench.memory import require_memory

#: Entries that standardising may make of sparse rows: 2 GiB in double precision.
MOST_ENTRIES = 1 << 28


class Standardise(OfTrain):
    """Columns shifted and scaled to mean 0 and standard deviation 1 in the training rows.

    Zeros do not stay zeros, so sparse columns become dense. A column that is constant in the
    training rows is only shifted.
    """

    name = "standardise"
    main = "columns"

    columns: Columns | None = None

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        """Standardise both with the training rows' means and deviations."""
        chosen = _chosen_columns(self, train, self.columns)
        for data in (train, test) if test is not None else (train,):
            self._require_room(data, int(np.count_nonzero(chosen)))
        mean, deviation = column_moments(train)
        if not (np.isfinite(mean).all() and np.isfinite(deviation).all()):
            self.refuse(train, "a column's deviation overflows; put a factor before it")
        mean[~chosen], deviation[~chosen] = 0.0, 1.0

        def standardised(data: Dataset) -> Dataset:
            if data.indices is None:
                return rewritten(
                    self, data, lambda block: (block.values - mean) / deviation, keeps_digits=False
                )
            if chosen.all():
                return _filled_up(data, mean, deviation)
            return rebuilt(
                data,
                data.n_features,
                lambda block: _standardised_entries(block, chosen, mean, deviation),
                np.dtype(np.float64),
            )

        return standardised(train), None if test is None else standardised(test)

    def _require_room(self, data: Dataset, n_columns: int) -> None:
        if data.indices is not None and data.n_samples * n_columns > MOST_ENTRIES:
            self.refuse(
                data,
                f"{data.n_samples * n_columns:,} nonzero entries would be stored, and the limit is "
                f"{MOST_ENTRIES:,}; name some columns, or use max-abs, which keeps zeros",
            )


class Drop(Transform):
    """Columns removed and the others renumbered."""

    name = "drop"
    main = "columns"

    columns: Columns

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        """Remove the columns from both."""
        kept = ~_chosen_columns(self, train, self.columns)
        if not kept.any():
            self.refuse(train, "no column would be left; drop fewer")
        left = np.flatnonzero(kept)
        return with_columns(train, left), None if test is None else with_columns(test, left)


class CompactColumns(OfTrain):
    """Columns without an entry in the training rows removed, and the others renumbered.

    No method gives such a column a weight, so removing it from the test rows too changes no
    prediction. Memory grows with the number of entries, not of columns.
    """

    name = "compact-columns"

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        """Keep the columns that occur in the training rows in both."""
        kept = occurring_columns(train)
        if not len(kept):
            self.refuse(train, "no column has an entry; leave the transform out")
        return with_columns(train, kept), None if test is None else with_columns(test, kept)


class Bias(Transform):
    """A last feature with the same value in every row: a regularised bias."""

    name = "bias"
    main = "rho"

    rho: PositiveNumber = 1.0

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        """Append the feature to both."""
        appended = with_constant(train, self.rho)
        return appended, None if test is None else with_constant(test, self.rho)


def _chosen_columns(
    transform: Transform, data: Dataset, columns: tuple[int, ...] | None
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Mask of the chosen columns, shape (d,)."""
    d = data.n_features
    require_memory(
        9 * d,
        f"data set {data.name}: the transform {transform.name} on {d:,} columns",
        "if most of them are empty, put the transform compact-columns first",
    )
    if columns is None:
        return np.ones(d, dtype=np.bool_)
    if columns[-1] > d:
        transform.refuse(data, f"there is no column {columns[-1]}, there are {d}; correct it")
    chosen = np.zeros(d, dtype=np.bool_)
    chosen[np.array(columns) - 1] = True
    return chosen


def _filled_up(data: Dataset, mean: FloatArray, deviation: FloatArray) -> Dataset:
    """Sparse rows with all columns standardised, as dense rows."""
    values = np.empty((data.n_samples, data.n_features))
    values[:] = (0.0 - mean) / deviation
    for block in blocks(data):
        new = (block.values - block.per_column(mean)) / block.per_column(deviation)
        values[block.rows.start + block.of_row(), block.columns] = new
    return replace(data, indptr=None, indices=None, values=values)


def _standardised_entries(
    block: Block, chosen: Array, mean: FloatArray, deviation: FloatArray
) -> tuple[Array, Array, FloatArray]:
    """Entries of sparse rows with the chosen columns standardised, and so dense."""
    assert block.columns is not None
    numbers = np.flatnonzero(chosen)
    full = np.empty((len(block.lengths), len(numbers)))
    full[:] = ((0.0 - mean) / deviation)[numbers]
    of_row, mine = block.of_row(), chosen[block.columns]
    columns = block.columns[mine]
    place = np.searchsorted(numbers, columns)
    full[of_row[mine], place] = (block.values[mine] - mean[columns]) / deviation[columns]
    rows = np.concatenate([of_row[~mine], np.repeat(np.arange(len(full)), len(numbers))])
    columns = np.concatenate([block.columns[~mine].astype(np.int64), np.tile(numbers, len(full))])
    values = np.concatenate([block.values[~mine], full.ravel()])
    order = np.lexsort((columns, rows))
    return np.bincount(rows, minlength=len(full)), columns[order], values[order]


class Sparse(Transform):
    """Rows kept as column numbers and values, even where dense ones take fewer bytes.

    Values and precision are the same, so it isolates the cost of this form alone. Wherever it
    is among the transforms, it applies to their final result.
    """

    name = "sparse"

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        """Return the rows unchanged: `apply_transforms` stores them at the end."""
        return train, test
