"""The online methods on plain vectors, projections by sorting."""

from __future__ import annotations

import numpy as np

from twins.objective import project_l1
from twins.rng import Generator


def project_weighted(y, h, radius):
    """The w of least sum h (w - y)^2 with ||w||_1 <= radius, by sorting."""
    sizes = np.abs(y)
    if np.sum(sizes) <= radius:
        return np.array(y)
    order = np.argsort(-h * sizes)
    thresholds = (np.cumsum(sizes[order]) - radius) / np.cumsum(1.0 / h[order])
    tau = thresholds[np.flatnonzero((h * sizes)[order] > thresholds)[-1]]
    return np.sign(y) * np.maximum(sizes - tau / h, 0.0)


class Online:
    """One random row a step; ``iterates`` lists w before each step, ``picked`` the rows.

    A subclass defines `move`, which returns the next w for a subgradient at the present one.
    """

    def __init__(self, X, y, lam, radius, seed):
        self.X, self.y, self.lam, self.radius = X, y, lam, radius
        self.rng = Generator(seed)
        self.w = np.zeros(X.shape[1])
        self.t = self.updates = 0
        self.iterates, self.picked = [], []

    def project(self, w):
        return project_l1(w, self.radius)

    def rows(self):
        """The rows of the next step, in order."""
        return [self.rng.below(len(self.y))]

    def step(self):
        """One step."""
        rows = self.rows()
        self.picked += rows
        self.iterates.append(self.w)
        errors = self.y[rows] * (self.X[rows] @ self.w) < 1.0
        g = self.lam * self.w - (self.y[rows] * errors) @ self.X[rows] / len(rows)
        self.t += 1
        self.updates += int(errors.sum())
        self.w = self.move(g)

    @property
    def average(self):
        """Mean of all iterates, the first and the last among them."""
        return np.mean([*self.iterates, self.w], axis=0)


class SgdSqrt(Online):
    """w <- Pi(w - eta0/sqrt(t) g)."""

    eta0 = 1.0

    def move(self, g):
        return self.project(self.w - self.eta0 / np.sqrt(self.t) * g)


class Pegasos(Online):
    """w <- Pi(w - g/(lam t)), with the mean of the subgradients of ``batch`` rows."""

    batch = 1

    def rows(self):
        return [self.rng.below(len(self.y)) for _ in range(self.batch)]

    def move(self, g):
        return self.project(self.w - g / (self.lam * self.t))


class Smd(Online):
    """theta <- theta - eta0/sqrt(t) g; w = Pi(theta)."""

    eta0, theta = 1.0, 0.0

    def move(self, g):
        self.theta = self.theta - self.eta0 / np.sqrt(self.t) * g
        return self.project(self.theta)


class SegPm(Online):
    """Two weights a feature as they are written: fit for few steps, since they overflow."""

    def __init__(self, X, y, lam, radius, seed, eta0=None):
        super().__init__(X, y, lam, radius, seed)
        self.weights = np.ones(2 * X.shape[1])
        self.eta0 = 2.0 * np.sqrt(np.log(2 * X.shape[1])) if eta0 is None else eta0

    def move(self, g):
        eta = self.eta0 / np.sqrt(self.t)
        self.weights = self.weights * np.exp(np.concatenate([-eta * g, eta * g]))
        self.weights = self.weights / self.weights.sum()
        positive, negative = np.split(self.weights, 2)
        return self.radius * (positive - negative)


class Adagrad(Online):
    """Steps and projections in the norm of the root of all squares."""

    def __init__(self, X, y, lam, radius, seed, eta):
        super().__init__(X, y, lam, radius, seed)
        self.eta, self.squares = eta, np.full(X.shape[1], 1.0 / (4 * X.shape[1]))

    def move(self, g):
        self.squares = self.squares + g**2
        h = np.sqrt(self.squares)
        return project_weighted(self.w - self.eta * g / h, h, self.radius)
