"""P, D and their parts, straight from the definitions, on dense rows X and labels y."""

from __future__ import annotations

import numpy as np
from scipy.special import entr, expit, kl_div


def loss_values(loss, s):
    """The loss at the margins s."""
    if loss.name == "logistic":
        return np.logaddexp(0.0, -s)
    below = np.maximum(0.0, 1.0 - s)
    if loss.name == "hinge":
        return below
    if loss.name == "squared-hinge":
        return below**2 / 2.0
    return np.where(below >= loss.gamma, below - loss.gamma / 2.0, below**2 / (2.0 * loss.gamma))


def curvature(loss):
    """nu of a hinge's q(alpha) = alpha - nu alpha^2 / 2."""
    return {"hinge": 0.0, "squared-hinge": 1.0, "smoothed-hinge": loss.gamma}[loss.name]


def upper_bound(loss):
    """Upper end of the box of alpha."""
    return np.inf if loss.name == "squared-hinge" else 1.0


def conjugate(loss, alpha):
    """q(alpha) inside the box."""
    if loss.name == "logistic":
        return entr(alpha) + entr(1.0 - alpha)
    return alpha - curvature(loss) * alpha**2 / 2.0


def primal(X, y, lam, loss, w, bias=0.0):
    """P(w, b)."""
    return lam / 2.0 * np.sum(w**2) + np.mean(loss_values(loss, y * (X @ w + bias)))


def weights(X, y, lam, alpha):
    """w(alpha)."""
    return X.T @ (alpha * y) / (lam * len(y))


def project_l1(w, radius):
    """The point of the ball ||w||_1 <= radius nearest to w, by sorting."""
    if np.sum(np.abs(w)) <= radius:
        return np.array(w)
    falling = np.sort(np.abs(w))[::-1]
    thresholds = (np.cumsum(falling) - radius) / np.arange(1, len(w) + 1)
    tau = thresholds[np.flatnonzero(falling > thresholds)[-1]]
    return np.sign(w) * np.maximum(np.abs(w) - tau, 0.0)


def dual(X, y, lam, loss, alpha, radius=np.inf):
    """D(alpha) for a feasible alpha: the least of the Lagrangian over the ball of w."""
    u = weights(X, y, lam, alpha)
    outside = u - project_l1(u, radius)
    square = np.sum(u**2) - np.sum(outside**2)
    return np.mean(conjugate(loss, alpha)) - lam / 2.0 * square


def gap_terms(loss, s, alpha):
    """loss(s) - q(alpha) + alpha s of each row, as sums of non-negative terms."""
    if loss.name == "logistic":
        return kl_div(alpha, expit(-s)) + kl_div(1.0 - alpha, expit(s))
    below, above = np.maximum(0.0, 1.0 - s), np.maximum(0.0, s - 1.0)
    if loss.name == "hinge":
        return (1.0 - alpha) * below + alpha * above
    if loss.name == "squared-hinge":
        return (below - alpha) ** 2 / 2.0 + alpha * above
    best = np.clip((1.0 - s) / loss.gamma, 0.0, 1.0)
    return (
        loss.gamma / 2.0 * (best - alpha) ** 2
        + alpha * above
        + (1.0 - alpha) * np.maximum(0.0, 1.0 - s - loss.gamma)
    )


def gap_of(problem, w, alpha, bias=0.0):
    """P - D as a sum of terms that are not negative, whose digits P - D would lose."""
    if not (problem.feasible(alpha) and problem.admits(w)):
        return np.inf
    m, weights = problem.data.n_samples, problem.inside(w)
    u = problem.row_sum(alpha) / (problem.lam * m)
    nearest, tau = problem.nearest(u)
    regular = np.sum((weights - nearest) ** 2) / 2.0
    if tau > 0.0:
        size = np.abs(weights)
        regular += tau * (problem.l1_radius - np.sum(size))
        regular += np.sum(tau * size - weights * (u - nearest))
    each = gap_terms(problem.loss, problem.margins(weights, bias), alpha)
    return problem.lam * regular + np.sum(problem.counted(np.ones(m)) * each) / m
