"""Certified optima: for each problem a lower bound on P* that every run is held against.

The method that finds one is of no consequence; the certificate is recomputed from
(w, alpha) by `Problem`, also when it comes from the disk.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from svmbench.data.cache import cache_dir
from svmbench.data.dataset import FloatArray
from svmbench.durable import replacing
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.dual.dcd import Dcd
from svmbench.solvers.second_order.ipm import Ipm

SCHEMA_VERSION = 1

#: Features up to which normal equations are formed.
FEW_FEATURES = 2000

#: Seconds that coordinate descent has before the interior-point method is tried.
HEAD_START = 2.0

#: Share of the time limit by which it must be there.
INTERIOR_SHARE = 0.8


@dataclass(frozen=True, eq=False)
class Reference:
    """A certified optimum.

    Parameters
    ----------
    w : ndarray of float64, shape (d,)
    alpha : ndarray of float64, shape (m,)
        Feasible.
    primal, dual : float
        P(w) and D(alpha): P* lies between them.
    seconds : float
        What finding it took, on the machine and at the time that found it.
    """

    w: FloatArray
    alpha: FloatArray
    primal: float
    dual: float
    seconds: float

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
    """The problem's reference, from the cache where that one is good enough.

    Parameters
    ----------
    problem : Problem
    gap : float
        Relative gap asked for. A reference is returned in any case; its own `gap` says
        whether it was reached.
    time_limit : float
        Seconds after which the best pair found so far is returned.
    progress : callable
        Told the gap reached, from time to time.

    Notes
    -----
    Shrinking dual coordinate descent comes first, being the quicker where it converges at all;
    where it has not by `HEAD_START` seconds and the features are few, the interior-point method
    takes over, and if that ends short of the gap the descent goes on.
    """
    path = _path(problem)
    cached = _read(path, problem)
    if cached is not None and cached.gap <= gap:
        return cached
    found = _search(problem, gap, time_limit, progress)
    if cached is not None and cached.gap <= found.gap:
        return cached
    _write(path, found)
    return found


def _search(
    problem: Problem, gap: float, time_limit: float, progress: Callable[[float], None]
) -> Reference:
    begun = time.monotonic()
    data = problem.data
    best = Reference(np.zeros(data.n_features), np.zeros(data.n_samples), math.inf, -math.inf, 0.0)
    descent, interior = _descent(problem), _interior(problem)
    few = data.n_features <= FEW_FEATURES
    turns = [(descent, min(HEAD_START, time_limit) if few else time_limit)]
    if few:
        turns += [(interior, INTERIOR_SHARE * time_limit), (descent, time_limit)]
    for pairs, until in turns:
        while best.gap > gap and time.monotonic() - begun < until:
            pair = next(pairs, None)
            if pair is None:
                break
            best = _better(best, problem, *pair, time.monotonic() - begun)
            progress(best.gap)
    return best


def _better(
    best: Reference, problem: Problem, w: FloatArray, alpha: FloatArray, seconds: float
) -> Reference:
    """The best w and the best alpha of all that were shown; each may come from another pair."""
    primal, dual = problem.primal(w), problem.dual(alpha)
    w, primal = (w, primal) if primal < best.primal else (best.w, best.primal)
    alpha, dual = (alpha, dual) if dual > best.dual else (best.alpha, best.dual)
    return Reference(w, alpha, primal, dual, seconds)


def _descent(problem: Problem) -> Iterator[tuple[FloatArray, FloatArray]]:
    solver = Dcd()
    solver.start(problem, seed=0)
    while True:
        solver.advance(max(problem.data.n_samples, solver.counters.presentations // 8))
        alpha = solver.alpha
        yield problem.weights(alpha), alpha


def _interior(problem: Problem) -> Iterator[tuple[FloatArray, FloatArray]]:
    solver = Ipm()
    solver.start(problem, seed=0)
    while not solver.stopped:
        solver.advance(1)
        yield solver.w, solver.alpha


def _path(problem: Problem) -> Path:
    facts = json.dumps(problem.facts(), sort_keys=True).encode()
    return cache_dir() / "references" / f"{hashlib.sha256(facts).hexdigest()[:32]}.npz"


def _read(path: Path, problem: Problem) -> Reference | None:
    try:
        with np.load(path, allow_pickle=False) as stored:
            if int(stored["schema_version"]) != SCHEMA_VERSION:
                return None
            w, alpha, seconds = stored["w"], stored["alpha"], float(stored["seconds"])
        primal, dual = problem.primal(w), problem.dual(alpha)
    except (OSError, ValueError, KeyError, zipfile.BadZipFile):
        return None  # absent or damaged: the certificate is simply made again
    return Reference(w, alpha, primal, dual, seconds)


def _write(path: Path, found: Reference) -> None:
    with replacing(path, "wb") as file:
        np.savez(
            file,
            schema_version=SCHEMA_VERSION,
            w=found.w,
            alpha=found.alpha,
            seconds=found.seconds,
        )
