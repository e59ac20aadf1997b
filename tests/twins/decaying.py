"""SGD with steps that decay as a power of t, on a plain weight vector."""

from __future__ import annotations

import numpy as np

from svmbench.problem import Loss
from twins.objective import loss_values


class Decaying:
    """Steps eta0/(1 + decay t)^power over the rows that ``rows`` yields, t from 0.

    ``ties`` tells whether a margin of exactly one is an error; ``iterates`` lists w before
    each step. The bias, where its rate is not 0, is not regularised.
    """

    def __init__(self, X, y, lam, eta0, decay, power, rows, ties=True, bias_rate=0.0, loss="hinge"):
        self.X, self.y, self.lam = X, y, lam
        self.eta0, self.decay, self.power, self.ties = eta0, decay, power, ties
        self.rows, self.loss = iter(rows), loss
        self.w, self.b, self.bias_rate = np.zeros(X.shape[1]), 0.0, bias_rate
        self.t = self.updates = 0
        self.iterates, self.picked = [], []

    def step(self):
        """One step."""
        i = next(self.rows)
        self.picked.append(i)
        self.iterates.append(self.w)
        eta = self.eta0 / (1.0 + self.decay * self.t) ** self.power
        margin = self.y[i] * (self.X[i] @ self.w + self.b)
        self.w = (1.0 - eta * self.lam) * self.w
        pull = margin < 1.0 or (self.ties and margin == 1.0)
        if self.loss == "logistic":
            pull = np.exp(-np.logaddexp(0.0, margin))
        if pull:
            self.w = self.w + pull * eta * self.y[i] * self.X[i]
            self.b = self.b + self.bias_rate * pull * eta * self.y[i]
            self.updates += 1
        self.t += 1


def cost(X, y, lam, eta, bias_rate=0.0, loss="hinge"):
    """P on the rows X after one pass of constant step ``eta``; inf where it would not shrink w."""
    if eta * lam >= 1.0:
        return np.inf
    plain = Decaying(X, y, lam, eta, 0.0, 1.0, range(len(y)), bias_rate=bias_rate, loss=loss)
    for _ in range(len(y)):
        plain.step()
    margins = y * (X @ plain.w + plain.b)
    return lam / 2.0 * np.sum(plain.w**2) + np.mean(loss_values(Loss(loss), margins))


def searched(X, y, lam, bias_rate=0.0, loss="hinge"):
    """The first step that sgd-2.0's determineEta0 takes on the rows X."""

    def tried(eta):
        return cost(X, y, lam, eta, bias_rate, loss)

    eta = 1.0
    while eta * lam >= 1.0:
        eta /= 2.0
    first, second = tried(eta), tried(2.0 * eta)
    if first < second:  # downwards: the pair is (eta, 2 eta)
        while tried(eta) < tried(2.0 * eta):
            eta /= 2.0
        return eta
    while tried(2.0 * eta) < tried(eta):
        eta *= 2.0
    return eta
