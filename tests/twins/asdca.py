"""Accelerated mini-batch SDCA on plain vectors, every iterate kept."""

from __future__ import annotations

import numpy as np

from twins.rng import Generator


class Asdca:
    """The state after each batch; ``iterates`` lists the x that steps start from."""

    def __init__(self, X, y, lam, gamma, seed, theta, batch):
        self.X, self.y, self.lam, self.gamma = X, y, lam, gamma
        self.theta, self.batch = theta, batch
        self.rng = Generator(seed)
        self.rows = list(range(len(y)))
        self.alpha = np.zeros(len(y))
        self.x = np.zeros(X.shape[1])
        self.iterates, self.picked = [], []
        self.updates = 0

    @property
    def z(self):
        """w(alpha)."""
        return self.X.T @ (self.alpha * self.y) / (self.lam * len(self.y))

    def draw(self):
        """Distinct rows: the first steps of a shuffle of the last order, from the front."""
        for j in range(self.batch):
            other = j + self.rng.below(len(self.rows) - j)
            self.rows[j], self.rows[other] = self.rows[other], self.rows[j]
        return self.rows[: self.batch]

    def step(self):
        """One batch."""
        self.iterates.append(self.x)
        theta, chosen = self.theta, self.draw()
        self.picked.append(list(chosen))
        u = (1.0 - theta) * self.x + theta * self.z
        best = np.clip((1.0 - self.y * (self.X @ u)) / self.gamma, 0.0, 1.0)
        old = self.alpha.copy()
        self.alpha[chosen] = (1.0 - theta) * old[chosen] + theta * best[chosen]
        self.updates += int(np.sum(np.abs(self.alpha - old) > 0.0))
        self.x = (1.0 - theta) * self.x + theta * self.z
