"""Exponents of growth: how y grows with x, as y ~ x^p, from repeated measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from svmbench.evidence.page import Answer
from svmbench.evidence.questions import Question, factor_of


def growing(
    x: Sequence[float],
    y: Sequence[Sequence[float]],
    low: float = -math.inf,
    high: float = math.inf,
    *,
    y_least: Sequence[Sequence[float]] | None = None,
) -> Question:
    """Ask whether y grows with x by an exponent in a region.

    Each repeat gives one exponent, the slope of the least-squares line of log y over log x, in
    place of a log-ratio; `exponent` takes the answer's logarithms. A y of +inf means that a target
    was not reached: it makes a repeat's exponent +inf if it occurs at large x, -inf if at small x.
    ``y_least`` are lower bounds of values that a limit ended. A repeat without any bound is left
    out.
    """
    logs = np.log(np.asarray(x, dtype=np.float64))
    weights = (logs - logs.mean()) / np.sum((logs - logs.mean()) ** 2)
    # The middle of log x has no say, but for rounding.
    used = np.abs(weights) > 1e-9 * np.abs(weights).max()
    with np.errstate(divide="ignore"):
        below, above = (
            np.log(np.asarray(each, dtype=np.float64).reshape(-1, logs.size))[:, used]
            for each in (y if y_least is None else y_least, y)
        )
    with np.errstate(invalid="ignore"):
        rising = weights[used] > 0
        least = np.where(rising, below, above) @ weights[used]
        most = np.where(rising, above, below) @ weights[used]
    least, most = np.where(np.isnan(least), -np.inf, least), np.where(np.isnan(most), np.inf, most)
    known = (least > -np.inf) | (most < np.inf)
    lowers, uppers = (tuple(each[known].tolist()) for each in (least, most))
    upper_logs = None if lowers == uppers else uppers
    return Question(lowers, factor_of(low), factor_of(high), upper_logs=upper_logs)


def exponent(answer: Answer) -> tuple[float, float, float]:
    """Estimate and interval of the exponent that a question of `growing` asks about."""
    return _log(answer.estimate), _log(answer.low), _log(answer.high)


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf if value == 0 else math.nan
