"""Certified optima of small problems of every class by an interior-point method.

It shares nothing with the solvers under test: the problem is written out as a quadratic program
in dense matrices, with one variable for each part of w, of b and of the losses,

    min 1/2 v'Qv + c'v,   Gv >= h,

and all variables and multipliers move together by Newton steps on its optimality conditions. The
logistic loss, which is no quadratic program, has Newton steps of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import expit

from problems import dense, labels, with_class
from twins import objective


@dataclass(frozen=True, eq=False)
class Optimum:
    """A primal and a dual point, and the interval [lower, upper] that holds P*."""

    w: np.ndarray
    alpha: np.ndarray
    lower: float
    upper: float
    bias: float = 0.0


@cache
def optimum(problem, gap=1e-9):
    """The optimum of ``problem``, certified to a relative gap (or, for P* near 0, absolute)."""
    X, y = dense(problem.data), labels(problem.data)
    find = minimised if problem.loss.name == "logistic" else solved
    w, bias, alpha = find(problem, X, y)
    lower = float(objective.dual(X, y, problem.lam, problem.loss, alpha, problem.l1_radius))
    upper = float(objective.primal(X, y, problem.lam, problem.loss, w, bias))
    assert upper - lower <= gap * max(lower, 1e-3), "the reference of this test is not certified"
    return Optimum(w, alpha, lower, upper, bias)


@cache
def variant(problem, loss="hinge", bias="none", constraint="none"):
    """The problem in another class; its ball, if any, half as large as w*, 1 for w* = 0."""
    free = with_class(problem, loss, bias)
    if constraint == "none":
        return free
    size = float(np.sum(np.abs(optimum(free).w)))
    return with_class(problem, loss, bias, 0.5 * size if size > 1e-3 else 1.0)


def minimised(problem, X, y):
    """The same for the logistic loss, by Newton steps with all of the Hessian."""
    m, d = X.shape
    free = problem.bias == "free"
    Z = np.hstack([X, np.ones((m, 1))])[:, : d + free] * y[:, None]
    ridge = problem.lam * np.diag(([1.0] * d + [0.0])[: d + free])

    def value(v):
        return v @ ridge @ v / 2.0 + np.mean(np.logaddexp(0.0, -Z @ v))

    v = np.zeros(d + free)
    for _ in range(100):
        slopes = expit(-Z @ v)
        gradient = ridge @ v - Z.T @ slopes / m
        hessian = ridge + (Z * (slopes * (1.0 - slopes))[:, None]).T @ Z / m
        step = -np.linalg.solve(hessian + 1e-14 * np.eye(len(v)), gradient)
        length = 1.0
        while length > 1e-9 and value(v + length * step) >= value(v):
            length /= 2.0
        if length <= 1e-9:
            break
        v = v + length * step
    alpha = expit(-Z @ v)
    return v[:d], float(v[d]) if free else 0.0, balanced(alpha, y) if free else alpha


def balanced(alpha, y):
    """alpha with the class of the larger sum scaled down."""
    positive, negative = alpha[y > 0].sum(), alpha[y < 0].sum()
    smaller = min(positive, negative)
    return alpha * np.where(y > 0, smaller / positive, smaller / negative)


def solved(problem, X, y):
    """w, b and alpha at the optimum, each of them feasible."""
    m, d = X.shape
    radius, loss = problem.l1_radius, problem.loss
    bounded, free = radius < np.inf, problem.bias == "free"
    curved, straight = loss.name != "hinge", loss.name != "squared-hinge"
    # The variables: w, or its positive and its negative part; b; of each loss the part that
    # costs t^2/(2 nu) and the part that costs r.
    split = np.hstack([np.eye(d), -np.eye(d)]) if bounded else np.eye(d)
    of_w = split.shape[1]
    parts = [np.eye(m)] * (curved + straight)
    columns = of_w + free + m * len(parts)
    Q, c = np.zeros((columns, columns)), np.zeros(columns)
    Q[:of_w, :of_w] = problem.lam * split.T @ split
    first = of_w + free
    if curved:
        Q[first : first + m, first : first + m] = np.eye(m) / (objective.curvature(loss) * m)
    if straight:
        c[-m:] = 1.0 / m
    Z = X * y[:, None]
    margins = np.hstack([Z @ split, *([y[:, None]] if free else []), *parts])
    G, h = [margins, np.eye(columns)[first:]], [np.ones(m), np.zeros(columns - first)]
    if bounded:
        G += [np.eye(columns)[:of_w], -np.ones((1, columns)) * (np.arange(columns) < of_w)]
        h += [np.zeros(of_w), [-radius]]
    v, multipliers = quadratic_program(Q, c, np.vstack(G), np.concatenate(h))
    w = split @ v[:of_w]
    w *= min(1.0, radius / max(np.sum(np.abs(w)), 1e-300))
    alpha = np.clip(m * multipliers[:m], 0.0, objective.upper_bound(loss))
    if free:
        alpha = balanced(alpha, y)
    return w, float(v[of_w]) if free else 0.0, alpha


def quadratic_program(Q, c, G, h):
    """Minimiser v and multipliers of min 1/2 v'Qv + c'v, Gv >= h, with Q not negative."""
    v = np.zeros(len(c))
    slack, multiplier = np.ones(len(h)), np.full(len(h), 1.0 / len(h))
    for _ in range(300):
        gap = float(slack @ multiplier)
        uphill = Q @ v + c - G.T @ multiplier
        beyond = G @ v - slack - h
        apart = max(np.abs(uphill).max(), np.abs(beyond).max())
        if gap < 1e-14 and (apart < 1e-13 or gap < 1e-19):  # at the latter, rounding is left
            break
        ratio = multiplier / slack
        pull = 0.1 * gap / len(h) / slack - multiplier - ratio * beyond
        step = _solve(Q + G.T @ (ratio[:, None] * G), G.T @ pull - uphill)
        change = pull - ratio * (G @ step)
        along = G @ step + beyond
        length = min(1.0, 0.995 * _reach(slack, along), 0.995 * _reach(multiplier, change))
        v = v + length * step
        slack = slack + length * along
        multiplier = multiplier + length * change
    return v, multiplier


def _solve(system, right):
    """The solution; its diagonal is scaled to one and raised where it hardly determines some."""
    scale = 1.0 / np.sqrt(np.diag(system))
    scaled = scale[:, None] * system * scale + 1e-15 * np.eye(len(right))
    return scale * np.linalg.solve(scaled, scale * right)


def _reach(point, move):
    """Largest step from a positive point that leaves no entry negative."""
    falling = move < 0.0
    return np.min(-point[falling] / move[falling], initial=math.inf)
