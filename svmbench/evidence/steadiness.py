"""Whether ratios stay the same in the course of their pairs, which no evidence can allow for."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist

import numpy as np

from svmbench.evidence.processes import FloatArray
from svmbench.evidence.questions import Question

#: Share of pages of steady ratios that are said to have an unsteady one.
_RARE = 0.01

#: With fewer pairs, chance orders them as much as a machine.
_FEWEST = 8


def unsteady(questions: Iterable[Question]) -> str:
    """Say of a page how many of its ratios change in the course of their pairs; empty if none.

    By their ranks: the correlation of each log-ratio with the next, and the first half against the
    second.
    """
    known = [np.array([log for log in each.logs if math.isfinite(log)]) for each in questions]
    enough = [logs for logs in known if logs.size >= _FEWEST and np.ptp(logs) > 0.0]
    count = sum(_chance(logs) < _RARE / len(enough) for logs in enough)
    if not count:
        return ""
    return (
        f"The ratios of {count} of {len(known)} comparisons change in the course of their pairs, "
        "as with a state of the machine: the bound of 5 % on false verdicts does not cover that."
    )


def _chance(logs: FloatArray) -> float:
    """Probability that independent log-ratios are as unsteady, by the normal approximation."""
    n, half = logs.size, logs.size // 2
    # Equal values share their ranks.
    _, place, counts = np.unique(logs, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts + 1) / 2)[place] - (n - 1) / 2
    follows = float(ranks[1:] @ ranks[:-1] / (ranks @ ranks) + 1 / n) * math.sqrt(n)
    spread = half * (n - half) / (n * (n - 1)) * float(ranks @ ranks)
    moved = float(ranks[:half].sum()) / math.sqrt(spread)
    normal = NormalDist()
    return min(1.0, 2 * normal.cdf(-follows), 2 * 2 * normal.cdf(-abs(moved)))
