"""The optimisation problem: the only definition of P, D and errors.

    P(w, b) = lam/2 ||w||^2 + 1/m sum_i loss(y_i (w.x_i + b))
    D(alpha) = 1/m sum_i q(alpha_i) - lam/2 ||w(alpha)||^2
    w(alpha) = 1/(lam m) sum_i alpha_i y_i x_i

b is 0, or free and not regularised: then alpha must satisfy sum_i alpha_i y_i = 0 as well as its
box. If w is confined to the ball ||w||_1 <= z, with Pi the projection onto it and tau >= 0 the
multiplier with Pi(u)_j = sign(u_j) max(|u_j| - tau, 0),

    D(alpha) = 1/m sum_i q(alpha_i) - lam/2 ||Pi(u)||^2 - lam tau z,   u = w(alpha).

D(alpha) <= P* <= P(w, b) for every feasible alpha, w and b, so P - D certifies both. The
losses and their conjugates are defined in kernels/loss.pxd, the projection in
kernels/projection.pyx.

A row may have a weight c_i > 0 and then counts c_i times: its loss, its q(alpha_i), and its alpha_i
in w(alpha) and in the balance are multiplied by c_i. The box of alpha_i remains the same; in terms
of c_i alpha_i, the weight scales the box.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.kernels import objective
from svmbench.names import BIASES, HINGES, LOSSES
from svmbench.records.bounds import BELOW, lies_below

T = TypeVar("T")

#: Unit roundoff of double precision.
UNIT = float(np.finfo(np.float64).eps) / 2.0

#: Share by which w may leave its ball: the rounding of a w kept in single precision.
OUTSIDE = 1e-5

#: Relative difference of the two classes' sums of alpha that counts as rounding.
UNBALANCED = 1e-12


@dataclass(frozen=True)
class Loss:
    """A loss of the margin s = y w.x; gamma is the width of the smoothed hinge's curved piece.

    Raises ValueError for an unknown name or a gamma that is not positive.
    """

    name: str = "hinge"
    gamma: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in LOSSES:
            raise ValueError(f"unknown loss {self.name!r}; known: {', '.join(LOSSES)}")
        if not 0.0 < self.gamma < math.inf:
            raise ValueError(f"gamma must be positive and finite, not {self.gamma}")

    @property
    def code(self) -> int:
        """The loss's number in the kernels (LossKind in kernels/loss.pxd)."""
        return LOSSES.index(self.name)

    @property
    def nu(self) -> float:
        """Curvature of a hinge's conjugate, q(alpha) = alpha - nu alpha^2/2."""
        if self.name not in HINGES:
            raise ValueError(f"the conjugate of the {self.name} loss is no parabola")
        return {"hinge": 0.0, "squared-hinge": 1.0}.get(self.name, self.gamma)

    @property
    def upper(self) -> float:
        """Upper end of alpha's box; inf for the squared hinge."""
        return math.inf if self.name == "squared-hinge" else 1.0


HINGE = Loss("hinge")


@dataclass(frozen=True)
class Evaluation:
    """P(w, b), inf if it overflows or outside the ball, and the rows with y (w.x + b) <= 0."""

    primal: float
    errors: int


def count_errors(data: Dataset, w: Array, bias: float = 0.0) -> int:
    """Rows with y (w.x + bias) <= 0; a score of exactly zero counts as an error."""
    _, errors = objective.loss_and_errors(data.rows, _double(w), HINGE.code, bias=bias)
    return int(errors)


def relative_gap(primal: float, dual: float) -> float:
    """(P - D)/D, a bound on (P - P*)/P*; inf while D <= 0."""
    return (primal - dual) / dual if dual > 0.0 else math.inf


def accuracy_of(primal: float, reference_dual: float, distance: str = "relative") -> float:
    """The distance of P from D_ref: (P - D_ref)/D_ref, or P - D_ref if ``distance`` is absolute."""
    if distance == "absolute":
        return primal - reference_dual
    return relative_gap(primal, reference_dual)


