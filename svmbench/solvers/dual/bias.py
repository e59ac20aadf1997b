"""The best free bias for given weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.problem import Loss, Problem


def best_bias(problem: Problem, scores: FloatArray) -> float:
    """The b that minimises P(w, b) for scores w.x_i; for the hinge, the middle of an interval."""
    if problem.bias == "none":
        return 0.0
    positive = problem.data.labels > 0
    kinks: FloatArray = problem.data.labels - scores  # the b that gives each row margin one
    if problem.loss.name == "hinge":
        if problem.row_weights is not None:
            return _weighted_middle(kinks, problem.row_weights, positive)
        # The slope of m P is -sum [y = 1] at -inf and grows by one at every kink.
        rank = int(np.count_nonzero(positive))
        two = np.partition(kinks, [rank - 1, rank])[rank - 1 : rank + 1]
        return float(two.mean())
    signs = problem.counted(np.where(positive, -1.0, 1.0))
    if problem.loss.name == "logistic":
        # If all scores were s, it would be this less s.
        log_odds = math.log(-float(signs[positive].sum()) / float(signs[~positive].sum()))
        least, most = log_odds - float(scores.max()), log_odds - float(scores.min())
        return _least(partial(_of_logistic, scores, signs), least, most)
    of_hinge = partial(_of_smooth_hinge, kinks, signs, problem.loss)
    return _least(of_hinge, float(kinks.min()), float(kinks.max()))


def _least(derivatives: Callable[[float], tuple[float, float]], least: float, most: float) -> float:
    """Where a convex function is least.

    Newton steps on the slope; halves of the interval where they leave it or shorten by less than
    half.
    """
    b, moved = 0.5 * (least + most), most - least
    while least < b < most:
        slope, curvature = derivatives(b)
        if slope == 0.0:
            break
        least, most = (b, most) if slope < 0.0 else (least, b)
        newton = b - slope / curvature if curvature else math.nan
        if newton == b:
            break
        fast = least < newton < most and abs(newton - b) <= 0.5 * moved
        following = newton if fast else 0.5 * (least + most)
        b, moved = following, abs(following - b)
    return b


def _of_smooth_hinge(
    kinks: FloatArray, signs: FloatArray, loss: Loss, b: float
) -> tuple[float, float]:
    """Slope and curvature in b of the sum of the losses, squared or smoothed hinges."""
    bent = np.where(signs < 0.0, kinks - b, b - kinks) / loss.nu
    slope = float((signs * np.clip(bent, 0.0, loss.upper)).sum())
    curved = (bent > 0.0) & (bent < loss.upper)
    return slope, float(np.abs(signs[curved]).sum()) / loss.nu


def _of_logistic(scores: FloatArray, signs: FloatArray, b: float) -> tuple[float, float]:
    """The same of logistic losses, from the scores w.x_i, shape (m,)."""
    margins = np.where(signs < 0.0, scores + b, -scores - b)
    slopes = 1.0 / (1.0 + np.exp(np.minimum(margins, 700.0)))
    curvature = float((np.abs(signs) * slopes * (1.0 - slopes)).sum())
    return float((signs * slopes).sum()), curvature


def _weighted_middle(kinks: FloatArray, weights: FloatArray, positive: Array) -> float:
    """The hinge's best b for rows with weights: the slope of m P grows by c_i at every kink."""
    order = np.argsort(kinks, kind="stable")
    grown = np.cumsum(weights[order])
    wanted = float(weights[positive].sum())
    first = min(int(np.searchsorted(grown, wanted * (1.0 - 1e-12))), len(kinks) - 1)
    after = first + 1 if grown[first] <= wanted * (1.0 + 1e-12) else first
    return float(kinks[order[[first, min(after, len(kinks) - 1)]]].mean())
