"""The maximum of D over the free rows, found from whole rows and from D itself."""

from __future__ import annotations

import numpy as np

from twins.decisions import Decisions

HALVINGS = 12
LEAST_RISE = 1e-4


class Subspace(Decisions):
    """Projected Newton steps on the rows that are free at first, until none is cut at the box."""

    def __init__(self, X, y, lam):
        self.X, self.y, self.lam, self.m = X, y, lam, len(y)
        self.cut = 0

    def weights(self, alpha):
        """w(alpha)."""
        return self.X.T @ (alpha * self.y) / (self.lam * self.m)

    def dual(self, alpha):
        """D(alpha)."""
        w = self.weights(alpha)
        return np.mean(alpha) - 0.5 * self.lam * (w @ w)

    def step(self, alpha, most=20):
        """Alpha after at most so many steps."""
        free = (alpha > 0.0) & (alpha < 1.0)
        for _ in range(most):
            gradient = self.y * (self.X @ self.weights(alpha)) - 1.0
            inwards = ((alpha > 0.0) | (gradient < 0.0)) & ((alpha < 1.0) | (gradient > 0.0))
            at_bound = free & ((alpha == 0.0) | (alpha == 1.0))
            self.decide(*gradient[at_bound])
            inside = np.flatnonzero(free & inwards)
            if not len(inside):
                return alpha
            Z = self.y[inside, None] * self.X[inside]
            whole = np.zeros(self.m)
            whole[inside] = np.linalg.solve(Z @ Z.T / (self.lam * self.m), -gradient[inside])
            new = alpha + self.length(alpha, gradient, whole) * whole
            if np.all((new >= 0.0) & (new <= 1.0)):
                return new
            self.cut += 1
            alpha = np.clip(new, 0.0, 1.0)
        return alpha

    def length(self, alpha, gradient, whole):
        """The first of 1, 1/2, ... at which D rises by enough."""
        for length in 0.5 ** np.arange(HALVINGS):
            new = np.clip(alpha + length * whole, 0.0, 1.0)
            first = -(gradient @ (new - alpha)) / self.m
            rise = self.dual(new) - self.dual(alpha) - LEAST_RISE * first
            self.decide(rise, *(alpha + length * whole)[whole != 0])
            self.decide(*(alpha + length * whole - 1.0)[whole != 0])
            if rise >= 0.0 and first > 0.0:
                return length
        raise AssertionError("no length was found")
