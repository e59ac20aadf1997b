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
from dataclasses import replace

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.data.derived import take_rows
from svmbench.kernels import cholesky
from svmbench.kernels.newton import weighted_product
from svmbench.kernels.objective import balance, combination
from svmbench.kernels.terms import losses
from svmbench.problem import Problem, relative_gap
from svmbench.reference.pairs import PrimalAndDual, WorkCount, never
from svmbench.solvers.champion.newton_phase import sample_accuracy, sample_sizes
from svmbench.solvers.cholesky import factor_of
from svmbench.solvers.second_order.normal_equations import NormalEquations

#: Losses that Newton steps minimise.
LOSSES = ("logistic", "squared-hinge")

#: Most conjugate-gradient steps for one Newton step, and halvings of its length.
_MOST_STEPS, _HALVINGS = 1000, 40

#: Share of the gradient that conjugate gradients leave (Lin, Weng and Keerthi, JMLR 9, 2008,
#: section 5.1). One that falls with the gradient took as long or longer on adult, w8a and
#: imdb.tfidf.
_FORCING = 0.1

#: Share of the wanted gap that conjugate gradients may leave, even if this exceeds `_FORCING`. The
#: other half is for the change of the curvatures along the step.
_SHARE_LEFT = 0.5

#: Growth of P, as a share of 1 + P, that counts as rounding.
_ROUNDING = 2.0 * float(np.finfo(np.float64).eps)

#: Steps after which the first is shown that is not within the wanted gap.
_FIRST_SHOWN = 4

#: Most features for which a d x d system is formed.
_MOST_FEATURES = 5000

#: Work of a multiply-add in a dense matrix, relative to that of a stored entry.
_DENSE_WORK = 0.06


