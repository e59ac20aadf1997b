"""Certified optima: for each problem a lower bound on P*, against which runs are measured.

Their bounds are recomputed whenever they are read (`svmbench.proof`).
"""

from __future__ import annotations

import hashlib
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from svmbench.data.archive import DAMAGED, unpacked
from svmbench.data.cache import cache_dir
from svmbench.data.dataset import FloatArray
from svmbench.durable import remove_abandoned, replacing
from svmbench.engine.descents import balanced_descent, descent
from svmbench.engine.effort import Effort
from svmbench.engine.fit import fit
from svmbench.errors import unopened
from svmbench.names import HINGES
from svmbench.problem import Problem, relative_gap
from svmbench.proof import proven_dual, proven_primal
from svmbench.reference.search import turns
from svmbench.solvers.pairs import PrimalAndDual

SCHEMA_VERSION = 2

#: Bytes that an archive's arrays may take in addition to their entries.
_ROOM = 1 << 16

#: Share of the time limit for a fit, which ends earlier where its methods come nearer too slowly.
FIT_SHARE = 0.8

#: Seconds for coordinate descent before the interior-point method is tried in a ball.
HEAD_START = 1.0


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
        methods = turns(problem, head_start)
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
