"""Newton's method on the squared hinge, on dense rows."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-15


def conjugate_gradients(H, b, wanted):
    """Solve H x = b from 0 until the residual's norm is at most ``wanted``."""
    x, r = np.zeros_like(b), b.copy()
    p = r.copy()
    while np.linalg.norm(r) > wanted:
        a = (r @ r) / (p @ H @ p)
        x, new = x + a * p, r - a * (H @ p)
        p, r = new + (new @ new) / (r @ r) * p, new
    return x


class Newton:
    """Steps to the minimum of the quadratic that the support gives, halved until P falls.

    A free bias is the weight, not regularised, of one more column, the last, of ones.
    """

    def __init__(self, X, y, lam, solution="cholesky", forcing=0.1, free=False):
        lams = np.full(X.shape[1], lam)
        if free:
            X, lams = np.column_stack([X, np.ones(len(y))]), np.append(lams, 0.0)
        self.Z, self.lams = X * y[:, None], lams
        self.m = len(y)
        self.solution, self.forcing = solution, forcing
        self.w = np.zeros(X.shape[1])
        self.updates, self.stopped = 0, False
        self.gradients, self.lengths = [], []

    def primal(self, w):
        below = np.maximum(0.0, 1.0 - self.Z @ w)
        return w @ (self.lams * w) / 2.0 + np.mean(below**2) / 2.0

    def iterate(self):
        if self.stopped:
            return
        inside = self.Z @ self.w < 1.0
        S = self.Z[inside]
        self.updates += len(S)
        H = np.diag(self.lams) + S.T @ S / self.m
        gradient = self.lams * self.w - S.T @ (1.0 - S @ self.w) / self.m
        if self.solution == "cholesky":
            goal = np.linalg.solve(H, S.sum(axis=0) / self.m)  # the quadratic's minimum itself
        else:
            norm = np.linalg.norm(gradient)
            self.gradients.append(norm)
            share = norm / self.gradients[0] if norm else 0.0
            wanted = min(self.forcing, np.sqrt(share)) * norm
            goal = self.w + conjugate_gradients(H, -gradient, wanted)
        before, length = self.primal(self.w), 1.0
        while self.primal(self.w + length * (goal - self.w)) > before and length > 1e-12:
            length /= 2.0
        self.lengths.append(length)
        same = np.array_equal(self.Z @ goal < 1.0, inside)
        self.w = self.w + length * (goal - self.w)
        exact = self.solution == "cholesky" and same
        self.stopped = bool(exact or before - self.primal(self.w) <= ROUNDING * before)
