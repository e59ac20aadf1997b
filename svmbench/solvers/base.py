"""The contract every solver keeps, and the description of its parameters.

A solver is one Python file with one subclass of `Solver` (and, for ours, one kernel).
It is found by `svmbench.solvers.registry`; nothing else lists it.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from abc import ABC, abstractmethod
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field

from svmbench.data.dataset import FloatArray
from svmbench.kernels.counters import Counters
from svmbench.problem import Problem

Precision = Literal["float64", "float32"]


def parameter(default: Any, doc: str, *, source: str, unit: str = "", **limits: Any) -> Any:
    """One entry of a solver's parameter schema.

    Parameters
    ----------
    default : Any
    doc : str
        One sentence for ``svmbench solvers NAME`` and the documentation.
    source : str
        Where the default comes from: a paper's section, a program, or ours.
    unit : str
        Unit of the value; empty for a pure number or a name.
    **limits
        Range, as pydantic spells it: ``gt``, ``ge``, ``lt``, ``le``.
    """
    return Field(
        default, description=doc, json_schema_extra={"source": source, "unit": unit}, **limits
    )


class Parameters(BaseModel):
    """Parameters of a solver: frozen, checked, and the one place that documents them."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    precision: Precision = parameter(
        "float64", "Precision of the weights and of every operation on them.", source="ours"
    )


