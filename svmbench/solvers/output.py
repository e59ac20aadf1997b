"""Methods that can return the last iterate, a mean of iterates, or a random iterate.

Iterate j is the vector after j steps: iterate 0 is the initial point, and step j + 1 starts
from iterate j. In a run of T steps, means and random choices cover iterates 0 .. T - 1, as in
the papers' analyses.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

from pydantic import model_validator

from svmbench.errors import ConfigError
from svmbench.kernels.rng import Generator
from svmbench.solvers.base import Parameters, parameter
from svmbench.solvers.row_method import RowMethod

#: Separates the random numbers that choose an iterate from those that draw rows, so that the
#: choice of output does not change the steps.
_CHOICE = 0x6F75747075740000


class OutputParameters(Parameters):
    """Parameters of a method with a choice of outputs; a subclass adds ``output`` itself.

    Class attributes
    ----------------
    needs_horizon : tuple of str
        Outputs that depend on the length of the run, unless ``begin`` is given.
    means : tuple of str
        Outputs that are the mean of the iterates from some step on.
    """

    needs_horizon: ClassVar[tuple[str, ...]]
    means: ClassVar[tuple[str, ...]]

    epochs: float | None = parameter(
        None,
        "Length of the run, for an output that depends on it. If it is not given, a sweep runs "
        "a series of lengths.",
        source="ours",
        unit="epochs",
        gt=0.0,
    )

    begin: int | None = parameter(
        None,
        "Steps before the mean begins; the output then does not depend on the length of the run. "
        "If it is not given, the mean begins after half of the steps.",
        source="Ali, 2018, has 25000 of 33500",
        unit="steps",
        ge=0,
    )

    @property
    def depends_on_length(self) -> bool:
        return getattr(self, "output", None) in self.needs_horizon and self.begin is None

    @model_validator(mode="after")
    def _begin_has_a_use(self) -> OutputParameters:
        output = getattr(self, "output", None)
        if self.begin is not None and output not in self.means:
            outputs = " or ".join(self.means)
            raise ValueError(f"'begin' is for output {outputs}, not {output}; leave it out")
        if self.begin is not None and self.epochs is not None:
            raise ValueError("'begin' does not depend on 'epochs'; leave one of them out")
        return self

    @model_validator(mode="after")
    def _epochs_have_a_use(self) -> OutputParameters:
        output = getattr(self, "output", None)
        if self.epochs is not None and output not in self.needs_horizon:
            outputs = " or ".join(self.needs_horizon)
            raise ValueError(f"'epochs' is for output {outputs}, not {output}; leave it out")
        return self


class IterateOutput(RowMethod):
    """A method that runs until its output begins, and then collects the output.

    A subclass sets ``_begins`` in `start`: the number of presentations at which its mean
    begins or its iterate is stored, or inf where the output is the last iterate.
    """

    horizon_parameter = "epochs"
    schema = OutputParameters

    _begins: float

    def __init__(self, parameters: Any = None) -> None:
        super().__init__(parameters)
        if self.parameters.depends_on_length:
            self.horizon = "steps"

    def advance(self, steps: int) -> None:
        target = self.counters.presentations + steps
        if self.counters.presentations <= self._begins:
            self._run(int(min(target, self._begins)))
            if self.counters.presentations == self._begins:
                self._begin_output()
        self._run(target)

    @abstractmethod
    def _begin_output(self) -> None:
        """Store the current iterate, or start to sum the iterates from here on."""

    def _horizon_presentations(self, m: int) -> int:
        """Number of presentations in the whole run."""
        epochs: float | None = self.parameters.epochs
        if epochs is None:
            raise ConfigError(
                f"solver {self.name}: output {self.parameters.output} depends on the length of "
                "the run; set 'epochs'"
            )
        return math.ceil(round(epochs * m, 6))


def random_iterate(seed: int, first: int, last: int) -> int:
    """Index of a random iterate from first to last - 1, for the run with this seed."""
    bits: int = Generator(seed ^ _CHOICE).next()
    return first + bits % (last - first)
