"""Transforms that multiply or divide single values."""

from __future__ import annotations

import numpy as np

from svmbench.data.blocks import column_sizes, row_maxima
from svmbench.data.dataset import Dataset
from svmbench.data.transforms.entries import rewritten
from svmbench.data.transforms.step import OfTrain, PositiveNumber, TrainAndTest, Transform


class UnitNorm(Transform):
    """Every row, of training and of test, divided by its Euclidean norm; zero rows stay."""

    name = "unit-norm"

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        return self._normalise(train), None if test is None else self._normalise(test)

    def _normalise(self, data: Dataset) -> Dataset:
        squares = data.rows.norms2()
        largest = row_maxima(data)
        # If squares overflow or underflow, the root of their sum is not the norm.
        if not np.isfinite(squares).all() or np.any(squares[largest > 0.0] < 1e-280):
            self.refuse(data, "a row's norm is out of range; put a factor before it")
        norms = np.sqrt(squares)
        norms[norms == 0.0] = 1.0
        return rewritten(self, data, lambda block: block.values / block.per_row(norms))


class MaxAbs(OfTrain):
    """Every column divided by its largest absolute value in the training rows.

    Columns that are zero there stay as they are.
    """

    name = "max-abs"

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        largest = column_sizes(train)
        largest[largest == 0.0] = 1.0

        def divided(data: Dataset) -> Dataset:
            return rewritten(self, data, lambda block: block.values / block.per_column(largest))

        return divided(train), None if test is None else divided(test)


class Factor(Transform):
    """All values multiplied by one number."""

    name = "factor"
    main = "by"

    by: PositiveNumber

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        def multiplied(data: Dataset) -> Dataset:
            return rewritten(self, data, lambda block: block.values * self.by)

        return multiplied(train), None if test is None else multiplied(test)
