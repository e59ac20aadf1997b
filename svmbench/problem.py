"""The optimisation problem: the one definition of P, D and errors.

    P(w) = lam/2 ||w||^2 + 1/m sum_i loss(y_i w.x_i)
    D(alpha) = 1/m sum_i q(alpha_i) - lam/2 ||w(alpha)||^2
    w(alpha) = 1/(lam m) sum_i alpha_i y_i x_i

D(alpha) <= P* <= P(w) for every feasible alpha and every w, so that P(w) - D(alpha)
certifies both. The losses and their conjugates are defined in kernels/loss.pxd.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray
from svmbench.kernels import objective

LOSSES = ("hinge", "squared-hinge", "smoothed-hinge")


@dataclass(frozen=True)
class Loss:
    """A loss of the margin s = y w.x.

    Parameters
    ----------
    name : {'hinge', 'squared-hinge', 'smoothed-hinge'}
    gamma : float
        Width of the smoothed hinge's curved piece, positive; the others ignore it.

    Raises
    ------
    ValueError
        For an unknown name or a gamma that is not positive.
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
        """The number by which kernels know the loss (LossKind in kernels/loss.pxd)."""
        return LOSSES.index(self.name)


HINGE = Loss("hinge")


@dataclass(frozen=True)
class Evaluation:
    """Objective and errors of one weight vector.

    Parameters
    ----------
    primal : float
        P(w); inf where it overflows, nan for a w that is not a number.
    errors : int
        Rows with y w.x <= 0.
    """

    primal: float
    errors: int


def count_errors(data: Dataset, w: Array) -> int:
    """Rows of ``data`` with y w.x <= 0; a score of exactly zero decides nothing, so it errs."""
    _, errors = objective.loss_and_errors(data.rows, _double(w), HINGE.code)
    return int(errors)


def relative_gap(primal: float, dual: float) -> float:
    """(P - D)/D, a bound on (P - P*)/P*; inf while D <= 0."""
    return (primal - dual) / dual if dual > 0.0 else math.inf


@dataclass(frozen=True, eq=False)
class Problem:
    """A data set with a regularisation constant and a loss; no bias, no constraint.

    Parameters
    ----------
    data : Dataset
        At least one row.
    lam : float
        lambda, positive.
    loss : Loss

    Raises
    ------
    ValueError
        When there is no row or lambda is not positive.
    """

    data: Dataset
    lam: float
    loss: Loss = HINGE

    def __post_init__(self) -> None:
        if self.data.n_samples == 0:
            raise ValueError("a problem needs at least one row")
        if not 0.0 < self.lam < math.inf:
            raise ValueError(f"lambda must be positive and finite, not {self.lam}")

    def evaluate(self, w: Array) -> Evaluation:
        """P(w) and the training errors, in one pass over the rows."""
        weights = _double(w)
        loss, errors = objective.loss_and_errors(
            self.data.rows, weights, self.loss.code, self.loss.gamma
        )
        primal = 0.5 * self.lam * _squared_norm(weights) + loss / self.data.n_samples
        return Evaluation(primal, int(errors))

    def primal(self, w: Array) -> float:
        """P(w)."""
        return self.evaluate(w).primal

    def weights(self, alpha: FloatArray) -> FloatArray:
        """w(alpha), shape (d,)."""
        scale = self.lam * self.data.n_samples
        return np.asarray(objective.combination(self.data.rows, alpha)) / scale

    def dual(self, alpha: FloatArray) -> float:
        """D(alpha), from alpha alone; -inf when alpha leaves its box.

        w(alpha) is computed anew: a w kept in step with alpha drifts away from it.
        """
        total: float = objective.conjugate_sum(alpha, self.loss.code, self.loss.gamma)
        if total == -math.inf:
            return total
        w = self.weights(alpha)
        return total / self.data.n_samples - 0.5 * self.lam * _squared_norm(w)

    def gap(self, w: Array, alpha: FloatArray) -> float:
        """P(w) - D(alpha) as a sum of non-negative terms; inf when alpha leaves its box.

            lam/2 ||w - w(alpha)||^2 + 1/m sum_i (loss(s_i) - q(alpha_i) + alpha_i s_i)

        Subtracting P and D loses all digits below about 1e-16 P; this form does not.
        """
        if objective.conjugate_sum(alpha, self.loss.code, self.loss.gamma) == -math.inf:
            return math.inf
        weights = _double(w)
        apart = _squared_norm(weights - self.weights(alpha))
        terms: float = objective.gap_sum(
            self.data.rows, weights, alpha, self.loss.code, self.loss.gamma
        )
        return 0.5 * self.lam * apart + terms / self.data.n_samples

    def facts(self) -> dict[str, Any]:
        """What tells this problem from others, for identities and records."""
        return {
            "data": self.data.identity,
            "lambda": self.lam,
            "loss": self.loss.name,
            "gamma": self.loss.gamma if self.loss.name == "smoothed-hinge" else None,
        }


def _squared_norm(w: FloatArray) -> float:
    """||w||^2; inf where it overflows, without a warning: a diverged method is a result."""
    with np.errstate(over="ignore", invalid="ignore"):
        return float(w @ w)


def _double(w: Array) -> FloatArray:
    return np.ascontiguousarray(w, dtype=np.float64)
