"""sgd-s and sgd-m one presentation at a time: no closed form, no scaling, no shortcuts."""

from __future__ import annotations

import numpy as np

from twins.rng import Generator


def single(number):
    """sgd-s: every pass presents each row once."""
    return 1


def four_ninths(number):
    """sgd-m, 4/9: passes 1 to 4, 10 to 13, ... present each row five times running."""
    return 5 if (number - 1) % 9 < 4 else 1


def blocks(number):
    """sgd-m, blocks: doubles in the first three quarters of each octave of passes from 4 on."""
    octave = 2 ** int(np.floor(np.log2(number)))
    return 2 if number >= 4 and number < 1.75 * octave else 1


class PermutedPasses:
    """State after every presentation of the paper's section 2.

    ``a`` = lam t w, ``t`` presentations, ``M`` margin errors, ``I`` margin errors of each row,
    ``losses`` the loss of each row of this pass when it was first presented.
    """

    def __init__(self, X, y, lam, seed, multiplicity=single):
        self.X, self.y, self.lam, self.multiplicity = X, y, lam, multiplicity
        self.rng = Generator(seed)
        self.order = list(range(len(y)))
        self.a = np.zeros(X.shape[1])
        self.I = np.zeros(len(y), dtype=np.int64)
        self.t = self.M = 0
        self.passes = 0

    def whole_pass(self):
        """Present every row in a fresh random order."""
        self.passes += 1
        self.rng.shuffle(self.order)
        self.losses = []
        for i in self.order:
            self.losses.append(self.loss_of(i))
            for _ in range(self.multiplicity(self.passes)):
                self.present(i)

    def present(self, i):
        """One presentation: at a margin error, a tie included, a += y_i x_i."""
        if self.y[i] * (self.X[i] @ self.a) <= self.lam * self.t:
            self.a = self.a + self.y[i] * self.X[i]
            self.M += 1
            self.I[i] += 1
        self.t += 1

    def loss_of(self, i):
        """The hinge loss of row i now."""
        return max(0.0, 1.0 - self.y[i] * (self.X[i] @ self.w))

    @property
    def w(self):
        """The weights; zero at the start."""
        return self.a / (self.lam * max(self.t, 1))

    @property
    def alpha(self):
        """I_i / T after T = t/m complete epochs."""
        return self.I / (self.t / len(self.y))
