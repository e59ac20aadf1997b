"""The best step in the plane of what passes have moved and of the step before, row by row."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-10  # the two directions count as one below this share


class Acceleration:
    """The directions are kept as changes of alpha alone; their weights are found from these."""

    def __init__(self, X, y, lam, nu=0.0, upper=1.0):
        self.X, self.y, self.lam, self.nu, self.upper = X, y, lam, nu, upper
        self.m = len(y)
        self.before, self.last = np.zeros(self.m), np.zeros(self.m)
        self.taken = self.refused = self.clipped = 0
        self.closest = np.inf  # of all decisions so far, that which least would have turned

    def weights(self, alpha):
        """w(alpha)."""
        return self.X.T @ (alpha * self.y) / (self.lam * self.m)

    def dual(self, alpha):
        """D(alpha)."""
        w = self.weights(alpha)
        return np.mean(alpha - 0.5 * self.nu * alpha**2) - 0.5 * self.lam * (w @ w)

    def begin(self, alpha):
        """Remember where the passes begin."""
        self.before = alpha.copy()

    def step(self, alpha):
        """Alpha at the best point of the plane, or as it is."""
        free = (alpha > 0.0) & (alpha < self.upper)
        plane = np.stack([np.where(free, alpha - self.before, 0.0), np.where(free, self.last, 0.0)])
        change = self.best(alpha, plane) @ plane
        moved = np.where(free, np.clip(alpha + change, 0.0, self.upper), alpha)
        inside = free & (moved > 0.0) & (moved < self.upper)
        self.clipped += int(np.sum(free & ~inside))
        rise = self.dual(moved) - self.dual(alpha)
        if np.any(free & ~inside):
            self.closest = min(self.closest, abs(rise))
        if rise < -1e-15:
            self.refused += 1
            self.last = np.zeros(self.m)
            return alpha
        self.taken += bool(change.any())
        self.last = np.where(inside, plane[0] + change, 0.0)
        return moved

    def best(self, alpha, plane):
        """The coefficients of the two directions that maximise D, the box apart."""
        W = np.stack([self.weights(direction) for direction in plane])
        gradient = plane @ (1.0 - self.nu * alpha) / self.m - self.lam * W @ self.weights(alpha)
        hessian = self.nu * plane @ plane.T / self.m + self.lam * W @ W.T
        first, second = hessian[0, 0], hessian[1, 1]
        share = np.linalg.det(hessian) / (first * second) if first * second > 0.0 else 0.0
        if abs(share - ROUNDING) < 1e3 * ROUNDING and first * second > 0.0:
            self.closest = 0.0
        if share > ROUNDING:
            return np.linalg.solve(hessian, gradient)
        return np.array([gradient[0] / first if first > 0.0 else 0.0, 0.0])
