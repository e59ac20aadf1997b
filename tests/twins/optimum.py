"""Certified optima of small problems by an interior-point method.

It shares nothing with the solvers under test: all m dual variables move together,
by Newton steps on the perturbed optimality conditions of

    min 1/2 alpha' K alpha - 1' alpha,   0 <= alpha <= u,   K = YXX'Y/(lam m) + nu I
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from problems import dense, labels
from twins import objective


@dataclass(frozen=True, eq=False)
class Optimum:
    """A primal and a dual point, and the interval [lower, upper] that holds P*."""

    w: np.ndarray
    alpha: np.ndarray
    lower: float
    upper: float


@cache
def optimum(problem, gap=1e-9):
    """The optimum of ``problem``, certified to a relative gap (or, for P* near 0, absolute)."""
    X, y = dense(problem.data), labels(problem.data)
    alpha = box_qp(X, y, problem.lam, problem.loss)
    w = objective.weights(X, y, problem.lam, alpha)
    lower = float(objective.dual(X, y, problem.lam, problem.loss, alpha))
    upper = float(objective.primal(X, y, problem.lam, problem.loss, w))
    assert upper - lower <= gap * max(lower, 1e-3), "the reference of this test is not certified"
    return Optimum(w, alpha, lower, upper)


def box_qp(X, y, lam, loss):
    """The dual optimum, strictly inside its box."""
    m = len(y)
    Z = X * y[:, None]
    K = Z @ Z.T / (lam * m) + objective.curvature(loss) * np.eye(m)
    u = objective.upper_bound(loss)
    bounded = np.isfinite(u)
    alpha, low = np.full(m, 0.5), np.ones(m)
    high = np.ones(m) if bounded else np.zeros(m)  # multipliers of the two bounds
    for _ in range(200):
        room = u - alpha if bounded else np.ones(m)
        complementarity = np.concatenate([alpha * low, room * high])
        residual = K @ alpha - 1.0 - low + high
        if max(complementarity.max(), np.abs(residual).max()) < 1e-13:
            break
        mu = 0.1 * complementarity.sum() / (2 * m if bounded else m)
        pull = mu / alpha - low
        push = mu / room - high if bounded else np.zeros(m)
        system = K + np.diag(low / alpha + high / room)
        step = np.linalg.solve(system, -residual + pull - push)
        step_low = pull - low / alpha * step
        step_high = push + high / room * step
        moves = [(alpha, step), (low, step_low)]
        if bounded:
            moves += [(room, -step), (high, step_high)]
        length = min(1.0, *(0.995 * _reach(point, move) for point, move in moves))
        alpha = alpha + length * step
        low = low + length * step_low
        high = high + length * step_high
    return alpha


def _reach(point, move):
    """Largest step from a positive point that leaves no entry negative."""
    falling = move < 0.0
    return np.min(-point[falling] / move[falling], initial=np.inf)