class Solver(ABC):
    """A training method, advanced in steps under the harness's clock.

    The harness makes one instance a run, calls `start` once and `advance` many times,
    and times these two and nothing else. Between calls it reads `w`, `counters`,
    `dual` and `stopped`, which must not change what the next call does.

    Class attributes
    ----------------
    name : str
        Lower case with hyphens; the name configurations use.
    summary : str
        One line: what the method is.
    source : str
        Paper and section, or program, that defines it.
    losses : tuple of str
        Losses it can train, names as in `svmbench.problem.LOSSES`.
    biases : tuple of str
        Biases it can train, names as in `svmbench.problem.BIASES`.
    constraints : tuple of str
        Constraints on w it can keep to, names as in `svmbench.problem.CONSTRAINTS`.
    mathematics : str
        Problem, update and output in a few lines of plain text.
    reconstructed : tuple of str
        Details that no source states and that are our reading; a sentence each.
    unstated : tuple of str
        What the sources leave open and a parameter or a choice of ours settles; a sentence each.
    step : {'presentation', 'iteration'}
        What the method's own text calls a step: one row, or one pass and more.
    horizon : {'none', 'steps', 'accuracy'}
        What a run's steps depend on beforehand: nothing, its final number of steps, or
        the accuracy asked. Only with 'none' does one trajectory serve every threshold; the
        others are run once a horizon and judged at their end alone. A subclass may make it
        a property of its parameters.
    horizon_parameter : str
        Parameter through which the solver learns its horizon: epochs or an accuracy. It is
        None by default, and then set by the harness.
    ladder : bool
        Whether its horizons are a ladder, from the cheapest run to the dearest, each as accurate
        as the one before or more. A repeat then ends at the first that has the tightest accuracy,
        or does not come to its horizon.
    foreign : bool
        Whether it is a program from outside, which cannot be advanced in pieces: the first
        `advance` of a step or more trains from scratch to the horizon, later ones do nothing.
    tricks : tuple of (str, object)
        Its devices: parameters, each with a value that switches it off. The benchmark leaves
        them out one by one.
    kernels : tuple of str
        Modules of `svmbench.kernels` whose sources define it; part of a run's identity.
    colour : str
        Its colour in every plot, as #rrggbb.
    schema : type
        Its parameters, a subclass of `Parameters`.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    source: ClassVar[str]
    losses: ClassVar[tuple[str, ...]] = ("hinge",)
    biases: ClassVar[tuple[str, ...]] = ("none",)
    constraints: ClassVar[tuple[str, ...]] = ("none",)
    mathematics: ClassVar[str] = ""
    reconstructed: ClassVar[tuple[str, ...]] = ()
    unstated: ClassVar[tuple[str, ...]] = ()
    step: ClassVar[Literal["presentation", "iteration"]] = "presentation"
    horizon: Literal["none", "steps", "accuracy"] = "none"
    horizon_parameter: str = ""
    ladder: ClassVar[bool] = False
    foreign: ClassVar[bool] = False
    tricks: ClassVar[tuple[tuple[str, Any], ...]] = ()
    kernels: ClassVar[tuple[str, ...]] = ()
    colour: ClassVar[str] = "#555555"
    schema: ClassVar[type[Parameters]] = Parameters

    #: Whether `advance` returns early, at the moment the method's own rule first holds. Set
    #: by the harness where that rule is a target or the horizon, so that it is timed to the point.
    halts: bool = False

    def __init__(self, parameters: Parameters | None = None) -> None:
        self.parameters: Any = parameters if parameters is not None else self.schema()
        self.counters: Counters = Counters()

    @classmethod
    def missing(cls) -> str | None:
        """What must be installed before it can run, with the command to do so; or None."""
        return None

    def step_rows(self, m: int) -> int | None:
        """Rows of one step on ``m`` rows: a mini-batch is one step.

        Returns
        -------
        int or None
            None where a step has no fixed number of rows.
        """
        batch = getattr(self.parameters, "batch", None)
        if batch is not None:
            return min(int(batch), m)
        return 1 if self.step == "presentation" else None

    def horizons(self, accuracy: tuple[float, ...], max_epochs: float | None) -> tuple[float, ...]:
        """Values of the horizon to run for, of which the best counts at each accuracy.

        Parameters
        ----------
        accuracy : tuple of float
            The sweep's thresholds, descending.
        max_epochs : float or None
            The sweep's limit.

        Returns
        -------
        tuple of float
            The thresholds themselves for a horizon of accuracy; epochs doubling from one to
            the limit (1024 without) for one of steps.
        """
        if self.horizon == "accuracy":
            return accuracy
        most = max_epochs or 1024.0
        doubling = [2.0**k for k in range(64) if 2.0**k < most]
        return (*doubling, most)

    def load(self) -> None:
        """Import a foreign program (not timed)."""
        return

    def convert(self, problem: Problem) -> None:
        """Bring the rows into a foreign program's own form (timed apart from training)."""
        return

    def take_over(self, other: Solver) -> bool:
        """Use the rows that another instance has converted, if that can be (not timed).

        Parameters
        ----------
        other : Solver
            Of the same class, run before on the same problem in the same process.

        Returns
        -------
        bool
            Whether there is nothing left to convert.
        """
        return False

    def adopt_rows(self, problem: Problem, rows: Any, labels: Any) -> bool:
        """Use rows that another program has read, if that can be (timed as a conversion).

        Parameters
        ----------
        problem : Problem
            Of the same rows.
        rows : ndarray or scipy.sparse.csr_matrix
            Shape (m, d), float64.
        labels : ndarray
            Shape (m,), float64, +1 and -1.

        Returns
        -------
        bool
            Whether there is nothing left to convert.
        """
        return False

    @abstractmethod
    def start(self, problem: Problem, seed: int) -> None:
        """Set the solver at its initial point (timed).

        Parameters
        ----------
        problem : Problem
            Its loss is one of ``losses``, its bias of ``biases``, its constraint of
            ``constraints``.
        seed : int
            From 0 to 2**64 - 1; with the same build, the same seed gives the same bits.
        """

    @abstractmethod
    def advance(self, steps: int) -> None:
        """Take about ``steps`` more steps (timed), continuing where the last call stopped.

        A method whose smallest unit holds several presentations may overshoot by less
        than one such unit. Returns early when `halts` is set and `stopped` turns true.
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
        """A lower bound D on P* the solver can show, or None.

        In single precision it is only as good as the solver's rounding.
        """
        return None

    @property
    def stopped(self) -> bool | None:
        """Whether the method's own stopping rule holds; None for a method without one.

        A solver that has stopped can be advanced all the same.
        """
        return None

    @property
    def remark(self) -> str:
        """What it decided by itself, and why, in one sentence; empty where it decides nothing."""
        return ""

    @property
    def exhausted(self) -> bool:
        """Whether no further step can change anything, though the rule it was run for fails.

        So ends a foreign program at a limit of its own that cannot be lifted, and a method whose
        next iterations would only repeat the last one. The run then ends.
        """
        return False

    @classmethod
    @cache
    def build(cls) -> dict[str, Any]:
        """What this solver was made from: a hash of its sources, the flags, the compiler."""
        records = [import_module(f"svmbench.kernels.{kernel}").__build__ for kernel in cls.kernels]
        digest = hashlib.sha256()
        for path in cls._source_files():
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
        for record in records:
            digest.update(record["source_sha256"].encode())
        return {
            "source_sha256": digest.hexdigest(),
            "flags": sorted({record["flags"] for record in records}),
            "compiler": sorted({record["compiler"] for record in records}),
        }

    @classmethod
    def _source_files(cls) -> list[Path]:
        """Python files of the solver, its ancestors and the classes beside them that they use."""
        ancestors = [c for c in cls.__mro__ if issubclass(c, Solver) and c is not Solver]
        used = [
            member
            for ancestor in ancestors
            for member in vars(sys.modules[ancestor.__module__]).values()
            if inspect.isclass(member) and member.__module__.startswith("svmbench.solvers.")
        ]
        files = {Path(inspect.getfile(member)) for member in [*ancestors, *used]}
        return sorted(files - {Path(__file__)})
