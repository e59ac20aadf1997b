"""How many more pairs a question is expected to take, and what some pairs can show."""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

import numpy as np

from svmbench.evidence.changes import ChangeEvidence
from svmbench.evidence.processes import EQUAL, TIE, RatioEvidence, evidence_of

#: Larger numbers of pairs are not reported: the estimate lies too close to a boundary.
MOST = 1000

#: From fewer pairs no number is printed: their scatter says too little.
FEWEST = 3

#: Simulated series of `least_factor`, the share of them that has to show the factor, and the least
#: and the largest factor that it tries first and last, as logarithms.
SERIES, POWER, LEAST_FACTOR, LARGEST_FACTOR = 200, 0.8, 1e-4, 100.0


@lru_cache(maxsize=4096)
def pairs_until_decided(
    logs: tuple[float, ...],
    uppers: tuple[float, ...],
    low: float,
    high: float,
    log_threshold: float,
    widening: float = 0.0,
    exchangeable: bool = False,
) -> int | None:
    """Further pairs until the evidence reaches a threshold, if they repeat those so far.

    The pairs measured are appended again and again, which keeps estimate and scatter. None without
    pairs, for an estimate on a boundary or with one between its bounds, and beyond `MOST`.
    """
    observed = {1.0: evidence_of(logs), -1.0: evidence_of(uppers)}
    sides = [
        (boundary, side)
        for boundary, side in needed_sides(observed[1.0].median, observed[-1.0].median, low, high)
        if math.isfinite(boundary)
    ]
    if not sides or any(
        not side * (observed[side].median - boundary) > widening + TIE for boundary, side in sides
    ):
        return None
    for length in (len(logs) + 50, len(logs) + MOST):  # the first is enough for most questions
        paths = [
            RatioEvidence(np.resize(observed[side].logs, length)).path(
                at + side * widening, side, exchangeable and abs(at) < EQUAL
            )
            for at, side in sides
        ]
        if any(path[-1] < log_threshold for path in paths):
            continue
        enough = np.logical_and.reduce([path >= log_threshold for path in paths])
        decided = np.flatnonzero(enough[len(logs) :])
        if decided.size:
            return int(decided[0]) + 1
    return None


def pairs_until_changed(
    lower: ChangeEvidence, upper: ChangeEvidence, low: float, high: float, log_threshold: float
) -> int | None:
    """Further pairs on each of two problems until a change is shown; None for too many."""
    sides = [
        (upper if side < 0.0 else lower, boundary, side)
        for boundary, side in needed_sides(lower.median, upper.median, low, high)
        if math.isfinite(boundary)
    ]

    def decided(more: int) -> bool:
        shown = (each.repeated(more).shown(at, side) for each, at, side in sides)
        return all(evidence >= log_threshold for evidence in shown)

    if not lower.pairs or not sides or not decided(MOST):
        return None
    return bisect_left(range(1, MOST), True, key=decided) + 1


def least_factor(scatter: float, pairs: int, threshold: float) -> float:
    """The least ratio that this many pairs are likely to show to be above 1."""
    noise = scatter * np.random.default_rng(0).standard_normal((pairs, SERIES)).T

    def shown(log_factor: float) -> float:
        paths = (RatioEvidence(row + log_factor).path(0.0, 1.0, True) for row in noise)
        return float(np.mean([path.max() >= math.log(threshold) for path in paths]))

    low, high = 0.0, max(scatter, LEAST_FACTOR)
    while shown(high) < POWER:
        low, high = high, 2.0 * high
        if high > LARGEST_FACTOR:
            return math.inf
    while high - low > 0.01 * high:
        middle = (low + high) / 2.0
        low, high = (low, middle) if shown(middle) >= POWER else (middle, high)
    return math.exp(high)


def needed_sides(lower: float, upper: float, low: float, high: float) -> list[tuple[float, float]]:
    """The boundaries to be rejected for the side of the estimate, each with its direction."""
    if math.isnan(lower):
        return []
    if low > -math.inf and upper <= low:
        return [(low, -1.0)]
    if high < math.inf and lower >= high:
        return [(high, 1.0)]
    return [(low, 1.0), (high, -1.0)]
