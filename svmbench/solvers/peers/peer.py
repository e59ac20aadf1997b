"""What the programs from outside have in common: whole runs, a ladder of tolerances, counters.

A peer is imported where it runs and nowhere else, so that one that is missing or broken is
a matter of its own rows. It is handed the stored values, as doubles.
"""

from __future__ import annotations

import sys
from abc import abstractmethod
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse  # type: ignore[import-untyped]

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.kernels.counters import Counters
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter
from svmbench.solvers.peers.arithmetic import arithmetic_kept

#: Tolerances that are run, each half of the one before: 8 to 9.5e-7. Coordinate descent stops by
#: 8 after its first pass, or next to it.
TOLERANCES = tuple(2.0**-k for k in range(-3, 21))

#: Limits of iterations that are run, each twice the one before: 1 to a million.
LIMITS = tuple(2.0**k for k in range(21))

#: A number of iterations no run comes to: for programs that insist on a limit.
UNLIMITED = 2**31 - 1

#: What programs take as a seed.
SEEDS = 2**31


class PeerParameters(Parameters):
    """Parameters of every peer."""

    precision: Literal["float64"] = parameter(
        "float64", "Peers are handed doubles; what they compute in is theirs.", source="ours"
    )


class TolerantParameters(PeerParameters):
    """Parameters of a peer that is told a tolerance."""

    tolerance: float | None = parameter(
        None,
        "The program's own tolerance. Where none is given, a sweep runs a ladder of them: 8, "
        "4, ... to 1e-6, up to the first that has the tightest accuracy.",
        source="ours; every program's default is one value between",
        gt=0.0,
    )


class LimitedParameters(TolerantParameters):
    """Parameters of a peer that is told a limit of iterations as well."""

    max_iter: float | None = parameter(
        None,
        "Limit of its iterations, a whole number; where none is given there is none, or the "
        "ladder's.",
        source="ours; every program's default is one value between",
        unit="iterations",
        ge=1.0,
        lt=UNLIMITED,
        multiple_of=1.0,
    )
    rungs: Literal["tolerances", "iterations"] = parameter(
        "tolerances",
        "What the ladder of a sweep is made of. iterations: limits of 1, 2, 4, ... iterations, "
        "with the tightest tolerance unless one is given. Neither ladder is the faster one "
        "everywhere: where a loose tolerance takes many passes, limits stop between them.",
        source="ours",
    )


class Peer(Solver):
    """A program from outside.

    The first `advance` of a step or more trains from w = 0; later ones change nothing.

    Class attributes
    ----------------
    package : str
        Its distribution in package registries.
    module : str
        What is imported of it.
    remedy : str
        What to do where it is not installed.
    one_class : bool
        Whether it trains on rows of one class only.
    """

    step = "iteration"
    ladder = True
    foreign = True
    package: ClassVar[str]
    module: ClassVar[str]
    remedy: ClassVar[str] = "pip install 'svmbench[peers]'"
    one_class: ClassVar[bool] = False
    unstated: ClassVar[tuple[str, ...]] = (
        "Presentations: m for each pass that the program tells of, though shrinking leaves rows "
        "out; updates: as many, for no program tells them.",
    )

    @classmethod
    def missing(cls) -> str | None:
        """How to install it, if it is not."""
        try:
            version(cls.package)
        except PackageNotFoundError:
            return f"the package {cls.package} is not installed; {cls.remedy}"
        return None

    @classmethod
    @cache
    def build(cls) -> dict[str, Any]:
        """The hash of the adapter's sources, and the program's version."""
        known = None if cls.missing() else f"{cls.package} {version(cls.package)}"
        return super().build() | {"package": known}

    def load(self) -> None:
        """Import the program."""
        self._program()

    def convert(self, problem: Problem) -> None:
        """Bring the rows and labels into the program's form."""
        self.adopt_rows(problem, matrix(problem.data), problem.data.labels.astype(np.float64))

    def adopt_rows(self, problem: Problem, rows: Any, labels: Any) -> bool:
        """Bring rows that another program has read into this program's form."""
        if not self.one_class and (labels == labels[0]).all():
            raise RuntimeError(f"{self.name} refuses rows of one class only; leave it out there")
        if scipy.sparse.issparse(rows) and rows.nnz < UNLIMITED:
            # Programs insist on indices of 32 bits, and readers make them of 64.
            rows.indices = rows.indices.astype(np.int32, copy=False)
            rows.indptr = rows.indptr.astype(np.int32, copy=False)
        self._rows = self._converted(rows, labels)
        self._problem = problem
        return True

    def take_over(self, other: Solver) -> bool:
        """Use the rows that another rung of the ladder was trained on."""
        assert isinstance(other, Peer)
        self._rows, self._problem = other._rows, other._problem
        return True

    def start(self, problem: Problem, seed: int) -> None:
        """Make ready to train; convert the rows unless that has been done."""
        if getattr(self, "_problem", None) is not problem:
            self.convert(problem)
        self.counters = Counters()
        self._seed = seed % SEEDS
        self._w = np.zeros(problem.data.n_features)
        self._trained = False

    def advance(self, steps: int) -> None:
        """Train, unless that has been done."""
        if steps <= 0 or self._trained:
            return
        w, passes = self._train()
        self._w[:] = np.ravel(w)
        self._trained = True
        data = self._problem.data
        self.counters.presentations = self.counters.updates = passes * data.n_samples
        self.counters.nonzeros = passes * data.nnz

    @property
    def w(self) -> FloatArray:
        """The program's weights for the class +1; 0 until it has been trained."""
        return self._w.copy()

    def _program(self) -> Any:
        if self.module in sys.modules:
            return sys.modules[self.module]
        with arithmetic_kept():
            return import_module(self.module)

    def _converted(self, rows: Any, labels: FloatArray) -> Any:
        return rows, labels

    def _cost(self) -> float:
        """C, the weight of the summed loss beside ½‖w‖²; of the summed squares without their ½."""
        problem = self._problem
        half = 0.5 if problem.loss.name == "squared-hinge" else 1.0
        return half / (problem.lam * problem.data.n_samples)

    @abstractmethod
    def _train(self) -> tuple[FloatArray, int]:
        """Train from scratch: the weights for +1, and passes over the rows."""


