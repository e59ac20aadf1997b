"""Statistics of repeated measurements: medians, intervals, profiles, digits.

A run that did not reach its target counts as +inf and stays in every sample, so that
failing cannot improve a statistic.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

#: Coverage of the intervals of medians, if there are enough samples.
COVERAGE = 0.95

#: A sample this many times its median is an outlier worth a warning.
OUTLIER_FACTOR = 1.5


@dataclass(frozen=True)
class Estimate:
    """What repeats say of a number; nan where nothing is known."""

    samples: tuple[float, ...] = ()  # +inf where a run did not reach its target
    # median, low, high, coverage: median, its interval, and the probability that this contains the
    # true one
    median: float = math.nan
    low: float = math.nan
    high: float = math.nan
    coverage: float = math.nan

    @property
    def reached(self) -> int:
        """How many of the samples are finite."""
        return sum(map(math.isfinite, self.samples))


UNKNOWN = Estimate()


def estimate(samples: Iterable[float]) -> Estimate:
    values = tuple(samples)
    return Estimate(values, median(values), *median_interval(values)) if values else UNKNOWN


def median(samples: Sequence[float]) -> float:
    """The median; +inf as soon as half of the runs did not reach their target."""
    ordered = _ordered(samples)
    low, high = ordered[(ordered.size - 1) // 2], ordered[ordered.size // 2]
    return float(low if low == high else (low + high) / 2)


def median_interval(
    samples: Sequence[float], coverage: float = COVERAGE
) -> tuple[float, float, float]:
    """Distribution-free confidence interval of the median between two order statistics.

    The k-th smallest and k-th largest of n independent samples enclose the median with probability
    at least 1 - 2 F(k - 1), F being the binomial distribution function of n fair coins. The
    narrowest such interval is returned; with fewer than six samples none has 95 %, as the returned
    coverage says.
    """
    ordered = _ordered(samples)
    n = ordered.size
    covered = _coverages(n)
    best = max((at for at, actual in enumerate(covered) if actual >= coverage), default=0)
    return float(ordered[best]), float(ordered[n - 1 - best]), covered[best]


@cache
def _coverages(n: int) -> tuple[float, ...]:
    """1 - 2 F(k - 1) of n fair coins, for k = 1, 2, ... up to the middle.

    From whole numbers: exact, and scipy.stats would take longer to load than a report to write.
    """
    tosses = 1 << n
    below = accumulate(math.comb(n, k) for k in range((n + 1) // 2))
    return tuple((tosses - 2 * outcomes) / tosses for outcomes in below)


def reached(samples: Sequence[float]) -> str:
    return f"{sum(math.isfinite(sample) for sample in samples)} of {len(samples)}"


def performance_ratios(costs: Mapping[str, Sequence[float]]) -> dict[str, list[float]]:
    """Cost of each solver on each problem over the least of any solver (Dolan and Moré, 2002)."""
    if not costs:
        return {}
    least = np.min([list(row) for row in costs.values()], axis=0)
    return {
        solver: [_over(cost, best) for cost, best in zip(row, least, strict=True)]
        for solver, row in costs.items()
    }


def _over(cost: float, best: float) -> float:
    if not math.isfinite(cost):
        return math.inf
    return cost / best if best > 0 else 1.0 if cost == 0 else math.inf


def solved_shares(samples: Sequence[float]) -> tuple[list[float], list[float]]:
    """The empirical distribution function of samples that may be infinite."""
    ordered = _ordered(samples)
    values, counts = np.unique(ordered[np.isfinite(ordered)], return_counts=True)
    return values.tolist(), (np.cumsum(counts) / ordered.size).tolist()


def outliers(samples: Sequence[float]) -> list[int]:
    """Positions of the finite samples above `OUTLIER_FACTOR` times the median."""
    if not samples:
        return []
    bound = OUTLIER_FACTOR * median(samples)
    return [at for at, sample in enumerate(samples) if bound < sample < math.inf]


def _ordered(samples: Sequence[float]) -> NDArray[np.float64]:
    ordered = np.sort(np.asarray(samples, dtype=np.float64))
    if ordered.size == 0:
        raise ValueError("no samples")
    if math.isnan(ordered[-1]):  # nan sorts last
        raise ValueError("a sample is nan; what was not reached is +inf")
    return ordered
