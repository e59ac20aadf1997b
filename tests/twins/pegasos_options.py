"""Pegasos with batches, orders and projection, on a plain weight vector."""

from __future__ import annotations

import numpy as np

from twins.rng import Generator


class Pegasos:
    """Figures 1 and 2 of the paper; ``iterates`` lists the vectors that steps start from."""

    def __init__(self, X, y, lam, seed, project=False, batch=1, sampling="iid"):
        self.X, self.y, self.lam = X, y, lam
        self.project, self.batch, self.sampling = project, min(batch, len(y)), sampling
        self.rng = Generator(seed)
        self.w = np.zeros(X.shape[1])
        self.iterates, self.batches = [], []
        self.permutation = list(range(len(y)))
        self.left = []  # of the epoch's permutation
        if sampling == "fixed":
            self.rng.shuffle(self.permutation)
        self.presentations = self.updates = 0

    def next_batch(self):
        """Rows of the next step."""
        m, k = len(self.y), self.batch
        if self.sampling == "iid":
            return [self.rng.below(m) for _ in range(k)]
        if self.sampling == "without-replacement":
            order = self.permutation
            for j in range(k):
                other = j + self.rng.below(m - j)
                order[j], order[other] = order[other], order[j]
            return order[:k]
        if not self.left:
            if self.sampling == "permuted":
                self.rng.shuffle(self.permutation)
            self.left = list(self.permutation)
        rows, self.left = self.left[:k], self.left[k:]
        return rows

    def step(self):
        """One step."""
        rows = self.next_batch()
        self.batches.append(rows)
        self.iterates.append(self.w)
        self.presentations += len(rows)
        t = len(self.iterates)
        errors = [i for i in rows if self.y[i] * (self.X[i] @ self.w) < 1.0]
        self.updates += len(errors)
        subgradient = self.lam * self.w - sum(self.y[i] * self.X[i] for i in errors) / len(rows)
        self.w = self.w - subgradient / (self.lam * t)
        norm = np.linalg.norm(self.w)
        if self.project and norm > 1.0 / np.sqrt(self.lam):
            self.w = self.w / (norm * np.sqrt(self.lam))