class TolerantPeer(Peer):
    """A peer that stops by a tolerance."""

    horizon = "accuracy"
    horizon_parameter = "tolerance"
    schema = TolerantParameters

    def horizons(self, accuracy: tuple[float, ...], max_epochs: float | None) -> tuple[float, ...]:
        """The ladder, whatever the accuracy: no tolerance of a program is one of P."""
        return TOLERANCES

    @property
    def stopped(self) -> bool | None:
        """Whether it has come to its tolerance, or to the limit that it was run for."""
        return self._trained and not self.exhausted

    def _tolerance(self) -> float:
        """The tolerance; the tightest of the ladder where none is given."""
        return float(self.parameters.tolerance or TOLERANCES[-1])


class LimitedPeer(TolerantPeer):
    """A peer that stops by a tolerance or at a limit of iterations, whichever comes first."""

    schema = LimitedParameters

    def __init__(self, parameters: Parameters | None = None) -> None:
        super().__init__(parameters)
        if self.parameters.rungs == "iterations":
            self.horizon_parameter = "max_iter"

    def horizons(self, accuracy: tuple[float, ...], max_epochs: float | None) -> tuple[float, ...]:
        """The ladder of tolerances or that of limits, whatever the accuracy."""
        return LIMITS if self.parameters.rungs == "iterations" else TOLERANCES

    def start(self, problem: Problem, seed: int) -> None:
        """Make ready to train."""
        super().start(problem, seed)
        self._iterations = 0

    @property
    def exhausted(self) -> bool:
        """Whether it was ended by the one of tolerance and limit that its ladder does not move."""
        limited = self._iterations >= self._limit()
        return self._trained and limited != (self.parameters.rungs == "iterations")

    def _limit(self) -> int:
        """The limit of iterations; one that is never met where none is given."""
        return int(self.parameters.max_iter or UNLIMITED)


def matrix(data: Dataset) -> Any:
    """The rows in double precision: dense as they are stored so, else a scipy CSR matrix."""
    if data.indices is None or data.indptr is None:
        return np.ascontiguousarray(data.values, dtype=np.float64)
    values = np.ones(data.nnz) if data.values is None else data.values.astype(np.float64)
    # Programs want the indices of 32 bits that scipy makes wherever they are enough.
    narrow = np.int32 if data.nnz < UNLIMITED else np.int64
    rows = values, data.indices.astype(narrow), data.indptr.astype(narrow)
    return scipy.sparse.csr_matrix(rows, (data.n_samples, data.n_features))
