"""ipm: an interior-point method with normal equations in the features.

    min lam/2 ||w||^2 + 1/M sum_i c_i (xi_i + nu alpha_i^2 / 2)
    s.t. z_i.w + y_i b + nu alpha_i + xi_i - 1 = r_i >= 0,   xi_i >= 0,   z_i = y_i x_i

with c_i the number of equal rows and M their total. alpha_i belongs to r_i and, where the box
has an upper end, v_i = 1 - alpha_i to xi_i. A Newton step on the perturbed conditions

    lam w = 1/M sum_i c_i alpha_i z_i,   alpha_i r_i = mu,   v_i xi_i = mu

reduces, with D_i = nu + r_i/alpha_i + xi_i/v_i, to the d x d system

    (lam I + 1/M sum_i c_i/D_i z_i z_i^T) dw = right-hand side,

one pass of sum n_i^2 work (or m d^2 through BLAS where rows are full). A free bias is one more
unknown, of a column of ones and without lam. A ball ||w||_1 <= z adds a diagonal and a matrix of
rank one (l1_ball.py).

The hinge has two phases. At first the conditions on alpha, r and xi are kept exactly, row by
row and in closed form, so that w alone is unknown: it minimises a smooth convex function, and
Newton's method with a line search follows its minimiser as mu falls. Where many rows meet the
kink at once, steps on all variables together are cut short by one row after another; this one
is not, since nothing is ever on its way to a bound. Once mu is small beside the objective,
Mehrotra's predictor and corrector on all variables ends it in a few iterations, because only
these keep w and w(alpha) together closely enough for the dual value. The smooth losses need
the second phase alone. On the sets tried a relative gap of 1e-10 took 10 to 150 systems,
whatever lambda.
"""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve  # type: ignore[import-untyped]

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.kernels.normal import row_hashes
from svmbench.kernels.objective import combination
from svmbench.problem import BIASES, CONSTRAINTS, LOSSES, Problem
from svmbench.solvers.base import Parameters, Solver, parameter
from svmbench.solvers.second_order.l1_ball import BallTerms, centred_ball, room, starting_point
from svmbench.solvers.second_order.normal_equations import NormalEquations

#: Share of the rows that merging equal ones must save to be worth the copy.
WORTH_MERGING = 0.2

#: Shares of the second-order correction that are tried, the full one first.
CORRECTION_WEIGHTS = (1.0, 0.5, 0.2, 0.05, 0.0)

#: Change of the system, in units of lambda, that leaving rows out of it may make.
DROPPED = 1e-3

#: Corrections of outlying products that are tried in one iteration.
CENTRALITY_CORRECTIONS = 3

#: Mean complementarity product, as a share of the objective, and step, below which rounding
#: rules.
NEGLIGIBLE = 1e-14

#: Passes over the rows in one iteration of each phase: one for the system, one for its
#: right-hand side and one for the margins; or two for each of the system's three solutions.
PATH_PASSES, PASSES = 3, 7

#: The path is followed from mu = 1 by this factor, to this share of the objective; the Newton
#: decrement that counts as being on it, in units of mu; and the most iterations for one mu.
PATH_FACTOR, PATH_END = 0.1, 1e-4
ON_PATH, PATIENCE = 1e-2, 30


class IpmParameters(Parameters):
    """Parameters of ipm."""

    precision: Literal["float64"] = parameter(
        "float64", "Normal equations leave single precision no digits.", source="ours"
    )
    step_to_boundary: float = parameter(
        0.995,
        "Share of the way to the boundary a step may go.",
        source="ours; 0.99 to 0.9995 is usual (Wright, Primal-Dual Interior-Point Methods, 1997)",
        gt=0.0,
        lt=1.0,
    )
    merge: bool = parameter(
        True, "Whether equal rows are merged into one with a weight.", source="ours"
    )


#: Cholesky factor, and whether it is the lower one.
Factor = tuple[Array, bool]


class Products(NamedTuple):
    """Complementarity products, or changes of them: of alpha r, of v xi and of the ball's x s."""

    r: FloatArray
    xi: FloatArray
    x: FloatArray


class Step(NamedTuple):
    """Changes of all variables; w holds the bias too.

    xi is empty where the box has no upper end, x and s are where there is no ball.
    """

    w: FloatArray
    alpha: FloatArray
    r: FloatArray
    xi: FloatArray
    x: FloatArray
    s: FloatArray


class System(NamedTuple):
    """A factor, and what is eliminated with it: the rows' curvature and the ball's terms."""

    factor: Factor
    curvature: FloatArray
    ball: BallTerms | None


