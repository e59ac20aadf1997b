"""Pegasos on a plain weight vector."""

from __future__ import annotations

import numpy as np

from twins.rng import Generator


class Pegasos:
    """Figure 1 of the paper with one row a step; ``picked`` lists the rows drawn."""

    def __init__(self, X, y, lam, seed, project=False):
        self.X, self.y, self.lam, self.project = X, y, lam, project
        self.rng = Generator(seed)
        self.w = np.zeros(X.shape[1])
        self.t = self.updates = 0
        self.picked = []

    def step(self):
        """One step."""
        self.t += 1
        i = self.rng.below(len(self.y))
        self.picked.append(i)
        error = self.y[i] * (self.X[i] @ self.w) < 1.0
        self.w = (1.0 - 1.0 / self.t) * self.w
        if error:
            self.w = self.w + self.y[i] * self.X[i] / (self.lam * self.t)
            self.updates += 1
        norm = np.linalg.norm(self.w)
        if self.project and norm > 1.0 / np.sqrt(self.lam):
            self.w = self.w / (norm * np.sqrt(self.lam))
