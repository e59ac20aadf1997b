"""Dual coordinate descent in blocks of rows, with shrinking and surveys, row by row."""

from __future__ import annotations

import numpy as np

from twins.blocks import in_blocks
from twins.greedy import Greedy
from twins.rng import Generator


class Descent(Greedy):
    """``active`` are the rows that passes visit, ascending; the thresholds are the last pass's."""

    def __init__(self, X, y, lam, seed, dense=False):
        self.X, self.y = X, y
        self.m = len(y)
        self.lam_m = lam * self.m
        self.rng = Generator(seed)
        # A dense row has entries, were they all 0.
        empty = np.zeros(self.m, dtype=bool) if dense else ~np.any(X != 0.0, axis=1)
        self.rows = [i for i in range(self.m) if not empty[i]]
        self.active = list(self.rows)
        self.alpha, self.w = np.where(empty, 1.0, 0.0), np.zeros(X.shape[1])
        self.inverses = self.lam_m / np.maximum(np.sum(X**2, axis=1), 1e-300)
        if dense:
            kept = np.minimum(self.inverses, np.finfo(np.float32).max).astype(np.float32)
            large = kept >= np.finfo(np.float32).tiny
            self.inverses = np.where(large, kept.astype(np.float64), self.inverses)
        self.upper, self.lower = np.inf, -np.inf
        self.largest = self.smallest = self.slack_sum = self.typical = 0.0
        self.least_gain = 0.0
        self.again = []
        self.entries = np.count_nonzero(X, axis=1) if not dense else np.full(self.m, X.shape[1])
        self.visits = np.zeros(self.m, dtype=int)
        self.updates = self.negligible = 0

    @property
    def alpha_sum(self):
        """The sum of all alpha_i."""
        return float(np.sum(self.alpha))

    def order(self, block_rows):
        """The active rows in the order of the next pass."""
        if block_rows == 1:
            order = list(self.active)
            self.rng.shuffle(order)
            return order
        return in_blocks(self.rng, list(self.active), block_rows)

    def descend(self, block_rows, shrinking):
        """One pass over the active rows."""
        if not self.active:
            return
        self.again, self.slack_sum = [], 0.0
        visits = [self.visit(i) for i in self.order(block_rows)]
        seen, inner, leaves, gains, met = [], [], set(), [], 0
        for i, gradient, outwards, leaving, gain in visits:
            seen.append(0.0 if outwards else gradient)
            inner += [] if outwards else [gradient]
            leaves |= {i} if leaving else set()
            gains.append(gain)
            met += self.entries[i]
        total = sum(gains)
        self.largest, self.smallest = max(seen), min(seen)
        self.typical = float(np.mean(np.abs(seen)))
        if min(map(abs, inner), default=np.inf) < 1e-12:
            self.decide(self.largest, self.smallest)
        if shrinking:
            self.active = [i for i in self.active if i not in leaves]
            self.again.sort()
        self.upper = self.largest if self.largest > 0.0 else np.inf
        self.lower = self.smallest if self.smallest < 0.0 else -np.inf
        self.gained, self.met = total / met, met

    def visit(self, i):
        """Visit a row: its number, its gradient, whether it stays and leaves, and the gain."""
        gradient, old = self.gradient(i), self.alpha[i]
        outwards = self.outwards(gradient, old)
        if old in (0.0, 1.0):
            self.decide(gradient, gradient - self.upper, gradient - self.lower)
        if not outwards:
            self.slack_sum += self.share_of_gap(gradient, old)
        leaving = outwards and not self.lower <= gradient <= self.upper
        return i, gradient, outwards, leaving, self.step(i, gradient)

    def step(self, i, gradient):
        """Visit a row; what the step gained."""
        self.visits[i] += 1
        old, entries = self.alpha[i], self.entries[i]
        if self.outwards(gradient, old):
            return 0.0
        new = old - gradient * self.inverses[i]
        self.decide(new, new - 1.0)
        new = min(max(new, 0.0), 1.0)
        gain = 0.5 * (old - new) * gradient
        if self.least_gain > 0.0 and self.met:
            self.compare(gain, self.least_gain * self.gained * entries, new - old)
            if gain < self.least_gain * self.gained * entries:
                return 0.0
        self.w = self.w + (new - old) * self.y[i] * self.X[i] / self.lam_m
        self.alpha[i] = new
        self.updates += bool(new != old)
        negligible = abs(new - old) < 1e-12  # none at all, to other rounding
        self.negligible += bool(negligible)
        self.note(i, gain, new - old)
        return gain

    def visit_again(self, i):
        """Visit a row once more after the pass."""
        self.step(i, self.gradient(i))

    def restore(self):
        """Make all rows active."""
        if len(self.active) < len(self.rows):
            self.again = []
        self.active = list(self.rows)

    def sample(self, stride):
        """Margins and dual variables of every ``stride``-th active row."""
        rows = self.active[::stride]
        self.visits[rows] += 1
        return np.array([self.gradient(i) + 1.0 for i in rows]), self.alpha[rows]

    def survey(self, shrinking, scale=1.0):
        """P - D over all rows; active are all but those that the thresholds leave out."""
        self.visits[self.rows] += 1
        self.again = []
        gradients = {i: self.gradient(i) for i in self.rows}
        self.slack_sum = sum(self.share_of_gap(g, self.alpha[i]) for i, g in gradients.items())
        scaled = {i: scale * (g + 1.0) - 1.0 for i, g in gradients.items()}
        self.scaled_slack_sum = sum(self.share_of_gap(g, self.alpha[i]) for i, g in scaled.items())
        for i, g in gradients.items():
            if self.alpha[i] in (0.0, 1.0):
                self.decide(g, g - self.upper, g - self.lower)
        self.active = [
            i
            for i, g in gradients.items()
            if not shrinking or not self.outwards(g, self.alpha[i]) or self.lower <= g <= self.upper
        ]

    def gradient(self, i):
        """G = s_i - 1."""
        return self.y[i] * (self.X[i] @ self.w) - 1.0

    @staticmethod
    def outwards(gradient, alpha):
        """Whether descent would leave the box at once."""
        return (alpha == 0.0 and gradient >= 0.0) or (alpha == 1.0 and gradient <= 0.0)

    @staticmethod
    def share_of_gap(gradient, alpha):
        """The row's share of m (P - D): (1 - alpha)(1 - s)_+ + alpha (s - 1)_+."""
        return (1.0 - alpha) * max(0.0, -gradient) + alpha * max(0.0, gradient)
