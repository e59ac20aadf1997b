"""The terms of the ball ||w||_1 <= z in an interior-point method's Newton system.

With w = p - n, p, n >= 0, t = z - sum_j (p_j + n_j) >= 0, and the slope without the ball
g = lam w - 1/M sum_i c_i alpha_i z_i,

    zeta_p = tau + g,   zeta_n = tau - g,   p zeta_p = n zeta_n = t tau = mu.

The vectors are x = (p, n, t) and s = (zeta_p, zeta_n, tau). A Newton step eliminates all changes
but dw: with e_p = zeta_p/p, e_n = zeta_n/n, e = e_p + e_n, f = (e_n - e_p)/e and
sigma = t/tau + sum_j 4/e_j, the system for dw gains

    diag(e_p e_n / e) + f f^T / sigma

and the eliminated changes follow from dw without cancellation.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from svmbench.data.dataset import FloatArray


class Demand(NamedTuple):
    """The right-hand sides of a step for the ball's variables."""

    of_x: FloatArray  # (shape (2d + 1,)) Changes of the products x s
    both: FloatArray  # (shape (d,)) Sum of the right-hand sides of p and of n
    right: FloatArray  # (shape (d,)) The ball's part of the right-hand side of the system for dw
    slack: float  # right-hand side of the multiplier's own equation


class BallTerms:
    """The ball's terms at one point x, s > 0."""

    def __init__(self, x: FloatArray, s: FloatArray, radius: float) -> None:
        d = len(x) // 2
        self._x, self._s, self._d = x, s, d
        self._unmet = radius - float(x.sum())
        self._of_p, self._of_n = s[:d] / x[:d], s[d:-1] / x[d:-1]
        self._sum = self._of_p + self._of_n
        self._slope = (self._of_n - self._of_p) / self._sum
        self._sigma = float(x[-1] / s[-1]) + float((4.0 / self._sum).sum())

    def add_to(self, system: FloatArray) -> None:
        """Add the terms to the leading d x d block of ``system``."""
        d = self._d
        block = system[:d, :d]
        block += np.outer(self._slope, self._slope / self._sigma)
        np.einsum("ii->i", block)[:] += self._of_p * self._of_n / self._sum

    def demand(self, of_x: FloatArray, towards: bool) -> Demand:
        """The right-hand sides of a step with these changes of the products."""
        x, s, d = self._x, self._s, self._d
        of_p, of_n = of_x[:d] / x[:d], of_x[d:-1] / x[d:-1]
        slack = float(of_x[-1] / s[-1])
        if towards:
            of_p = of_p + s[:d] - s[-1]
            of_n = of_n + s[d:-1] - s[-1]
            slack -= self._unmet
        both = of_p + of_n
        slack += float((2.0 * both / self._sum).sum())
        right = (of_p * self._of_n - of_n * self._of_p) / self._sum
        return Demand(of_x, both, right - slack / self._sigma * self._slope, slack)

    def complete(self, demand: Demand, dw: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Changes of x and s that follow from dw."""
        x, s, d = self._x, self._s, self._d
        dtau = (float(self._slope @ dw) + demand.slack) / self._sigma
        dx, ds = np.empty_like(x), np.empty_like(s)
        dx[:d] = (demand.both - 2.0 * dtau + self._of_n * dw) / self._sum
        dx[d:-1] = (demand.both - 2.0 * dtau - self._of_p * dw) / self._sum
        dx[-1] = (demand.of_x[-1] - x[-1] * dtau) / s[-1]
        ds[:-1] = (demand.of_x[:-1] - s[:-1] * dx[:-1]) / x[:-1]
        ds[-1] = dtau
        return dx, ds


def centred_ball(w: FloatArray, radius: float, mu: float) -> tuple[FloatArray, FloatArray]:
    """Return x and s on the path: p - n = w, both products and t tau = mu; w inside the ball.

    With c = mu/tau, p + n = c + sqrt(c^2 + w^2); Newton's method comes to the root c from the
    right.
    """
    size = np.abs(w)
    c = (radius - float(size.sum())) / (len(w) + 1)
    for _ in range(60):
        root = np.hypot(c, w)
        excess = (len(w) + 1) * c + float(root.sum()) - radius
        lower = c - excess / (len(w) + 1 + float((c / root).sum()))
        if not 0.0 < lower < c * (1.0 - 1e-15):
            break
        c = lower
    root = np.hypot(c, w)
    smaller = 0.5 * (c + c * c / (root + size))
    larger = 0.5 * (c + root + size)
    x = np.concatenate(
        [np.where(w > 0.0, larger, smaller), np.where(w > 0.0, smaller, larger), [c]]
    )
    return x, mu / x


def room(w: FloatArray, dw: FloatArray, radius: float) -> float:
    """How much of dw, at most all of it, leaves w well inside the ball."""
    least = 0.01 * (radius - float(np.abs(w).sum()))
    length = 1.0
    while radius - float(np.abs(w + length * dw).sum()) < least:
        length *= 0.9
    return length


def starting_point(pull: FloatArray, radius: float, lam: float) -> tuple[FloatArray, FloatArray]:
    """Return x and s for w = 0 and g = -pull; all conditions hold except those on the products."""
    d = max(len(pull), 1)
    # P(0) <= 1, so that no optimum is larger than this, whatever the radius
    size = min(radius, math.sqrt(2.0 * d / lam))
    x = np.full(2 * len(pull) + 1, size / (4.0 * d))
    x[-1] = radius - x[:-1].sum()
    tau = 2.0 * float(np.abs(pull).max(initial=0.0)) + 1.0 / size
    return x, np.concatenate([tau - pull, tau + pull, [tau]])