class Ipm(Solver):
    """Newton steps along the central path, then Mehrotra's predictor and corrector."""

    name = "ipm"
    summary = "Interior point: smoothed Newton path, then predictor and corrector"
    source = "Ferris and Munson, SIAM J. Optim. 13 (2003); Mehrotra, ibid. 2 (1992); path ours"
    losses = LOSSES
    biases = BIASES
    constraints = CONSTRAINTS
    step = "iteration"
    kernels = ("normal", "objective", "rows")
    colour = "#661100"
    schema = IpmParameters
    mathematics = """
    problem  min P and max D at once: rᵢ = sᵢ + ν αᵢ + ξᵢ - 1 ≥ 0 belongs to αᵢ, and ξᵢ ≥ 0
             to 1 - αᵢ (no ξᵢ for the squared hinge)
    update   Newton steps on  λw = 1/m Σ αᵢ yᵢ xᵢ,  αᵢ rᵢ = μ,  (1 - αᵢ) ξᵢ = μ,  through
                 (λI + 1/m Σ xᵢ xᵢᵀ/Dᵢ) dw = right-hand side,  Dᵢ = ν + rᵢ/αᵢ + ξᵢ/(1 - αᵢ)
             a free b is one more unknown, without λ; a ball adds a diagonal and rank one
    path     hinge: αᵢ, rᵢ, ξᵢ follow w in closed form, and w alone is sought as μ falls
             tenfold at a time, until it is 1e-4 P
    end      predictor for μ = 0, whose mean product is μ'; corrector for μ'³/μ² and second
             order; step_to_boundary of the way to the nearest bound
    output   w and b; α, made feasible, certifies them: D(α) ≤ P*
    stop     where rounding allows no further progress
    cost     an iteration: half the sum of nnz² over the rows, or m d²/2 through BLAS; d³/6
"""
    unstated = (
        "How to begin on the hinge, where steps on all variables are cut short by row after row: "
        "the path is ours.",
        "How much of the second-order correction to take: the weight that lengthens the step.",
    )

    def start(self, problem: Problem, seed: int) -> None:
        """Start from w = 0, alpha = 1/2, where the constraints on the margins hold."""
        self._problem = problem
        data, self._counts, self._group = problem.data, np.ones(problem.data.n_samples), None
        if self.parameters.merge:
            data, self._counts, self._group = merged(problem.data)
        self._data = data
        self._labels = data.labels.astype(np.float64)
        self._nu = problem.loss.nu
        self._bounded = problem.loss.upper < math.inf
        self._total = float(self._counts.sum())
        m, d = data.n_samples, data.n_features
        self._free = problem.bias == "free"
        # A ball beyond all that could be an optimum costs digits for nothing.
        self._confined = problem.constraint == "l1" and problem.l1_radius < 2.0 * _farthest(problem)
        # w and b; b alone is not regularised
        self._w = np.zeros(d + self._free)
        self._regular = np.full(d + self._free, problem.lam)
        self._regular[d:] = 0.0
        self._alpha = np.full(m, 0.5)
        # 1 - alpha, kept apart: near the upper end it has digits that alpha has not
        self._v = np.full(m, 0.5) if self._bounded else np.zeros(0)
        # nu alpha + xi - 1 = r with both of them of order one
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
        self._equations = NormalEquations(data)
        largest = float(data.rows.norms2().max())
        self._droppable = DROPPED * problem.lam / (m * largest) if largest > 0.0 else 0.0
        self._stalled = False
        self.counters = type(self.counters)()

    def advance(self, steps: int) -> None:
        """Make ``steps`` iterations; nothing moves once rounding stops them."""
        for _ in range(steps):
            passes = PATH_PASSES if self._on_path else PASSES
            self.counters.presentations += passes * self._data.n_samples
            self.counters.nonzeros += passes * self._data.nnz
            if self._stalled:
                continue
            self.counters.updates += 1
            if self._on_path:
                self._follow()
            else:
                self._iterate()

    @property
    def w(self) -> FloatArray:
        """The primal iterate, inside the ball."""
        return self._problem.project(self._w[: self._data.n_features])

    @property
    def bias(self) -> float:
        """The bias of the primal iterate."""
        return float(self._w[-1]) if self._free else 0.0

    @property
    def alpha(self) -> FloatArray:
        """The dual iterate of every row, shape (m,), made feasible."""
        alpha = self._alpha if self._group is None else self._alpha[self._group]
        return self._problem.repaired(alpha)

    def dual(self) -> float:
        """D(alpha)."""
        return self._problem.dual(self.alpha)

    @property
    def stopped(self) -> bool:
        """Whether rounding allows no further progress."""
        return self._stalled

    @property
    def exhausted(self) -> bool:
        """The same: nothing moves from then on."""
        return self._stalled

    def _follow(self) -> None:
        """One Newton step for w at the current mu; the rows stay centred exactly."""
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
        dw = -cho_solve(factor, gradient, check_finite=False)
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
        """Slope of the ball's part of the smooth function, shape of w; it pushes w inwards."""
        slope = np.zeros_like(w)
        if self._confined:
            d = self._data.n_features
            _, s = self._centred_ball(w, mu)
            slope[:d] = 0.5 * (s[d:-1] - s[:d])
        return slope

    def _line_search(self, dw: FloatArray, change: FloatArray) -> float:
        """Length at which the smooth function stops falling along dw, by halving from 1."""
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

    def _iterate(self) -> None:
        alpha, r, xi, v = self._alpha, self._r, self._xi, self._v
        system = self._system()
        mu = self._mean(self._products_after(None, 0.0))
        if system is None or mu < NEGLIGIBLE * self._primal:
            self._stalled = True
            return
        infeasible = self._margins + self._nu * alpha - 1.0 - r + (xi if self._bounded else 0.0)
        wanted = -infeasible - r + (xi if self._bounded else 0.0)
        to_zero = Products(-alpha * r, -v * xi, -self._x * self._s)
        ahead = self._solve(system, wanted, to_zero, towards=True)
        after = self._mean(self._products_after(ahead, min(1.0, self._reach(ahead))))
        step, length = self._corrected(system, ahead, mu * (after / mu) ** 3)
        if not (math.isfinite(length) and length > NEGLIGIBLE and np.isfinite(step.w).all()):
            self._stalled = True
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

    def _corrected(self, system: System, ahead: Step, target: float) -> tuple[Step, float]:
        """The predictor with centring and as much second-order correction as lengthens it.

        Where the predictor is cut short the correction belongs to a step never taken and
        may shorten the way to nothing; its weight is therefore searched (Colombo and
        Gondzio, Comput. Optim. Appl. 41, 2008).
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
            step = Step(
                *(a + c + weight * b for a, c, b in zip(ahead, centring, bend, strict=True))
            )
            reach = min(1.0, self.parameters.step_to_boundary * self._reach(step))
            if reach > 1.1 * length:
                best, length = step, reach
        for _ in range(CENTRALITY_CORRECTIONS):
            step = self._recentred(system, best, target, min(1.0, length + 0.3))
            reach = min(1.0, self.parameters.step_to_boundary * self._reach(step))
            if reach < length + 0.03:
                break
            best, length = step, reach
        return best, length

    def _recentred(self, system: System, step: Step, target: float, ahead: float) -> Step:
        """The step, bent so that products far from the target come nearer to it at ``ahead``.

        Gondzio, Comput. Optim. Appl. 6 (1996): a few products that lag behind cut the steps
        of all.
        """
        products = self._products_after(step, ahead)
        targets = (target, target, target / max(len(self._x), 1))
        bends = Products(*(_outlying(p, t) for p, t in zip(products, targets, strict=True)))
        bend = self._complete(system, bends)
        return Step(*(a + b for a, b in zip(step, bend, strict=True)))

    def _complete(self, system: System, of: Products) -> Step:
        """Change of all variables that changes only the complementarity products."""
        wanted = of.r / self._alpha - (of.xi / self._v if self._bounded else 0.0)
        return self._solve(system, wanted, of, towards=False)

    def _solve(self, system: System, wanted: FloatArray, of: Products, towards: bool) -> Step:
        """Newton step for right-hand sides of the margins and the complementarities.

        With ``towards`` it also makes up for lam w not being w(alpha)'s.
        """
        alpha, r, xi = self._alpha, self._r, self._xi
        change = wanted / system.curvature
        pull = self._weighted_sum(alpha + change if towards else change)
        if towards:
            pull -= self._regular * self._w
        d, dx, ds = self._data.n_features, np.zeros(0), np.zeros(0)
        if system.ball is None:
            dw = cho_solve(system.factor, pull, check_finite=False)
        else:
            demand = system.ball.demand(of.x, towards)
            pull[:d] += demand.right
            dw = cho_solve(system.factor, pull, check_finite=False)
            dx, ds = system.ball.complete(demand, dw[:d])
        dalpha = (wanted - self._products(dw)) / system.curvature
        dr = (of.r - r * dalpha) / alpha
        dxi = (of.xi + xi * dalpha) / self._v if self._bounded else np.zeros(0)
        return Step(dw, dalpha, dr, dxi, dx, ds)

    def _reach(self, step: Step) -> float:
        """Largest multiple of the step that leaves everything positive."""
        pairs = [(self._alpha, step.alpha), (self._r, step.r), (self._x, step.x), (self._s, step.s)]
        if self._bounded:
            pairs += [(self._xi, step.xi), (self._v, -step.alpha)]
        return min(_to_zero(value, change) for value, change in pairs)

    def _products_after(self, step: Step | None, length: float) -> Products:
        """The complementarity products after so much of a step."""
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
        """The mu that the products make up: a mean, to which the whole ball is one more pair."""
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
        """1/M sum of c_i alpha_i z_i, and of c_i alpha_i y_i where there is a bias."""
        weights = self._counts * alpha
        total: FloatArray = combination(self._data.rows, weights)
        if self._free:
            total = np.append(total, self._labels @ weights)
        return total / self._total

    def _factor(self, weights: FloatArray, ball: BallTerms | None) -> Factor | None:
        """Cholesky factor of the system, its diagonal raised as little as rounding demands.

        Rows are left out whose part in it is so small that all of them together change the
        system by less than `DROPPED` lambda: late on, most of them. A free bias, which has no
        lambda, allows less where all parts are small.
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
        diagonal = np.einsum("ii->i", system)
        diagonal += self._regular
        original = diagonal.copy()
        for ridge in (0.0, 1e-15, 1e-13, 1e-11):
            diagonal[:] = original * (1.0 + ridge)
            try:
                return cho_factor(system, lower=False, check_finite=False)  # type: ignore[no-any-return]
            except (LinAlgError, ValueError):
                continue
        return None


