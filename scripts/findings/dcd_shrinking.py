"""Shrinking in dual coordinate descent: when wrongly shrunk rows return.

LIBLINEAR restores shrunk rows once the remaining rows are within its tolerance; with a tight
tolerance this takes long. svmbench's dcd restores them after at most 20 epochs of work.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from measure import catalogued, lower_bound, markdown, wants_real

from svmbench.problem import Problem
from svmbench.solvers.dual.dcd import Dcd, DcdParameters

#: Epochs of presentations after which rows return: never within these runs.
NEVER = 1e12
SEEDS = (1, 2, 3)


def cases() -> dict[str, DcdParameters]:
    """Parameters by their names in the table."""
    found = {"no shrinking": DcdParameters(shrinking=False)}
    for tolerance in (1e-1, 1e-9):
        at = f"tolerance {tolerance:g}"
        found[f"{at}, by tolerance alone"] = DcdParameters(tolerance=tolerance, restore_after=NEVER)
        found[f"{at}, 20 epochs at most"] = DcdParameters(tolerance=tolerance)
    return found


def course(problem: Problem, parameters: DcdParameters, epochs: Sequence[int]) -> list[float]:
    """Median over the seeds of (P - D)/P* after each number of epochs of presentations."""
    optimum, m = lower_bound(problem), problem.data.n_samples
    runs = []
    for seed in SEEDS:
        solver = Dcd(parameters)
        solver.start(problem, seed)
        gaps = []
        for number in epochs:
            solver.advance(number * m - solver.counters.presentations)
            primal = problem.primal(problem.weights(solver.alpha))
            gaps.append((primal - problem.dual(solver.alpha)) / optimum)
        runs.append(gaps)
    return [float(gap) for gap in np.median(runs, axis=0)]


def table(problem: Problem, epochs: Sequence[int]) -> str:
    """One row per set of parameters."""
    rows = []
    for name, parameters in cases().items():
        gaps = course(problem, parameters, epochs)
        rows.append((name, *(f"{gap:.1e}" if gap > 1e-8 else "< 1e-8" for gap in gaps)))
    header = f"{problem.data.name}, λ = {problem.lam:g}"
    return markdown((header, *(f"epoch {number}" for number in epochs)), rows)


def main() -> None:
    """Print the tables."""
    if wants_real(__doc__):
        print(table(catalogued("adult", 1e-5), (10, 30, 100, 300)), end="")
    else:
        print(table(catalogued("tiny-sparse", 1e-5), (100, 300, 1000, 2000)), end="")


if __name__ == "__main__":
    main()
