"""The margin perceptron with unlearning, one unit at a time."""

from __future__ import annotations

import numpy as np

from twins.rng import Generator


class Mpu:
    """``I`` counts up to ``N``, a = sum I_i y_i x_i, threshold ``b`` = N lam m."""

    def __init__(self, X, y, lam, seed, N):
        self.X, self.y, self.N = X, y, N
        self.b = N * lam * len(y)
        self.rng = Generator(seed)
        norms2 = np.sum(X**2, axis=1)
        self.norms2 = norms2
        self.I = np.where(norms2 == 0.0, N, 0)
        self.order = [i for i in range(len(y)) if norms2[i] > 0.0]
        self.a = np.zeros(X.shape[1])
        self.presentations = self.updates = 0
        self.learnt = self.unlearnt = self.at_b = self.at_b_plus_n = 0
        self.changed = True

    def whole_pass(self):
        """Present every row that is not zero, in a fresh random order."""
        self.rng.shuffle(self.order)
        before = self.updates
        for i in self.order:
            self.present(i)
        self.changed = self.updates > before

    def present(self, i):
        """One row: learn it unit by unit while p <= b, or unlearn it as long as p stays >= b."""
        self.presentations += 1
        step, n = self.y[i] * self.X[i], self.norms2[i]
        p = step @ self.a
        old = self.I[i]
        self.at_b += p == self.b and old < self.N
        self.at_b_plus_n += p == self.b + n and old > 0
        if p <= self.b:
            while p <= self.b and self.I[i] < self.N:
                self.I[i] += 1
                p += n
        elif p > self.b + n:
            while p - n >= self.b and self.I[i] > 0:
                self.I[i] -= 1
                p -= n
        move = self.I[i] - old
        self.a = self.a + move * step
        self.learnt += move > 0
        self.unlearnt += move < 0
        self.updates += move != 0

    @property
    def potential(self):
        """The pair that grows lexicographically with every change."""
        value = np.sum((self.b + self.norms2 / 2.0) * self.I) - np.sum(self.a**2) / 2.0
        return float(value), int(np.sum(self.I))

    @property
    def alpha(self):
        """The dual variables."""
        return self.I / self.N

    @property
    def w(self):
        """The weights."""
        return self.a / self.b
