"""How many more pairs a question is expected to take."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from svmbench.evidence.processes import TIE, RatioEvidence, evidence_of

#: More pairs than this are not worth a number: the estimate lies too close to a boundary.
MOST = 1000


@lru_cache(maxsize=4096)
def pairs_until_decided(
    logs: tuple[float, ...], low: float, high: float, log_threshold: float, widening: float = 0.0
) -> int | None:
    """Further pairs until the evidence reaches a threshold, if they repeat those so far.

    The pairs measured are appended again and again in their order, which keeps estimate and
    scatter as they are and is the same on every call. The question is expected to be decided on
    the side on which the estimate lies. From one or two pairs, whose scatter says little, the
    number is usually too small.

    Parameters
    ----------
    logs : tuple of float
        Log-ratios of the informative pairs.
    low, high : float
        Region, as logarithms.
    log_threshold : float
        Logarithm of the evidence that decides.
    widening : float
        By how much a boundary must be exceeded (logarithmic).

    Returns
    -------
    int or None
        At least 1; None without pairs, for an estimate on a boundary, and beyond `MOST`.
    """
    observed = evidence_of(logs)
    sides = [
        (boundary, side)
        for boundary, side in _needed(observed.median, low, high)
        if math.isfinite(boundary)
    ]
    if not sides or any(
        not side * (observed.median - boundary) > widening + TIE for boundary, side in sides
    ):
        return None
    for length in (len(logs) + 50, len(logs) + MOST):  # most questions need the first only
        extended = RatioEvidence(np.resize(observed.logs, length))
        enough = np.logical_and.reduce(
            [extended.path(at + side * widening, side) >= log_threshold for at, side in sides]
        )
        decided = np.flatnonzero(enough[len(logs) :])
        if decided.size:
            return int(decided[0]) + 1
    return None


def _needed(median: float, low: float, high: float) -> list[tuple[float, float]]:
    """The boundaries to be rejected for the side of the estimate, each with its direction."""
    if math.isnan(median):
        return []
    if low > -math.inf and median <= low:
        return [(low, -1.0)]
    if high < math.inf and median >= high:
        return [(high, 1.0)]
    return [(low, 1.0), (high, -1.0)]
