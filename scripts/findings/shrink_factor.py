"""The shrinking every ``skip`` steps, as printed and guarded, and a t0 that is too small.

svmsgd2 and sgd-qn shrink w by 1 - skip/(t + t0) where dense SGD shrinks it by 1 - 1/(t + t0) in
each of the skip steps. In the erratum's sgd-qn the same factor is 1 - skip lam B, and lam B is
1/t0 until B first changes.
"""

from __future__ import annotations

import math

import numpy as np
from measure import catalogued, made, markdown, matrix, wants_real

from svmbench.data.dataset import FloatArray
from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.scheduled import SkipParameters
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2

SKIP = 16
GUARD = 0.8


def factor(rate: float, guarded: bool) -> float:
    """Factor of w after ``SKIP`` steps that each shrink it by ``rate``."""
    left = 1.0 - SKIP * rate
    return (1.0 - rate) ** SKIP if guarded and left < GUARD else left


def first_factors(t0: float) -> tuple[float, ...]:
    """Factors at the first shrinking: printed, dense, guarded; erratum, unguarded and guarded."""
    rate = 1.0 / (SKIP - 1 + t0)  # the counter starts at skip and acts before t increases
    dense = math.prod(1.0 - 1.0 / (k + t0) for k in range(SKIP))
    erratum = [factor(1.0 / t0, guarded) for guarded in (False, True)]
    return factor(rate, False), dense, factor(rate, True), *erratum


def svmsgd2(problem: Problem, t0: float, guarded: bool) -> FloatArray:
    """The w after one pass of svmsgd2 on the hinge."""
    X, y, lam = matrix(problem.data), problem.data.labels, problem.lam
    w = np.zeros(X.shape[1])
    for t, i in enumerate(np.random.default_rng(4).permutation(len(y))):
        if y[i] * (X[i] @ w) < 1.0:
            w += y[i] * X[i] / (lam * (t + t0))
        if (t + 1) % SKIP == 0:
            w *= factor(1.0 / (t + t0), guarded)
    return w


def erratum(problem: Problem, t0: float, guarded: bool) -> FloatArray:
    """The w after one pass of the corrected sgd-qn on the hinge, on rows without zeros."""
    X, y, lam = matrix(problem.data), problem.data.labels, problem.lam
    w, saved, b = np.zeros(X.shape[1]), np.zeros(X.shape[1]), np.full(X.shape[1], 1.0 / t0)
    due, moved = False, 0
    for t, i in enumerate(np.random.default_rng(4).permutation(len(y)), 1):
        pull = float(y[i] * (X[i] @ w) < 1.0)
        change = pull - float(y[i] * (X[i] @ saved) < 1.0)
        if due and change:
            still = w == saved
            apart = np.where(still, 1.0, w - saved)
            ratio = np.clip(1.0 - y[i] * change * X[i] / apart / lam, 0.1, 100.0)
            b = b / (1.0 + (t - moved) * np.where(still, 101.0, ratio) * b)
            moved = t
        due = t % SKIP == 0
        if due:
            saved = w.copy()
            w = w * [factor(rate, guarded) for rate in b]
        w = w + pull / lam * y[i] * b * X[i]
    return w


def unit_rows() -> Problem:
    """2000 rows of unit norm from two overlapping clouds, without zeros."""
    rng = np.random.default_rng(5)
    y = np.where(rng.random(2000) < 0.5, 1, -1)
    X = rng.normal(size=(2000, 20)) + 0.2 * y[:, None]
    return made("two clouds", X / np.sqrt((X * X).sum(axis=1))[:, None], y, 0.01)


def squared_hinge() -> list[tuple[str, ...]]:
    """P after one pass of svmbench's own svmsgd2 on tiny-dense, by t0 over max n/(2 lam)."""
    rows: list[tuple[str, ...]] = []
    problem = catalogued("tiny-dense", 1e-4, Loss("squared-hinge"))
    bound = float(problem.data.rows.norms2().max()) / (2.0 * problem.lam)
    for t0 in (1e2, 1e3, 1e4, 1e5, 1e6, 1e7, None):
        solver = Svmsgd2(SkipParameters(t0=t0, skip=SKIP))
        solver.start(problem, seed=1)
        solver.advance(problem.data.n_samples)
        primal = problem.primal(solver.w)
        value = f"{primal:.2g}" if math.isfinite(primal) else "overflow"
        searched = " (searched)" if t0 is None else ""
        rows.append((f"{solver.t0:g}{searched}", f"{solver.t0 / bound:.1e}", value))
    return rows


def main() -> None:
    """Print the tables."""
    if wants_real(__doc__):
        return
    starts = (1.0, 2.0, 4.0, 8.0, 16.0, 100.0)
    factors = [(f"{t0:g}", *(f"{one:.4f}" for one in first_factors(t0))) for t0 in starts]
    header = ("t0", "printed", "dense steps", "guarded", "erratum, unguarded")
    print(markdown((*header, "erratum, guarded"), factors))
    problem = unit_rows()
    rows = []
    for t0 in starts:
        ends = [method(problem, t0, one) for method in (svmsgd2, erratum) for one in (False, True)]
        rows.append((f"{t0:g}", *(f"{problem.primal(w):.4g}" for w in ends)))
    methods = ("svmsgd2, printed", "svmsgd2, guarded", "erratum, unguarded", "erratum, guarded")
    print(markdown(("t0", *methods), rows))
    print(markdown(("t0", "t0 over max n/(2λ)", "P after one pass"), squared_hinge()), end="")


if __name__ == "__main__":
    main()
