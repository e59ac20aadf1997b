"""The interface of every solver, and the description of its parameters.

A solver is one Python file with one subclass of `Solver` (and, for ours, one kernel).
`svmbench.solvers.registry` finds it; it is listed nowhere else.
"""

from __future__ import annotations

import hashlib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, wraps
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any, ClassVar, Literal, dataclass_transform

import svmbench.kernels
from svmbench.data.dataset import FloatArray
from svmbench.errors import ConfigError
from svmbench.kernels.counters import Counters
from svmbench.problem import Problem
from svmbench.solvers.plug_in import files_of, imports_of, source_of

#: Packages whose versions are part of a run's identity, because solvers compute with them.
LIBRARIES = ("numpy", "scipy")

Precision = Literal["float64", "float32"]

#: The package of the compiled kernels.
KERNELS = "svmbench.kernels."


def parameter(default: Any, doc: str, *, source: str, unit: str = "", **limits: Any) -> Any:
    """One entry of a solver's parameter schema.

    Its default is ``...`` if it has to be given; its source is a paper's section, a program, or
    ours; the limits are pydantic's: ``gt``, ``ge``, ``lt``, ``le``.
    """
    # Pydantic reads its own terms in the metadata of a dataclass's field.
    metadata = {"description": doc, "json_schema_extra": {"source": source, "unit": unit}, **limits}
    return field(metadata=metadata) if default is ... else field(default=default, metadata=metadata)


@dataclass_transform(frozen_default=True, kw_only_default=True)
@dataclass(frozen=True, kw_only=True)
class Parameters:
    """Parameters of a solver: declared and documented in one place, and frozen.

    Each subclass is a dataclass. It checks no values by itself: `svmbench.solvers.checked` does,
    by pydantic, which is slow to load and which training does without.

    The schema of a solver that can also compute in single precision is an `EitherParameters`.
    """

    __pydantic_config__: ClassVar[dict[str, Any]] = {"extra": "forbid", "allow_inf_nan": False}

    precision: Literal["float64"] = parameter(
        "float64", "The solver computes in double precision only.", source="ours"
    )

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(frozen=True, kw_only=True)(cls)


class EitherParameters(Parameters):
    """Parameters of a solver that can also compute in single precision."""

    precision: Precision = parameter(  # type: ignore[assignment]  # it is wider
        "float64", "Precision of the weights and of every operation on them.", source="ours"
    )


def _refusing_weights(
    start: Callable[[Solver, Problem, int], None],
) -> Callable[[Solver, Problem, int], None]:
    """A solver's `start` that refuses weights of rows unless the solver counts them."""

    @wraps(start)
    def refusing(self: Solver, problem: Problem, seed: int) -> None:
        if problem.row_weights is not None and not self.weighted:
            raise ConfigError(
                f"{self.name} ignores weights of rows; train with one that counts them, such as dcd"
            )
        start(self, problem, seed)

    return refusing


