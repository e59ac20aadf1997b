"""Methods whose output may be the mean of their iterates, from one that a step starts from."""

from __future__ import annotations

from pydantic import model_validator

from svmbench.solvers.base import EitherParameters, parameter


class OutputParameters(EitherParameters):
    """Parameters of a method with a choice of outputs; a subclass adds ``output`` itself."""

    begin: int = parameter(
        0,
        "Steps before the mean begins, of output average.",
        source="ours: all steps; Ali, 2018, has 25000 of 33500",
        unit="steps",
        ge=0,
    )

    @model_validator(mode="after")
    def _begin_has_a_use(self) -> OutputParameters:
        if self.begin and getattr(self, "output", None) == "last":
            raise ValueError("'begin' is for output average, not last; leave it out")
        return self
