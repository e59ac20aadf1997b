"""Stochastic dual coordinate ascent, every iterate kept."""

from __future__ import annotations

import numpy as np

from twins import objective
from twins.rng import Generator


class Sdca:
    """The state after each step; ``iterates`` lists pairs (w, alpha) that steps start from."""

    def __init__(self, X, y, lam, loss, seed, sampling="random"):
        self.X, self.y, self.lam, self.loss, self.sampling = X, y, lam, loss, sampling
        self.nu, self.u = objective.curvature(loss), objective.upper_bound(loss)
        self.rng = Generator(seed)
        norms2 = np.sum(X**2, axis=1)
        self.rows = [int(i) for i in np.flatnonzero(norms2)]
        self.norms2 = norms2
        self.w, self.alpha = np.zeros(X.shape[1]), np.zeros(len(y))
        # A row without entries: alpha - nu alpha^2/2 is greatest here.
        self.alpha[norms2 == 0.0] = min(self.u, 1.0 / self.nu) if self.nu else self.u
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
        rise = 1.0 - y * (x @ self.w) - self.nu * old
        if (old == 0.0 and rise < 1e-12) or (old == self.u and rise > -1e-12):
            return
        new = min(max(old + lam_m * rise / (self.norms2[i] + self.nu * lam_m), 0.0), self.u)
        if abs(rise) <= 1e-12:
            return  # as LIBLINEAR has it, and dcd
        self.alpha[i] = new
        self.w = self.w + (new - old) * y * x / lam_m
        self.updates += bool(new != old)
