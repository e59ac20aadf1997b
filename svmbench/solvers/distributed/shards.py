"""Shards: the rows of a data set in disjoint parts, each a data set of its own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from svmbench.data.dataset import Array, Dataset
from svmbench.kernels.subset import take_rows


@dataclass(frozen=True, eq=False)
class Shard:
    """Some rows of a data set.

    Parameters
    ----------
    cut : callable
        Gives the shard's rows.
    place : slice
        Their numbers in the whole data set: ``alpha[place]`` belongs to them.
    """

    cut: Callable[[], Dataset]
    place: slice

    @classmethod
    def of(cls, data: Dataset, place: slice) -> Shard:
        """A shard whose rows are there."""
        return cls(lambda: data, place)

    @property
    def data(self) -> Dataset:
        """The shard's rows; those of `dealt` are copied whenever they are asked for."""
        return self.cut()


def ranges(data: Dataset, shards: int) -> list[Shard]:
    """Cut the rows into ranges whose lengths differ by one at most; no entry is copied.

    Parameters
    ----------
    data : Dataset
    shards : int
        Number of shards; there are never more than rows.
    """
    found = places(data.n_samples, shards)
    return [Shard.of(_range_of(data, place), place) for place in found]


def places(m: int, shards: int) -> list[slice]:
    """Ranges of m rows whose lengths differ by one at most; there are never more than rows."""
    bounds = np.linspace(0, m, min(shards, m) + 1).astype(np.int64).tolist()
    return [slice(begin, end) for begin, end in pairwise(bounds)]


def dealt(data: Dataset, shards: int) -> list[Shard]:
    """Deal the rows out in turn, so that each shard resembles the whole.

    Files often have the rows of one class first: a range of them is then no sample.

    Parameters
    ----------
    data : Dataset
    shards : int
        Number of shards; there are never more than rows.
    """
    m = data.n_samples
    number = min(shards, m)
    if number == 1:
        return ranges(data, 1)
    found = [slice(first, m, number) for first in range(number)]
    return [Shard(partial(_every_so_many, data, place), place) for place in found]


def _every_so_many(data: Dataset, place: slice) -> Dataset:
    numbers = np.arange(place.start, place.stop, place.step, dtype=np.int32)
    rows = take_rows(data.rows, numbers)
    return _with_rows(data, rows.indptr, rows.indices, rows.values, rows.labels)


def _range_of(data: Dataset, place: slice) -> Dataset:
    values, labels = data.values, data.labels[place]
    if data.indptr is None or data.indices is None:
        assert values is not None
        return _with_rows(data, None, None, values[place], labels)
    begin, end = int(data.indptr[place.start]), int(data.indptr[place.stop])
    indptr = data.indptr[place.start : place.stop + 1] - begin
    stored = None if values is None else values[begin:end]
    return _with_rows(data, indptr, data.indices[begin:end], stored, labels)


def _with_rows(
    data: Dataset, indptr: Array | None, indices: Array | None, values: Array | None, labels: Array
) -> Dataset:
    return Dataset(data.name, data.n_features, indptr, indices, values, labels, data.provenance)
