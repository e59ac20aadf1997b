"""The method of multipliers on the hinge: every row is looked at in every step."""

from __future__ import annotations

import numpy as np

SEARCHED, SEARCH_STEPS = 1e-3, 40


class Multipliers:
    """w, the centres and what follows from them; nothing is kept from one step to the next.

    A free bias is the last entry of w, of a column of ones that is not regularised.
    """

    def __init__(self, X, y, lam, counts=None, free=False):
        self.X = np.column_stack([X, np.ones(len(y))]) if free else X
        self.y, self.lam, self.m = y, lam, len(y)
        self.counts = np.ones(self.m) if counts is None else counts
        self.ridge = lam * np.append(np.ones(X.shape[1]), [0.0] * free)

    def begin(self, w, centre, penalty):
        """Take up the method at w; without centres, at those that w suggests."""
        self.w = np.array(w)
        self.penalty = penalty
        suggested = np.clip(0.5 + penalty * (1.0 - self.margins), 0.0, 1.0)
        self.centre = suggested if centre is None else np.array(centre)

    def recentre(self, penalty):
        """Make alpha the centres."""
        self.centre, self.penalty = self.alpha, penalty

    def move(self, step):
        """Go along the step to the minimum of phi or to its end; the share that was gone."""
        length = self.search(step)
        self.w = self.w + length * step
        return length

    def search(self, step):
        """Newton's method on the slope, in a bracket; a slope small enough ends it."""
        low, high, x = 0.0, 1.0, 1.0
        start = self.slope(step, 0.0)
        for _ in range(SEARCH_STEPS):
            slope = self.slope(step, x)
            if abs(slope) <= SEARCHED * abs(start) or (x == 1.0 and slope <= 0.0):
                break
            if slope > 0.0:
                high = x
            else:
                low = x
            x = x - slope / self.bend(step, x)
            if not low < x < high:
                x = 0.5 * (low + high)
        return x

    def slope(self, step, x):
        """d/dx phi(w + x step)."""
        w = self.w + x * step
        alpha = np.clip(self.responses_at(w), 0.0, 1.0)
        pull = self.X.T @ (self.counts * alpha * self.y) / self.m
        return float((self.ridge * w - pull) @ step)

    def bend(self, step, x):
        """The second derivative there."""
        t = self.responses_at(self.w + x * step)
        within = (t > 0.0) & (t < 1.0)
        changes = self.counts[within] * (self.X[within] @ step) ** 2
        return float(self.ridge * step @ step + self.penalty * changes.sum() / self.m)

    def phi(self, w):
        """The smooth function that w minimises between two changes of the centres."""
        t = self.responses_at(w)
        inner = np.clip(t, 0.0, 1.0)
        losses = inner * (t - inner / 2.0) / self.penalty
        return float(self.ridge / 2.0 * w @ w + np.mean(self.counts * losses))

    def responses_at(self, w):
        """t_i = c_i + sigma (1 - s_i)."""
        return self.centre + self.penalty * (1.0 - self.y * (self.X @ w))

    @property
    def margins(self):
        """s_i."""
        return self.y * (self.X @ self.w)

    @property
    def responses(self):
        """t_i at w."""
        return self.responses_at(self.w)

    @property
    def alpha(self):
        """t_i clipped to the box."""
        return np.clip(self.responses, 0.0, 1.0)

    @property
    def pull(self):
        """u = 1/m sum r_i alpha_i y_i x_i."""
        return self.X.T @ (self.counts * self.alpha * self.y) / self.m

    @property
    def within(self):
        """Which rows are in J."""
        return (self.responses > 0.0) & (self.responses < 1.0)

    @property
    def inside(self):
        """Number of rows in J."""
        return int(np.sum(self.within))

    @property
    def curvature(self):
        """The sum of r_i x_i x_i^T over J."""
        inner = self.X[self.within]
        return inner.T @ (self.counts[self.within][:, None] * inner)

    @property
    def alpha_sum(self):
        """The sum of r_i alpha_i."""
        return float(np.sum(self.counts * self.alpha))

    @property
    def slack_sum(self):
        """Shares of all rows in m (P - D)."""
        alpha, s = self.alpha, self.margins
        shares = (1 - alpha) * np.maximum(0, 1 - s) + alpha * np.maximum(0, s - 1)
        return float(np.sum(self.counts * shares))

    @property
    def residual(self):
        """||lam w - u||^2 / (2 lam)."""
        gradient = self.ridge * self.w - self.pull
        return float(gradient @ gradient) / (2.0 * self.lam)

    def newton_step(self):
        """The step that Newton's method on phi proposes."""
        system = np.diag(self.ridge) + self.penalty / self.m * self.curvature
        return np.linalg.solve(system, self.pull - self.ridge * self.w)
