"""Online BFGS of limited memory: gradients subtracted, H a matrix built from its pairs."""

from __future__ import annotations

import numpy as np

from twins.sgd_qn import Scheduled


class Olbfgs(Scheduled):
    """``pairs`` lists the last (sigma, psi), oldest first."""

    rank, gain = 10, 0.1

    def begin(self):
        self.pairs = []

    def trial(self):
        return type(self)

    def inverse_hessian(self):
        """The BFGS formula, once for each pair."""
        d = self.X.shape[1]
        if not self.pairs:
            return 1e-4 * np.eye(d)
        H = np.mean([(s @ p) / (p @ p) for s, p in self.pairs]) * np.eye(d)
        for sigma, psi in self.pairs:
            V = np.eye(d) - np.outer(psi, sigma) / (sigma @ psi)
            H = V.T @ H @ V + np.outer(sigma, sigma) / (sigma @ psi)
        return H

    def present(self, x, y):
        gradient = self.gradient(self.w, x, y)
        self.updates += bool(self.pull(self.w, x, y))
        step = -self.inverse_hessian() @ gradient
        sigma = self.gain * (self.t0 / self.lam) / (self.t0 + self.t) * step
        self.w = self.w + sigma
        psi = self.gradient(self.w, x, y) - gradient + self.t0 * sigma
        if np.any(sigma != 0.0):
            self.pairs = [*self.pairs, (sigma, psi)][-self.rank :]
        self.t += 1
