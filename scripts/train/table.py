"""Which program for which need: a Markdown table of CPU seconds, measured in turns.

    python scripts/train/table.py FILE ... [--need fit] [--loss hinge] [--bias free] [--budget 10m]

Each FILE is LIBSVM text. Three needs are measured, the last for two classes only:

text   a model of the file, by commands: reading, training, writing
fit    weights of rows in memory
C      the best of 25 or more values of C by five-fold cross-validation, rows in memory

For the first two, each program has the loosest stopping tolerance, among powers of ten, with which
P is within --tol of a certified bound, for every class. For the third, LIBLINEAR's -C chooses its
own values, and other programs have their default tolerances; ours certifies each fit as `svmbench
train --cv` does. Of more than two classes, each is trained against the rest. A program that does
not know a kind of bias has no line there: LIBLINEAR has a free one for -s 0 and -s 2 only (-R),
LinearSVC has a regularised one, LogisticRegression a free one.
Every run is a process of its own with one thread. Runs are repeated in turns until the budget is
spent; what has not ended within --longest is shown as longer. CPU time does not count waiting, but
caches and memory are shared: compare figures of one run only, on a machine that has nothing else to
do.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from svmbench.cli.options import seconds_of
from svmbench.data.dataset import FloatArray
from svmbench.data.derived import with_constant
from svmbench.names import TRAINED_BIASES, TRAINED_LOSSES
from svmbench.problem import Problem, relative_gap
from svmbench.solvers.peers.peer import matrix as as_stored
from svmbench.train.classes import train
from svmbench.train.examples import Examples, read_examples
from svmbench.train.objective import Objective
from svmbench.train.path import grid
from svmbench.train.validation import SELECTION, cross_validate

try:
    from liblinear import liblinearutil  # type: ignore[import-untyped]
    from sklearn import linear_model, svm  # type: ignore[import-untyped]
    from sklearn.model_selection import GridSearchCV  # type: ignore[import-untyped]
    from sklearn.multiclass import OneVsRestClassifier  # type: ignore[import-untyped]
except ModuleNotFoundError as missing:
    sys.exit(f"{missing.name} is not installed; 'make .venv/.benching' installs it")

#: Share of the budget that finding all tolerances may take at most.
_PREPARING = 0.4

NEEDS = ("text", "fit", "C")

FOLDS = 5

#: LIBLINEAR's solver of each loss that its -C knows.
CHOOSING = {"squared-hinge": 2, "logistic": 0}

_FORK = multiprocessing.get_context("fork")

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


@dataclass(eq=False)
class Entry:
    """A program that meets a need."""

    need: str
    data: str
    loss: str
    bias: str
    program: str
    # what is timed, given the seconds after which a command is to be ended
    run: Callable[[float], object]
    seconds: list[float] = field(default_factory=list)
    longer: float | None = None

    @property
    def what(self) -> tuple[str, ...]:
        """The need and the problem."""
        return self.data, self.loss, self.bias, self.need


def in_child(work: Callable[[], object], limit: float) -> tuple[float, Any] | None:
    """CPU seconds of a call in a process of its own, and its result; None beyond the limit."""
    receiver, sender = _FORK.Pipe(duplex=False)

    def work_and_send() -> None:
        begun = _used()
        try:
            result = work()
        except subprocess.TimeoutExpired:
            sender.send(None)
        else:
            sender.send((_used() - begun, result))

    child = _FORK.Process(target=work_and_send)
    child.start()
    sender.close()
    try:
        if not receiver.poll(limit):
            return None
        found: tuple[float, Any] | None = receiver.recv()
        return found
    except EOFError:
        raise RuntimeError("a run has failed; its message is above") from None
    finally:
        child.kill()
        child.join()


def _used() -> float:
    """CPU seconds of this process and of its children that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in both)