def centred(excess: FloatArray, mu: float) -> tuple[FloatArray, FloatArray]:
    """The hinge's alpha and 1 - alpha with alpha r = mu, (1 - alpha) xi = mu, r - xi = excess.

    The smaller of the two comes without cancellation; the other is one less it.
    """
    root = np.hypot(excess, 2.0 * mu)
    smaller = 2.0 * mu / (np.abs(excess) + 2.0 * mu + root)
    above = excess > 0.0
    return np.where(above, smaller, 1.0 - smaller), np.where(above, 1.0 - smaller, smaller)


def merged(data: Dataset) -> tuple[Dataset, FloatArray, Array | None]:
    """The distinct rows of a data set, how often each occurs, and which one each row is.

    Returns
    -------
    data : Dataset
        The set itself where merging would save too little.
    counts : ndarray of float64, shape (distinct rows,)
    group : ndarray of int64, shape (m,), or None
        None where nothing was merged.

    Notes
    -----
    Rows are told apart by 64 bits. Should two ever collide, the certificate, which is
    computed on all rows, would not close.
    """
    _, first, group, counts = np.unique(
        row_hashes(data.rows), return_index=True, return_inverse=True, return_counts=True
    )
    if len(first) > (1.0 - WORTH_MERGING) * data.n_samples:
        return data, np.ones(data.n_samples), None
    return take_rows(data, first), counts.astype(np.float64), group


