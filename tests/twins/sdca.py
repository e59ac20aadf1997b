"""Stochastic dual coordinate ascent, every iterate kept."""

from __future__ import annotations

import numpy as np

from twins import coordinate
from twins.rng import Generator


class Sdca:
    """The state after each step; ``iterates`` lists pairs (w, alpha) that steps start from."""

    def __init__(self, X, y, lam, loss, seed, sampling="random"):
        self.X, self.y, self.lam, self.loss, self.sampling = X, y, lam, loss, sampling
        self.rng = Generator(seed)
        norms2 = np.sum(X**2, axis=1)
        self.rows = [int(i) for i in np.flatnonzero(norms2)]
        self.norms2 = norms2
        self.w, self.alpha = np.zeros(X.shape[1]), np.zeros(len(y))
        self.alpha[norms2 == 0.0] = coordinate.without_entries(loss)
        self.left, self.drawn = [], False
        self.iterates, self.picked = [], []
        self.updates = 0

    def next_row(self):
        """The row of the next step."""
        if self.sampling == "random":
            return self.rows[self.rng.below(len(self.rows))]
        if not self.left:
            if self.sampling == "perm" or (self.sampling == "fixed" and not self.drawn):
                self.rng.shuffle(self.rows)
                self.drawn = True
            self.left = list(self.rows)
        return self.left.pop(0)

    def step(self):
        """Maximise D over one alpha."""
        self.iterates.append((self.w.copy(), self.alpha.copy()))
        if not self.rows:
            return
        i = self.next_row()
        self.picked.append(i)
        x, y, old = self.X[i], self.y[i], self.alpha[i]
        lam_m = self.lam * len(self.y)
        gradient = coordinate.gradient(self.loss, old, y * (x @ self.w))
        if abs(coordinate.projected(self.loss, old, gradient)) <= 1e-12:
            return  # as LIBLINEAR has it, and dcd
        new = coordinate.best(self.loss, old, gradient, self.norms2[i] / lam_m)
        self.alpha[i] = new
        self.w = self.w + (new - old) * y * x / lam_m
        self.updates += bool(new != old)
