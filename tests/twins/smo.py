"""Sequential minimal optimisation in working sets, on dense rows and the whole matrix."""

from __future__ import annotations

import numpy as np

from twins import objective


class Smo:
    """All quantities from their definitions at every step; f = y (1 - nu alpha) - w.x."""

    def __init__(self, X, y, lam, loss, size=256):
        self.X, self.y, self.lam, self.loss, self.size = X, y, lam, loss, size
        self.nu, self.upper = objective.curvature(loss), objective.upper_bound(loss)
        self.K = X @ X.T / (lam * len(y))
        self.alpha = np.zeros(len(y))
        self.set = list(range(len(y))) if len(y) <= size else []
        self.pairs = 0

    def f(self):
        return self.y * (1.0 - self.nu * self.alpha) - self.K @ (self.alpha * self.y)

    def up(self):
        return np.where(self.y > 0, self.alpha < self.upper, self.alpha > 0)

    def low(self):
        return np.where(self.y > 0, self.alpha > 0, self.alpha < self.upper)

    def violation(self, rows=slice(None)):
        f = self.f()[rows]
        return np.max(f[self.up()[rows]]) - np.min(f[self.low()[rows]])

    def choose(self):
        if len(self.set) == len(self.y):
            return self.set
        f, share = self.f(), max(1, self.size // 4)
        up, low = np.flatnonzero(self.up()), np.flatnonzero(self.low())
        lowest, highest = f[low].min(), f[up].max()
        worst = {i for i in up[np.argsort(-f[up], kind="stable")][:share] if f[i] > lowest}
        worst |= {i for i in low[np.argsort(f[low], kind="stable")][:share] if f[i] < highest}
        free = [i for i in self.set if 0 < self.alpha[i] < self.upper]
        kept = free + [i for i in self.set if i not in free]
        kept = [i for i in kept if i not in worst]
        return [*sorted(worst), *kept[: self.size - len(worst)]]

    def gains(self, rows):
        """The row to move up, and by row to move down: the gain doubled, and the curvature."""
        f, up, low = self.f(), self.up(), self.low()
        i = max((k for k in rows if up[k]), key=lambda k: f[k])
        found = {}
        for k in rows:
            if low[k] and f[k] < f[i]:
                curved = max(self.K[i, i] + self.K[k, k] - 2 * self.K[i, k] + 2 * self.nu, 1e-300)
                found[k] = ((f[i] - f[k]) ** 2 / curved, curved)
        return i, found

    def decided(self):
        """Whether the best pair of all is so by more than rounding."""
        i, found = self.gains(range(len(self.y)))
        others = np.delete(self.f(), i)[np.delete(self.up(), i)]
        best = sorted((gain for gain, _ in found.values()), reverse=True)
        one = len(best) < 2 or best[1] < (1.0 - 1e-9) * best[0]
        return bool(np.max(others, initial=-np.inf) < self.f()[i] - 1e-9 and one)

    def pair(self, rows):
        """Move the pair of ``rows`` that second-order selection takes."""
        f = self.f()
        i, found = self.gains(rows)
        j = max(found, key=lambda k: found[k][0])
        step = (f[i] - f[j]) / found[j][1]
        room_i = self.upper - self.alpha[i] if self.y[i] > 0 else self.alpha[i]
        room_j = self.alpha[j] if self.y[j] > 0 else self.upper - self.alpha[j]
        step = min(step, room_i, room_j)
        self.alpha[i] += self.y[i] * step
        self.alpha[j] -= self.y[j] * step
        if step == room_i:
            self.alpha[i] = self.upper if self.y[i] > 0 else 0.0
        if step == room_j:
            self.alpha[j] = 0.0 if self.y[j] > 0 else self.upper
        self.pairs += 1

    def iterate(self):
        rows, wanted, first = self.choose(), 0.1 * self.violation(), self.pairs
        while self.violation(rows) > wanted and self.pairs < first + 50 * len(rows):
            self.pair(rows)
        self.set = rows
