"""ipm: an interior-point method with normal equations in the features.

    min lam/2 ||w||^2 + 1/M sum_i c_i (xi_i + nu alpha_i^2 / 2)
    s.t. z_i.w + y_i b + nu alpha_i + xi_i - 1 = r_i >= 0,   xi_i >= 0,   z_i = y_i x_i

where c_i counts equal rows, or is the sum of their weights, and M is the number of all rows.
alpha_i is complementary to r_i and, where the box has an upper end, v_i = 1 - alpha_i to xi_i. A
Newton step on the perturbed conditions

    lam w = 1/M sum_i c_i alpha_i z_i,   alpha_i r_i = mu,   v_i xi_i = mu

reduces, with D_i = nu + r_i/alpha_i + xi_i/v_i, to the d x d system

    (lam I + 1/M sum_i c_i/D_i z_i z_i^T) dw = right-hand side,

one pass of sum n_i^2 work (or m d^2 through BLAS where rows are full). A free bias adds one
unknown, with a column of ones and without lam. A ball ||w||_1 <= z adds a diagonal and a matrix of
rank one (l1_ball.py).

The hinge has two phases. In the first, alpha, r and xi satisfy their conditions exactly, row by
row and in closed form: Newton's method with a line search follows the minimiser of a smooth convex
function of w as mu falls, and no row shortens the steps of the others. Once mu is small, a few
iterations of Mehrotra's predictor and corrector on all variables finish. The smooth losses need
only the second phase.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.data.derived import take_rows
from svmbench.kernels import normal
from svmbench.kernels.equal_rows import group_equal
from svmbench.kernels.objective import combination
from svmbench.names import BIASES, CONSTRAINTS, HINGES
from svmbench.problem import Problem
from svmbench.solvers.cholesky import load, raised_factor
from svmbench.solvers.iterating import Iterating
from svmbench.solvers.second_order.l1_ball import BallTerms, centred_ball, room, starting_point
from svmbench.solvers.second_order.normal_equations import NormalEquations

#: Largest step, as a share of the distance to the boundary; 0.99 to 0.9995 is usual (Wright,
#: Primal-Dual Interior-Point Methods, 1997).
STEP_TO_BOUNDARY = 0.995

#: Least share of the rows that merging must save to justify the copy.
WORTH_MERGING = 0.2

#: Shares of the second-order correction to try, the full one first.
CORRECTION_WEIGHTS = (1.0, 0.5, 0.2, 0.05, 0.0)

#: Largest change of the system by dropped rows, in units of lambda.
DROPPED = 1e-3

#: Most corrections of outlying products in one iteration.
CENTRALITY_CORRECTIONS = 3

#: Mean complementarity product, as a share of the objective, and step length, below which rounding
#: dominates.
NEGLIGIBLE = 1e-14

#: Passes over the rows per iteration of each phase, for systems, right-hand sides and margins.
PATH_PASSES, PASSES = 3, 7

#: Factor by which mu falls along the path, from 1, and the share of the objective at which the path
#: ends; the Newton decrement, in units of mu, that counts as on the path; most iterations per mu.
PATH_FACTOR, PATH_END = 0.1, 1e-4
ON_PATH, PATIENCE = 1e-2, 30

#: Shares of its diagonal that are added to the system until it has a factor.
RIDGES = (0.0, 1e-15, 1e-13, 1e-11)


class Products(NamedTuple):
    """Complementarity products, or their changes: alpha r, v xi and the ball's x s."""

    r: FloatArray
    xi: FloatArray
    x: FloatArray


class NewtonStep(NamedTuple):
    """Changes of all variables, w with the bias; those that do not exist are empty."""

    w: FloatArray
    alpha: FloatArray
    r: FloatArray
    xi: FloatArray
    x: FloatArray
    s: FloatArray


class System(NamedTuple):
    """A factor, with the rows' curvature and the ball's terms for the eliminated variables."""

    factor: Any
    curvature: FloatArray
    ball: BallTerms | None


