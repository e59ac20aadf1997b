"""Cutting planes on dense rows: the reduced problem, the line search by sorting, ocas, svmperf."""

from __future__ import annotations

import numpy as np

ROUNDING = 1e-15
LONGEST = 1000.0


def maximise(H, offsets, beta, tolerance, most):
    """Pairwise steps on the simplex, until no gradient exceeds the mean one by the tolerance."""
    beta = beta.copy()
    for _ in range(most):
        u = offsets - H @ beta
        up = int(np.argmax(u))
        if u[up] - u @ beta <= tolerance:
            break
        rise = u[up] - u
        bend = H[up, up] + np.diag(H) - 2.0 * H[up]
        step = np.where(bend * beta > rise, rise / np.where(bend > 0.0, bend, 1.0), beta)
        gain = np.where(beta > 0.0, step * (rise - 0.5 * bend * step), 0.0)
        down = int(np.argmax(gain))
        if gain[down] <= 0.0 or beta[up] + step[down] == beta[up]:
            break
        beta[up] += step[down]
        beta[down] -= step[down]
    return beta


def line_search(lam, w, step, old, new):
    """The k >= 0 that minimises P(w + k step), walking along the sorted kinks."""
    m = len(old)
    e = (old - new) / m
    slope = lam * (w @ step) + np.sum(e[(old < 1.0) | ((old == 1.0) & (e > 0.0))])
    bend = lam * (step @ step)
    if slope >= 0.0 or bend == 0.0:
        return 0.0
    moving = e != 0.0
    kinks = (1.0 - old[moving]) / (new[moving] - old[moving])
    rises = np.abs(e[moving])
    here = 0.0
    for j in np.argsort(kinks):
        if kinks[j] <= 0.0:
            continue
        if slope + bend * (kinks[j] - here) >= 0.0:
            break
        slope += bend * (kinks[j] - here)
        here = kinks[j]
        if slope + rises[j] >= 0.0:
            return here
        slope += rises[j]
    return here - slope / bend


class CuttingPlane:
    """The reduced problem and what both methods do with it; cut 0 is 0 >= 0."""

    ties: bool

    def __init__(self, X, y, lam, keep):
        self.Z, self.lam, self.keep = X * y[:, None], lam, keep
        self.m = len(y)
        self.G, self.offsets, self.beta = np.zeros((1, X.shape[1])), np.zeros(1), np.ones(1)
        self.idle = np.zeros(1)
        self.w = np.zeros(X.shape[1])
        self.at = np.zeros(self.m)
        self.dual, self.updates = 0.0, 0
        self.primal, self.sharper = 1.0, 1.0
        self.stopped = self.exhausted = False

    def iterate(self):
        """Cut, solve, judge."""
        if self.exhausted:
            return
        chosen = (self.at <= 1.0) if self.ties else (self.at < 1.0)
        self.updates += int(np.sum(chosen))
        self.G = np.vstack([self.G, self.Z[chosen].sum(axis=0) / self.m])
        self.offsets = np.append(self.offsets, np.mean(chosen))
        self.beta, self.idle = np.append(self.beta, 0.0), np.append(self.idle, 0)
        tolerance = self.sharper * self.inner()
        H = self.G @ self.G.T / self.lam
        floor = max(tolerance, ROUNDING * getattr(self, "value", 0.0))
        beta = maximise(H, self.offsets, self.beta, floor, 1000 * len(self.beta))
        beta /= max(beta.sum(), 1.0)
        beta[0] = max(0.0, 1.0 - beta[1:].sum())
        self.beta = beta
        self.idle = np.where(beta > 0.0, 0, self.idle + 1)
        self.w = beta @ self.G / self.lam
        self.value = beta @ self.offsets - self.lam / 2.0 * self.w @ self.w
        rose = self.value > self.dual * (1.0 + ROUNDING)
        self.dual = max(self.dual, self.value)
        moved = self.judge(self.Z @ self.w)
        if not (rose or moved):
            self.sharper *= 0.1
        done = self.primal - self.dual <= ROUNDING * self.primal
        stuck = tolerance < ROUNDING * self.dual and not (rose or moved)
        self.exhausted = bool(done or stuck)


class Ocas(CuttingPlane):
    """Line search from the best point; its margins move along."""

    ties = True

    def __init__(self, X, y, lam, tolerance=0.01, beyond=0.1):
        super().__init__(X, y, lam, keep=np.inf)
        self.tolerance, self.beyond = tolerance, beyond
        self.output, self.margins = np.zeros(X.shape[1]), np.zeros(len(y))

    def inner(self):
        return 0.5 * self.tolerance * self.primal

    def judge(self, margins):
        step = self.w - self.output
        k = min(line_search(self.lam, self.output, step, self.margins, margins), LONGEST)
        self.output = self.output + k * step
        self.margins = self.margins + k * (margins - self.margins)
        self.at = self.margins + self.beyond * (margins - self.margins)
        hinge = np.mean(np.maximum(0.0, 1.0 - self.margins))
        self.primal = self.lam / 2.0 * self.output @ self.output + hinge
        if self.primal - self.dual <= self.tolerance * self.primal:
            self.stopped = True
            self.tolerance *= 0.1
        return k > 0.0


class Svmperf(CuttingPlane):
    """The cut at the reduced problem's own point."""

    ties = False

    def __init__(self, X, y, lam, epsilon=0.1, unit="accuracy", keep=50):
        super().__init__(X, y, lam, keep)
        self.epsilon, self.unit = epsilon, unit

    @property
    def output(self):
        return self.w

    def absolute(self):
        return self.epsilon * (1.0 if self.unit == "objective" else 2.0 / 3.0 * self.dual)

    def inner(self):
        return 0.5 * self.absolute()

    def judge(self, margins):
        violation = np.mean(np.maximum(0.0, 1.0 - margins))
        if violation - np.max(self.offsets - self.G @ self.w) <= self.absolute():
            self.stopped = True
            self.epsilon *= 0.1
        stay = self.idle < self.keep
        stay[0] = True
        self.G, self.offsets = self.G[stay], self.offsets[stay]
        self.beta, self.idle = self.beta[stay], self.idle[stay]
        self.at = margins
        self.primal = self.lam / 2.0 * self.w @ self.w + violation
        return False
