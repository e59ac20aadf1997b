"""The linear systems of Newton steps, solved by conjugate gradients or by a Cholesky factor."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.kernels import normal
from svmbench.problem import Problem
from svmbench.solvers.cholesky import factor_cost, factor_of, solve_cost
from svmbench.solvers.pairs import WorkCount
from svmbench.solvers.second_order.normal_equations import MOST_FEATURES, NormalEquations

#: Most conjugate-gradient steps for one Newton step.
MOST_STEPS = 1000

#: Share of the rows that a factor was formed of, below which it may be given up: a support that
#: shrinks leaves a preconditioner of rows that no longer count. Only this value was tried.
FADED = 0.5

#: Products that a factor costs from which on the diagonal preconditions until there is one; where
#: factors cost less, it makes fits take longer. Only this value was tried.
FAR_FACTOR = 20.0

#: Work of a factor that takes no longer than to call for a step of conjugate gradients.
SMALL_FACTOR = 3e4


def diagonal_share(length: float) -> float:
    """Share of the Hessian's diagonal in its preconditioner, beside lambda, for rows of a length.

    With rows of one entry, the Hessian is its diagonal; with n, it is at most n times the diagonal,
    and where columns have most entries in common, the diagonal alone is worse than none (Hsia,
    Chiang and Lin, ACML 2018).
    """
    return 1.0 / math.sqrt(max(length, 1.0))


class SystemWork(NamedTuple):
    """Work to form and to factor the system of a Newton step, in stored entries."""

    rows: float  # for the sum over all rows
    factor: float  # inf where there are too many features for a factor

    @classmethod
    def of(cls, data: Dataset) -> SystemWork:
        """For these rows; this reads their lengths."""
        if data.n_features > MOST_FEATURES:
            return cls(math.inf, math.inf)
        return cls(NormalEquations(data.rows).work, factor_cost(data.n_features))

    def on(self, share: float) -> float:
        """Work where this share of the rows, more than none, has curvature."""
        return share * self.rows + self.factor


class Factored:
    """Systems of Newton steps, solved by Cholesky factors; work is in stored entries.

    ``unaided``: work of conjugate gradients before the first factor; ``solving``: that of a
    solution.
    """

    def __init__(self, problem: Problem) -> None:
        data = problem.data
        self._equations, self._lam = NormalEquations(data.rows), problem.lam
        self._free, self._d = problem.bias == "free", data.n_features
        self._factor: FloatArray | None = None
        self._nnz, self._share = data.nnz, 0.0
        self.unaided, self.solving = 0.0, solve_cost(self._d)

    @classmethod
    def of(cls, problem: Problem) -> Factored | None:
        """For a problem's systems; None if there are too many features."""
        if problem.data.n_features > MOST_FEATURES:
            return None
        return cls(problem)

    @property
    def formed(self) -> bool:
        return self._factor is not None

    def is_far(self, share: float, work: float) -> bool:
        """Whether there is no factor, and the work of one is that of many products."""
        return not self.formed and work > FAR_FACTOR * share * self._nnz

    def work(self, share: float) -> float:
        """Work to form and to factor a system of this share of the rows, in stored entries."""
        return SystemWork(self._equations.work, factor_cost(self._d)).on(share)

    def keep_near(self, share: float) -> None:
        """Give up the factor if far fewer rows have curvature, and it costs more than a product."""
        if share < FADED * self._share and self.solving > share * self._nnz:
            self._factor, self._share = None, 0.0

    def form(self, weights: FloatArray, border: FloatArray) -> bool:
        """Factor a system; False where rounding has made it indefinite."""
        gram, self._share = self._equations.gram(weights), np.count_nonzero(weights) / len(weights)
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
        found[:n] = normal.solution(self._factor, right[:n])
        return found


class NewtonSystem(NamedTuple):
    product: Callable[[FloatArray], FloatArray]  # it times a vector, shape (d + 1,)
    parts: Callable[[], tuple[FloatArray, FloatArray]]  # what `Factored.form` takes
    diagonal: Callable[[], FloatArray]  # its preconditioner's diagonal, shape (d + 1,)
    downhill: FloatArray  # (shape (d + 1,)) The right side, minus the gradient
    share: float  # of the rows that have curvature
    enough: Callable[[FloatArray], bool]  # whether conjugate gradients may leave this residual


def newton_step(
    system: NewtonSystem,
    factored: Factored | None,
    done: WorkCount,
    due: Callable[[], bool],
    exact: bool,
    ending: bool,
) -> FloatArray:
    """Solve the system, by a factor where conjugate gradients are slow."""
    if factored is None:
        if exact:  # what is left is the gradient's length, which the diagonal would not lower most
            return conjugate_gradients(system, due)[0]
        return conjugate_gradients(system, due, _divided_by(system.diagonal()))[0]
    if not exact and factored.work(system.share) > SMALL_FACTOR:
        factored.keep_near(system.share)
        before = done.entries
        paid = 0.0 if ending else factored.unaided
        work = factored.work(system.share)
        most = before + work - paid

        def by_factor(residual: FloatArray) -> FloatArray:
            done.entries += factored.solving
            return factored.solved(residual)

        far = factored.is_far(system.share, work)
        prepared = _divided_by(system.diagonal()) if far else by_factor
        step, solved = conjugate_gradients(system, lambda: due() or done.entries >= most, prepared)
        factored.unaided += 0.0 if factored.formed else done.entries - before
        if solved or due():
            return step
    done.entries += factored.work(system.share)
    factored.unaided = 0.0
    if factored.form(*system.parts()):
        return factored.solved(system.downhill)
    return conjugate_gradients(system, due)[0]


def _divided_by(diagonal: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """The preconditioner with this diagonal."""
    inverse = 1.0 / diagonal
    return lambda residual: residual * inverse


def conjugate_gradients(
    system: NewtonSystem,
    due: Callable[[], bool],
    prepared: Callable[[FloatArray], FloatArray] = lambda residual: residual,
) -> tuple[FloatArray, bool]:
    """An approximate solution v of the system, and whether it leaves little enough."""
    v, left = np.zeros_like(system.downhill), system.downhill.copy()
    ready = prepared(left)
    direction, norm2 = ready.copy(), inner(left, ready)
    for taken in range(MOST_STEPS):
        # A step is taken in any case: with a tiny C, w = 0 is close enough, and predicts nothing.
        if (taken or norm2 == 0.0) and system.enough(left):
            return v, True
        if due():
            break
        image = system.product(direction)
        curvature = inner(direction, image)
        if not curvature > 0.0:
            break
        rate = norm2 / curvature
        v += rate * direction
        left -= rate * image
        ready = prepared(left)
        before, norm2 = norm2, inner(left, ready)
        direction = ready + norm2 / before * direction
    return v, False


def inner(a: FloatArray, b: FloatArray) -> float:
    # BLAS would share out sums of this length among threads, which costs more than it gains.
    return float(np.einsum("i,i", a, b))
