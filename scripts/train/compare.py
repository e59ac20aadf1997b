"""Training times of svmbench, LIBLINEAR and scikit-learn to the same certified objective.

    python scripts/train/compare.py FILE [--loss squared-hinge] [--bias free] [-C 1] [--tol 1e-4]
        [--repeats 5]

FILE is LIBSVM text. Of more than two classes, each is trained against the rest. Programs that do
not know the bias are left out: LIBLINEAR has a free one for -s 0 and -s 2 only (-R), LinearSVC has
a regularised one, LogisticRegression a free one.
A bound D ten times as tight as the tolerance is computed first, for each class. Of each program the
loosest stopping tolerance among powers of ten is then found whose weights have P within the
tolerance of D, for each class. Only after that are the fits timed, in turns: each repeat runs every
program once. Rows are converted beforehand. One thread each.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.data.dataset import FloatArray
from svmbench.data.derived import with_constant
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.peers.peer import matrix as as_stored
from svmbench.train.classes import train
from svmbench.train.examples import Examples, read_examples
from svmbench.train.objective import Objective

try:
    from liblinear import liblinearutil  # type: ignore[import-untyped]
    from sklearn import linear_model, svm  # type: ignore[import-untyped]
    from sklearn.multiclass import OneVsRestClassifier  # type: ignore[import-untyped]
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed; 'make .venv/.benching' installs it")

#: Stopping tolerances to try, the loosest first.
LADDER = tuple(10.0**-k for k in range(1, 13))

#: LIBLINEAR's solvers of each loss.
KINDS = {"hinge": (3,), "squared-hinge": (1, 2), "logistic": (0, 7)}

#: Its options for each kind of bias, and its solvers that know a free one.
BIAS_FLAGS, FREE = {"none": "", "regularised": " -B 1", "free": " -B 1 -R"}, (0, 2)

#: Weights, shape (k, d), of a stopping tolerance; k is 1 for two classes, else their number. With
#: a bias, its weight is one more column.
Fit = Callable[[float], FloatArray]


def problems(examples: Examples, objective: Objective) -> list[Problem]:
    """The problem of each class, in the order of `Examples.classes`; of two classes, one.

    A regularised bias is the weight of a last feature.
    """
    if objective.bias == "regularised":
        examples = replace(examples, rows=with_constant(examples.rows, 1.0))
    classes = examples.classes
    lam = objective.regularisation(examples.rows.n_samples)
    bias = "free" if objective.bias == "free" else "none"
    return [
        Problem(examples.against_rest(label)[0], lam, objective.as_loss(), bias)
        for label in classes[: 1 if len(classes) == 2 else None]
    ]


def liblinear_kinds(objective: Objective) -> tuple[int, ...]:
    """LIBLINEAR's solvers of a loss that know the bias."""
    kinds = KINDS[objective.loss]
    return kinds if objective.bias != "free" else tuple(kind for kind in kinds if kind in FREE)


def programs(examples: Examples, objective: Objective, seed: int = 0) -> dict[str, Fit]:
    """Each program's fit, a function of its stopping tolerance; its rows are converted here."""
    # Without the zeros of dense rows, as LIBLINEAR's text has them.
    matrix = scipy.sparse.csr_matrix(as_stored(examples.rows))
    y = examples.labels.astype(np.float64)
    C, classes, biased = objective.C, examples.classes, objective.bias != "none"
    d, flags = examples.rows.n_features + biased, BIAS_FLAGS[objective.bias]
    theirs = liblinearutil.problem(y, matrix)

    def liblinear(kind: int) -> Fit:
        def fitted(eps: float) -> FloatArray:
            model = liblinearutil.train(theirs, f"-s {kind} -c {C!r} -e {eps!r} -q{flags}")
            if len(classes) == 2:
                w = np.ctypeslib.as_array(model.w, shape=(1, d)).copy()
                return w if model.label[0] == classes[0] else -w
            columns = np.ctypeslib.as_array(model.w, shape=(d, len(classes)))
            order = model.label[: len(classes)]
            return np.array([columns[:, order.index(label)] for label in classes])

        return fitted

    def of_classes(model: Any) -> FloatArray:
        """Scikit-learn's weights; more than two classes ascend, as ours do."""
        if len(classes) > 2 and not hasattr(model, "multi_class"):
            model = OneVsRestClassifier(model)
        model.fit(matrix, y)
        each = getattr(model, "estimators_", [model])
        weights = np.vstack([one.coef_ for one in each])
        if not biased:
            return weights
        return np.column_stack([weights, np.concatenate([one.intercept_ for one in each])])

    def logistic(solver: str) -> Fit:
        def fitted(eps: float) -> FloatArray:
            model = linear_model.LogisticRegression(
                C=C, solver=solver, fit_intercept=biased, tol=eps, max_iter=10_000
            )
            return of_classes(model)

        return fitted

    def linear_svc(eps: float) -> FloatArray:
        loss = objective.loss.replace("-", "_")
        model = svm.LinearSVC(
            C=C, loss=loss, fit_intercept=biased, tol=eps, max_iter=100_000, random_state=seed
        )
        return of_classes(model)

    found = {f"LIBLINEAR -s {kind}": liblinear(kind) for kind in liblinear_kinds(objective)}
    if objective.loss != "logistic" and objective.bias != "free":
        found["LinearSVC"] = linear_svc
    if objective.loss == "logistic" and objective.bias != "regularised":
        found |= {f"LogisticRegression {each}": logistic(each) for each in ("lbfgs", "newton-cg")}
    return found


def _primal(problem: Problem, weights: FloatArray) -> float:
    """P of a program's weights, the last of which is b if the problem has a free bias."""
    if problem.bias == "none":
        return problem.primal(weights)
    return problem.primal(np.ascontiguousarray(weights[:-1]), float(weights[-1]))


def needed(fit: Fit, each: list[Problem], duals: list[float], tolerance: float) -> float | None:
    """The loosest stopping tolerance that suffices for all classes; None if none does."""
    for eps in LADDER:
        found = zip(each, np.ascontiguousarray(fit(eps)), duals, strict=True)
        if all(relative_gap(_primal(one, w), dual) <= tolerance for one, w, dual in found):
            return eps
    return None


def main() -> None:
    """Print a table of median seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--loss", choices=TRAINED_LOSSES, default="hinge")
    parser.add_argument("--bias", choices=TRAINED_BIASES, default="none")
    parser.add_argument("-C", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--repeats", type=int, default=5)
    given = parser.parse_args()

    examples, objective = read_examples(given.file), Objective(given.loss, given.C, given.bias)
    each = problems(examples, objective)
    with threadpool_limits(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a tolerance that is out of reach is one that is not taken
        duals = [fit.dual for fit in train(examples, objective, given.tol / 10.0).fits]
        runs: dict[str, Callable[[], object]] = {
            # Without what an earlier fit of the same rows has kept.
            "svmbench": lambda: train(
                replace(examples, rows=replace(examples.rows)), objective, given.tol
            )
        }
        for name, fit in programs(examples, objective).items():
            eps = needed(fit, each, duals, given.tol)
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
