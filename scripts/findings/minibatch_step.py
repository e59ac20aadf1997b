"""The mini-batch step of a laboratory sheet: the whole regulariser with some of the losses.

The sheet's size: 200 points of the plane, 100 per class. Its lambda weighs a sum of losses, so
that it is m times svmbench's.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from measure import made, markdown, wants_real

from svmbench.problem import Problem
from svmbench.solvers.base import Solver
from svmbench.solvers.checked import checked
from svmbench.solvers.dual.smo import Smo, SmoParameters
from svmbench.solvers.stochastic.minibatch_bias import MinibatchBias, MinibatchParameters

M = 200
LAMBDAS = (1.0, 0.1, 1e-2, 1e-4)
BATCHES = (1, 10, 200)
EPOCHS = 20_000


def problem(theirs: float) -> Problem:
    """Two overlapping Gaussian clouds, one per class; ``theirs`` is the sheet's lambda."""
    rng = np.random.default_rng(5)
    y = np.repeat([1, -1], M // 2)
    X = rng.normal(size=(M, 2)) + 1.2 * y[:, None]
    return replace(made("two clouds", X, y, theirs / M), bias="free")


def optimum(task: Problem) -> Smo:
    """A solver at the optimum, certified to 1e-8."""
    solver = Smo(SmoParameters(tolerance=1e-10))
    solver.halts = True
    solver.start(task, seed=0)
    solver.advance(1000)
    if task.primal(solver.w, solver.bias) - solver.dual() > 1e-8 * solver.dual():
        raise SystemExit("no optimum certified to 1e-8")
    return solver


def excess(task: Problem, solver: Solver, least: float) -> float:
    """P(w, b)/P* - 1 in percent."""
    return 100.0 * (task.primal(solver.w, solver.bias) / least - 1.0)


def trained(task: Problem, form: str, batch: int, increment: float | None) -> Solver:
    """The sheet's method with mu0 = 100; without an increment, svmbench's steps."""
    mu0 = None if increment is None else 100.0
    given = {"mu0": mu0, "increment": increment, "batch": batch, "form": form}
    solver = MinibatchBias(checked(MinibatchParameters, given))
    solver.start(task, seed=1)
    solver.advance(EPOCHS * M)
    return solver


def shown(percent: float) -> str:
    """A percentage; below 0.01 it only shows that the steps have not yet vanished."""
    return f"{percent:.2g}" if percent >= 0.01 else "< 0.01"


def main() -> None:
    """Print the tables."""
    if wants_real(__doc__):
        return
    rows = []
    for theirs in LAMBDAS:
        task = problem(theirs)
        least = optimum(task).dual()
        for batch in BATCHES:
            other = optimum(problem(theirs * M / batch))
            ways = (("printed", 0.1), ("consistent", 0.1), ("consistent", None))
            ends = [trained(task, form, batch, increment) for form, increment in ways]
            values = [excess(task, each, least) for each in (other, *ends)]
            rows.append((f"{theirs:g}", str(batch), *(shown(value) for value in values)))
    header = ("λ of the sheet", "M", "minimum of λ/2 ‖w‖² + M/m Σ loss", "printed", "consistent")
    print(markdown((*header, "consistent, our steps"), rows), end="")


if __name__ == "__main__":
    main()
