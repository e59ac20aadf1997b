"""Dual coordinate descent with shrinking, row by row."""

from __future__ import annotations

import numpy as np

from twins import objective
from twins.rng import Generator

NEGLIGIBLE = 1e-12  # a projected gradient this small moves nothing


class Dcd:
    """The state of dcd: ``order[:active]`` are the rows that passes visit.

    Each pass visits the active rows in random order and drops those on a bound whose
    gradient points out of the box by more than any projected gradient of the pass
    before. When the active rows are within the tolerance, or have been visited for
    ``restore_after`` epochs since the last pass over all rows, all rows return. A pass
    over all rows within the tolerance is the stop, and tightens the tolerance tenfold.
    ``row_weights`` are the rows' counts in D, 1 each by default.
    """

    def __init__(
        self, X, y, lam, loss, seed, tolerance=0.1, shrinking=True, restore_after=20.0,
        row_weights=None,
    ):  # fmt: skip
        self.X, self.y, self.loss = X, y, loss
        self.m = len(y)
        self.c = np.ones(self.m) if row_weights is None else row_weights
        self.lam_m = lam * self.m
        self.nu, self.u = objective.curvature(loss), objective.upper_bound(loss)
        self.tolerance, self.shrinking, self.restore_after = tolerance, shrinking, restore_after
        self.rng = Generator(seed)
        empty = ~np.any(X != 0.0, axis=1)
        self.order = [i for i in range(self.m) if not empty[i]]
        self.rng.shuffle(self.order)
        self.rows = self.active = len(self.order)
        self.position = 0
        self.alpha, self.w = np.zeros(self.m), np.zeros(X.shape[1])
        # A row without entries: alpha - nu alpha^2/2 is greatest here.
        self.alpha[empty] = min(self.u, 1.0 / self.nu) if self.nu else self.u
        self.above, self.below = np.inf, -np.inf  # extremes that shrink
        self.seen = []  # projected gradients of this pass
        self.presentations = self.updates = self.last_whole_pass = 0
        self.stopped = False

    def advance(self, steps):
        """Visit ``steps`` active rows."""
        if not self.order:
            self.presentations, self.stopped = self.presentations + steps, True
            return
        for _ in range(steps):
            self.visit(self.order[self.position])
            if self.position == self.active:
                self.end_pass()

    def visit(self, i):
        """One row: shrink it, or minimise over its alpha."""
        self.presentations += 1
        x, y, old = self.X[i], self.y[i], self.alpha[i]
        n = self.c[i] * np.sum(x**2)
        gradient = y * (x @ self.w) - 1.0 + self.nu * old
        at_bottom, at_top = old == 0.0, old == self.u
        outwards = (at_bottom and gradient > self.above) or (at_top and gradient < self.below)
        if self.shrinking and outwards:
            self.active -= 1
            swapped = self.order[self.active]
            self.order[self.position], self.order[self.active] = swapped, i
            return
        self.position += 1
        projected = gradient
        if at_bottom:
            projected = min(gradient, 0.0)
        elif at_top:
            projected = max(gradient, 0.0)
        self.seen.append(projected)
        if abs(projected) <= NEGLIGIBLE:
            return
        new = min(max(old - self.lam_m * gradient / (n + self.nu * self.lam_m), 0.0), self.u)
        self.alpha[i] = new
        self.w = self.w + self.c[i] * (new - old) * y * x / self.lam_m
        self.updates += bool(new != old)

    def end_pass(self):
        """Judge the pass, choose the rows of the next one, shuffle them."""
        high, low = max(self.seen, default=0.0), min(self.seen, default=0.0)
        within = max(high - low, abs(high), abs(low)) <= self.tolerance
        if self.active == self.rows:
            self.last_whole_pass = self.presentations
            if within:
                self.stopped = True
                self.tolerance *= 0.1
            restore = False
        else:
            visited = self.presentations - self.last_whole_pass
            restore = within or visited > self.restore_after * self.m
        if restore:
            self.active = self.rows
        self.above = high if high > 0.0 and not restore else np.inf
        self.below = low if low < 0.0 and not restore else -np.inf
        self.seen, self.position = [], 0
        head = self.order[: self.active]
        self.rng.shuffle(head)
        self.order[: self.active] = head
