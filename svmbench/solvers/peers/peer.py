"""Common base of the external programs: whole runs, a ladder of tolerances, counters."""

from __future__ import annotations

import ctypes
import sys
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar, Literal

import numpy as np

from svmbench.data.dataset import Dataset, FloatArray
from svmbench.kernels.counters import Counters
from svmbench.problem import Problem
from svmbench.solvers.base import Parameters, Solver, parameter

#: Bytes that hold the C library's fenv_t on any system; the largest known takes 32.
_ENOUGH = 512


@contextmanager
def arithmetic_kept() -> Iterator[None]:
    """Restore the rounding mode and the treatment of subnormal numbers on exit."""
    library, state = ctypes.CDLL(None), ctypes.create_string_buffer(_ENOUGH)
    if not hasattr(library, "fegetenv") or library.fegetenv(state) != 0:
        yield
        return
    try:
        yield
    finally:
        library.fesetenv(state)


#: Tolerances of the ladder, each half of the one before: 8 to 9.5e-7. With 8, coordinate descent
#: stops after its first pass or soon after.
TOLERANCES = tuple(2.0**-k for k in range(-3, 21))

#: Iteration limits of the ladder, each twice the one before: 1 to a million.
LIMITS = tuple(2.0**k for k in range(21))

#: A number of iterations that no run reaches, for programs that require a limit.
UNLIMITED = 2**31 - 1

#: Number of seeds that the programs accept.
SEEDS = 2**31


class TolerantParameters(Parameters):
    """Parameters of a peer that takes a tolerance."""

    tolerance: float | None = parameter(
        None,
        "The program's own tolerance. If it is not given, a sweep runs a ladder of tolerances, 8, "
        "4, ... to 1e-6, up to the first that reaches the tightest accuracy.",
        source="ours; every program's default is one value between",
        gt=0.0,
    )


class LimitedParameters(TolerantParameters):
    """Parameters of a peer that also takes a limit of iterations."""

    max_iter: float | None = parameter(
        None,
        "Limit of its iterations, a whole number. If it is not given, there is no limit, or the "
        "ladder sets it.",
        source="ours; every program's default is one value between",
        unit="iterations",
        ge=1.0,
        lt=UNLIMITED,
        multiple_of=1.0,
    )
    rungs: Literal["tolerances", "iterations"] = parameter(
        "tolerances",
        "What the ladder of a sweep varies. iterations: limits of 1, 2, 4, ... iterations, with "
        "the tightest tolerance unless one is given. Neither ladder is always faster: where a "
        "loose tolerance takes many passes, limits can stop between them.",
        source="ours",
    )


class Peer(Solver):
    """An external program: the first `advance` of at least one step trains from w = 0."""

    step = "iteration"
    ladder = True
    foreign = True
    package: ClassVar[str]  # its distribution package
    module: ClassVar[str]
    remedy: ClassVar[str] = ""  # how to install it, if not by `pip install` alone
    one_class: ClassVar[bool] = False  # whether it accepts rows that all belong to one class
    unstated: ClassVar[tuple[str, ...]] = (
        "Presentations: m for each pass that the program reports, although shrinking omits rows. "
        "Updates: the same number, because no program reports them.",
    )

    @classmethod
    def missing(cls) -> str | None:
        """How to install the program if it is not installed."""
        try:
            version(cls.package)
        except PackageNotFoundError:
            remedy = cls.remedy or f"pip install {cls.package}"
            return f"the package {cls.package} is not installed; {remedy}"
        return None

    @classmethod
    @cache
    def build(cls) -> dict[str, Any]:
        """The hash of the adapter's sources, and the program's version."""
        known = None if cls.missing() else f"{cls.package} {version(cls.package)}"
        return super().build() | {"package": known}

    def load(self) -> None:
        import scipy.sparse  # type: ignore[import-untyped]  # noqa: F401

        self._program()

    def convert(self, problem: Problem) -> None:
        labels = problem.data.labels.astype(np.float64)
        if not self.one_class and (labels == labels[0]).all():
            raise RuntimeError(f"{self.name} refuses rows of one class only; leave it out there")
        self._rows, self._problem = self._converted(matrix(problem.data), labels), problem

    def take_over(self, other: Solver) -> bool:
        """Use the rows that another run of the ladder has converted."""
        assert isinstance(other, Peer)
        self._rows, self._problem = other._rows, other._problem
        return True

    def start(self, problem: Problem, seed: int) -> None:
        if getattr(self, "_problem", None) is not problem:
            self.convert(problem)
        self.counters = Counters()
        self._seed = seed % SEEDS
        self._w = np.zeros(problem.data.n_features)
        self._trained = False

    def advance(self, steps: int) -> None:
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
        return self._w.copy()

    def _program(self) -> Any:
        if self.module in sys.modules:
            return sys.modules[self.module]
        with arithmetic_kept():
            return import_module(self.module)

    def _converted(self, rows: Any, labels: FloatArray) -> Any:
        return rows, labels

    def _cost(self) -> float:
        """C, the weight of the summed loss next to ½‖w‖²; squared losses have no factor ½ here."""
        problem = self._problem
        half = 0.5 if problem.loss.name == "squared-hinge" else 1.0
        return half / (problem.lam * problem.data.n_samples)

    @abstractmethod
    def _train(self) -> tuple[FloatArray, int]:
        """Train from scratch; return the weights for +1 and the number of passes over the rows."""