class Ipm(Iterating):
    """Newton steps along the central path, then Mehrotra's predictor and corrector."""

    name = "ipm"
    summary = "Interior point: smoothed Newton path, then predictor and corrector"
    source = "Ferris and Munson, SIAM J. Optim. 13 (2003); Mehrotra, ibid. 2 (1992); path ours"
    losses = HINGES
    weighted = True
    biases = BIASES
    constraints = CONSTRAINTS
    mathematics = """
    problem  min P and max D together: rᵢ = sᵢ + ν αᵢ + ξᵢ - 1 ≥ 0 is complementary to
             αᵢ, and ξᵢ ≥ 0 to 1 - αᵢ (no ξᵢ for the squared hinge)
    update   Newton steps on  λw = 1/m Σ αᵢ yᵢ xᵢ,  αᵢ rᵢ = μ,  (1 - αᵢ) ξᵢ = μ,  through
                 (λI + 1/m Σ xᵢ xᵢᵀ/Dᵢ) dw = right-hand side,  Dᵢ = ν + rᵢ/αᵢ + ξᵢ/(1 - αᵢ)
             a free b adds an unknown, without λ; a ball adds a diagonal and rank one
    path     hinge: αᵢ, rᵢ, ξᵢ follow w in closed form, and only w is unknown; μ falls by
             factors of ten, to 1e-4 P
    end      predictor for μ = 0, with mean product μ'; corrector for μ'³/μ² and second
             order; 0.995 of the distance to the nearest bound
    output   w and b; α, made feasible, certifies them: D(α) ≤ P*
    stop     where rounding allows no further progress
    cost     per iteration: half the sum of nnz² over the rows, or m d²/2 by BLAS; d³/6
"""
    unstated = (
        "How to begin on the hinge, where one row after another shortens steps on all variables: "
        "the path is ours.",
        "How much of the second-order correction to take: the weight that lengthens the step.",
    )

    _negligible = NEGLIGIBLE

    def load(self) -> None:
        load()

    def start(self, problem: Problem, seed: int) -> None:
        self._problem = problem
        data, self._counts, self._group = merged(problem.data)
        if problem.row_weights is not None:
            self._counts = problem.row_weights
            if self._group is not None:
                self._counts = np.bincount(self._group, problem.row_weights).astype(np.float64)
        self._data = data
        self._labels = data.labels.astype(np.float64)
        self._nu = problem.loss.nu
        self._bounded = problem.loss.upper < math.inf
        self._total = float(problem.data.n_samples)
        m, d = data.n_samples, data.n_features
        self._free = problem.bias == "free"
        # A ball that holds every possible optimum would only cost accuracy.
        self._confined = problem.constraint == "l1" and problem.l1_radius < 2.0 * _farthest(problem)
        self._without_entries = _columns_without_entries(data)
        # w and b; b alone is not regularised
        self._w = np.zeros(d + self._free)
        self._regular = np.full(d + self._free, problem.lam)
        self._regular[d:] = 0.0
        self._alpha = np.full(m, 0.5)
        # 1 - alpha, stored separately: near the upper end it is more accurate than alpha
        self._v = np.full(m, 0.5) if self._bounded else np.zeros(0)
        # nu alpha + xi - 1 = r, with r and xi of order one
        self._xi = np.full(m, 2.0) if self._bounded else np.zeros(0)
        self._r = np.full(m, 1.0 + 0.5 * self._nu if self._bounded else 1.0)
        self._margins = np.zeros(m)
        self._mu, self._tries = 1.0, 0
        self._on_path = problem.loss.name == "hinge"
        self._x = self._s = np.zeros(0)
        if self._confined and not self._on_path:
            pull = self._weighted_sum(self._alpha)[:d]
            self._x, self._s = starting_point(pull, problem.l1_radius, problem.lam)
        self._primal = 1.0
        self._equations = NormalEquations(data.rows)
        largest = float(data.rows.norms2().max())
        self._droppable = DROPPED * problem.lam / (m * largest) if largest > 0.0 else 0.0
        self._stopped = self._exhausted = False
        self.counters = type(self.counters)()

    def _iterate(self) -> None:
        passes = PATH_PASSES if self._on_path else PASSES
        self.counters.presentations += passes * self._data.n_samples
        self.counters.nonzeros += passes * self._data.nnz
        if self._exhausted:
            return
        self.counters.updates += 1
        if self._on_path:
            self._follow()
        else:
            self._finish()

    @property
    def w(self) -> FloatArray:
        """The primal iterate, inside the ball."""
        w = self._w[: self._data.n_features].copy()
        # The two parts of such a weight cancel only up to rounding.
        w[self._without_entries] = 0.0
        return self._problem.project(w)

    @property
    def bias(self) -> float:
        return float(self._w[-1]) if self._free else 0.0

    @property
    def alpha(self) -> FloatArray:
        """The dual iterate of every row, shape (m,), after a repair that makes it feasible."""
        alpha = self._alpha if self._group is None else self._alpha[self._group]
        return self._problem.repaired(alpha)

    def dual(self) -> float:
        return self._problem.dual(self.alpha)

    def _follow(self) -> None:
        """Take one Newton step for w at the current mu; the rows stay exactly centred."""
        mu = self._mu
        alpha, v = centred(self._margins - 1.0, mu)
        ball = None
        if self._confined:
            x, s = self._centred_ball(self._w, mu)
            ball = BallTerms(x, s, self._problem.l1_radius)
        factor = self._factor(self._counts / (mu / alpha**2 + mu / v**2), ball)
        gradient = self._regular * self._w - self._weighted_sum(alpha) + self._push(self._w, mu)
        if factor is None:
            self._leave_path()
            return
        dw = -normal.solution(factor, gradient)
        change = self._products(dw)
        length = self._line_search(dw, change)
        self._w += length * dw
        self._margins += length * change
        self._tries += 1
        self._alpha, self._v = centred(self._margins - 1.0, mu)
        if -float(gradient @ dw) > ON_PATH * mu and self._tries < PATIENCE:
            return
        self._primal = self._problem.primal(self.w, self.bias)
        if mu <= PATH_END * self._primal:
            self._leave_path()
        else:
            self._mu, self._tries = mu * PATH_FACTOR, 0

    def _leave_path(self) -> None:
        self._on_path = False
        self._margins = self._products(self._w)
        self._alpha, self._v = centred(self._margins - 1.0, self._mu)
        self._r, self._xi = self._mu / self._alpha, self._mu / self._v
        if self._confined:
            self._x, self._s = self._centred_ball(self._w, self._mu)

    def _centred_ball(self, w: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
        d = self._data.n_features
        return centred_ball(w[:d], self._problem.l1_radius, mu / (2 * d + 1))

    def _push(self, w: FloatArray, mu: float) -> FloatArray:
        """Gradient of the ball's part of the smooth function; a step against it moves w inwards."""
        slope = np.zeros_like(w)
        if self._confined:
            d = self._data.n_features
            _, s = self._centred_ball(w, mu)
            slope[:d] = 0.5 * (s[d:-1] - s[:d])
        return slope

    def _line_search(self, dw: FloatArray, change: FloatArray) -> float:
        """Length at which the smooth function stops falling along dw, by bisection from 1."""
        along, square = float(self._w @ (self._regular * dw)), float(dw @ (self._regular * dw))

        def rises(length: float) -> bool:
            alpha, _ = centred(self._margins - 1.0 + length * change, self._mu)
            pull = float((self._counts * alpha) @ change) / self._total
            push = float(self._push(self._w + length * dw, self._mu) @ dw)
            return along + length * square + push > pull

        d = self._data.n_features
        longest = room(self._w[:d], dw[:d], self._problem.l1_radius) if self._confined else 1.0
        if not rises(longest):
            return longest
        low, high = 0.0, longest
        for _ in range(8):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if rises(middle) else (middle, high)
        return low or high

    def _finish(self) -> None:
        """Take a step of predictor and corrector."""
        alpha, r, xi, v = self._alpha, self._r, self._xi, self._v
        system = self._system()
        mu = self._mean(self._products_after(None, 0.0))
        if system is None or mu < self._negligible * self._primal:
            self._stopped = self._exhausted = True
            return
        infeasible = self._margins + self._nu * alpha - 1.0 - r + (xi if self._bounded else 0.0)
        wanted = -infeasible - r + (xi if self._bounded else 0.0)
        to_zero = Products(-alpha * r, -v * xi, -self._x * self._s)
        ahead = self._solve(system, wanted, to_zero, towards=True)
        after = self._mean(self._products_after(ahead, min(1.0, self._reach(ahead))))
        step, length = self._corrected(system, ahead, mu * (after / mu) ** 3)
        if not (math.isfinite(length) and length > NEGLIGIBLE and np.isfinite(step.w).all()):
            self._stopped = self._exhausted = True
            return
        self._w += length * step.w
        self._alpha = alpha + length * step.alpha
        self._v = v - length * step.alpha if self._bounded else v
        self._r = r + length * step.r
        self._xi = xi + length * step.xi
        self._x = self._x + length * step.x
        self._s = self._s + length * step.s
        if self._confined:
            d = self._data.n_features
            self._w[:d] = self._x[:d] - self._x[d:-1]
        self._margins = self._products(self._w)

    def _system(self) -> System | None:
        """The system at the current point; None where rounding has made it indefinite."""
        bounded = self._xi / self._v if self._bounded else 0.0
        curvature = self._nu + self._r / self._alpha + bounded
        ball = None
        if self._confined:
            ball = BallTerms(self._x, self._s, self._problem.l1_radius)
        factor = self._factor(self._counts / curvature, ball)
        return None if factor is None else System(factor, curvature, ball)

    def _corrected(
        self, system: System, ahead: NewtonStep, target: float
    ) -> tuple[NewtonStep, float]:
        """The predictor with centring and the share of second-order correction that lengthens it.

        Where a bound shortens the predictor, a search finds its weight (Colombo and Gondzio,
        Comput. Optim. Appl. 41, 2008).
        """
        to_centre = Products(
            np.full_like(self._r, target),
            np.full_like(self._xi, target),
            np.full_like(self._x, target / max(len(self._x), 1)),
        )
        centring = self._complete(system, to_centre)
        bends = Products(
            -ahead.alpha * ahead.r,
            ahead.alpha * ahead.xi if self._bounded else np.zeros(0),
            -ahead.x * ahead.s,
        )
        bend = self._complete(system, bends)
        best, length = ahead, -1.0
        for weight in CORRECTION_WEIGHTS:
            step = NewtonStep(
                *(a + c + weight * b for a, c, b in zip(ahead, centring, bend, strict=True))
            )
            reach = min(1.0, STEP_TO_BOUNDARY * self._reach(step))
            if reach > 1.1 * length:
                best, length = step, reach
        for _ in range(CENTRALITY_CORRECTIONS):
            step = self._recentred(system, best, target, min(1.0, length + 0.3))
            reach = min(1.0, STEP_TO_BOUNDARY * self._reach(step))
            if reach < length + 0.03:
                break
            best, length = step, reach
        return best, length

    def _recentred(
        self, system: System, step: NewtonStep, target: float, ahead: float
    ) -> NewtonStep:
        """The step, corrected so that outlying products are closer to the target at ``ahead``.

        Gondzio, Comput. Optim. Appl. 6 (1996).
        """
        products = self._products_after(step, ahead)
        targets = (target, target, target / max(len(self._x), 1))
        bends = Products(*(_outlying(p, t) for p, t in zip(products, targets, strict=True)))
        bend = self._complete(system, bends)
        return NewtonStep(*(a + b for a, b in zip(step, bend, strict=True)))

    def _complete(self, system: System, of: Products) -> NewtonStep:
        """Change of all variables that changes only the complementarity products."""
        wanted = of.r / self._alpha - (of.xi / self._v if self._bounded else 0.0)
        return self._solve(system, wanted, of, towards=False)

    def _solve(self, system: System, wanted: FloatArray, of: Products, towards: bool) -> NewtonStep:
        """Newton step for these right-hand sides, and ``towards`` w(alpha)."""
        dw, dalpha, dx, ds = self._eliminated(system, wanted, of, towards)
        dr = (of.r - self._r * dalpha) / self._alpha
        dxi = (of.xi + self._xi * dalpha) / self._v if self._bounded else np.zeros(0)
        return NewtonStep(dw, dalpha, dr, dxi, dx, ds)

    def _eliminated(
        self, system: System, wanted: FloatArray, of: Products, towards: bool
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """Changes of w, alpha and the ball's x and s, all by way of that of w."""
        change = wanted / system.curvature
        pull = self._weighted_sum(self._alpha + change if towards else change)
        if towards:
            pull -= self._regular * self._w
        d, dx, ds = self._data.n_features, np.zeros(0), np.zeros(0)
        if system.ball is None:
            dw = normal.solution(system.factor, pull)
        else:
            demand = system.ball.demand(of.x, towards)
            pull[:d] += demand.right
            dw = normal.solution(system.factor, pull)
            dx, ds = system.ball.complete(demand, dw[:d])
        return dw, (wanted - self._products(dw)) / system.curvature, dx, ds

    def _reach(self, step: NewtonStep) -> float:
        """Largest multiple of the step that keeps all variables positive."""
        pairs = [(self._alpha, step.alpha), (self._r, step.r), (self._x, step.x), (self._s, step.s)]
        if self._bounded:
            pairs += [(self._xi, step.xi), (self._v, -step.alpha)]
        return min(to_zero(value, change) for value, change in pairs)

    def _products_after(self, step: NewtonStep | None, length: float) -> Products:
        """The complementarity products after this multiple of a step."""
        if step is None:
            return Products(self._alpha * self._r, self._v * self._xi, self._x * self._s)
        of_xi = np.zeros(0)
        if self._bounded:
            of_xi = (self._v - length * step.alpha) * (self._xi + length * step.xi)
        return Products(
            (self._alpha + length * step.alpha) * (self._r + length * step.r),
            of_xi,
            (self._x + length * step.x) * (self._s + length * step.s),
        )

    def _mean(self, products: Products) -> float:
        """The mu of these products: their mean, with the whole ball as one more pair."""
        of_rows = self._counts @ products.r
        of_rows += self._counts @ products.xi if self._bounded else 0.0
        pairs = (2 if self._bounded else 1) + self._confined
        return float(of_rows / self._total + products.x.sum()) / pairs

    def _products(self, w: FloatArray) -> FloatArray:
        """Margins z_i . w + y_i b of the merged rows."""
        d = self._data.n_features
        scores: FloatArray = self._data.rows.dot(np.ascontiguousarray(w[:d]))
        return self._labels * (scores + w[d] if self._free else scores)

    def _weighted_sum(self, alpha: FloatArray) -> FloatArray:
        """1/M sum of c_i alpha_i z_i, followed by that of c_i alpha_i y_i if b is free."""
        weights = self._counts * alpha
        total: FloatArray = combination(self._data.rows, weights)
        if self._free:
            total = np.append(total, self._labels @ weights)
        return total / self._total

    def _factor(self, weights: FloatArray, ball: BallTerms | None) -> FloatArray | None:
        """Cholesky factor of the system, its diagonal raised as little as rounding demands.

        Rows whose terms together change it by less than `DROPPED` lambda are dropped.
        """
        weights = weights / self._total
        droppable = self._droppable
        if self._free:
            droppable = min(droppable, DROPPED * float(weights.mean()))
        weights = np.where(weights > droppable, weights, 0.0)
        system = self._equations.gram(weights)
        if self._free:
            border = combination(self._data.rows, weights * self._labels)
            system = np.block(
                [[system, border[:, None]], [border[None, :], np.atleast_2d(weights.sum())]]
            )
        if ball is not None:
            ball.add_to(system)
        np.einsum("ii->i", system)[:] += self._regular
        return raised_factor(system, RIDGES)


def centred(excess: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
    """The hinge's alpha and 1 - alpha with alpha r = mu, (1 - alpha) xi = mu, r - xi = excess.

    The smaller of the two is computed without cancellation.
    """
    root = np.hypot(excess, 2.0 * mu)
    smaller = 2.0 * mu / (np.abs(excess) + 2.0 * mu + root)
    above = excess > 0.0
    return np.where(above, smaller, 1.0 - smaller), np.where(above, 1.0 - smaller, smaller)


def merged(data: Dataset) -> tuple[Dataset, FloatArray, Array | None]:
    """The distinct rows of a data set, their counts, and the distinct row of each row."""
    m = data.n_samples
    group = np.empty(m, dtype=np.int32)
    most = int((1.0 - WORTH_MERGING) * m)
    first, counts = group_equal(data.rows, data.labels, None, most, group)
    if first is None:
        return data, np.ones(m), None
    return take_rows(data, first), counts, group


def _columns_without_entries(data: Dataset) -> Array:
    """Whether each column of sparse rows has no entry; all have one in dense rows."""
    if data.indices is None:
        return np.zeros(data.n_features, dtype=bool)
    absent: Array = np.bincount(data.indices, minlength=data.n_features) == 0
    return absent


def _farthest(problem: Problem) -> float:
    """Bound on ||w*||_1, from lam/2 ||w*||^2 <= P(0): no ball beyond it binds."""
    d = problem.data.n_features
    return math.sqrt(d * 2.0 * problem.primal(np.zeros(d)) / problem.lam)


def _outlying(products: FloatArray, target: float) -> FloatArray:
    """Changes that bring products to 0.1 to 10 times the target, none below -10 times it."""
    change = np.clip(products, 0.1 * target, 10.0 * target) - products
    return np.maximum(change, -10.0 * target)


def to_zero(value: FloatArray, change: FloatArray) -> float:
    """Multiple of ``change`` that brings the first entry of ``value`` to zero."""
    shrinking = change < 0.0
    if not shrinking.any():
        return math.inf
    with np.errstate(over="ignore"):  # a tiny change may give an infinite multiple
        return float(np.min(value[shrinking] / -change[shrinking]))
