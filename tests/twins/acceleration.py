"""The best step in the plane of what passes have moved and of the step before, with whole rows."""

from __future__ import annotations

import numpy as np

from twins.decisions import Decisions

ROUNDING = 1e-10  # below this share of what it can be, the determinant counts as 0


class Acceleration(Decisions):
    """The directions are changes of alpha alone; their weights are found from these each time.

    ``row_weights`` are the rows' counts, 1 each by default; ``offset`` is added to the last weight.
    """

    def __init__(self, X, y, lam, nu=0.0, upper=1.0, row_weights=None):
        self.X, self.y, self.lam, self.nu, self.upper = X, y, lam, nu, upper
        self.m, self.offset = len(y), np.zeros(X.shape[1])
        self.c = np.ones(self.m) if row_weights is None else row_weights
        self.before, self.last = np.zeros(self.m), np.zeros(self.m)
        self.taken = self.refused = self.clipped = 0

    def weights(self, alpha):
        """w(alpha)."""
        return self.X.T @ (self.c * alpha * self.y) / (self.lam * self.m)

    def shifted(self, alpha):
        """w(alpha) and the offset."""
        return self.weights(alpha) + self.offset

    def dual(self, alpha):
        """D(alpha)."""
        w = self.shifted(alpha)
        return np.mean(self.c * (alpha - 0.5 * self.nu * alpha**2)) - 0.5 * self.lam * (w @ w)

    def begin(self, alpha):
        """Remember where the passes begin; rows at a bound have no share in the step before."""
        self.before = alpha.copy()
        self.last = np.where((alpha > 0.0) & (alpha < self.upper), self.last, 0.0)

    def step(self, alpha):
        """Alpha at the best point of the plane, or as it is."""
        free = (alpha > 0.0) & (alpha < self.upper)
        plane = np.where(free, [alpha - self.before, self.last], 0.0)
        change = self.best(alpha, plane) @ plane
        inside = free & (alpha + change > 0.0) & (alpha + change < self.upper)
        moved = np.where(free, np.clip(alpha + change, 0.0, self.upper), alpha)
        rise = self.dual(moved) - self.dual(alpha)
        # Rows that leave a direction, and rows that are clipped, which leave p and change w.
        self.moved = np.sum(~free & [alpha != self.before, self.last != 0.0], axis=0)
        self.moved += 2 * (free & ~inside)
        self.gained = rise
        if np.any(free & ~inside):
            self.clipped += 1
            self.decide(rise)
            if rise < 0.0:
                self.refused, self.gained = self.refused + 1, 0.0
                self.last = np.zeros(self.m)
                return alpha
        if np.any(free):
            edges = np.concatenate([(alpha + change)[free], (alpha + change)[free] - self.upper])
            self.decide(float(np.min(np.abs(edges))))
        self.taken += bool(change.any())
        self.last = np.where(inside, plane[0] + change, 0.0)
        return moved

    def best(self, alpha, plane):
        """The coefficients of the two directions that maximise D, the box apart."""
        W = np.stack([self.weights(direction) for direction in plane])
        slopes = self.c * (1.0 - self.nu * alpha)
        gradient = plane @ slopes / self.m - self.lam * W @ self.shifted(alpha)
        hessian = self.nu * (self.c * plane) @ plane.T / self.m + self.lam * W @ W.T
        first, second = hessian[0, 0], hessian[1, 1]
        sizes = np.linalg.norm(np.concatenate([W, [self.shifted(alpha)]]), axis=1)
        if np.any((sizes[:2] > 0.0) & (sizes[:2] < 1e-5 * sizes[2])):
            self.decide(0.0)  # where rounding may decide
        if second > 0.0 and first > 0.0:
            share = 1.0 - hessian[0, 1] ** 2 / (first * second)
            self.decide(1e-12 if share < 1e3 * ROUNDING else np.inf)
            if share > ROUNDING:
                return np.linalg.solve(hessian, gradient)
        return np.array([gradient[0] / first if first > 0.0 else 0.0, 0.0])
