"""Training times of svmbench, LIBLINEAR and scikit-learn to the same certified objective.

    python scripts/train/compare.py FILE [--loss squared-hinge] [-C 1] [--tol 1e-4] [--repeats 5]

FILE is LIBSVM text of two classes; there is no bias. A bound D ten times as tight as the tolerance
is computed first. Of each program the loosest stopping tolerance among powers of ten is then found
whose weights have P within the tolerance of D. Only after that are the fits timed, in turns: each
repeat runs every program once. Rows are converted beforehand. One thread each.
"""

from __future__ import annotations

import argparse
import statistics
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
from liblinear import liblinearutil  # type: ignore[import-untyped]
from sklearn import linear_model, svm  # type: ignore[import-untyped]
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.data.dataset import FloatArray
from svmbench.errors import DataError
from svmbench.problem import Problem, relative_gap
from svmbench.train.classes import train
from svmbench.train.examples import read_examples
from svmbench.train.model import as_matrix
from svmbench.train.objective import LOSSES, Objective

#: Stopping tolerances to try, the loosest first.
LADDER = tuple(10.0**-k for k in range(1, 13))

#: LIBLINEAR's solvers of each loss.
KINDS = {"hinge": (3,), "squared-hinge": (1, 2), "logistic": (0, 7)}

Fit = Callable[[float], FloatArray]


def programs(problem: Problem, objective: Objective, seed: int = 0) -> dict[str, Fit]:
    """Each program's fit, a function of its stopping tolerance; its rows are converted here."""
    matrix, y = as_matrix(problem.data), problem.data.labels.astype(np.float64)
    C, d = objective.C, problem.data.n_features
    theirs = liblinearutil.problem(y, matrix)

    def liblinear(kind: int) -> Fit:
        def fitted(eps: float) -> FloatArray:
            model = liblinearutil.train(theirs, f"-s {kind} -c {C!r} -e {eps!r} -q")
            w = np.ctypeslib.as_array(model.w, shape=(d,)).copy()
            return w if model.label[0] == 1 else -w

        return fitted

    def logistic(solver: str) -> Fit:
        def fitted(eps: float) -> FloatArray:
            model = linear_model.LogisticRegression(
                C=C, solver=solver, fit_intercept=False, tol=eps, max_iter=10_000
            )
            w: FloatArray = model.fit(matrix, y).coef_[0]
            return w

        return fitted

    def linear_svc(eps: float) -> FloatArray:
        loss = objective.loss.replace("-", "_")
        model = svm.LinearSVC(
            C=C, loss=loss, fit_intercept=False, tol=eps, max_iter=100_000, random_state=seed
        )
        w: FloatArray = model.fit(matrix, y).coef_[0]
        return w

    found = {f"LIBLINEAR -s {kind}": liblinear(kind) for kind in KINDS[objective.loss]}
    if objective.loss == "logistic":
        found |= {f"LogisticRegression {each}": logistic(each) for each in ("lbfgs", "newton-cg")}
    else:
        found["LinearSVC"] = linear_svc
    return found


def needed(fit: Fit, problem: Problem, dual: float, tolerance: float) -> float | None:
    """The loosest stopping tolerance that suffices; None if none does."""
    for eps in LADDER:
        if relative_gap(problem.primal(fit(eps)), dual) <= tolerance:
            return eps
    return None


def main() -> None:
    """Print a table of median seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--loss", choices=LOSSES, default="hinge")
    parser.add_argument("-C", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()

    examples, objective = read_examples(given.file), Objective(given.loss, given.C)
    if len(examples.classes) != 2:
        raise DataError(f"{given.file}: {len(examples.classes)} classes; the comparison takes two")
    rows, _ = examples.against_rest(examples.classes[0])
    problem = Problem(rows, objective.regularisation(rows.n_samples), objective.as_loss())
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a tolerance that is out of reach is one that is not taken
        dual = train(examples, objective, given.tol / 10.0).fits[0].dual
        runs: dict[str, Callable[[], object]] = {
            # Without what an earlier fit of the same rows has kept.
            "svmbench": lambda: train(replace(examples, rows=replace(rows)), objective, given.tol)
        }
        for name, fit in programs(problem, objective).items():
            eps = needed(fit, problem, dual, given.tol)
            if eps is None:
                print(f"{name}: does not reach {given.tol:g}")
            else:
                runs[f"{name}, {eps:g}"] = partial(fit, eps)
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(given.repeats):
            for name, run in runs.items():
                begun = time.perf_counter()
                run()
                seconds[name].append(time.perf_counter() - begun)
    ours = statistics.median(seconds["svmbench"])
    for name, times in seconds.items():
        middle = statistics.median(times)
        spread = f"{min(times):.4f} to {max(times):.4f}"
        print(f"{name:<32} {middle:9.4f} s  {spread}  {middle / ours:.1f}x")


if __name__ == "__main__":
    main()