def rounding_of(
    primal: float | FloatArray, off: float | FloatArray, gamma: float, summands: float
) -> float | FloatArray:
    """By how much P may differ where margins are off, and sums of positive terms in any order.

    The mean of the losses' slopes is at most sqrt(2 P/gamma); with gamma = 0, for a hinge or the
    logistic loss, at most 1. ``off`` is the largest rounding of a margin, and the sum that is not
    compensated has so many ``summands``.
    """
    slope = 1.0 if gamma == 0.0 else np.sqrt(2.0 * primal / gamma)
    second = 0.0 if gamma == 0.0 else off * off / gamma
    return slope * off + second + 4.0 * UNIT + (summands + 16.0) * UNIT * primal


class _Last:
    """What was computed from the last dual variables: callers ask for most of it more than once."""

    def __init__(self) -> None:
        self._last: tuple[FloatArray, dict[str, Any]] = (np.zeros(0), {})

    def of(self, alpha: FloatArray, name: str, compute: Callable[[], T]) -> T:
        """What ``compute`` gives for this alpha, by its name."""
        last, found = self._last
        if not np.array_equal(last, alpha):
            found = {}
            self._last = np.array(alpha), found
        if name not in found:
            found[name] = compute()
        known: T = found[name]
        return known


@dataclass(frozen=True, eq=False)
class Problem:
    """A data set with a regularisation constant, a loss, and the constraints on w and b.

    A free bias is not regularised, and needs rows of both classes: with one class P* = 0, whatever
    the rows are. An infinite radius is no constraint. Weights of rows are positive, of mean 1.

    Raises ValueError for what is out of range, or a loss and a constraint that do not go together.
    """

    data: Dataset
    lam: float
    loss: Loss = HINGE
    bias: str = "none"
    l1_radius: float = math.inf  # of the ball ||w||_1 <= z
    row_weights: FloatArray | None = None  # shape (m,)
    _last: _Last = field(default_factory=_Last, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.data.n_samples == 0:
            raise ValueError("a problem needs at least one row")
        if not 0.0 < self.lam < math.inf:
            raise ValueError(f"lambda must be positive and finite, not {self.lam}")
        if not self.l1_radius > 0.0:
            raise ValueError(f"the l1 ball's radius must be positive, not {self.l1_radius}")
        if self.bias not in BIASES:
            raise ValueError(f"unknown bias {self.bias!r}; known: {', '.join(BIASES)}")
        if self.constraint != "none" and self.loss.name not in HINGES:
            raise ValueError(
                f"no method certifies the {self.loss.name} loss in a ball; leave the ball out"
            )
        if self.bias == "free" and (self.data.labels == self.data.labels[0]).all():
            raise ValueError("rows of one class only; a free bias needs both, bias none does not")
        c = self.row_weights
        if c is not None and not (
            c.shape == self.data.labels.shape and (c > 0.0).all() and abs(c.mean() - 1.0) < 1e-9
        ):
            raise ValueError("one positive weight for each row is needed, with a mean of 1")
        if self.constraint == "l1":
            self.project(np.zeros(0))  # loads the projection: later, a clock may run

    @property
    def constraint(self) -> str:
        """The constraint's name, one of `CONSTRAINTS`."""
        return "none" if self.l1_radius == math.inf else "l1"

    def admits(self, w: Array) -> bool:
        """Whether w satisfies the constraint, up to the rounding of single precision."""
        return self._size(w) <= (1.0 + OUTSIDE) * self.l1_radius

    def evaluate(self, w: Array, bias: float = 0.0) -> Evaluation:
        """P(w, b) and the training errors, in one pass over the rows.

        A w outside its ball by rounding alone is scaled back onto the ball.
        """
        weights = self.inside(w)
        loss, errors = self.loss_and_errors(weights, bias)
        primal = 0.5 * self.lam * _squared_norm(weights) + loss / self.data.n_samples
        return Evaluation(primal if self.admits(w) else primal + math.inf, errors)

    def loss_and_errors(self, w: FloatArray, bias: float = 0.0) -> tuple[float, int]:
        """Sum of c_i loss(s_i) over the rows, and the number of errors, for any w and b."""
        if self.row_weights is None:
            loss, errors = objective.loss_and_errors(
                self.data.rows, w, self.loss.code, self.loss.gamma, bias
            )
            return float(loss), int(errors)
        margins = self.margins(w, bias)
        loss = _weighted_sum(self.row_weights, objective.losses(margins, self.loss))
        return loss, int(np.count_nonzero(~(margins > 0.0)))

    def is_below(self, bound: float, primal: float, w: Array | None, bias: float = 0.0) -> bool:
        """Whether P(w, b) lies farther below a lower bound on P* than rounding explains.

        Where w and b are not known, it explains as much as for any that have this P.
        """
        if not lies_below(primal, bound):
            return False
        return primal + self.rounding(primal, w, bias) < bound * (1.0 - BELOW)

    def rounding(
        self, primal: float, w: Array | None, bias: float = 0.0, longest: float | None = None
    ) -> float:
        """By how much P(w, b) may differ from what `evaluate` has computed as ``primal``.

        A margin of n summands is off by at most (n + 3) u (||w|| ||x|| + |b|).
        """
        longest = self.longest_norm if longest is None else longest
        off = (self._most_entries + 3.0) * UNIT * self._reach(primal, longest, w, bias)
        gamma = self.loss.nu if self.loss.name in HINGES else 0.0
        return float(rounding_of(primal, off, gamma, self.data.n_features))

    @cached_property
    def longest_norm(self) -> float:
        """The largest ||x_i||."""
        return math.sqrt(float(np.max(self.data.rows.norms2())))

    @cached_property
    def _most_entries(self) -> int:
        return int(self.data.rows.lengths().max())

    def _reach(self, primal: float, longest_norm: float, w: Array | None, bias: float) -> float:
        """The largest ||w|| ||x|| + |b|; the largest of all w and b with this P if w is None."""
        if w is not None:
            return math.sqrt(_squared_norm(_double(w))) * longest_norm + abs(bias)
        products = math.sqrt(2.0 * max(primal, 0.0) / self.lam) * longest_norm
        if self.bias == "none":
            return products
        # There are rows of both classes, and no loss exceeds m P/c of its row: with the hinge no
        # margin is below 1 - m P/c. The others' losses are at least the hinge's, less 1.
        largest = self.data.n_samples * max(primal, 0.0)
        least = 1.0 if self.row_weights is None else float(self.row_weights.min())
        return 2.0 * products + 2.0 + largest / least

    def primal(self, w: Array, bias: float = 0.0) -> float:
        """P(w, b)."""
        return self.evaluate(w, bias).primal

    def primal_at_zero(self) -> float:
        """P(0, 0), without a look at the rows."""
        loss = float(objective.losses(np.zeros(1), self.loss)[0])
        return loss if self.row_weights is None else loss * float(np.mean(self.row_weights))

    def margins(self, w: FloatArray, bias: float = 0.0) -> FloatArray:
        """The margins y_i (w.x_i + b), shape (m,)."""
        margins: FloatArray = self.data.labels * (self.data.rows.dot(w) + bias)
        return margins

    def counted(self, alpha: FloatArray) -> FloatArray:
        """c_i alpha_i, as which rows enter w(alpha) and the balance; alpha without weights."""
        return alpha if self.row_weights is None else self.row_weights * alpha

    def conjugate_sum(self, alpha: FloatArray) -> float:
        """Sum of c_i q(alpha_i); -inf where an alpha_i lies outside its box."""
        return self._last.of(alpha, "conjugates", lambda: self._conjugate_sum(alpha))

    def _conjugate_sum(self, alpha: FloatArray) -> float:
        total = float(objective.conjugate_sum(alpha, self.loss.code, self.loss.gamma))
        if self.row_weights is None or total == -math.inf:
            return total
        return _weighted_sum(self.row_weights, objective.conjugates(alpha, self.loss))

    def row_sum(self, alpha: FloatArray) -> FloatArray:
        """Sum of c_i alpha_i y_i x_i, shape (d,)."""
        return np.asarray(objective.combination(self.data.rows, self.counted(alpha)))

    def weights(self, alpha: FloatArray) -> FloatArray:
        """w(alpha), shape (d,); with a constraint, projected onto it."""
        return self.project(self._combination(alpha))

    def project(self, w: FloatArray) -> FloatArray:
        """The point nearest to w that satisfies the constraint; a new array."""
        return self.nearest(w)[0]

    def nearest(self, w: FloatArray) -> tuple[FloatArray, float]:
        """The projection of w and its multiplier tau, 0 where w satisfies the constraint."""
        nearest = np.array(w, dtype=np.float64)
        if self.constraint == "none":
            return nearest, 0.0
        from svmbench.kernels.projection import project_l1  # most problems have no ball

        return nearest, float(project_l1(nearest, self.l1_radius))

    def feasible(self, alpha: FloatArray) -> bool:
        """Whether alpha lies in its box and, with a free bias, is balanced up to rounding."""
        if self.conjugate_sum(alpha) == -math.inf:
            return False
        if self.bias == "none":
            return True
        positive, negative = objective.balance(self.data.rows, self.counted(alpha))
        return bool(abs(positive - negative) <= UNBALANCED * (positive + negative))

    def repaired(self, alpha: FloatArray) -> FloatArray:
        """A feasible alpha near the given one, shape (m,), clipped to its box.

        With a free bias, the class with the larger sum is scaled down until the sums agree.
        """
        feasible: FloatArray = np.clip(alpha, 0.0, self.loss.upper)
        if self.bias == "none":
            return feasible
        positive, negative = objective.balance(self.data.rows, self.counted(feasible))
        smaller = min(positive, negative)
        for label, total in ((1, positive), (-1, negative)):
            if total > smaller:
                feasible[self.data.labels == label] *= smaller / total
        return feasible

    def dual(self, alpha: FloatArray) -> float:
        """D(alpha), from alpha alone; -inf when alpha is not feasible.

        w(alpha) is recomputed: a w updated along with alpha drifts away from it.
        """
        if not self.feasible(alpha):
            return -math.inf
        total = self.conjugate_sum(alpha)
        nearest, tau = self.nearest(self._combination(alpha))
        regular = 0.5 * _squared_norm(nearest)
        if tau > 0.0:
            # Not by ||u||^2 - ||u - Pi(u)||^2: u is huge for a small lambda, and this form is
            # a lower bound however tau is rounded.
            regular += tau * self.l1_radius
        return total / self.data.n_samples - self.lam * regular

    def inside(self, w: Array) -> FloatArray:
        """The weights in double precision, scaled back onto their ball after rounding."""
        weights, size = _double(w), self._size(w)
        if self.l1_radius < size <= (1.0 + OUTSIDE) * self.l1_radius:
            weights = weights * (self.l1_radius / size)
        return weights

    def _combination(self, alpha: FloatArray) -> FloatArray:
        """1/(lam m) sum_i c_i alpha_i y_i x_i, shape (d,); not to be changed."""
        scale = self.lam * self.data.n_samples
        return self._last.of(alpha, "combination", lambda: self.row_sum(alpha) / scale)

    def _size(self, w: Array) -> float:
        """||w||_1 where it is bounded, else 0; nan where w has a nan."""
        if self.l1_radius == math.inf:
            return 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            return float(np.sum(np.abs(w), dtype=np.float64))

    def facts(self) -> dict[str, Any]:
        """What distinguishes this problem from others, for identities and records."""
        weights = {}
        if self.row_weights is not None:
            weights["row_weights"] = hashlib.sha256(self.row_weights.tobytes()).hexdigest()
        return weights | {
            "data": self.data.identity,
            "lambda": self.lam,
            "loss": self.loss.name,
            "gamma": self.loss.gamma if self.loss.name == "smoothed-hinge" else None,
            "bias": self.bias,
            "l1_radius": self.l1_radius if self.l1_radius < math.inf else None,
        }


def _squared_norm(w: FloatArray) -> float:
    """||w||^2; inf where it overflows, without a warning: a diverged method is a result."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(w @ w)


def _weighted_sum(weights: FloatArray, each: FloatArray) -> float:
    """Sum of products, rounded once besides the products; inf or nan where it overflows."""
    with np.errstate(over="ignore", invalid="ignore"):
        products = weights * each
        rough = float(products.sum())
    return math.fsum(products.tolist()) if math.isfinite(rough) else rough


def _double(w: Array) -> FloatArray:
    return np.ascontiguousarray(w, dtype=np.float64)
