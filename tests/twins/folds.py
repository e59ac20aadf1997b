"""Dual coordinate descent on one fold of the rows at a time, in the order of all lanes."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from twins import coordinate, objective
from twins.rng import Generator


class FoldDescent:
    """One fold's problem; the other lanes' steps only decide which rows are visited again.

    ``alpha`` and ``w`` are lists over lanes, ``left_out`` a lane's rows that take no part.
    """

    def __init__(self, X, y, left_out, C, loss, counts=None, constant=0.0, free=False, seed=0):
        self.lanes = range(len(left_out))
        self.rows = np.hstack([X, np.full((len(y), 1), constant)])
        self.y, self.C, self.loss, self.constant, self.free = y, C, loss, constant, free
        self.counts = np.ones(len(y)) if counts is None else counts
        self.left_out = [set(rows) for rows in left_out]
        self.alpha = [np.full(len(y), coordinate.without_entries(loss)) for _ in self.lanes]
        for alpha, rows in zip(self.alpha, left_out, strict=True):
            alpha[list(rows)] = 0.0
        if free:
            for alpha in self.alpha:
                self.balance(alpha)
        self.w = [self.weights(alpha) for alpha in self.alpha]
        self.offset = [w[-1] for w in self.w]
        self.order = np.flatnonzero(self.rows.any(axis=1)).tolist()
        self.left, self.enough, self.rng = len(self.order), np.inf, Generator(seed)

    def balance(self, alpha):
        """Scale the label with the larger sum down."""
        sums = {side: (self.counts * alpha)[self.y == side].sum() for side in (1, -1)}
        for side in (1, -1):
            alpha[self.y == side] *= min(sums.values()) / sums[side]

    def weights(self, alpha):
        """w(alpha), with the weight of the constant last."""
        return self.C * self.rows.T @ (self.counts * alpha * self.y)

    def advance(self):
        """Visit the rows that are left; each lane's estimate of its gap."""
        order = self.order[: self.left]
        self.rng.shuffle(order)
        self.order[: self.left] = order
        slack, total, visits, position = np.zeros(len(self.lanes)), 0.0, 0, 0
        while position < self.left:
            i = self.order[position]
            slopes = [self.visit(i, lane, slack) for lane in self.lanes if self.takes(i, lane)]
            total += sum(abs(slope) for slope, moved in slopes if moved)
            visits, position = visits + 1, position + 1
            outwards = not any(moved for _, moved in slopes)
            if outwards and all(abs(slope) > self.enough for slope, _ in slopes):
                position, self.left = position - 1, self.left - 1
                self.order[position], self.order[self.left] = self.order[self.left], i
        self.enough = total / (visits * len(self.lanes))
        if self.free:
            for lane in self.lanes:
                weight = self.w[lane][-1]
                self.w[lane][-1] += weight - self.offset[lane]
                self.offset[lane] = weight
        return slack

    def takes(self, i, lane):
        """Whether a lane's problem has the row."""
        return i not in self.left_out[lane]

    def visit(self, i, lane, slack):
        """The best step of a lane; minus the gradient before it, and whether it moved."""
        alpha, x, y, count = self.alpha[lane], self.rows[i], self.y[i], self.counts[i]
        s, old = y * (x @ self.w[lane]), alpha[i]
        slope = coordinate.gradient(self.loss, old, s)
        if self.loss.name == "logistic":  # the mean of both divergences
            slack[lane] += count * 0.5 * slope * (old - expit(-s))
        else:
            term = objective.gap_terms(self.loss, np.array([s]), np.array([old]))[0]
            slack[lane] += count * term
        alpha[i] = coordinate.best(self.loss, old, slope, self.C * count * (x @ x))
        self.w[lane] = self.w[lane] + self.C * count * (alpha[i] - old) * y * x
        return -slope, alpha[i] != old
