"""Common parts of the experiments in this folder: options, problems, tables."""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterable, Sequence

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray, Provenance
from svmbench.data.load import load
from svmbench.problem import HINGE, Loss, Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.base import Solver


def wants_real(description: str | None) -> bool:
    """Whether the command line has ``--real``."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument(
        "--real", action="store_true", help="print the tables of real data, which must be available"
    )
    return bool(parser.parse_args().real)


def catalogued(name: str, lam: float, loss: Loss = HINGE) -> Problem:
    """The problem on a data set of the catalogue."""
    return Problem(load(name).train, lam, loss)


def made(name: str, X: FloatArray, y: FloatArray, lam: float, loss: Loss = HINGE) -> Problem:
    """The problem on dense rows of the caller."""
    values = np.ascontiguousarray(X, dtype=np.float64)
    labels = np.asarray(y, dtype=np.int8)
    source = Provenance("made by a script of findings", "")
    return Problem(Dataset(name, X.shape[1], None, None, values, labels, source), lam, loss)


def matrix(data: Dataset) -> FloatArray:
    """The rows as a dense array, shape (m, d)."""
    if data.indices is None or data.indptr is None:
        return np.asarray(data.values, dtype=np.float64)
    X = np.zeros((data.n_samples, data.n_features))
    rows = np.repeat(np.arange(data.n_samples), np.diff(data.indptr))
    X[rows, data.indices] = 1.0 if data.values is None else data.values
    return X


def lower_bound(problem: Problem, gap: float = 1e-6) -> float:
    """D_ref <= P*, certified to a relative gap of ``gap``."""
    found = certified_optimum(problem, gap, time_limit=300.0)  # a loaded machine may need it
    if found.gap > gap:
        raise SystemExit(f"{problem.data.name}: no optimum certified to {gap:g}; try again")
    return found.dual


def epochs_to(
    solver: Solver, problem: Problem, targets: Sequence[float], most: float, seed: int = 0
) -> list[float]:
    """Epochs after which (P(w) - D_ref)/D_ref first is at most each of the descending ``targets``.

    The check takes place after every tenth of an epoch, and from ten epochs on after every epoch.
    The value is inf for a target that is not reached within ``most`` epochs.
    """
    m, least = problem.data.n_samples, lower_bound(problem)
    found: list[float] = []
    solver.start(problem, seed)
    tenths = 0
    while len(found) < len(targets) and tenths < 10 * most:
        tenths += 1 if tenths < 100 else 10
        solver.advance(math.ceil(tenths * m / 10) - solver.counters.presentations)
        accuracy = problem.primal(solver.w) / least - 1.0
        while len(found) < len(targets) and accuracy <= targets[len(found)]:
            found.append(tenths / 10)
    return found + [math.inf] * (len(targets) - len(found))


def markdown(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table, as on the page."""
    first, *others = ("| " + " | ".join(line) + " |\n" for line in (header, *rows))
    return first + "|---|" + "---:|" * (len(header) - 1) + "\n" + "".join(others)
