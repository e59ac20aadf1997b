"""Subgradient steps on some rows, or on all, with an unregularised bias, on plain vectors."""

from __future__ import annotations

import numpy as np

from twins.rng import Generator


class Subgradient:
    """Steps 1/(mu0 + increment t) on ``batch`` rows; ``shuffles`` before every epoch or never.

    With ``per_epoch``, t is the number of the epoch and not that of the step.
    """

    def __init__(self, X, y, lam, seed, batch, mu0, increment, printed=False, shuffles=True,
                 per_epoch=False):  # fmt: skip
        self.X, self.y, self.lam = X, y, lam
        self.batch, self.mu0, self.increment = batch, mu0, increment
        self.printed, self.shuffles, self.per_epoch = printed, shuffles, per_epoch
        self.rng = Generator(seed)
        self.w, self.b = np.zeros(X.shape[1]), 0.0
        self.permutation, self.left = list(range(len(y))), []
        self.t = self.presentations = self.updates = self.nonzeros = 0
        self.epoch = -1

    def step(self):
        """One step."""
        if not self.left:
            if self.shuffles:
                self.rng.shuffle(self.permutation)
            self.left = list(self.permutation)
            self.epoch += 1
        rows, self.left = self.left[: self.batch], self.left[self.batch :]
        margins = self.y[rows] * (self.X[rows] @ self.w + self.b)
        errors = np.array(rows)[margins <= 1.0]
        gamma = 1.0 / (self.mu0 + self.increment * (self.epoch if self.per_epoch else self.t))
        pull = self.lam * (len(self.y) if self.printed else len(rows))
        self.w = self.w - gamma * (pull * self.w - self.X[errors].T @ self.y[errors])
        self.b = self.b + gamma * np.sum(self.y[errors])
        self.t += 1
        self.presentations += len(rows)
        self.updates += len(errors)
        self.nonzeros += np.count_nonzero(self.X[rows]) + np.count_nonzero(self.X[errors])
