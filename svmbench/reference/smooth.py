"""The optimum of a smooth loss, from Newton steps on w and b.

As in `svmbench.reference.search`, `Problem` certifies what is yielded. The logistic loss has a
slope between 0 and -1 everywhere, so that minus the slopes at w and b are a feasible alpha. Near
the optimum P - D is about ||gradient||^2/(2 lambda) for it, which Newton steps square at each turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.special import expit  # type: ignore[import-untyped]

from svmbench.data.dataset import FloatArray
from svmbench.kernels.objective import combination
from svmbench.problem import Problem

#: Most conjugate-gradient steps for one Newton step, and halvings of its length.
_MOST_STEPS, _HALVINGS = 1000, 40


def newton(problem: Problem) -> Iterator[tuple[FloatArray, float, FloatArray]]:
    """Newton's method with truncated conjugate gradients, for the logistic loss.

    Dembo and Steihaug, Mathematical Programming 26 (1983); a step is halved until P falls.

    Parameters
    ----------
    problem : Problem
        Of the logistic loss, without a ball.

    Yields
    ------
    w : ndarray of float64, shape (d,)
    bias : float
    alpha : ndarray of float64, shape (m,)
        Feasible: minus the slopes of the losses, balanced where the bias is free.
    """
    data, lam, free = problem.data, problem.lam, problem.bias == "free"
    m, d = data.n_samples, data.n_features
    labels = data.labels.astype(np.float64)
    point, scores = np.zeros(d + 1), np.zeros(m)  # w with b as its last entry

    def sums(weights: FloatArray) -> FloatArray:
        """The sum of weights_i y_i x_i / m, that of weights_i y_i / m last."""
        last = _inner(labels, weights) / m if free else 0.0
        return np.append(combination(data.rows, weights) / m, last)

    while True:
        slopes: FloatArray = expit(-labels * scores)
        yield point[:d].copy(), float(point[d]), problem.repaired(slopes)
        pull = np.append(lam * point[:d], 0.0)
        bends = slopes * (1.0 - slopes)

        def bent(v: FloatArray, bends: FloatArray = bends) -> FloatArray:
            moved = labels * bends * (data.rows.dot(v[:d]) + v[d])
            return np.append(lam * v[:d], 0.0) + sums(moved)

        step = _conjugate_gradients(bent, sums(slopes) - pull)
        moved = data.rows.dot(step[:d]) + step[d]
        least = _primal(lam, point, labels * scores)
        length = 1.0
        for _ in range(_HALVINGS):
            if _primal(lam, point + length * step, labels * (scores + length * moved)) < least:
                break
            length /= 2.0
        else:
            return  # rounding hides what is left to gain
        point = point + length * step
        scores = data.rows.dot(point[:d]) + point[d]


def _primal(lam: float, point: FloatArray, margins: FloatArray) -> float:
    weights = point[:-1]
    loss = float(np.logaddexp(0.0, -margins).mean())
    return 0.5 * lam * _inner(weights, weights) + loss


def _inner(a: FloatArray, b: FloatArray) -> float:
    # BLAS would share out sums of this length among threads, which costs more than it gains.
    return float(np.einsum("i,i", a, b))


def _conjugate_gradients(
    product: Callable[[FloatArray], FloatArray], right: FloatArray
) -> FloatArray:
    """An approximate solution v of product(v) = right, the better the smaller ``right`` is."""
    v, left = np.zeros_like(right), right.copy()
    direction, norm2 = left.copy(), _inner(left, left)
    size = math.sqrt(norm2)
    enough = min(0.1, math.sqrt(size)) * size
    for _ in range(_MOST_STEPS):
        if math.sqrt(norm2) <= enough:
            break
        image = product(direction)
        curvature = _inner(direction, image)
        if not curvature > 0.0:
            break
        rate = norm2 / curvature
        v += rate * direction
        left -= rate * image
        before, norm2 = norm2, _inner(left, left)
        direction = left + norm2 / before * direction
    return v
