"""Methods to find a certified optimum in an l1 ball: each yields better and better pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from svmbench.data.blocks import with_columns
from svmbench.data.dataset import Dataset, FloatArray
from svmbench.engine.descents import balanced_descent, descent
from svmbench.engine.methods import INTERIOR_FEATURES, interior
from svmbench.kernels.objective import combination
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.dual.bias import best_bias
from svmbench.solvers.pairs import PrimalAndDual

#: Gap of the problem without the ball at which its w shows whether the ball binds.
BINDING_GAP = 1e-3

#: Features in the first working set, and the relative gap to which a working set is solved.
FIRST_FEATURES, WORKING_GAP = 200, 1e-11

#: Share of the time limit by which the interior-point method must end.
INTERIOR_SHARE = 0.8

#: Iterations of the dual gradient method between two evaluations.
GRADIENT_ITERATIONS = 20


def turns(problem: Problem, head_start: float) -> list[tuple[Iterator[PrimalAndDual], float]]:
    """The methods to try in turn, and the share of the time limit by which each turn ends."""
    inside, last = descent_inside(problem), (dual_gradient(problem), 1.0)
    if problem.data.n_features <= INTERIOR_FEATURES:
        return [(inside, head_start), (interior(problem), INTERIOR_SHARE), last]
    sets = working_sets(problem, INTERIOR_FEATURES)
    return [(inside, head_start), (sets, INTERIOR_SHARE), (inside, 1.0), last]


def descent_inside(problem: Problem) -> Iterator[PrimalAndDual]:
    """Descent without the ball, as long as the ball may turn out not to bind."""
    unconfined = replace(problem, l1_radius=math.inf)
    method = descent if problem.bias == "none" else balanced_descent
    for w, bias, alpha in method(unconfined):
        yield problem.project(w), bias, alpha
        gap = relative_gap(unconfined.primal(w, bias), unconfined.dual(alpha))
        if gap <= BINDING_GAP and not problem.admits(w):
            return


def working_sets(problem: Problem, most: int) -> Iterator[PrimalAndDual]:
    """The interior-point method on a working set: the features with weights in a binding ball.

    Those that the projection of the whole u(alpha) has besides join the set; if it becomes too
    large, features without weight leave it first. It ends at the optimum, or with more than
    ``most`` features.
    """
    data = problem.data
    push = np.abs(combination(data.rows, problem.repaired(np.ones(data.n_samples))))
    chosen = np.sort(np.argsort(-push, kind="stable")[: min(FIRST_FEATURES, most)])
    while True:
        part = replace(problem, data=with_columns(data, chosen))
        w, alpha = np.zeros(data.n_features), np.zeros(data.n_samples)
        best, least = math.inf, -math.inf
        for of_part, bias, alpha in interior(part):
            w[:] = 0.0
            w[chosen] = of_part
            yield w.copy(), bias, alpha
            best, least = min(best, part.primal(of_part, bias)), max(least, part.dual(alpha))
            if relative_gap(best, least) <= WORKING_GAP:
                break
        nearest = problem.weights(alpha)
        missing = np.setdiff1d(np.flatnonzero(nearest), chosen)
        if len(missing) == 0:
            return
        # At most double the set: far from the optimum, too many features seem to be missing.
        strongest = np.argsort(-np.abs(nearest[missing]), kind="stable")
        missing = missing[strongest[: len(chosen)]]
        if len(chosen) + len(missing) > most:
            chosen = chosen[np.abs(w[chosen]) > 1e-9 * np.abs(w).max()]
        chosen = np.sort(np.concatenate([chosen, missing]))
        if len(chosen) > most:
            return


def dual_gradient(problem: Problem) -> Iterator[PrimalAndDual]:
    """Accelerated projected gradient ascent on D: slow, but applicable to every problem.

    Beck and Teboulle, SIAM J. Imaging Sciences 2 (2009), with the restart of O'Donoghue and Candes,
    Found. Comput. Math. 15, 2015.
    """
    data, m = problem.data, problem.data.n_samples
    labels = data.labels.astype(np.float64)
    nu = problem.loss.nu
    step = m / (nu + 1.1 * _largest_eigenvalue(data) / (problem.lam * m))
    alpha = problem.repaired(np.ones(m))
    ahead, momentum = alpha, 1.0
    while True:
        for _ in range(GRADIENT_ITERATIONS):
            margins = labels * data.rows.dot(problem.weights(ahead))
            gradient = (1.0 - nu * ahead - margins) / m
            last, alpha = alpha, _nearest_feasible(problem, ahead + step * gradient)
            if gradient @ (alpha - last) < 0.0:
                momentum = 1.0
            before, momentum = momentum, 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * momentum**2))
            ahead = alpha + (before - 1.0) / momentum * (alpha - last)
        feasible = problem.repaired(alpha)
        w = problem.weights(feasible)
        yield w, best_bias(problem, data.rows.dot(w)), feasible


def _largest_eigenvalue(data: Dataset) -> float:
    """An estimate of the largest eigenvalue of X'X by the power method."""
    labels = data.labels.astype(np.float64)
    vector = np.random.default_rng(0).normal(size=data.n_features)
    value = 0.0
    for _ in range(30):
        image = combination(data.rows, labels * data.rows.dot(vector))
        value = float(np.sqrt(image @ image) / max(np.sqrt(vector @ vector), 1e-300))
        vector = image / max(float(np.abs(image).max(initial=0.0)), 1e-300)
    return value


def _nearest_feasible(problem: Problem, point: FloatArray) -> FloatArray:
    """The nearest point of the box; with a free bias, the nearest point that balances."""
    upper = problem.loss.upper
    if problem.bias == "none":
        return np.clip(point, 0.0, upper)
    labels = problem.data.labels.astype(np.float64)
    high = float(np.abs(point).max())
    low = -high
    while True:
        middle = 0.5 * (low + high)
        nearest = np.clip(point - middle * labels, 0.0, upper)
        if not low < middle < high:
            return nearest
        if float(labels @ nearest) > 0.0:
            low = middle
        else:
            high = middle
