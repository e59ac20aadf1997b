"""CoCoA+ by its definition: local problems over the change of the dual variables."""

from __future__ import annotations

import numpy as np

from twins.decisions import Decisions
from twins.rng import Generator


class Cocoa(Decisions):
    """Each shard changes its own alpha, and knows of the others only the w of the last round."""

    def __init__(self, X, y, lam, seed, shards):
        self.X, self.y, self.lam = X, y, lam
        self.m = len(y)
        self.rows = [np.arange(first, self.m, shards) for first in range(min(shards, self.m))]
        rng = Generator(seed)
        self.rngs = [Generator(rng.next()) for _ in self.rows]
        self.alpha = np.where(np.any(X != 0.0, axis=1), 0.0, 1.0)

    def iterate(self, passes):
        """A round: passes of every shard, from the same w."""
        w = self.w
        for rows, rng in zip(self.rows, self.rngs, strict=True):
            self.improve(w, rows, rng, passes)

    def improve(self, w, rows, rng, passes):
        """Exact maximisation of a shard's local problem over one of its rows after another."""
        visited = [i for i in rows if np.any(self.X[i] != 0.0)]
        start = self.alpha.copy()
        for _ in range(passes):
            order = list(range(len(visited)))
            rng.shuffle(order)
            for k in order:
                i = visited[k]
                # d/dalpha_i of 1/m sum alpha - w.(changes) / m - lam sigma'/2 ||changes/(lam m)||^2
                moved = ((self.alpha - start)[rows] * self.y[rows]) @ self.X[rows]
                inner = self.X[i] @ (w + len(self.rows) * moved / (self.lam * self.m))
                rise = 1.0 - self.y[i] * inner
                bend = len(self.rows) * (self.X[i] @ self.X[i]) / (self.lam * self.m)
                new = self.alpha[i] + rise / bend
                self.decide(new, new - 1.0)
                self.alpha[i] = min(max(new, 0.0), 1.0)

    @property
    def w(self):
        """w(alpha)."""
        return (self.alpha * self.y) @ self.X / (self.lam * self.m)
