"""svmsgd and svmasgd against the arithmetic of sgd-2.0 itself, iterate by iterate.

The programs never form w: they hold W and a divisor with w = W/divisor, a shrinking of w being a
growth of the divisor; and for the mean a vector A, a fraction and a divisor of its own. The twins
of tests/twins/decaying.py step on w; here is the other form, dense and in float64.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from problems import PROBLEMS, dataset, dense, labels, ordinary_problems
from problems import at_start as started
from svmbench.problem import Problem
from svmbench.solvers.stochastic.svmasgd import SvmAsgd
from svmbench.solvers.stochastic.svmsgd import SvmSgd
from twins.rng import shuffled

UNIT = np.finfo(np.float64).eps / 2.0  # unit roundoff
NAMES = [*ordinary_problems(), "zero-rows", "one-class", "one-row", "unseen-features"]

#: Divisor beyond which the programs bring W back to w.
LARGEST_DIVISOR = 1e5


class Sgd2:
    """The vectors of both programs and their step; ``mu`` is None where nothing is averaged."""

    def __init__(self, X, y, lam):
        self.X, self.y, self.lam = X, y, lam
        self.W, self.w_divisor = np.zeros(X.shape[1]), 1.0
        self.A, self.a_divisor, self.fraction = np.zeros(X.shape[1]), 1.0, 0.0
        self.errors = self.rescalings = 0
        self.nearest = math.inf  # of all margins to the one at which rows become errors
        self.growth = 1.0  # of the divisor while a mean was taken

    def train_one(self, i, eta, mu=None):
        """The row's score, the shrinking of w, the loss's step, then the mean's."""
        if max(self.w_divisor, self.a_divisor) > LARGEST_DIVISOR:
            self.rescale()
        score = self.W @ self.X[i] / self.w_divisor
        self.w_divisor /= 1.0 - eta * self.lam
        self.growth = 1.0 if mu is None or mu >= 1.0 else self.growth / (1.0 - eta * self.lam)
        z = self.y[i] * score
        self.nearest = min(self.nearest, abs(z - 1.0))
        step = 0.0
        if z <= 1.0:  # a tie is an error
            step = eta * self.w_divisor * self.y[i]
            self.W = self.W + step * self.X[i]
            self.errors += 1
        if mu is None:
            return
        if mu >= 1.0:  # the mean is the iterate itself
            self.A, self.a_divisor, self.fraction = 0.0 * self.A, self.w_divisor, 1.0
        else:  # a <- (1 - mu) a + mu w, with A + fraction W unchanged by what W has gained
            self.A = self.A - self.fraction * step * self.X[i]
            self.a_divisor /= 1.0 - mu
            self.fraction += mu * self.a_divisor / self.w_divisor

    def rescale(self):
        """Both divisors back to one."""
        self.A, self.W = self.mean, self.w
        self.w_divisor, self.a_divisor, self.fraction = 1.0, 1.0, 0.0
        self.rescalings += 1

    @property
    def w(self):
        return self.W / self.w_divisor

    @property
    def mean(self):
        return (self.A + self.fraction * self.W) / self.a_divisor


def evaluate_eta(X, y, lam, eta):
    """The cost on these rows, after one pass over them with constant step ``eta``."""
    clone = Sgd2(X, y, lam)
    for i in range(len(y)):
        clone.train_one(i, eta)
    loss = sum(max(0.0, 1.0 - y[i] * (X[i] @ clone.w)) for i in range(len(y)))
    return loss / len(y) + 0.5 * lam * (clone.w @ clone.w)


def determine_eta0(X, y, lam):
    """The lower step of the first pair, from (1, 2) on, that the costs do not lead away from."""
    low, high = 1.0, 2.0
    cost_low, cost_high = evaluate_eta(X, y, lam, low), evaluate_eta(X, y, lam, high)
    if cost_low < cost_high:
        while cost_low < cost_high:
            low, high, cost_high = low / 2.0, low, cost_low
            cost_low = evaluate_eta(X, y, lam, low)
    elif cost_high < cost_low:
        while cost_high < cost_low:
            low, high, cost_low = high, 2.0 * high, cost_high
            cost_high = evaluate_eta(X, y, lam, high)
    return low