class Solver(ABC):
    """A training method, advanced in steps under the harness's clock.

    The harness creates one instance per run, calls `start` once and `advance` many times, and times
    only these two. Between calls it reads `w`, `counters`, `dual` and `stopped`, which must not
    change the next call. A ``ClassVar`` is read before there is an instance: no property may
    compute it.
    """

    name: ClassVar[str]  # in lower case with hyphens
    summary: ClassVar[str]  # the method in one line
    source: ClassVar[str]  # paper and section, or program, that defines the method
    losses: ClassVar[tuple[str, ...]] = ("hinge",)
    # those of ``losses`` that it replaces by a smooth loss: it never reaches their optimum
    smoothed: ClassVar[tuple[str, ...]] = ()
    biases: ClassVar[tuple[str, ...]] = ("none",)
    constraints: ClassVar[tuple[str, ...]] = ("none",)
    weighted: ClassVar[bool] = False  # whether it counts weights of rows; `start` of others refuses
    mathematics: ClassVar[str] = ""  # problem, update and output in a few lines of plain text
    # details that no source states, and those that sources leave open; a sentence each
    reconstructed: ClassVar[tuple[str, ...]] = ()
    unstated: ClassVar[tuple[str, ...]] = ()
    # what its source calls a step: one row processed once, or one or more passes over the rows
    step: Literal["presentation", "iteration"] = "presentation"
    # what a run must know before it starts: nothing, its last step, or the requested accuracy; and
    # the parameter for it, which the harness sets where its value is None, the default
    horizon: Literal["none", "steps", "accuracy"] = "none"
    horizon_parameter: str = ""
    # whether the weights before its horizon are results too, which are judged at every checkpoint
    anytime: ClassVar[bool] = False
    # passes after which their pattern repeats; above 1, the accuracy rises and falls within a cycle
    cycle: int = 1
    # whether its horizons go from the cheapest run to the most expensive, each at least as accurate
    # as the one before; a repeat ends with the first that is accurate enough
    ladder: ClassVar[bool] = False
    # whether it is an external program: the first `advance` trains from scratch to the horizon
    foreign: ClassVar[bool] = False
    schema: ClassVar[type[Parameters]] = Parameters

    #: Whether `advance` returns as soon as the method's own stopping rule first holds. The
    #: harness sets it where that rule is a target or the horizon, to time that moment exactly.
    halts: bool = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "start" in vars(cls):
            cls.start = _refusing_weights(cls.start)  # type: ignore[assignment, method-assign]

    def __init__(self, parameters: Parameters | None = None) -> None:
        self.parameters: Any = self.schema() if parameters is None else parameters
        self.counters: Counters = Counters()

    @classmethod
    def missing(cls) -> str | None:
        """What must be installed before it can run, with the command to install it; or None."""
        return None

    def step_rows(self, m: int) -> int | None:
        """Number of rows in one step on ``m`` rows; None where it varies."""
        batch = getattr(self.parameters, "batch", None)
        if batch is not None:
            return min(int(batch), m)
        return 1 if self.step == "presentation" else None

    def visits(self) -> int:
        """Rows visited so far; fewer than presented where a visit presents a row several times."""
        return int(self.counters.presentations)

    def steps_to(self, visits: int) -> int:
        """Steps until so many rows are visited, or until the number of steps a visit changes."""
        return visits - self.visits()

    def horizons(self, accuracy: tuple[float, ...], max_epochs: float | None) -> tuple[float, ...]:
        """Horizons to run, of which the best counts at each accuracy of the sweep.

        They are the accuracies, or numbers of epochs that double from one to the limit (1024 if
        none).
        """
        if self.horizon == "accuracy":
            return accuracy
        most = max_epochs or 1024.0
        doubling = [2.0**k for k in range(64) if 2.0**k < most]
        return (*doubling, most)

    def load(self) -> None:
        """Import an external program (not timed)."""
        return

    def warm_up(self, problem: Problem) -> None:
        """Compile what is compiled when it is first used, and start threads (not timed).

        It is called before each run, with two of its rows, on an instance that is thrown away.
        """
        return

    def convert(self, problem: Problem) -> None:
        """Convert the rows to an external program's format (timed separately from training)."""
        return

    def take_over(self, other: Solver) -> bool:
        """Use the rows that another instance has converted, if possible (not timed).

        The other ran on the same problem. Whether there is nothing left to convert is returned.
        """
        return False

    @abstractmethod
    def start(self, problem: Problem, seed: int) -> None:
        """Set the solver to its initial point (timed).

        With the same build, the same seed, from 0 to 2**64 - 1, gives identical results.
        """

    @abstractmethod
    def advance(self, steps: int) -> None:
        """Take about ``steps`` more steps (timed), from the point where the last call stopped.

        A method whose smallest unit holds several presentations may overshoot by less
        than one such unit. It returns early when `halts` is set and `stopped` becomes true.
        """

    @property
    @abstractmethod
    def w(self) -> FloatArray:
        """The current weights, shape (d,), float64; a new array."""

    @property
    def bias(self) -> float:
        """The current bias b; 0 where the problem has none."""
        return 0.0

    def dual(self) -> float | None:
        """A lower bound D on P*, or None."""
        return None

    @property
    def stopped(self) -> bool | None:
        """Whether its own stopping rule holds, after which it may go on; None without one."""
        return None

    @property
    def t0(self) -> float | None:
        """The offset in steps of steps about 1/(λ (t + t0)), given or searched; else None."""
        return None

    @property
    def remark(self) -> str:
        """The choices it made by itself, with reasons, in one sentence; empty if it made none."""
        return ""

    @property
    def exhausted(self) -> bool:
        """Whether no further step can change anything, although the run's rule does not hold."""
        return False

    @classmethod
    @cache
    def build(cls) -> dict[str, Any]:
        """The solver's build: a hash of its sources, the flags, the compiler and the libraries."""
        records = [import_module(KERNELS + kernel).__build__ for kernel in cls.kernels_used()]
        digest = hashlib.sha256()
        for path in cls._source_files():
            digest.update(path.name.encode() + b"\0" + source_of(path))
        for record in records:
            digest.update(record["source_sha256"].encode())
        return {
            "source_sha256": digest.hexdigest(),
            "flags": sorted({record["flags"] for record in records}),
            "compiler": sorted({record["compiler"] for record in records}),
            "libraries": _libraries(),
        }

    @classmethod
    @cache
    def kernels_used(cls) -> tuple[str, ...]:
        """Modules of `svmbench.kernels` that its sources import: part of a run's identity."""
        texts = [source_of(path) for path in cls._source_files() if path.suffix == ".py"]
        names = {name for text in texts for name in imports_of(text) if name.startswith(KERNELS)}
        used = {name.removeprefix(KERNELS).partition(".")[0] for name in names}
        known = {module.name for module in iter_modules(svmbench.kernels.__path__)}
        return tuple(sorted(used & known - {"counters"}))  # every solver counts with that

    @classmethod
    def build_with(cls, parameters: Any) -> dict[str, Any]:
        """The build of an instance with these parameters, which may name further files."""
        return cls.build()

    @classmethod
    def _source_files(cls) -> list[Path]:
        """Files of the solver, its ancestors and what they import; of a plug-in, all files."""
        ancestors = [c for c in cls.__mro__ if issubclass(c, Solver) and c is not Solver]
        files = {Path(inspect.getfile(ancestor)) for ancestor in ancestors}
        waiting = list(files)
        while waiting:
            found = _imported(waiting.pop()) - files
            files |= found
            waiting += found
        for ancestor in ancestors:
            if not ancestor.__module__.startswith("svmbench."):
                files |= files_of(ancestor.__module__)
        return sorted(files)


@cache
def _libraries() -> list[str]:
    from importlib.metadata import version  # slow to load, and training needs no build

    return [f"{name} {version(name)}" for name in LIBRARIES]


def _imported(path: Path) -> set[Path]:
    """The modules of this package that one of its files imports; not this module."""
    here = Path(__file__)
    if not path.is_relative_to(here.parent):
        return set()
    names = [name.split(".") for name in imports_of(path.read_bytes())]
    inside = [name[2:] for name in names if name[:2] == ["svmbench", "solvers"] and name[2:]]
    found = {here.parent.joinpath(*name).with_suffix(".py") for name in inside}
    return {file for file in found if file.is_file() and file != here}