def take_rows(data: Dataset, chosen: Array) -> Dataset:
    """The chosen rows, in that order."""
    labels = data.labels[chosen]
    if data.indptr is None or data.indices is None:
        assert data.values is not None
        return Dataset(data.name, data.n_features, None, None, data.values[chosen], labels)
    lengths = np.diff(data.indptr)[chosen]
    indptr = np.zeros(len(chosen) + 1, dtype=np.int64)
    np.cumsum(lengths, out=indptr[1:])
    places = np.repeat(data.indptr[chosen] - indptr[:-1], lengths) + np.arange(indptr[-1])
    values = None if data.values is None else data.values[places]
    return Dataset(data.name, data.n_features, indptr, data.indices[places], values, labels)


def _farthest(problem: Problem) -> float:
    """Bound on ||w*||_1: no ball beyond it binds.

    lam/2 ||w*||^2 <= P* <= P(0), and ||w||_1 <= sqrt(d) ||w||.
    """
    d = problem.data.n_features
    return math.sqrt(d * 2.0 * problem.primal(np.zeros(d)) / problem.lam)


def _outlying(products: FloatArray, target: float) -> FloatArray:
    """What brings products into a tenth to ten times the target, none by more than that."""
    change = np.clip(products, 0.1 * target, 10.0 * target) - products
    return np.maximum(change, -10.0 * target)


def _to_zero(value: FloatArray, change: FloatArray) -> float:
    """Multiple of ``change`` that brings the first entry of ``value`` to zero."""
    shrinking = change < 0.0
    if not shrinking.any():
        return math.inf
    with np.errstate(over="ignore"):  # a change of next to nothing may go on for ever
        return float(np.min(value[shrinking] / -change[shrinking]))