def rounding(problem, steps):
    """What rounding can make of an iterate, in norm, in so many steps of two programs.

    An earlier error is multiplied by less than one at each step, while the score, the factor, the
    products and the sum add some 8 roundings of vectors no longer than the radius max ||x_i||/lam
    of the ball that holds all iterates, in either program.
    """
    return 2 * 8 * UNIT * steps * np.sqrt(problem.data.rows.norms2().max()) / problem.lam


def follow(problem, run, seed, epochs_before_the_mean=None, steps=500):
    """The program's vectors, its output compared with the run's after every step.

    On data where margins of one are common it ends at the first one that is so near to it that
    rounding decides.
    """
    X, y, lam = dense(problem.data), labels(problem.data), problem.lam
    plain, order = Sgd2(X, y, lam), shuffled(problem.data.n_samples, seed)
    power, t_start = 1.0, None
    if epochs_before_the_mean is not None:
        power, t_start = 0.75, math.ceil(epochs_before_the_mean * len(y))
    longest = np.linalg.norm(X, axis=1).max()
    for t in range(steps):
        eta = run._eta0 / (1.0 + lam * run._eta0 * t) ** power
        mu = None
        if t_start is not None:
            mu = 1.0 if t <= t_start else 1.0 / (1.0 + t - t_start)
        plain.train_one(order[t % len(y)], eta, mu)
        run.advance(1)
        apart = rounding(problem, t + 1)
        if plain.nearest <= longest * apart:
            assert problem not in ordinary_problems().values()
            break
        # A mean is the sum of two vectors that are longer than itself by as much as the divisor
        # has grown since it began, or since the last rescaling: the roundings of those count.
        longer = min(plain.growth, LARGEST_DIVISOR)
        expected = plain.w if mu is None else plain.mean
        assert np.linalg.norm(run.w - expected) <= longer * apart
        assert run.counters.updates == plain.errors
    assert plain.errors > 0
    return plain


@pytest.mark.parametrize("solver", [SvmSgd, SvmAsgd])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("seed", [3, 2**64 - 1])
def test_the_same_first_step(name, solver, seed):
    problem = PROBLEMS[name]
    order = shuffled(problem.data.n_samples, seed)
    X, y = dense(problem.data)[order], labels(problem.data)[order]
    assert started(solver, problem, seed)._eta0 == determine_eta0(X, y, problem.lam)


@pytest.mark.parametrize("seed", [3, 2**64 - 1])
@pytest.mark.parametrize("name", NAMES)
def test_svmsgd(name, seed):
    follow(PROBLEMS[name], started(SvmSgd, PROBLEMS[name], seed), seed)


@pytest.mark.parametrize("after", [0.0, 1.0, 2.3])
@pytest.mark.parametrize("name", NAMES)
def test_svmasgd(name, after):
    run = started(SvmAsgd, PROBLEMS[name], 5, average_after=after)
    follow(PROBLEMS[name], run, 5, epochs_before_the_mean=after)


@pytest.mark.parametrize("after", [None, 0.0, 2.0])
def test_where_the_programs_rescale_nothing_shows(after):
    # lambda eta0 next to one: the first divisors are large, and the mean's grows without bounds.
    problem = PROBLEMS["overlapping"]
    solver, parameters = (SvmSgd, {}) if after is None else (SvmAsgd, {"average_after": after})
    run = started(solver, problem, 9, eta0=(1.0 - 1e-6) / problem.lam, **parameters)
    plain = follow(problem, run, 9, epochs_before_the_mean=after, steps=1500)
    assert plain.rescalings >= 1


@pytest.mark.parametrize("solver", [SvmSgd, SvmAsgd])
def test_the_search_looks_at_1001_rows(solver):
    # The programs say 1,000 and take one more; the 1,001st row alone asks for small steps here.
    rng = np.random.default_rng(4)
    X = rng.normal(size=(1040, 3))
    X[1000] *= 300.0
    y = np.where(rng.random(1040) < 0.5, 1, -1)
    y[1000] = -1
    problem = Problem(dataset(X, y, "dense float64"), 2.0**-7)
    found = started(solver, problem, 0, order="stored")._eta0
    y = labels(problem.data)
    assert found == determine_eta0(X[:1001], y[:1001], problem.lam)
    assert found != determine_eta0(X[:1000], y[:1000], problem.lam)
