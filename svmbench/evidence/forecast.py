"""How many more pairs a question is expected to take."""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import median

import numpy as np

from svmbench.evidence.processes import TIE, RatioEvidence, evidence_of

#: Larger numbers of pairs are not reported: the estimate lies too close to a boundary.
MOST = 1000

#: Simulated series of `pairs_to_show`, an odd number.
SERIES = 101


@lru_cache(maxsize=4096)
def pairs_until_decided(
    logs: tuple[float, ...],
    uppers: tuple[float, ...],
    low: float,
    high: float,
    log_threshold: float,
    widening: float = 0.0,
) -> int | None:
    """Further pairs until the evidence reaches a threshold, if they repeat those so far.

    The pairs measured are appended again and again in their order, which keeps estimate and
    scatter as they are and is the same on every call. The question is expected to be decided on
    the side on which the estimate lies. From one or two pairs, whose scatter says little, the
    number is usually too small.

    Parameters
    ----------
    logs : tuple of float
        Log-ratios of the informative pairs, or lower bounds of them.
    uppers : tuple of float
        Upper bounds of the log-ratios; the same as ``logs`` if they are known.
    low, high : float
        Region, as logarithms.
    log_threshold : float
        Logarithm of the evidence that decides.
    widening : float
        How far a boundary must be exceeded (logarithmic).

    Returns
    -------
    int or None
        At least 1; None without pairs, for an estimate on a boundary or with a boundary between
        its bounds, and beyond `MOST`.
    """
    observed = {1.0: evidence_of(logs), -1.0: evidence_of(uppers)}
    sides = [
        (boundary, side)
        for boundary, side in _needed(observed[1.0].median, observed[-1.0].median, low, high)
        if math.isfinite(boundary)
    ]
    if not sides or any(
        not side * (observed[side].median - boundary) > widening + TIE for boundary, side in sides
    ):
        return None
    for length in (len(logs) + 50, len(logs) + MOST):  # the first is enough for most questions
        extended = [
            (RatioEvidence(np.resize(observed[side].logs, length)), at + side * widening, side)
            for at, side in sides
        ]
        if any(each.evidence(at, side) < log_threshold for each, at, side in extended):
            continue
        enough = np.logical_and.reduce(
            [each.path(at, side) >= log_threshold for each, at, side in extended]
        )
        decided = np.flatnonzero(enough[len(logs) :])
        if decided.size:
            return int(decided[0]) + 1
    return None


@lru_cache
def pairs_to_show(factor: float, scatter: float, threshold: float, most: int = MOST) -> int | None:
    """How many pairs are typically needed to show that a ratio is above 1.

    The median of `SERIES` simulated series of normal log-ratios, the same on every call.

    Parameters
    ----------
    factor : float
        The ratio, above 1.
    scatter : float
        Standard deviation of the log-ratio of two runs of one pair.
    threshold : float
        Evidence that decides; 2/level for a question that is a page of its own.
    most : int
        Maximum number of pairs.

    Returns
    -------
    int or None
        None if it takes more than ``most`` pairs.
    """
    random = np.random.default_rng(0)
    needed = [math.inf] * SERIES
    for series in range(SERIES):
        logs = math.log(factor) + scatter * random.standard_normal(most)
        enough = np.flatnonzero(RatioEvidence(logs).path(0.0, 1.0) >= math.log(threshold))
        if enough.size:
            needed[series] = int(enough[0]) + 1
    middle = median(needed)
    return None if math.isinf(middle) else int(middle)


def _needed(lower: float, upper: float, low: float, high: float) -> list[tuple[float, float]]:
    """The boundaries to be rejected for the side of the estimate, each with its direction.

    The estimate is known by a lower and an upper bound, which may be equal.
    """
    if math.isnan(lower):
        return []
    if low > -math.inf and upper <= low:
        return [(low, -1.0)]
    if high < math.inf and lower >= high:
        return [(high, 1.0)]
    return [(low, 1.0), (high, -1.0)]
