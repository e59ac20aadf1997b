"""Exponents of growth: how y grows with x, as y ~ x^p, from repeated measurements."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from svmbench.evidence.page import Answer
from svmbench.evidence.processes import FloatArray
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

    Each repeat gives one exponent: the slope of the least-squares line of log y over log x. The
    exponents of all repeats replace the log-ratios, so that `Answer` holds exp of the
    exponent, its interval and so on; `exponent` takes the logarithms.

    - ``y``: for each repeat its value at each x, at least 0. +inf means that a target was not
      reached. It makes a repeat's exponent +inf if it occurs at large x, -inf if at small x; the
      middle is the mean of log x. A repeat with both says nothing and is left out. The same holds
      for 0, in the opposite sense.
    - ``y_least``: lower bounds of y, for values that are +inf because a limit ended the run. They
      give bounds of a repeat's exponent; it is left out if it has neither. The values themselves
      unless given.

    Raises ValueError: for x and y that are not as described.
    """
    abscissae = np.asarray(x, dtype=np.float64)
    if not (np.all(abscissae > 0) and np.all(np.isfinite(abscissae))):
        raise ValueError("x are finite numbers above 0")
    if np.unique(abscissae).size < 2:
        raise ValueError("an exponent needs two different x")
    centred = np.log(abscissae) - np.log(abscissae).mean()
    weights = centred / np.sum(centred**2)
    bounds = [
        _slopes(weights, least, most)
        for least, most in zip(y if y_least is None else y_least, y, strict=True)
    ]
    known = [each for each in bounds if each != (-math.inf, math.inf)]
    lowers, uppers = (tuple(each[side] for each in known) for side in (0, 1))
    above = None if lowers == uppers else uppers
    return Question(lowers, factor_of(low), factor_of(high), upper_logs=above)


def exponent(answer: Answer) -> tuple[float, float, float]:
    """Estimate and interval of the exponent that a question of `growing` asks about."""
    return _log(answer.estimate), _log(answer.low), _log(answer.high)


def _slopes(
    weights: FloatArray, least: Sequence[float], most: Sequence[float]
) -> tuple[float, float]:
    """Bounds of the weighted sum of logarithms of values between ``least`` and ``most``.

    Infinite where infinite logarithms pull to both sides.
    """
    below, above = _logs(weights, least), _logs(weights, most)
    low = _slope(weights, np.where(weights > 0, below, above))
    high = _slope(weights, np.where(weights > 0, above, below))
    return (-math.inf if math.isnan(low) else low), (math.inf if math.isnan(high) else high)


def _logs(weights: FloatArray, values: Sequence[float]) -> FloatArray:
    samples = np.asarray(values, dtype=np.float64)
    if samples.shape != weights.shape:
        raise ValueError("a repeat has one value for each x")
    if not np.all(samples >= 0):
        raise ValueError("samples are numbers from 0 to +inf")
    with np.errstate(divide="ignore"):
        logs: FloatArray = np.log(samples)
    return logs


def _slope(weights: FloatArray, logs: FloatArray) -> float:
    """Weighted sum of logarithms; nan if infinite ones pull to both sides."""
    infinite = np.isinf(logs) & (weights != 0)
    if not infinite.any():
        return float(np.sum(weights * np.where(weights != 0, logs, 0.0)))
    pulls = np.unique(np.sign(weights[infinite]) * np.sign(logs[infinite]))
    return float(pulls[0]) * math.inf if pulls.size == 1 else math.nan


def _log(value: float) -> float:
    return math.log(value) if value > 0 else -math.inf if value == 0 else math.nan
