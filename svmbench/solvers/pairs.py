"""Pairs of weights and dual variables that a method yields, and the work that they took."""

from __future__ import annotations

import math
from dataclasses import dataclass

from svmbench.data.dataset import Dataset, FloatArray

#: Weights, bias and a feasible alpha.
PrimalAndDual = tuple[FloatArray, float, FloatArray]

#: Work of a visit of dual coordinate descent to a row besides that on its entries, in entries of a
#: product of a Newton step: 40 to 250 of these were measured.
ROW_WORK = 100.0


@dataclass
class WorkCount:
    """What a method has done so far."""

    steps: int = 0  # Newton steps, or turns of descent
    # work: stored entries read, and as many as take the time of what else is computed
    entries: float = 0.0
    # rows, nonzeros: rows that sums over rows have read, and their stored entries; for smooth
    # losses only
    rows: int = 0
    nonzeros: int = 0
    # (P - D)/D at the last w, as its gradient says: exact up to rounding without a free bias, and
    # perhaps too small with one; for smooth losses only
    gap: float = math.inf
    # rival, remaining: work that another method, and dual descent, were expected to take when
    # descent fell behind; inf before
    rival: float = math.inf
    remaining: float = math.inf


def pass_work(data: Dataset) -> float:
    """Work of a pass of dual coordinate descent in which every row moves."""
    return 2.0 * data.nnz + ROW_WORK * data.n_samples


def never() -> bool:
    """Whether the time is up, where there is no limit."""
    return False