def newton(
    problem: Problem,
    due: Callable[[], bool] = never,
    start: tuple[FloatArray, float] | None = None,
    wanted: float = math.inf,
    count: WorkCount | None = None,
) -> Iterator[PrimalAndDual]:
    """Newton's method for the logistic loss and the squared hinge.

    Steps are solved by truncated conjugate gradients (Dembo and Steihaug, Mathematical Programming
    26, 1983). Once those have done as much work as a Cholesky factor takes, the factor solves the
    step, which costs at most twice as much as the cheaper of both. It preconditions the conjugate
    gradients of later steps, whose systems differ little from its own. A step is halved until P
    falls. Once rounding hides whether it falls, full steps go on as long as each halves the
    gradient's product with the step.

    Without a start, the steps begin at the w and b of a sample of the rows, if there are so many
    that a sample comes close to the optimum: this saves most of the steps on all rows.

    With alpha as yielded and no free bias, P - D is ||gradient||^2/(2 lambda). A certificate costs
    about as much as a third of a step: a caller that needs one gap only sets ``wanted``.

    Parameters
    ----------
    problem : Problem
        Of a loss in `LOSSES`, without a ball.
    due : callable
        Whether conjugate gradients shall end early; asked at each of their steps.
    start : (ndarray of float64, float), optional
        w, shape (d,), and b, which is ignored if the problem has none.
    wanted : float
        Relative gap (P - D)/D. Only steps that may be within it are yielded, from the
        fourth on one for each doubling of their number, and the last.
    count : WorkCount, optional
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
    done = WorkCount() if count is None else count
    start = start or _from_sample(problem, due, done)
    w, b = start or (np.zeros(d), 0.0)
    point = np.append(w, b if free else 0.0)
    factored = _Factored(data, lam, free) if d <= _MOST_FEATURES else None
    ones = np.ones(m)

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

    def pair(slopes: FloatArray) -> PrimalAndDual:
        return point[:d].copy(), float(point[d]), problem.repaired(slopes)

    decrement, blind = math.inf, False
    scores = scores_of(point) if start else np.zeros(m)
    least = primal_at(point, labels * scores)
    while True:
        slopes, bends = _derivatives(problem, labels * scores)
        pull = np.append(lam * point[:d], 0.0)
        bends = problem.counted(bends)

        curvatures = bends / m

        def bent(v: FloatArray, curvatures: FloatArray = curvatures) -> FloatArray:
            image = lam * v
            last, read = weighted_product(data.rows, curvatures, v[:d], v[d], image[:d])
            done.entries += read
            image[d] = last if free else 0.0
            return image

        downhill = sums(problem.counted(slopes)) - pull
        gap = _inner(downhill[:d], downhill[:d]) / (2.0 * lam)
        # The first steps are far from the optimum unless they say otherwise.
        doubled = done.steps >= _FIRST_SHOWN and done.steps & (done.steps - 1) == 0
        shown = gap <= wanted * least or doubled or blind or due()
        if shown:
            yield pair(slopes)
        done.steps += 1

        def system(bends: FloatArray = bends) -> tuple[FloatArray, FloatArray]:
            # A label's square is one: these weigh x_i x_i^T, and are the last column, that of b.
            return bends / m, sums(labels * bends)

        rows = np.count_nonzero(bends)
        enough = _enough(problem, downhill, problem.counted(slopes), wanted, least)
        step = _step(bent, system, downhill, factored, rows / m, done, due, blind, enough)
        last, decrement = decrement, _inner(downhill, step)
        # The step before may have moved w only, which a tiny C keeps near 0: then b may follow.
        stuck = blind and not 0.0 < decrement <= 0.5 * last
        hidden = _ROUNDING * (1.0 + least)
        moved = scores_of(step)
        length = 1.0
        for _ in range(1 if stuck else _HALVINGS):
            ahead = primal_at(point + length * step, labels * (scores + length * moved))
            if ahead < least - (hidden if stuck else 0.0):
                break
            length /= 2.0
        else:
            # Rounding hides what is left to gain in P, but the gradient may still become smaller.
            ahead = primal_at(point + step, labels * (scores + moved))
            if stuck or not (decrement > 0.0 and ahead <= least + hidden):
                if not shown:
                    yield pair(slopes)
                return
            length, blind = 1.0, True
        point, least = point + length * step, ahead
        scores = scores_of(point) if blind else scores + length * moved


def _from_sample(
    problem: Problem, due: Callable[[], bool], count: WorkCount
) -> tuple[FloatArray, float] | None:
    """Weights and bias of a sample, solved to the accuracy that it can give; None where m is small.

    The sample begins at a smaller one in turn.
    """
    data = problem.data
    sizes = sample_sizes(data.n_samples, data.n_features)
    if not sizes:
        return None
    drawn = np.random.default_rng(0).choice(data.n_samples, sizes[-1], replace=False)
    drawn.sort()
    rows = take_rows(data, drawn)
    if abs(int(rows.labels.sum(dtype=np.int64))) == len(drawn):
        return None  # of one class, which a free bias would serve alone
    weights = problem.row_weights
    if weights is not None:
        weights = weights[drawn] / weights[drawn].mean()
    sample = replace(problem, data=rows, row_weights=weights)
    accuracy = sample_accuracy(sizes[-1], data.n_features)
    found = None
    for w, b, alpha in newton(sample, due, wanted=accuracy, count=count):
        found = w, b
        if due() or relative_gap(sample.primal(w, b), sample.dual(alpha)) <= accuracy:
            break
    return found


def _derivatives(problem: Problem, margins: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Minus the slopes of the losses, and their curvatures."""
    if problem.loss.name == "logistic":
        with np.errstate(over="ignore"):  # beyond it the slope is 0
            slopes: FloatArray = 1.0 / (1.0 + np.exp(margins))
        return slopes, slopes * (1.0 - slopes)
    return np.maximum(0.0, 1.0 - margins), (margins < 1.0).astype(np.float64)


def factor_work(data: Dataset) -> float:
    """Work to form and to factor a Newton step's system, in stored entries; inf if it is not."""
    if data.n_features > _MOST_FEATURES:
        return math.inf
    return _Factored(data, 1.0, False).work(1.0)


class _Factored:
    """Systems of Newton steps, solved by Cholesky factors.

    Parameters
    ----------
    data : Dataset
    lam : float
    free : bool
        Whether b is free; otherwise its step is 0.
    """

    def __init__(self, data: Dataset, lam: float, free: bool) -> None:
        self._equations, self._lam, self._free = NormalEquations(data.rows), lam, free
        self._factor: FloatArray | None = None
        self._d = data.n_features
        #: Work to solve a system once it is factored, in stored entries.
        self.solving = 2.0 * _DENSE_WORK * self._d**2

    def work(self, share: float) -> float:
        """Work to form and to factor a system of this share of the rows, in stored entries."""
        return share * self._equations.work + _DENSE_WORK * self._d**3 / 3.0

    def form(self, weights: FloatArray, border: FloatArray) -> bool:
        """Factor a system; False where rounding has made it indefinite.

        Parameters
        ----------
        weights : ndarray, shape (m,)
            The system is lam I + sum weights_i x_i x_i^T, and a row and a column for b.
        border : ndarray, shape (d + 1,)
            The column of b.
        """
        gram = self._equations.gram(weights)
        d = len(gram)
        system = np.zeros((d + self._free, d + self._free))
        system[:d, :d] = gram
        np.einsum("ii->i", system)[:d] += self._lam
        if self._free:
            system[:, d] = border
        self._factor = factor_of(system)
        return self._factor is not None

    def solved(self, right: FloatArray) -> FloatArray:
        """The solution of the last system for a right-hand side; that side if there is none."""
        if self._factor is None:
            return right
        n, found = len(self._factor), np.zeros_like(right)
        found[:n] = cholesky.solution(self._factor, right[:n])
        return found


