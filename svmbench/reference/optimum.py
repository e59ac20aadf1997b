"""Certified optima: for each problem a lower bound on P*, against which runs are measured.

Their bounds are recomputed whenever they are read (`svmbench.proof`).
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from svmbench.data.archive import DAMAGED, unpacked
from svmbench.data.blocks import with_columns
from svmbench.data.cache import cache_dir
from svmbench.data.dataset import Dataset, FloatArray
from svmbench.durable import remove_abandoned, replacing
from svmbench.engine.descents import balanced_descent, descent
from svmbench.engine.effort import Effort
from svmbench.engine.fit import fit
from svmbench.engine.methods import INTERIOR_FEATURES, interior
from svmbench.errors import unopened
from svmbench.kernels.objective import combination
from svmbench.names import HINGES
from svmbench.problem import Problem, relative_gap
from svmbench.proof import proven_dual, proven_primal
from svmbench.solvers.dual.bias import best_bias
from svmbench.solvers.pairs import PrimalAndDual

SCHEMA_VERSION = 2

#: Bytes that an archive's arrays may take in addition to their entries.
_ROOM = 1 << 16

#: Share of the time limit for a fit, which ends earlier where its methods come nearer too slowly.
FIT_SHARE = 0.8

#: Seconds for coordinate descent before the interior-point method is tried in a ball.
HEAD_START = 1.0

#: Gap of the problem without the ball at which its w shows whether the ball binds.
BINDING_GAP = 1e-3

#: Features in the first working set, and the relative gap to which a working set is solved.
FIRST_FEATURES, WORKING_GAP = 200, 1e-11

#: Share of the time limit by which the interior-point method must end.
INTERIOR_SHARE = 0.8

#: Iterations of the dual gradient method between two evaluations.
GRADIENT_ITERATIONS = 20


@dataclass(frozen=True, eq=False)
class Reference:
    w: FloatArray
    alpha: FloatArray  # (shape (m,)) Feasible
    # primal, dual: the bounds on P* that w, b and alpha prove in spite of rounding; dual is at
    # least 0
    primal: float
    dual: float
    seconds: float  # time of the search, on the machine that found it
    bias: float = 0.0  # b; 0 if the problem has none
    # time limit of the longest search that ended short of its gap: another one as long would find
    # nothing better. 0 if there was none.
    sought: float = 0.0

    @property
    def gap(self) -> float:
        """Relative gap (P - D)/D."""
        return relative_gap(self.primal, self.dual)


def certified_optimum(
    problem: Problem,
    gap: float,
    time_limit: float,
    progress: Callable[[float], None] = lambda gap: None,
) -> Reference:
    """The problem's certified optimum, from the cache if that one is good enough.

    One is returned in any case: its own gap says whether it is the requested one.
    """
    path = reference_path(problem.facts())
    cached = _read(path, problem)
    if cached is not None and (cached.gap <= gap or cached.sought >= time_limit):
        return cached
    best = _search(problem, gap, time_limit, progress)
    if cached is not None:
        # Each bound separately: the bounds that earlier runs were measured against never worsen.
        seconds = cached.seconds if cached.gap <= best.gap else best.seconds
        best = _better(best, problem, (cached.w, cached.bias, cached.alpha), seconds)
    if best.gap > gap:
        best = replace(best, sought=max(time_limit, best.sought))
    _write(path, best)
    return best


def _search(
    problem: Problem, gap: float, time_limit: float, progress: Callable[[float], None]
) -> Reference:
    begun = time.monotonic()
    best = _nothing(problem)

    def is_over() -> bool:
        return time.monotonic() - begun >= time_limit

    if problem.constraint == "none":
        # A gap of 0 is asked for where nothing but rounding or the limit is to end the search.
        effort = Effort(time_limit=FIT_SHARE * time_limit)
        found = fit(problem, max(gap, sys.float_info.min), effort, progress=progress)
        optimum = found.w, found.bias, found.alpha
        best = _better(best, problem, optimum, found.seconds)
        methods = []
        if problem.loss.name in HINGES and not found.is_rounded:  # slowly, it may still arrive
            down = descent if problem.bias == "none" else balanced_descent
            methods = [(down(problem, is_over, optimum, gap), 1.0)]
    else:
        head_start = min(1.0, HEAD_START / time_limit) if time_limit > 0.0 else 0.0
        methods = _turns(problem, head_start)
    for pairs, share in methods:
        while best.gap > gap and time.monotonic() - begun < share * time_limit:
            with np.errstate(all="ignore"):  # what is out of range is no better
                pair = next(pairs, None)
            if pair is None:
                break
            best = _better(best, problem, pair, time.monotonic() - begun)
            progress(best.gap)
    return best


def _nothing(problem: Problem) -> Reference:
    """The bounds of w = 0 and alpha = 0."""
    w, alpha = np.zeros(problem.data.n_features), np.zeros(problem.data.n_samples)
    return Reference(w, alpha, problem.primal_at_zero(), 0.0, 0.0)


def _better(best: Reference, problem: Problem, pair: PrimalAndDual, seconds: float) -> Reference:
    """The best w and the best alpha so far; they may come from different pairs."""
    w, bias, alpha = pair
    primal, dual = problem.primal(w, bias), proven_dual(problem, alpha)
    if primal < best.primal:
        primal, w, bias = proven_primal(problem, w, bias)
    if not primal < best.primal:
        w, bias, primal = best.w, best.bias, best.primal
    if not dual > best.dual:
        alpha, dual = best.alpha, best.dual
    return Reference(w, alpha, primal, dual, seconds, bias)


def reference_path(facts: dict[str, Any]) -> Path:
    """Path of the reference of the problem with these facts (`Problem.facts`)."""
    name = hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:32]
    return cache_dir() / "references" / f"{name}.npz"


def stored_pair(path: Path, n_features: int, n_samples: int) -> PrimalAndDual | None:
    """Weights, bias and alpha of a stored reference; None if it is absent or damaged."""
    stored = _load(path, n_features, n_samples)
    return None if stored is None else (stored["w"], float(stored["bias"]), stored["alpha"])


def _read(path: Path, problem: Problem) -> Reference | None:
    stored = _load(path, problem.data.n_features, problem.data.n_samples)
    if stored is None:
        return None
    bias, seconds, sought = (float(stored[name]) for name in ("bias", "seconds", "sought"))
    pair = stored["w"], bias, stored["alpha"]
    return replace(_better(_nothing(problem), problem, pair, seconds), sought=sought)


def _load(path: Path, n_features: int, n_samples: int) -> dict[str, FloatArray] | None:
    """The validated arrays of a stored reference; None if it is absent or damaged."""
    shapes = {"w": (n_features,), "alpha": (n_samples,)}
    try:
        stored = unpacked(path, _ROOM + 8 * sum(size for (size,) in shapes.values()))
    except DAMAGED as error:
        if refusal := unopened(error, path):
            raise refusal from error
        return None  # it is computed again
    stored.setdefault("sought", np.zeros(()))
    for name in ("schema_version", "w", "alpha", "bias", "seconds", "sought"):
        array = stored.get(name)
        if array is None or array.shape != shapes.get(name, ()) or array.dtype.kind not in "fi":
            return None
        if not np.isfinite(array).all() or (name in shapes and array.dtype != np.float64):
            return None
    return stored if int(stored["schema_version"]) == SCHEMA_VERSION else None


def _write(path: Path, found: Reference) -> None:
    remove_abandoned(path.parent, ".*.tmp")
    with replacing(path, "wb") as file:
        np.savez(
            file,
            schema_version=SCHEMA_VERSION,
            w=found.w,
            bias=found.bias,
            alpha=found.alpha,
            seconds=found.seconds,
            sought=found.sought,
        )


def _turns(problem: Problem, head_start: float) -> list[tuple[Iterator[PrimalAndDual], float]]:
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