def entries(
    file: Path,
    examples: Examples,
    objective: Objective,
    tolerance: float,
    folder: Path,
    limit: Callable[[], float],
    needs: Sequence[str],
) -> list[Entry]:
    """The programs for each need, with the tolerances that they have to be given."""
    rows, loss, bias = examples.rows, objective.loss, objective.bias

    def entry(need: str, program: str, run: Callable[[float], object]) -> Entry:
        return Entry(need, rows.name, loss, bias, program, run)

    choosing = []
    if "C" in needs and len(examples.classes) == 2:
        choosing = [entry("C", *each) for each in _choosers(examples, objective, tolerance)]
    if not {"text", "fit"} & set(needs):
        return choosing
    each = problems(examples, objective)
    duals = [fit.dual for fit in train(examples, objective, tolerance / 10.0).fits]

    ours: list[str | Path] = [
        sys.executable,
        "-m",
        "svmbench",
        "train",
        file,
        "-o",
        folder / "ours",
        "--quiet",
    ]
    ours += ["--loss", loss, "--bias", bias, "-C", repr(objective.C), "--tol", repr(tolerance)]
    found = [
        entry("text", "svmbench train", partial(_command, ours)),
        entry("fit", "svmbench", lambda _: train(_fresh(examples), objective, tolerance)),
    ]
    kinds = {f"LIBLINEAR -s {kind}": kind for kind in liblinear_kinds(objective)}
    for program, fit in programs(examples, objective).items():
        done = in_child(partial(needed, fit, each, duals, tolerance), limit())
        eps = None if done is None else done[1]
        if eps is None:
            why = "no tolerance found in time" if done is None else f"does not reach {tolerance:g}"
            print(f"{rows.name}, {loss}, bias {bias}: {program} left out: {why}")
            continue
        found.append(entry("fit", f"{program}, {eps:g}", _ignoring(fit, eps)))
        if program in kinds and shutil.which("liblinear-train"):
            flags = (
                f"-q -s {kinds[program]} -c {objective.C!r} -e {eps!r}{BIAS_FLAGS[bias]}".split()
            )
            theirs: list[str | Path] = ["liblinear-train", *flags, file, folder / "theirs"]
            found.append(entry("text", f"{program}, {eps:g}", partial(_command, theirs)))
    return [each for each in found if each.need in needs] + choosing


def _choosers(
    examples: Examples, objective: Objective, tolerance: float
) -> list[tuple[str, Callable[[float], object]]]:
    values, certified = grid(examples, objective), max(tolerance, SELECTION)
    rows, _ = examples.against_rest(examples.classes[0])
    matrix, y = scipy.sparse.csr_matrix(as_stored(rows)), rows.labels.astype(float)
    found: list[tuple[str, Callable[[float], object]]] = [
        (
            "svmbench --cv",
            lambda _: cross_validate(_fresh(examples), objective, FOLDS, values, certified).best,
        )
    ]
    if objective.loss in CHOOSING:
        theirs = liblinearutil.problem(y, matrix)
        flags = f"-C -v {FOLDS} -s {CHOOSING[objective.loss]}{BIAS_FLAGS[objective.bias]}"
        found.append(
            (f"LIBLINEAR {flags}", lambda _: list(liblinearutil.train(theirs, f"{flags} -q")))
        )
    if objective.loss != "logistic" and objective.bias != "free":
        biased = objective.bias == "regularised"
        model = svm.LinearSVC(loss=objective.loss.replace("-", "_"), fit_intercept=biased)
        search = GridSearchCV(model, {"C": values}, cv=FOLDS)
        found.append(("GridSearchCV(LinearSVC)", lambda _: search.fit(matrix, y).best_params_["C"]))
    return found


def _fresh(examples: Examples) -> Examples:
    """Without what an earlier fit of the same rows has kept."""
    return replace(examples, rows=replace(examples.rows))


def _ignoring(fit: Fit, eps: float) -> Callable[[float], object]:
    def run(limit: float) -> object:
        return fit(eps).shape

    return run


