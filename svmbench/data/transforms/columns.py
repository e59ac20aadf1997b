"""Transforms that fill, remove or add columns."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from svmbench.data.blocks import blocks, column_moments, occurring_columns, with_columns
from svmbench.data.dataset import Dataset, FloatArray
from svmbench.data.derived import with_constant
from svmbench.data.transforms.entries import rewritten
from svmbench.data.transforms.step import OfTrain, PositiveNumber, TrainAndTest, Transform

#: Entries that standardising may make of sparse rows: 2 GiB in double precision.
MOST_ENTRIES = 1 << 28


class Standardise(OfTrain):
    """Columns shifted and scaled to mean 0 and standard deviation 1 in the training rows.

    Zeros do not stay zeros, so sparse rows become dense. A column that is constant in the training
    rows is only shifted.
    """

    name = "standardise"

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        for data in (train, test) if test is not None else (train,):
            self._require_room(data)
        mean, deviation = column_moments(train)
        if not (np.isfinite(mean).all() and np.isfinite(deviation).all()):
            self.refuse(train, "a column's deviation overflows; put a factor before it")

        def standardised(data: Dataset) -> Dataset:
            if data.indices is not None:
                return _filled_up(data, mean, deviation)
            return rewritten(
                self, data, lambda block: (block.values - mean) / deviation, keeps_digits=False
            )

        return standardised(train), None if test is None else standardised(test)

    def _require_room(self, data: Dataset) -> None:
        entries = data.n_samples * data.n_features
        if data.indices is not None and entries > MOST_ENTRIES:
            self.refuse(
                data,
                f"{entries:,} nonzero entries would be stored, and the limit is {MOST_ENTRIES:,};"
                " use max-abs, which keeps zeros",
            )


class CompactColumns(OfTrain):
    """Columns without an entry in the training rows removed, and the others renumbered.

    No method gives such a column a weight, so removing it from the test rows too changes no
    prediction. Memory grows with the number of entries, not of columns.
    """

    name = "compact-columns"

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
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
        appended = with_constant(train, self.rho)
        return appended, None if test is None else with_constant(test, self.rho)


def _filled_up(data: Dataset, mean: FloatArray, deviation: FloatArray) -> Dataset:
    """Sparse rows with their columns standardised, as dense rows."""
    values = np.empty((data.n_samples, data.n_features))
    values[:] = (0.0 - mean) / deviation
    for block in blocks(data):
        new = (block.values - block.per_column(mean)) / block.per_column(deviation)
        values[block.rows.start + block.of_row(), block.columns] = new
    return replace(data, indptr=None, indices=None, values=values)


class Sparse(Transform):
    """Rows kept as column numbers and values, even where dense ones take fewer bytes.

    Values and precision are the same, so it isolates the cost of this form alone. Wherever it
    is among the transforms, it applies to their final result.
    """

    name = "sparse"

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        """Return the rows unchanged: `apply_transforms` stores them at the end."""
        return train, test
