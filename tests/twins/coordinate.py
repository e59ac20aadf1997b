"""The exact step of dual coordinate descent over one dual variable, and what says it is due."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, logit

from twins import objective

LEAST_MARGIN, MOST_MARGIN = -37.0, 745.0  # doubles resolve no more of alpha near 1 and 0
LEFT = 0.1  # what a logistic step may leave: this, and this share of the gradient


def margin_of(alpha):
    """The margin at which alpha is minus the slope of the logistic loss."""
    with np.errstate(divide="ignore"):
        return float(np.clip(-logit(alpha), LEAST_MARGIN, MOST_MARGIN))


def without_entries(loss):
    """The alpha that maximises q(alpha)."""
    if loss.name == "logistic":
        return 0.5
    nu, upper = objective.curvature(loss), objective.upper_bound(loss)
    return min(upper, 1.0 / nu) if nu else upper


def gradient(loss, alpha, s):
    """That of -m D along alpha at the margin s."""
    if loss.name == "logistic":
        return s - margin_of(alpha)
    return s - 1.0 + objective.curvature(loss) * alpha


def projected(loss, alpha, slope):
    """The gradient, less what points out of the box."""
    if alpha == 0.0:
        return min(slope, 0.0)
    if alpha == objective.upper_bound(loss):
        return max(slope, 0.0)
    return slope


def best(loss, alpha, slope, q):
    """The alpha that maximises D along it, where w.x_i grows by q times what alpha grows by."""
    if loss.name == "logistic":
        return best_logistic(alpha, slope, q)
    nu = objective.curvature(loss)
    return min(max(alpha - slope / (q + nu), 0.0), objective.upper_bound(loss))


def best_logistic(alpha, slope, q):
    """Newton steps on the margin t of the new alpha, kept on the side of 0 where the root is."""
    before = margin_of(alpha)
    s = slope + before

    def excess(t):
        return t - s - q * (expit(-t) - alpha)

    side = 1.0 if excess(0.0) < 0.0 else -1.0
    t = before if side * before > 0.0 else 0.0
    while abs(excess(t)) > LEFT * min(abs(slope), 1.0):
        t -= excess(t) / (1.0 + q * expit(t) * expit(-t))
        t = t if side * t > 0.0 else 0.0
    return float(expit(-t))
