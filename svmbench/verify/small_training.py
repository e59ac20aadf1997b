"""Small problems of every class that a solver supports, for the checks of its contract."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from functools import cache

import numpy as np

from svmbench.data.dataset import Array, Dataset, FloatArray, Provenance
from svmbench.problem import Loss, Problem
from svmbench.reference.optimum import certified_optimum
from svmbench.solvers.base import Solver
from svmbench.solvers.checked import precisions_of

#: How close to the optimum a solver must come, relative to P*.
ACCURACY = 0.05


@dataclass(frozen=True)
class SmallTraining:
    """A solver and the class of problems it is to train, in one precision."""

    solver: type[Solver]
    loss: str
    bias: str
    constraint: str
    precision: str

    @property
    def kind(self) -> str:
        """The class of problems in words."""
        parts = [self.loss, self.precision]
        parts += ["free bias"] * (self.bias == "free") + ["l1 ball"] * (self.constraint == "l1")
        return ", ".join(parts)

    def problem(self, name: str) -> Problem:
        """The small problem of that name in this class."""
        X, y = problems()[name]
        radius = 0.5 if self.constraint == "l1" else math.inf
        gamma = 0.5 if self.loss == "smoothed-hinge" else 1.0
        return Problem(dataset(name, X, y), 2.0**-5, Loss(self.loss, gamma), self.bias, radius)

    def started(self, problem: Problem, seed: int = 1) -> Solver:
        """A new instance at its initial point."""
        parameters = self.solver.schema(precision=self.precision)  # type: ignore[arg-type]
        run, other = self.solver(parameters), self.solver(parameters)
        run.load()
        other.warm_up(problem)
        run.convert(problem)
        run.start(problem, seed)
        return run

    def optimum(self, problem: Problem) -> tuple[float, float]:
        reference = certified_optimum(problem, 1e-6, 10.0)
        return reference.dual, reference.primal

    def steps(self, problem: Problem, epochs: int, iterations: int) -> int:
        """Steps of so many epochs, or of so many iterations if a step is one."""
        return epochs * problem.data.n_samples if self.counts_rows else iterations

    @property
    def counts_rows(self) -> bool:
        """Whether a step is the presentation of a row."""
        return self.solver.step == "presentation"

    def within(self, run: Solver, name: str, lower: float) -> float:
        """How far above the optimum it may end on that problem."""
        if self.loss in self.solver.smoothed:
            return float(run.parameters.smoothing) / 2  # a smoothed loss differs by no more
        return ACCURACY * lower


def trainings(solver: type[Solver]) -> list[SmallTraining]:
    """Every class of problems that a solver supports, in each of its precisions."""
    return [
        SmallTraining(solver, loss, bias, constraint, precision)
        for loss in solver.losses
        for bias in solver.biases
        for constraint in solver.constraints
        for precision in precisions_of(solver.schema)
    ]


@cache
def problems() -> dict[str, tuple[FloatArray, Array]]:
    """Rows and labels of the small problems by name."""
    rng = np.random.default_rng(2024)
    X = rng.normal(size=(60, 12)) * (rng.random((60, 12)) < 0.4)
    X /= np.maximum(np.linalg.norm(X, axis=1), 1.0)[:, None]
    y = np.where(X @ rng.normal(size=12) + 0.2 * rng.normal(size=60) > 0.0, 1, -1)
    holes, unseen = X.copy(), X.copy()
    holes[::3] = 0.0
    unseen[:, [0, 11]] = 0.0
    return {
        "ordinary rows": (X, y),
        "separable rows": (X + 0.5 * y[:, None] / math.sqrt(12.0), y),
        "rows that are zero": (holes, y),
        "duplicates with both labels": (np.repeat(X[:15], 2, axis=0), np.tile([1, -1], 15)),
        "two rows": (X[:2], np.array([1, -1])),
        "features without entries": (unseen, y),
    }


def dataset(name: str, X: FloatArray, y: Array) -> Dataset:
    """Rows as a data set in sparse form."""
    rows, columns = np.nonzero(X)
    indptr = np.zeros(len(X) + 1, dtype=np.int64)
    np.cumsum(np.bincount(rows, minlength=len(X)), out=indptr[1:])
    values, digest = X[rows, columns], hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest()
    origin = Provenance("contract", digest)
    indices, signs = columns.astype(np.uint16), y.astype(np.int8)
    return Dataset(name, X.shape[1], indptr, indices, values, signs, origin)
