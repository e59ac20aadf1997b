"""The best free bias for given weights."""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import Array, FloatArray
from svmbench.problem import Problem


def best_bias(problem: Problem, scores: FloatArray) -> float:
    """The b that minimises P(w, b) for given scores w.x_i; 0 without a free bias.

    If an interval minimises P, this is its middle for the hinge and one of its points otherwise.

    Parameters
    ----------
    problem : Problem
    scores : ndarray of float64, shape (m,)
    """
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
    width = problem.loss.nu
    signs = problem.counted(np.where(positive, -1.0, 1.0))
    least, most = float(kinks.min()), float(kinks.max())
    b = 0.5 * (least + most)
    while least < b < most:
        bent = np.where(positive, kinks - b, b - kinks) / width
        slope = float((signs * np.clip(bent, 0.0, problem.loss.upper)).sum())
        if slope == 0.0:
            break
        least, most = (b, most) if slope < 0.0 else (least, b)
        curved = (bent > 0.0) & (bent < problem.loss.upper)
        curvature = float(np.abs(signs[curved]).sum()) / width
        newton = b - slope / curvature if curvature else math.nan
        if newton == b:
            break
        b = newton if least < newton < most else 0.5 * (least + most)
    return b


def _weighted_middle(kinks: FloatArray, weights: FloatArray, positive: Array) -> float:
    """The hinge's best b for rows with weights: the slope of m P grows by c_i at every kink."""
    order = np.argsort(kinks, kind="stable")
    grown = np.cumsum(weights[order])
    wanted = float(weights[positive].sum())
    first = min(int(np.searchsorted(grown, wanted * (1.0 - 1e-12))), len(kinks) - 1)
    after = first + 1 if grown[first] <= wanted * (1.0 + 1e-12) else first
    return float(kinks[order[[first, min(after, len(kinks) - 1)]]].mean())
