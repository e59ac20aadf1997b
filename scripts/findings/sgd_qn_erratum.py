"""sgd-qn as published, its correction, and svmsgd2 without scaling: epochs and diagonals."""

from __future__ import annotations

import math

import numpy as np
from measure import catalogued, epochs_to, lower_bound, made, markdown, matrix, wants_real

from svmbench.problem import Loss, Problem
from svmbench.solvers.stochastic.sgd_qn import SgdQn
from svmbench.solvers.stochastic.sgd_qn_corrected import SgdQnCorrected
from svmbench.solvers.stochastic.svmsgd2 import Svmsgd2

SOLVERS: tuple[type[SgdQn] | type[SgdQnCorrected] | type[Svmsgd2], ...] = (
    Svmsgd2,
    SgdQn,
    SgdQnCorrected,
)
TARGETS = (1e-1, 1e-2, 1e-3)
SEEDS = (1, 2, 3)
MOST = 200
CONTROL_MOST = 60
SKIP = 16


def unlike_scales(loss: Loss) -> Problem:
    """4000 dense rows of 50 columns with scales from 1 to 1/10; a tenth of labels are random."""
    rng = np.random.default_rng(6)
    X = rng.normal(size=(4000, 50))
    y = np.where(X @ rng.normal(size=50) > 0.0, 1, -1)
    drawn = rng.random(4000) < 0.1
    y[drawn] = rng.choice([-1, 1], size=int(drawn.sum()))
    return made("dense, unlike scales", X * np.logspace(0.0, -1.0, 50), y, 1e-4, loss)


def median_epochs(solver: type[SgdQn | SgdQnCorrected | Svmsgd2], problem: Problem) -> list[str]:
    """Median over the seeds of the epochs to each target."""
    runs = [epochs_to(solver(), problem, TARGETS, MOST, seed) for seed in SEEDS]
    medians = np.median(runs, axis=0)
    return [f"{one:.1f}" if math.isfinite(one) else f"> {MOST}" for one in medians]


def without_diagonal(problem: Problem, t0: float) -> list[str]:
    """Epochs to each target of SGD with steps 1/(lam (t0 + 100 t)), the same for all columns.

    The corrected form has these steps if all its ratios are at their upper limit, 100 lam.
    """
    X, y, lam = matrix(problem.data), problem.data.labels, problem.lam
    m, least = len(y), lower_bound(problem)
    hinge = problem.loss.name == "hinge"
    order = np.random.default_rng(1).permutation(m)
    w, found = np.zeros(X.shape[1]), list[str]()
    for t in range(1, CONTROL_MOST * m + 1):
        x, sign = X[order[t % m]], y[order[t % m]]
        rate = 1.0 / (t0 + 100.0 * t)
        slack = 1.0 - sign * (x @ w)
        if t % SKIP == 0:
            w *= (1.0 - rate) ** SKIP
        if slack > 0.0:
            w += rate / lam * sign * (1.0 if hinge else slack) * x
        if t % (m // 10) == 0 and (t <= 10 * m or t % m == 0):
            accuracy = problem.primal(w) / least - 1.0
            while len(found) < len(TARGETS) and accuracy <= TARGETS[len(found)]:
                found.append(f"{t / m:.1f}")
        if len(found) == len(TARGETS):
            break
    return found + [f"> {CONTROL_MOST}"] * (len(TARGETS) - len(found))


def diagonal(solver: type[SgdQn | SgdQnCorrected], problem: Problem) -> tuple[str, str, str]:
    """Lam times the least B after ten epochs, lam times the largest B so far, and B's final spread.

    The check takes place every tenth of an epoch.
    """
    run = solver()
    run.start(problem, seed=1)
    largest = 0.0
    for _ in range(100):
        run.advance(problem.data.n_samples // 10)
        largest = max(largest, problem.lam * float(run.scaling.max()))
    spread = float(run.scaling.max() / run.scaling.min())
    return f"{problem.lam * run.scaling.min():.2e}", f"{largest:.2e}", f"{spread:.3g}"


def main() -> None:
    """Print the tables."""
    losses = (Loss("squared-hinge"), Loss("hinge"))
    if wants_real(__doc__):
        problems = [catalogued("adult", 1e-4, loss) for loss in losses]
    else:
        problems = [unlike_scales(loss) for loss in losses]
    epochs, diagonals = [], []
    for problem in problems:
        case = (problem.data.name, problem.loss.name)
        epochs += [(*case, one.name, *median_epochs(one, problem)) for one in SOLVERS]
        if problem.data.name != "adult":
            corrected = SgdQnCorrected()
            corrected.start(problem, seed=1)
            name = f"no diagonal, {corrected.t0:g} + 100 t"
            epochs.append((*case, name, *without_diagonal(problem, corrected.t0)))
        diagonals += [(*case, one.name, *diagonal(one, problem)) for one in (SgdQn, SgdQnCorrected)]
    header = ("data", "loss", "solver")
    print(markdown((*header, *(f"epochs to {one:g}" for one in TARGETS)), epochs))
    print(markdown((*header, "least λB", "largest λB", "largest B / least B"), diagonals), end="")


if __name__ == "__main__":
    main()
