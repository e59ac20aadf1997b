"""Dual coordinate descent with shrinking, row by row."""

from __future__ import annotations

import numpy as np

from twins import coordinate, objective
from twins.acceleration import Acceleration
from twins.greedy import Greedy
from twins.rng import Generator

NEGLIGIBLE = 1e-12  # a projected gradient this small moves nothing
LINGERING = 0.3  # share of the last rise of D beyond which passes linger
COSTS = (4, 10)  # entries that a step of the acceleration is worth, per feature and active row
INTERVAL = 3  # cost of passes over that of the step that follows them
SMALLEST_RISE = 1e-13  # share of D that is rounding
HIGH_GAIN = 3  # a step that gains more per entry, in units of the last pass's mean, is repeated
TYPICAL = 2  # mean projected gradients that shrink a greedy descent's rows


class Dcd(Greedy):
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
        row_weights=None, acceleration=False, dense=False, greedy=False,
    ):  # fmt: skip
        self.X, self.y, self.loss = X, y, loss
        self.m = len(y)
        self.c = np.ones(self.m) if row_weights is None else row_weights
        self.lam_m = lam * self.m
        self.tolerance, self.shrinking, self.restore_after = tolerance, shrinking, restore_after
        self.rng = Generator(seed)
        empty = ~np.any(X != 0.0, axis=1)
        self.order = [i for i in range(self.m) if not empty[i]]
        self.rng.shuffle(self.order)
        self.rows = self.active = len(self.order)
        self.position = 0
        self.alpha, self.w = np.zeros(self.m), np.zeros(X.shape[1])
        self.alpha[empty] = coordinate.without_entries(loss)
        self.above, self.below = np.inf, -np.inf  # extremes that shrink
        self.seen = []  # projected gradients of this pass
        self.presentations = self.updates = self.last_whole_pass = 0
        self.stopped = False
        # A dense row has as many entries as there are features, whatever they are.
        self.entries = np.full(self.m, X.shape[1]) if dense else np.count_nonzero(X, axis=1)
        self.acceleration = acceleration
        self.plane = self.plane_of(lam)
        self.lingers = self.open = False
        self.last_rise, self.touched = np.inf, 0
        self.stepped = None  # rise of D and cost of the step before the last pass
        self.failures = self.paid = 0  # steps in turn that did not pay, and steps that did
        self.greedy, self.again, self.repeated = greedy, [], 0
        self.high_gain = HIGH_GAIN if greedy else np.inf
        self.gain_sum = self.slack = 0.0
        self.entries_met = self.negligible = 0
        self.begin_pass()

    def plane_of(self, lam):
        """The acceleration, which knows hinges only."""
        if self.loss.name == "logistic":
            return None
        nu, upper = objective.curvature(self.loss), objective.upper_bound(self.loss)
        return Acceleration(self.X, self.y, lam, nu, upper, self.c)

    def advance(self, steps):
        """Visit ``steps`` active rows."""
        if not self.order:
            self.presentations, self.stopped = self.presentations + steps, True
            return
        target = self.presentations + steps
        while self.presentations < target:
            self.visit(self.order[self.position])
            if self.position == self.active:
                self.end_pass()

    def visit(self, i):
        """One row: shrink it, or minimise over its alpha."""
        self.presentations += 1
        self.pass_touched += self.entries[i]
        x, y, old = self.X[i], self.y[i], self.alpha[i]
        margin = y * (x @ self.w)
        gradient = coordinate.gradient(self.loss, old, margin)
        at_bottom, at_top = old == 0.0, old == objective.upper_bound(self.loss)
        outwards = (at_bottom and gradient > self.above) or (at_top and gradient < self.below)
        if self.shrinking and outwards:
            self.active -= 1
            swapped = self.order[self.active]
            self.order[self.position], self.order[self.active] = swapped, i
            return
        self.position += 1
        projected = coordinate.projected(self.loss, old, gradient)
        self.seen.append(projected)
        self.entries_met += self.entries[i]
        self.slack += self.c[i] * float(
            objective.gap_terms(self.loss, np.array([margin]), np.array([old]))[0]
        )
        if abs(projected) > NEGLIGIBLE:
            self.gain_sum += self.move(i, gradient)

    def move(self, i, gradient):
        """The best step of a row; its gain. It is noted where it gained much."""
        x, y, old, n = self.X[i], self.y[i], self.alpha[i], self.c[i] * np.sum(self.X[i] ** 2)
        new = coordinate.best(self.loss, old, gradient, n / self.lam_m)
        self.alpha[i] = new
        self.w = self.w + self.c[i] * (new - old) * y * x / self.lam_m
        self.updates += bool(new != old)
        self.negligible += bool(abs(new - old) < 1e-12)  # none at all, to other rounding
        self.pass_touched += self.entries[i] * bool(new != old)
        gain = 0.5 * self.c[i] * (old - new) * gradient
        self.note(i, gain, min(abs(new - old), abs(gradient)))
        return gain

    def visit_again(self, i):
        """Visit a row once more after the pass."""
        margin = self.y[i] * (self.X[i] @ self.w)
        self.move(i, coordinate.gradient(self.loss, self.alpha[i], margin))
        self.pass_touched += self.entries[i]
        self.presentations += 1
        self.repeated += 1

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
        if self.acceleration and not (self.active == self.rows and within):
            self.accelerate()
        if restore:
            self.active = self.rows
            self.open = False
        if self.greedy:
            typical = TYPICAL * np.sum(np.abs(self.seen)) / max(1, len(self.seen))
            high, low = min(high, typical), max(low, -typical)
        self.above = high if high > 0.0 and not restore else np.inf
        self.below = low if low < 0.0 and not restore else -np.inf
        self.seen, self.position = [], 0
        self.met = self.entries_met
        self.gained = self.gain_sum / self.met if self.met else 0.0
        self.gain_sum, self.entries_met = 0.0, 0
        self.expected, self.slack = self.slack / self.m, 0.0
        head = self.order[: self.active]
        self.rng.shuffle(head)
        self.order[: self.active] = head
        self.begin_pass()
        self.revisit()

    def begin_pass(self):
        """Remember where the pass begins."""
        self.pass_touched = 0
        self.pass_dual = self.plane.dual(self.alpha) if self.acceleration else 0.0
        if self.lingers and not self.open:
            self.plane.begin(self.alpha)
            self.open, self.touched = True, 0
            self.cost = COSTS[0] * self.X.shape[1] + COSTS[1] * self.active

    def accelerate(self):
        """The best step in the plane, once passes linger and have touched enough entries."""
        dual = self.plane.dual(self.alpha)
        rise = dual - self.pass_dual
        if not self.lingers:
            self.decide(rise - LINGERING * self.last_rise)
            self.lingers = rise > LINGERING * self.last_rise
            self.last_rise = rise
            return
        self.touched += self.pass_touched
        self.decide(rise - SMALLEST_RISE * dual)
        if rise <= SMALLEST_RISE * dual:
            self.open = False
        elif self.stepped:
            gained, cost = self.stepped
            due = gained * self.pass_touched / cost
            self.decide(due - rise)
            paid = due >= rise
            self.paid += paid
            self.failures = 0 if paid else self.failures + 1
        self.stepped = None
        if self.open and self.touched >= INTERVAL * self.cost * 2**self.failures:
            self.alpha = self.plane.step(self.alpha)
            self.w = self.plane.weights(self.alpha)
            self.decide(self.plane.closest)
            self.stepped = self.plane.gained, self.cost + self.entries @ self.plane.moved
            self.open = False