def _enough(
    problem: Problem, downhill: FloatArray, slopes: FloatArray, wanted: float, least: float
) -> Callable[[FloatArray], bool]:
    """Whether a step may leave this residual, which is the next gradient if curvatures stay.

    Either `_FORCING` of the gradient is left, or the next gap is within the wanted one: that of w
    is ||residual||^2/(2 lambda). To balance a free bias, the slopes of one class are scaled down by
    the residual's share of their sum, and the sum of their conjugates falls by no larger share.
    """
    d, lam = problem.data.n_features, problem.lam
    forced = _FORCING**2 * _inner(downhill, downhill)
    if wanted == math.inf:
        return lambda left: _inner(left, left) <= forced
    of_w = 2.0 * lam * _SHARE_LEFT * wanted * least
    positive, negative = balance(problem.data.rows, slopes)
    of_b = _SHARE_LEFT * wanted * min(positive, negative) / problem.data.n_samples

    def is_enough(left: FloatArray) -> bool:
        near = _inner(left[:d], left[:d]) <= of_w and abs(left[d]) <= of_b
        return near or _inner(left, left) <= forced

    return is_enough


def _step(
    product: Callable[[FloatArray], FloatArray],
    system: Callable[[], tuple[FloatArray, FloatArray]],
    downhill: FloatArray,
    factored: _Factored | None,
    share: float,
    done: WorkCount,
    due: Callable[[], bool],
    exact: bool,
    enough: Callable[[FloatArray], bool],
) -> FloatArray:
    """Solve product(step) = downhill, by a factor where conjugate gradients are slow.

    Parameters
    ----------
    product, system : callable
    downhill : ndarray, shape (d + 1,)
    factored : _Factored or None
        None if there are too many features.
    share : float
        Of the rows that have curvature.
    done : WorkCount
    due : callable
        Whether it shall end early.
    exact : bool
        Factor at once.
    enough : callable
        Whether conjugate gradients may leave this residual.
    """
    if factored is None:
        return _conjugate_gradients(product, downhill, enough, due)[0]
    if not exact:
        most = done.entries + factored.work(share)

        def prepared(residual: FloatArray) -> FloatArray:
            done.entries += factored.solving
            return factored.solved(residual)

        step, solved = _conjugate_gradients(
            product, downhill, enough, lambda: due() or done.entries >= most, prepared
        )
        if solved or due():
            return step
    done.entries += factored.work(share)
    if factored.form(*system()):
        return factored.solved(downhill)
    return _conjugate_gradients(product, downhill, enough, due)[0]


def _inner(a: FloatArray, b: FloatArray) -> float:
    # BLAS would share out sums of this length among threads, which costs more than it gains.
    return float(np.einsum("i,i", a, b))


def _conjugate_gradients(
    product: Callable[[FloatArray], FloatArray],
    right: FloatArray,
    enough: Callable[[FloatArray], bool],
    due: Callable[[], bool],
    prepared: Callable[[FloatArray], FloatArray] = lambda residual: residual,
) -> tuple[FloatArray, bool]:
    """An approximate solution v of product(v) = right.

    ``prepared`` is a preconditioner. Also says whether the residual is small ``enough``.
    """
    v, left = np.zeros_like(right), right.copy()
    ready = prepared(left)
    direction, norm2 = ready.copy(), _inner(left, ready)
    for taken in range(_MOST_STEPS):
        # A step is taken in any case: with a tiny C, w = 0 is close enough, and predicts nothing.
        if (taken or norm2 == 0.0) and enough(left):
            return v, True
        if due():
            break
        image = product(direction)
        curvature = _inner(direction, image)
        if not curvature > 0.0:
            break
        rate = norm2 / curvature
        v += rate * direction
        left -= rate * image
        ready = prepared(left)
        before, norm2 = norm2, _inner(left, ready)
        direction = ready + norm2 / before * direction
    return v, False
