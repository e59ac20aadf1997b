"""A statement over data sets: Wilcoxon's signed ranks, as papers mean by "statistically"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from svmbench.evidence.page import LEVEL
from svmbench.evidence.processes import FloatArray

#: Data sets from which the two-sided p-value can be below 0.05: five of one sign give 1/16.
MIN_DATA_SETS = 6


@dataclass(frozen=True)
class Across:
    """What several data sets show together about a ratio, each with one value."""

    # whether the ratios are statistically above 1, below 1, or neither
    verdict: Literal["above", "below", "open"]
    p_value: float  # of both sides together; 1 without informative data sets
    data_sets: int  # data sets with a ratio other than 1


def across(log_ratios: Sequence[float]) -> Across:
    """Test whether ratios differ from 1 over data sets (Wilcoxon, 1945; Demšar, 2006).

    The distribution is exact, also with ties. There is one log-ratio for each data set; infinite
    ones are larger than all finite ones and tied with each other, and zeros are left out.
    """
    logs = np.asarray(log_ratios, dtype=np.float64)
    if np.isnan(logs).any():
        raise ValueError("a log-ratio is nan")
    logs = logs[logs != 0]
    if logs.size == 0:
        return Across("open", 1.0, 0)
    doubled = _doubled_ranks(np.abs(logs))
    positive = int(doubled[logs > 0].sum())
    negative = int(doubled.sum()) - positive
    ways = _sums(doubled)
    tail = float(ways[: min(positive, negative) + 1].sum() / ways.sum())
    p_value = min(1.0, 2 * tail)
    verdict: Literal["above", "below", "open"] = "open"
    if p_value <= LEVEL:
        verdict = "above" if positive > negative else "below"
    return Across(verdict, p_value, logs.size)


def _doubled_ranks(magnitudes: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Twice the rank of each value; the mean rank of a tie is then an integer."""
    _, inverse, counts = np.unique(magnitudes, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((2 * ends - counts + 1)[inverse], dtype=np.int64)


def _sums(ranks: np.ndarray[tuple[int], np.dtype[np.int64]]) -> FloatArray:
    """In how many of all choices of signs the positive ranks have each sum."""
    ways = np.zeros(int(ranks.sum()) + 1)
    ways[0] = 1.0
    for rank in ranks:
        ways[rank:] += ways[:-rank].copy()
    return ways
