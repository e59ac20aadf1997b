"""The optimum of a smooth loss, from Newton steps on w and b.

As in `svmbench.reference.search`, `Problem` certifies what is yielded. Minus the slopes of the
losses at w and b are a feasible alpha. Near the optimum of the logistic loss P - D is about
||gradient||^2/(2 lambda), which Newton steps square at each turn. The squared hinge's support, the
rows with margins below 1, takes the part of the rows' curvatures; once it no longer changes, a
step reaches the optimum.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve  # type: ignore[import-untyped]
from scipy.special import expit  # type: ignore[import-untyped]

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.kernels.objective import combination
from svmbench.kernels.terms import losses
from svmbench.problem import Problem
from svmbench.reference.search import Pair, never
from svmbench.solvers.second_order.normal_equations import NormalEquations

#: Losses that Newton steps minimise.
LOSSES = ("logistic", "squared-hinge")

#: Most conjugate-gradient steps for one Newton step, and halvings of its length.
_MOST_STEPS, _HALVINGS = 1000, 40

#: Growth of P, as a share of 1 + P, that counts as rounding.
_ROUNDING = 2.0 * float(np.finfo(np.float64).eps)

#: Most features for which a d x d system is formed.
_MOST_FEATURES = 5000

#: Passes that conjugate gradients are taken to need for a Newton step, and the work of a
#: multiply-add in a dense matrix relative to that of a stored entry.
_PASSES, _DENSE_WORK = 30.0, 0.06


@dataclass
class Count:
    """What `newton` has done so far.

    Parameters
    ----------
    steps : int
        Newton steps.
    entries : float
        Work: stored entries read in products with the rows, and as many as take the time of a
        factorisation.
    """

    steps: int = 0
    entries: float = 0.0


def newton(
    problem: Problem,
    due: Callable[[], bool] = never,
    start: tuple[FloatArray, float] | None = None,
    wanted: float = math.inf,
    count: Count | None = None,
) -> Iterator[Pair]:
    """Newton's method for the logistic loss and the squared hinge.

    Steps are solved by a Cholesky factor where that is less work, else by truncated conjugate
    gradients (Dembo and Steihaug, Mathematical Programming 26, 1983). A step is halved until P
    falls. Once rounding hides whether it falls, full steps go on as long as each halves the
    gradient's product with the step.

    With alpha as yielded and no free bias, P - D is ||gradient||^2/(2 lambda). A certificate costs
    about as much as a third of a step: a caller that needs one gap only sets ``wanted``.

    Parameters
    ----------
    problem : Problem
        Of a loss in `LOSSES`, without a ball.
    due : callable
        Whether conjugate gradients shall end early; asked at each of their steps.
    start : (ndarray of float64, float), optional
        w, shape (d,), and b, which is ignored if the problem has none; zeros by default.
    wanted : float
        Relative gap (P - D)/D. Only steps that may be within it are yielded, one for each
        doubling of their number, and the last.
    count : Count, optional
        Kept up to date.

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
    w, b = start or (np.zeros(d), 0.0)
    point = np.append(w, b if free else 0.0)
    equations = NormalEquations(data) if _is_worth_factoring(data) else None
    ones = np.ones(m)
    done = Count() if count is None else count

    def scores_of(v: FloatArray) -> FloatArray:
        done.entries += data.nnz
        scores: FloatArray = data.rows.dot(v[:d]) + v[d]
        return scores

    def primal_at(point: FloatArray, margins: FloatArray) -> float:
        each = losses(margins, problem.loss)
        loss = _inner(ones, each) if problem.row_weights is None else _inner(each, counts)
        return 0.5 * lam * _inner(point[:d], point[:d]) + loss / m

    counts = problem.counted(ones)

    def sums(weights: FloatArray) -> FloatArray:
        """The sum of weights_i y_i x_i / m, that of weights_i y_i / m last."""
        done.entries += data.nnz
        last = _inner(labels, weights) / m if free else 0.0
        return np.append(combination(data.rows, weights) / m, last)

    def pair(slopes: FloatArray) -> Pair:
        return point[:d].copy(), float(point[d]), problem.repaired(slopes)

    decrement, blind = math.inf, False
    scores = scores_of(point) if start else np.zeros(m)
    least = primal_at(point, labels * scores)
    while True:
        slopes, bends = _derivatives(problem, labels * scores)
        pull = np.append(lam * point[:d], 0.0)
        bends = problem.counted(bends)

        def bent(v: FloatArray, bends: FloatArray = bends) -> FloatArray:
            return np.append(lam * v[:d], 0.0) + sums(labels * bends * scores_of(v))

        downhill = sums(problem.counted(slopes)) - pull
        gap = _inner(downhill[:d], downhill[:d]) / (2.0 * lam)
        doubled = done.steps & (done.steps - 1) == 0
        shown = gap <= wanted * least or doubled or blind or due()
        if shown:
            yield pair(slopes)
        done.steps += 1
        step = None
        if equations is not None:
            done.entries += _factor_work(data)
            # A label's square is one: these are the sums of bends_i x_i and of bends_i.
            step = _solved(equations.gram(bends / m), lam, downhill, sums(labels * bends), free)
        if step is None:
            step = _conjugate_gradients(bent, downhill, due)
        last, decrement = decrement, _inner(downhill, step)
        if blind and not 0.0 < decrement <= 0.5 * last:
            return
        moved = scores_of(step)
        length = 1.0
        for _ in range(_HALVINGS):
            ahead = primal_at(point + length * step, labels * (scores + length * moved))
            if ahead < least:
                break
            length /= 2.0
        else:
            # Rounding hides what is left to gain in P, but the gradient may still become smaller.
            ahead = primal_at(point + step, labels * (scores + moved))
            if not (decrement > 0.0 and ahead <= least + _ROUNDING * (1.0 + least)):
                if not shown:
                    yield pair(slopes)
                return
            length, blind = 1.0, True
        point, least = point + length * step, ahead
        scores = scores_of(point) if blind else scores + length * moved


def _derivatives(problem: Problem, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minus the slopes of the losses, and their curvatures."""
    if problem.loss.name == "logistic":
        slopes: FloatArray = expit(-margins)
        return slopes, slopes * (1.0 - slopes)
    return np.maximum(0.0, 1.0 - margins), (margins < 1.0).astype(np.float64)


def _is_worth_factoring(data: Dataset) -> bool:
    return data.n_features <= _MOST_FEATURES and _factor_work(data) <= _PASSES * data.nnz


def _factor_work(data: Dataset) -> float:
    """Work to form and to factor a d x d system, in stored entries."""
    d, nnz = data.n_features, data.nnz
    return _DENSE_WORK * (nnz * (nnz / data.n_samples) / 2.0 + d**3 / 3.0)


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
