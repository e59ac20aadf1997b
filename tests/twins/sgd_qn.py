"""svmsgd2, sgd-qn, its correction and dense SGD as their pages print them.

B itself is kept, every vector is dense, and gradients are written out before they are
subtracted. Numbers may be floats or fractions.
"""

from __future__ import annotations

import math

import numpy as np

from twins import objective
from twins.rng import Generator


def minus_slope(loss, s):
    """-loss'(s); 0 on the hinge's kink."""
    if loss.name == "logistic":
        return 1 / (1 + math.exp(s)) if s < 700 else 0
    if s >= 1:
        return 0
    if loss.name == "hinge":
        return 1
    return 1 - s if loss.name == "squared-hinge" else min((1 - s) / loss.gamma, 1)


def shrinkage(rate, skip):
    """What is left of a weight after ``skip`` steps of that rate."""
    return 1 - skip * rate if 1 - skip * rate >= 0.8 else (1 - rate) ** skip


class Scheduled:
    """Passes over rows shuffled once, or before each pass."""

    def __init__(
        self,
        X,
        y,
        lam,
        loss,
        seed=None,
        t0=None,
        skip=None,
        sampling="fixed",
        t0_rule="search",
        averaging="printed",
    ):
        self.X, self.y, self.lam, self.loss, self.sampling = X, y, lam, loss, sampling
        self.averaging = averaging
        nonzeros = np.count_nonzero(X)
        self.skip = skip or max(1, round(16.0 / (max(nonzeros, 1) / X.size)))
        self.order = list(range(len(y)))
        self.rng = None if seed is None else Generator(seed)
        if self.rng:
            self.rng.shuffle(self.order)
        self.t0 = t0 or {"search": self.search, "released": self.released}[t0_rule]()
        self.w = np.zeros_like(X[0])
        self.t = self.updates = self.position = 0
        self.count = self.skip
        self.begin()

    def begin(self):
        """Set what the method keeps besides w."""

    def step(self):
        """Present the next row."""
        if self.position == len(self.order):
            self.position = 0
            if self.sampling == "permuted":
                self.rng.shuffle(self.order)
        i = self.order[self.position]
        self.position += 1
        self.present(self.X[i], self.y[i])

    def pull(self, w, x, y):
        """-loss' of a row at w."""
        return minus_slope(self.loss, y * (x @ w))

    def gradient(self, w, x, y):
        """Of lam/2 ||w||^2 + loss of one row."""
        return self.lam * w - self.pull(w, x, y) * y * x

    def trial(self):
        """The class whose passes choose t0."""
        return SgdQn

    def released(self):
        """1/(lam eta0) with eta0 = u/max(1, -loss'(-u)), u = lam^(-1/4); at least 1."""
        u = float(self.lam) ** -0.25
        eta0 = u / max(1.0, float(minus_slope(self.loss, -u)))
        return max(1.0, 1.0 / (float(self.lam) * eta0))

    def search(self):
        """The best of the powers of ten on the first tenth."""
        some = self.order[: math.ceil(0.1 * len(self.order))]
        found, least = 1e10, math.inf
        for t0 in [10.0**k for k in range(11)]:
            run = self.trial()(
                self.X[some],
                self.y[some],
                self.lam,
                self.loss,
                t0=t0,
                skip=self.skip,
                averaging=self.averaging,
            )
            for _ in some:
                run.step()
            P = objective.primal(run.X, run.y, self.lam, self.loss, run.w)
            if least > P:
                found, least = t0, P
        return found


class Sgd(Scheduled):
    """w <- w - 1/(lam (t+t0)) (lam w + loss' y x)."""

    def present(self, x, y):
        self.updates += bool(self.pull(self.w, x, y))
        self.w = self.w - self.gradient(self.w, x, y) / (self.lam * (self.t + self.t0))
        self.t += 1


class Svmsgd2(Scheduled):
    """Figure 2 of the paper, left."""

    def present(self, x, y):
        pull = self.pull(self.w, x, y)
        self.w = self.w + pull * y * x / (self.lam * (self.t + self.t0))
        self.updates += bool(pull)
        self.count -= 1
        if self.count <= 0:
            self.count = self.skip
            self.w = self.w * shrinkage(1 / (self.t + self.t0), self.skip)
        self.t += 1


class SgdQn(Scheduled):
    """Figure 2 of the paper, right."""

    def begin(self):
        self.B = (np.zeros_like(self.X[0]) + 1) / self.lam
        self.r, self.due = 2, False

    def present(self, x, y):
        old = self.w
        pull = self.pull(old, x, y)
        self.w = old + pull * y * self.B * x / (self.t + self.t0)
        self.updates += bool(pull)
        if self.due:
            self.due = False
            if self.averaging == "printed":
                self.average(x, y, old, 2 / self.r)
                self.r += 1
            elif self.pull(self.w, x, y) != pull:
                self.average(x, y, old, 2 * self.skip / (self.t + self.t0 + self.skip))
        self.count -= 1
        if self.count <= 0:
            self.count, self.due = self.skip, True
            rates = self.lam * self.B / (self.t + self.t0)
            self.w = self.w * np.array([shrinkage(rate, self.skip) for rate in rates])
        self.t += 1

    def average(self, x, y, old, share):
        """Move B towards the ratios of the step from ``old``."""
        p = self.gradient(self.w, x, y) - self.gradient(old, x, y)
        for i in range(len(p)):
            change = self.w[i] - old[i]
            ratio = 1 / self.lam if x[i] == 0 or change == p[i] == 0 else change / p[i]
            self.B[i] += (ratio - self.B[i]) * share
            self.B[i] = max(self.B[i], 1 / (100 * self.lam))


class Corrected(Scheduled):
    """The erratum's form: 1/B grows by an estimate of the curvature for every step."""

    def begin(self):
        self.inverse = np.full(self.X.shape[1], self.lam * self.t0)
        self.due, self.moved, self.saved = False, 0, None

    def trial(self):
        return Corrected

    def present(self, x, y):
        pull = self.pull(self.w, x, y)
        self.t += 1
        if self.due:
            self.due = False
            before = self.pull(self.saved, x, y)
            if pull != before:
                for i in range(len(x)):
                    change = self.w[i] - self.saved[i]
                    if x[i] == 0.0:
                        rho = self.lam
                    elif change == 0.0:
                        rho = 101.0 * self.lam
                    else:
                        rho = self.lam - y * (pull - before) * x[i] / change
                        rho = min(max(rho, 0.1 * self.lam), 100.0 * self.lam)
                    self.inverse[i] += (self.t - self.moved) * rho
                self.moved = self.t
        self.count -= 1
        if self.count <= 0:
            self.count, self.due, self.saved = self.skip, True, self.w
            rates = self.lam / self.inverse
            self.w = self.w * np.array([shrinkage(rate, self.skip) for rate in rates])
        self.w = self.w + pull * y * x / self.inverse
        self.updates += bool(pull)
