"""ASDCA's theta: the proof's bound and a course report's 0.15, on two scalings of rows.

The report's own 670 rows of 100 features, lambda = 1/1000, gamma = 1, batches of 8.
"""

from __future__ import annotations

import numpy as np
from measure import lower_bound, made, markdown, matrix, wants_real

from svmbench.data.load import load
from svmbench.problem import Loss, Problem
from svmbench.solvers.dual.asdca import Asdca, AsdcaParameters

M, LAM, BATCH = 670, 1e-3, 8
EPOCHS = (10, 100, 1000, 4000)


def problem(unit: bool) -> Problem:
    """The report's rows, divided by their norms if ``unit``."""
    train = load("simulated").train
    X = matrix(train)
    if unit:
        X = X / np.sqrt((X * X).sum(axis=1))[:, None]
    name = "unit norm" if unit else "the report's"
    return made(name, X, train.labels, LAM, Loss("smoothed-hinge", 1.0))


def gaps(task: Problem, parameters: AsdcaParameters) -> tuple[float, list[float]]:
    """The theta in use, and (P(x) - D(alpha))/P* after each of ``EPOCHS``.

    The ratio is not to D, which stays negative for many epochs if theta is too large.
    """
    optimum = lower_bound(task, 1e-9)
    solver = Asdca(parameters)
    solver.start(task, seed=1)
    found = []
    for epochs in EPOCHS:
        solver.advance(epochs * M - solver.counters.presentations)
        found.append((task.primal(solver.w) - task.dual(solver.alpha)) / optimum)
    return solver.counters.theta, found


def main() -> None:
    """Print the table."""
    if wants_real(__doc__):
        return
    cases = [
        ("the report's", AsdcaParameters(batch=BATCH, theta=0.15)),
        ("all of the bound", AsdcaParameters(batch=BATCH, caution=1.0)),
        ("half of it, ours", AsdcaParameters(batch=BATCH, caution=0.5)),
        ("a quarter, theorem 1", AsdcaParameters(batch=BATCH, caution=0.25)),
    ]
    rows = []
    for unit in (False, True):
        task = problem(unit)
        largest = float(task.data.rows.norms2().max())
        for name, parameters in cases:
            theta, found = gaps(task, parameters)
            c = LAM * M / largest
            rows.append(
                (
                    task.data.name,
                    f"{largest:.4g}",
                    f"{c:.2g}",
                    name,
                    f"{theta:.2g}",
                    *(f"{gap:.1e}" if gap > 1e-8 else "< 1e-8" for gap in found),
                )
            )
    header = ("rows", "max n", "γλm / max n", "θ", "its value")
    print(markdown((*header, *(f"gap, epoch {n}" for n in EPOCHS)), rows), end="")


if __name__ == "__main__":
    main()
