"""Online optimisers in the l1 ball: a divisor r - 1, timings that include evaluation, a bound.

With --real it runs the report's own problem: 10,000 rows of MNIST, digit 0 labelled -1,
lambda = 1/3, ||w||_1 <= 10, 10,000 steps.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from measure import made, markdown, wants_real

from svmbench.data.dataset import FloatArray
from svmbench.data.derived import take_rows
from svmbench.data.load import load
from svmbench.problem import Problem
from svmbench.reference.regret import regret
from svmbench.solvers.online.gd import Gd
from svmbench.solvers.online.presented import PresentedParameters
from svmbench.solvers.registry import find_solver
from svmbench.solvers.stochastic.pegasos import logarithmic_bound

LAM, RADIUS, ROWS = 1.0 / 3.0, 10.0, 10_000
#: Seconds of the report, by method, and the parameters of the method here.
PUBLISHED: dict[str, tuple[float, dict[str, Any]]] = {
    "gd": (38.5, {"eta0": 1.0}),
    "pgd": (36.3, {"eta0": 1.0}),
    "sgd-sqrt": (53.3, {"eta0": 1.0}),
    "smd": (56.6, {"eta0": 1.0}),
    "seg-pm": (39.2, {}),
    "adagrad": (65.5, {"epochs": 1.0}),
    "pegasos": (43.2, {"output": "average"}),
}


def projected(y: FloatArray, radius: float, less: int) -> FloatArray:
    """Pi(y) by sorting, with the excess divided among r - less survivors instead of r."""
    sizes = np.abs(y)
    if sizes.sum() <= radius:
        return y
    falling = np.sort(sizes)[::-1]
    sums = np.cumsum(falling) - radius
    r = 1 + int(np.flatnonzero(falling * np.arange(1, len(y) + 1) > sums)[-1])
    tau = float(sums[r - 1]) / (r - less) if r > less else math.inf
    shrunk: FloatArray = np.sign(y) * np.maximum(sizes - tau, 0.0)
    return shrunk


def lengths() -> Iterator[tuple[str, ...]]:
    """||Pi(y)||_1/z for both divisors, on a normal vector and radii with r survivors."""
    y = np.random.default_rng(1).normal(size=1000)
    sizes = np.sort(np.abs(y))[::-1]
    for r in (1, 3, 10, 100, 300):
        radius = float(sizes[:r].sum()) - r * 0.5 * float(sizes[r - 1] + sizes[r])
        shares = (float(np.abs(projected(y, radius, less)).sum()) / radius for less in (0, 1))
        yield (str(r), *(f"{share:.3f}" for share in shares))


def oscillation() -> Iterator[tuple[str, ...]]:
    """Regret of pegasos on one row whose label changes at every step, and its bounds."""
    size = LAM * RADIUS  # so that one step reaches the boundary of the ball
    problem = made("one row, two labels", np.array([[size], [size]]), np.array([1, -1]), LAM)
    problem = replace(problem, l1_radius=RADIUS)
    w, cost, drawn = 0.0, 0.0, []
    for t in range(1, 1001):
        row = (t - 1) % 2
        x = size if row == 0 else -size
        cost += 0.5 * LAM * w * w + max(0.0, 1.0 - x * w)
        drawn.append(row)
        w -= (LAM * w - (x if x * w < 1.0 else 0.0)) / (LAM * t)
        w = min(max(w, -RADIUS), RADIUS)
        if t in (3, 10, 100, 1000):
            low, high = regret(problem, np.array(drawn), cost, gap=1e-9)
            yield (str(t), f"{0.5 * (low + high):.4g}", *bounds(problem, t))


def bounds(problem: Problem, steps: int) -> tuple[str, str]:
    """The bound with the report's constant, and with the ball's own."""
    theirs = logarithmic_bound(replace(problem, l1_radius=math.inf), steps, in_ball=True)
    return f"{theirs:.4g}", f"{logarithmic_bound(problem, steps):.4g}"


def digits() -> Problem:
    """The report's problem, except its choice of rows, which is not known."""
    rows = load("mnist").train
    chosen = np.random.default_rng(0).permutation(rows.n_samples)[:ROWS]
    some = take_rows(rows, np.sort(chosen))
    return Problem(replace(some, labels=-some.labels), LAM, l1_radius=RADIUS)


def work(problem: Problem) -> Iterator[tuple[str, ...]]:
    """Entries read in training, and in evaluating the cost at each step."""
    nnz = problem.data.nnz
    for name, (seconds, parameters) in PUBLISHED.items():
        solver = find_solver(name)
        run = solver(solver.schema(**parameters))
        run.start(problem if name != "gd" else replace(problem, l1_radius=math.inf), 1)
        steps = 100 if isinstance(run, Gd) else ROWS
        run.advance(steps)
        trained, evaluated = run.counters.nonzeros, steps * nnz
        # On dense weights every step changes all d entries in addition to those of its row.
        dense = isinstance(run.parameters, PresentedParameters)
        trained += steps * problem.data.n_features * dense
        share = evaluated / (trained + evaluated)
        yield name, f"{trained:.2e}", f"{evaluated:.2e}", f"{share:.3f}", f"{seconds:.1f}"


def main() -> None:
    """Print the tables."""
    header = ("T", "regret", "bound, √λ + R", "bound, λz + R")
    if not wants_real(__doc__):
        print(markdown(("survivors r", "divided by r", "divided by r - 1"), lengths()))
        print(markdown(header, oscillation()), end="")
        return
    columns = ("entries, training", "entries, evaluating", "share", "report's seconds")
    print(markdown(("method", *columns), work(digits())), end="")


if __name__ == "__main__":
    main()
