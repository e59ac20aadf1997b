"""The optimum of a smooth loss, from Newton steps on w and b.

As in `svmbench.reference.search`, `Problem` certifies what is yielded. The logistic loss has a
slope between 0 and -1 everywhere, so that minus the slopes at w and b are a feasible alpha. Near
the optimum P - D is about ||gradient||^2/(2 lambda) for it, which Newton steps square at each turn.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve  # type: ignore[import-untyped]
from scipy.special import expit  # type: ignore[import-untyped]

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.kernels.objective import combination
from svmbench.problem import Problem
from svmbench.reference.search import never
from svmbench.solvers.second_order.normal_equations import NormalEquations

#: Most conjugate-gradient steps for one Newton step, and halvings of its length.
_MOST_STEPS, _HALVINGS = 1000, 40

#: Growth of P, as a share of 1 + P, that counts as rounding.
_ROUNDING = 2.0 * float(np.finfo(np.float64).eps)

#: Most features for which a d x d system is formed.
_MOST_FEATURES = 5000

#: Passes that conjugate gradients are taken to need for a Newton step, and the work of a
#: multiply-add in a dense matrix relative to that of a stored entry.
_PASSES, _DENSE_WORK = 30.0, 0.06


def newton(
    problem: Problem, due: Callable[[], bool] = never
) -> Iterator[tuple[FloatArray, float, FloatArray]]:
    """Newton's method for the logistic loss.

    Steps are solved by a Cholesky factor where that is less work, else by truncated conjugate
    gradients (Dembo and Steihaug, Mathematical Programming 26, 1983). A step is halved until P
    falls. Once rounding hides whether it falls, full steps go on as long as each halves the
    gradient's product with the step.

    Parameters
    ----------
    problem : Problem
        Of the logistic loss, without a ball.
    due : callable
        Whether conjugate gradients shall end early; asked at each of their steps.

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
    equations = NormalEquations(data) if _is_worth_factoring(data) else None

    def sums(weights: FloatArray) -> FloatArray:
        """The sum of weights_i y_i x_i / m, that of weights_i y_i / m last."""
        last = _inner(labels, weights) / m if free else 0.0
        return np.append(combination(data.rows, weights) / m, last)

    decrement, blind = math.inf, False
    while True:
        slopes: FloatArray = expit(-labels * scores)
        yield point[:d].copy(), float(point[d]), problem.repaired(slopes)
        pull = np.append(lam * point[:d], 0.0)
        bends = slopes * (1.0 - slopes)

        def bent(v: FloatArray, bends: FloatArray = bends) -> FloatArray:
            moved = labels * bends * (data.rows.dot(v[:d]) + v[d])
            return np.append(lam * v[:d], 0.0) + sums(moved)

        downhill = sums(slopes) - pull
        step = None
        if equations is not None:
            # A label's square is one: these are the sums of bends_i x_i and of bends_i.
            step = _solved(equations.gram(bends / m), lam, downhill, sums(labels * bends), free)
        if step is None:
            step = _conjugate_gradients(bent, downhill, due)
        last, decrement = decrement, _inner(downhill, step)
        if blind and not 0.0 < decrement <= 0.5 * last:
            return
        moved = data.rows.dot(step[:d]) + step[d]
        least = _primal(lam, point, labels * scores)
        length = 1.0
        for _ in range(_HALVINGS):
            if _primal(lam, point + length * step, labels * (scores + length * moved)) < least:
                break
            length /= 2.0
        else:
            # Rounding hides what is left to gain in P, but the gradient may still become smaller.
            ahead = _primal(lam, point + step, labels * (scores + moved))
            if not (decrement > 0.0 and ahead <= least + _ROUNDING * (1.0 + least)):
                return
            length, blind = 1.0, True
        point = point + length * step
        scores = data.rows.dot(point[:d]) + point[d]


def _primal(lam: float, point: FloatArray, margins: FloatArray) -> float:
    weights = point[:-1]
    loss = float(np.logaddexp(0.0, -margins).mean())
    return 0.5 * lam * _inner(weights, weights) + loss


def _is_worth_factoring(data: Dataset) -> bool:
    d, nnz = data.n_features, data.nnz
    work = _DENSE_WORK * (nnz * (nnz / data.n_samples) / 2.0 + d**3 / 3.0)
    return d <= _MOST_FEATURES and work <= _PASSES * nnz


def _solved(
    gram: FloatArray, lam: float, right: FloatArray, border: FloatArray, free: bool
) -> FloatArray | None:
    """The Newton step by a Cholesky factor; None where rounding has made it indefinite.

    Parameters
    ----------
    gram : ndarray, shape (d, d)
        1/m sum_i bends_i x_i x_i^T; at least its upper triangle.
    lam : float
    right : ndarray, shape (d + 1,)
    border : ndarray, shape (d + 1,)
        The system's last column, that of b.
    free : bool
        Whether b is free; otherwise its step is 0.
    """
    d = len(gram)
    system = np.zeros((d + free, d + free))
    system[:d, :d] = gram
    np.einsum("ii->i", system)[:d] += lam
    if free:
        system[:, d] = border
    step = np.zeros(d + 1)
    try:
        factor = cho_factor(system, lower=False, check_finite=False)
    except LinAlgError:
        return None
    step[: d + free] = cho_solve(factor, right[: d + free], check_finite=False)
    return step


def _inner(a: FloatArray, b: FloatArray) -> float:
    # BLAS would share out sums of this length among threads, which costs more than it gains.
    return float(np.einsum("i,i", a, b))


def _conjugate_gradients(
    product: Callable[[FloatArray], FloatArray], right: FloatArray, due: Callable[[], bool]
) -> FloatArray:
    """An approximate solution v of product(v) = right, the better the smaller ``right`` is."""
    v, left = np.zeros_like(right), right.copy()
    direction, norm2 = left.copy(), _inner(left, left)
    size = math.sqrt(norm2)
    enough = min(0.1, math.sqrt(size)) * size
    for _ in range(_MOST_STEPS):
        if math.sqrt(norm2) <= enough or due():
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