class TolerantPeer(Peer):
    horizon = "accuracy"
    horizon_parameter = "tolerance"
    schema = TolerantParameters

    def horizons(self, accuracy: tuple[float, ...], max_epochs: float | None) -> tuple[float, ...]:
        """The whole ladder, because no program's tolerance is one on P."""
        return TOLERANCES

    @property
    def stopped(self) -> bool | None:
        """Whether it reached its tolerance, or the limit that the ladder set."""
        return self._trained and not self.exhausted

    def _tolerance(self) -> float:
        """The given tolerance, or else the tightest of the ladder."""
        return float(self.parameters.tolerance or TOLERANCES[-1])


class LimitedPeer(TolerantPeer):
    """A peer that stops by a tolerance or at a limit of iterations, whichever comes first."""

    schema = LimitedParameters

    def __init__(self, parameters: Parameters | None = None) -> None:
        super().__init__(parameters)
        if self.parameters.rungs == "iterations":
            self.horizon_parameter = "max_iter"

    def horizons(self, accuracy: tuple[float, ...], max_epochs: float | None) -> tuple[float, ...]:
        """The whole ladder of tolerances or of limits, whatever the accuracy."""
        return LIMITS if self.parameters.rungs == "iterations" else TOLERANCES

    def start(self, problem: Problem, seed: int) -> None:
        super().start(problem, seed)
        self._iterations = 0

    @property
    def exhausted(self) -> bool:
        """Whether the run ended by tolerance or limit, whichever the ladder keeps fixed."""
        limited = self._iterations >= self._limit()
        return self._trained and limited != (self.parameters.rungs == "iterations")

    def _limit(self) -> int:
        """The given limit of iterations, or else one that is never reached."""
        return int(self.parameters.max_iter or UNLIMITED)


def matrix(data: Dataset) -> Any:
    """The rows in double precision: an array if they are stored dense, else a scipy CSR matrix."""
    import scipy.sparse

    if data.indices is None or data.indptr is None:
        return np.ascontiguousarray(data.values, dtype=np.float64)
    values = np.ones(data.nnz) if data.values is None else data.values.astype(np.float64)
    # Programs require 32-bit indices, which scipy also uses wherever they are large enough.
    narrow = np.int32 if data.nnz < UNLIMITED else np.int64
    rows = values, data.indices.astype(narrow), data.indptr.astype(narrow)
    return scipy.sparse.csr_matrix(rows, (data.n_samples, data.n_features))


class ScikitLearn(Peer):
    """An estimator of scikit-learn. Its checks of its input count as training."""

    package = "scikit-learn"

    def _fitted(self, estimator: Any) -> Any:
        """Train the estimator; suppress its warning that the limit of iterations was reached."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            return estimator.fit(*self._rows)
