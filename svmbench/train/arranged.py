"""Rows as training reads them: equal ones as one, and those of a length one after another.

P and D remain the same numbers. The losses of equal rows are equal, and so may be their dual
variables, because D is concave.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from svmbench.data.dataset import Array, Dataset
from svmbench.kernels.equal_rows import count_alike, group_equal
from svmbench.memory import available_memory
from svmbench.train.examples import Examples
from svmbench.train.objective import Objective

#: Share of the rows that may differ for equal ones to be merged: to find and to copy them takes as
#: long as several passes, and weights take time, too.
MOST_DIFFERENT = 0.5

#: Entries that are read in the time that a processor loses where a row has another length than the
#: one before: it has foretold the end of a loop wrongly. Measured by products with the rows of w8a.
MISPREDICTION = 40

#: Bytes of rows that are copied without asking how much memory is free, and the share of the free
#: memory that a copy may take.
SMALL_BYTES, ROOM = 1 << 26, 0.5

#: Longest length that is told from longer ones.
_LONGEST = np.iinfo(np.uint16).max


def arranged(examples: Examples, objective: Objective) -> Examples:
    """The examples merged or in another order where that saves much time and memory has room."""
    if not has_room_to_copy(examples.rows):
        return examples
    return by_length(merged(examples, objective))


def has_room_to_copy(rows: Dataset) -> bool:
    """Whether there is room in memory for a copy of the rows; not of rows in a file."""
    if rows.mapped_bytes:
        return False
    size = rows.nbytes
    return size <= SMALL_BYTES or size <= ROOM * (available_memory() or math.inf)


def merged(examples: Examples, objective: Objective) -> Examples:
    """The examples without repeated rows, if these are most of them; else as they are."""
    most = int(MOST_DIFFERENT * examples.rows.n_samples)
    if not may_merge(examples, objective):
        return examples
    weights, rows = examples.row_weights, examples.rows
    first, sums = group_equal(rows.rows, examples.labels, weights, most)
    if first is None or not np.isfinite(sums).all():
        return examples
    return replace(examples.chosen(first), row_weights=sums)


def may_merge(examples: Examples, objective: Objective) -> bool:
    """Whether `merged` looks for equal rows: counting cannot exclude that they are enough."""
    weighted = examples.row_weights is not None or examples.class_weights
    if objective.loss == "hinge" and objective.bias != "free" and not weighted:
        return False
    most = int(MOST_DIFFERENT * examples.rows.n_samples)
    return int(count_alike(examples.rows.rows, examples.labels)) <= most


def by_length(examples: Examples) -> Examples:
    """The examples in ascending order of their rows' lengths, if a pass then takes half as long."""
    order = order_by_length(examples.rows)
    return examples if order is None else examples.chosen(order)


def order_by_length(rows: Dataset) -> Array | None:
    """The numbers of the rows as `by_length` orders them; None if it leaves them as they are."""
    if rows.indptr is None:
        return None
    lengths = rows.rows.lengths()
    changes = np.count_nonzero(lengths[1:] != lengths[:-1])
    if MISPREDICTION * changes < rows.nnz:
        return None
    # NumPy sorts short integers by their digits, several times as fast as others.
    order: Array = np.argsort(np.minimum(lengths, _LONGEST).astype(np.uint16), kind="stable")
    return order
