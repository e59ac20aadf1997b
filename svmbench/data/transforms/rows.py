"""Transforms that select, split or reorder rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

import numpy as np
from pydantic import model_validator

from svmbench.data.dataset import Dataset
from svmbench.data.derived import take_rows
from svmbench.data.transforms.step import (
    Portion,
    RowNumber,
    SampleSize,
    Seed,
    StrictRowCount,
    TrainAndTest,
    Transform,
)


class Shuffled(Transform):
    """Training rows in a random order, also in memory."""

    name = "shuffled"
    main = "seed"

    seed: Seed = 0

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        return take_rows(train, self.shuffled_rows(train.n_samples, self.seed)), test


class Rows(Transform):
    """Training rows from one number up to another: `{rows: [0, 20000]}` keeps 20,000."""

    name = "rows"

    start: RowNumber
    stop: StrictRowCount

    @classmethod
    def expand(cls, given: Any) -> Any:
        if not isinstance(given, list | tuple) or len(given) != 2:
            raise ValueError("Input should be [first row, row after the last]")
        return {"start": given[0], "stop": given[1]}

    @model_validator(mode="after")
    def _ascends(self) -> Self:
        if self.start >= self.stop:
            raise ValueError("Input should be [first row, row after the last], ascending")
        return self

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        if self.stop > train.n_samples:
            self.refuse(train, f"there are only {train.n_samples} rows; end at that at most")
        return take_rows(train, np.arange(self.start, self.stop)), test

    def portion(self, rows: Portion, m: int) -> Portion:
        """It names the rows before its end."""
        return rows.naming(self.stop, m, first=True, left=self.stop - self.start)

    def plain(self) -> Any:
        """Its two numbers, as a list."""
        return {self.name: [self.start, self.stop]}


class Subsample(Transform):
    """A random part of the training rows, in their original order."""

    name = "subsample"
    main = "size"

    size: SampleSize
    seed: Seed = 0

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        count = _count(self, train, self.size)
        order = self.shuffled_rows(train.n_samples, self.seed)
        return take_rows(train, np.sort(order[:count])), test

    def portion(self, rows: Portion, m: int) -> Portion:
        """It names a number of rows, unless it takes a fraction."""
        if isinstance(self.size, float):
            return rows.part(self.size)
        return rows.naming(self.size, m, left=self.size)


class Balance(Transform):
    """The more frequent class of the training rows thinned out at random."""

    name = "balance"
    main = "count"

    count: StrictRowCount | None = None
    seed: Seed = 0

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        """Keep all rows of one class and that many of the other, in their order."""
        classes = [np.flatnonzero(train.labels == sign) for sign in (-1, 1)]
        fewer, more = sorted(classes, key=len)
        count = len(fewer) if self.count is None else self.count
        if len(fewer) == 0:
            self.refuse(train, "all rows are of one class; leave balance out")
        if count > len(more):
            self.refuse(train, f"the larger class has only {len(more)} rows; keep at most those")
        kept = more[self.shuffled_rows(len(more), self.seed)[:count]]
        return take_rows(train, np.sort(np.concatenate([fewer, kept]))), test

    def portion(self, rows: Portion, m: int) -> Portion:
        """It names all rows if it has a number: all of one class, that many of the other."""
        return rows if self.count is None else rows.naming(rows.share * m, m)


class Split(Transform):
    """A random part of the rows held out as test rows; both parts keep their order."""

    name = "split"
    main = "test"

    test: SampleSize
    seed: Seed = 0
    stratified: bool = False

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        if test is not None:
            self.refuse(train, "there are test rows already; leave the split out")
        count = _count(self, train, self.test)
        if count == train.n_samples:
            self.refuse(train, "no row would be left for training; take fewer for the test")
        order = self.shuffled_rows(train.n_samples, self.seed)
        held = np.zeros(train.n_samples, dtype=np.bool_)
        if self.stratified:
            positive = order[train.labels[order] == 1]
            share = round(count * len(positive) / train.n_samples)
            held[positive[:share]] = True
            held[order[train.labels[order] != 1][: count - share]] = True
        else:
            held[order[:count]] = True
        return take_rows(train, np.flatnonzero(~held)), take_rows(train, np.flatnonzero(held))

    def portion(self, rows: Portion, m: int) -> Portion:
        """It names a number of test rows, and more for training, unless it takes a fraction."""
        if isinstance(self.test, float):
            return rows.part(1.0 - self.test)
        return rows.without(self.test, m)


class Swap(Transform):
    """Train on the test rows and test on the training rows."""

    name = "swap"

    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        if test is None:
            self.refuse(train, "there are no test rows; leave the swap out")
        return replace(test, name=train.name), replace(train, name=test.name)


def _count(transform: Transform, data: Dataset, size: int | float) -> int:
    m = data.n_samples
    count = max(1, round(size * m)) if isinstance(size, float) else size
    if count > m:
        transform.refuse(data, f"there are only {m} rows; take at most those")
    return count