def _command(words: list[str | Path], limit: float) -> None:
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, timeout=limit)


def measure(found: list[Entry], until: float, longest: float, repeats: int) -> None:
    """Run all in turns; what takes too long is not run again."""
    for _ in range(repeats):
        for each in found:
            limit = min(longest, until - time.monotonic())
            if each.longer is not None or limit <= 0.0:
                continue
            # A command ends itself, so that none is left behind.
            done = in_child(partial(each.run, limit), limit + 5.0)
            if done is None:
                each.longer = limit
            else:
                each.seconds.append(done[0])


def table(found: list[Entry]) -> list[str]:
    """Lines of Markdown; ratios are to our figure of the same need and problem."""
    lines = [
        "| need | rows | loss | bias | program | CPU seconds | runs | times ours |",
        "|---|---|---|---|---|---|---|---|",
    ]
    ours: dict[tuple[str, ...], float] = {}
    for each in found:
        if each.program.startswith("svmbench") and each.seconds:
            ours[each.what] = statistics.median(each.seconds)
    order = list(dict.fromkeys(each.what for each in found))
    for each in sorted(found, key=lambda each: order.index(each.what)):
        base = ours.get(each.what)
        shown, ratio = "not run", ""
        if each.seconds:
            middle = statistics.median(each.seconds)
            shown = f"{middle:.3f} ({min(each.seconds):.3f} to {max(each.seconds):.3f})"
            ratio = f"{middle / base:.1f}" if base else ""
        elif each.longer is not None:
            shown = f"over {each.longer:.0f}"
            ratio = f"over {each.longer / base:.1f}" if base else ""
        cells = each.need, each.data, each.loss, each.bias, each.program, shown, len(each.seconds)
        lines.append("| " + " | ".join(map(str, [*cells, ratio])) + " |")
    return lines


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+", metavar="FILE")
    parser.add_argument("--budget", default="10m", help="time for all of it, such as 10m")
    parser.add_argument("--need", choices=NEEDS, action="append", help="may be repeated")
    parser.add_argument("--loss", choices=TRAINED_LOSSES, action="append", help="may be repeated")
    parser.add_argument("--bias", choices=TRAINED_BIASES, action="append", help="may be repeated")
    parser.add_argument("-C", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-4)
    parser.add_argument("--longest", default="1m", help="time for a single run, such as 1m")
    parser.add_argument("--repeats", type=int, default=5, help="at most")
    given = parser.parse_args()
    budget = seconds_of("--budget", given.budget)
    until = time.monotonic() + budget
    objectives = [
        Objective(loss, given.C, bias)
        for loss in given.loss or TRAINED_LOSSES
        for bias in given.bias or ["none"]
    ]
    prepared = time.monotonic() + budget * _PREPARING
    left = sum(1 + len(liblinear_kinds(each)) for each in objectives) * len(given.files)

    def limit() -> float:
        """Seconds to find a tolerance in: what small rows do not need is for later ones."""
        nonlocal left
        left -= 1
        return max(1.0, prepared - time.monotonic()) / max(1, left + 1)

    with (
        threadpool_limits(1),
        warnings.catch_warnings(),
        tempfile.TemporaryDirectory() as folder,
    ):
        warnings.simplefilter("ignore")  # a tolerance that is out of reach is one that is not taken
        found = [
            each
            for file in given.files
            for examples in [read_examples(file)]
            for objective in objectives
            for each in entries(
                file, examples, objective, given.tol, Path(folder), limit, given.need or NEEDS
            )
        ]
        measure(found, until, seconds_of("--longest", given.longest), given.repeats)
    print("\n".join(table(found)))


if __name__ == "__main__":
    # A forked child has BLAS threads again, whatever its parent has limited them to.
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        one = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
        os.execve(sys.executable, [sys.executable, *sys.argv], one)
    main()
