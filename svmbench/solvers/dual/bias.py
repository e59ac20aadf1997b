"""The best free bias for given weights."""

from __future__ import annotations

import math

import numpy as np

from svmbench.data.dataset import FloatArray
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
        # The slope of m P is -sum [y = 1] at -inf and grows by one at every kink.
        rank = int(np.count_nonzero(positive))
        two = np.partition(kinks, [rank - 1, rank])[rank - 1 : rank + 1]
        return float(two.mean())
    width = problem.loss.nu
    signs = np.where(positive, -1.0, 1.0)
    least, most = float(kinks.min()), float(kinks.max())
    b = 0.5 * (least + most)
    while least < b < most:
        bent = signs * (b - kinks) / width
        slope = float((signs * np.clip(bent, 0.0, problem.loss.upper)).sum())
        if slope == 0.0:
            break
        least, most = (b, most) if slope < 0.0 else (least, b)
        curvature = np.count_nonzero((bent > 0.0) & (bent < problem.loss.upper)) / width
        newton = b - slope / curvature if curvature else math.nan
        if newton == b:
            break
        b = newton if least < newton < most else 0.5 * (least + most)
    return b
