"""When runs end, how exact their reference is, and how often they are repeated."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    TypeAdapter,
    ValidatorFunctionWrapHandler,
    WrapValidator,
    model_validator,
)

from svmbench.config.fields import (
    Accuracy,
    Duration,
    Flag,
    Passes,
    PositiveReal,
    Real,
    Repetitions,
    Size,
    as_list,
    distinct,
)
from svmbench.config.reading import Strict, refuse

#: Targets of `Stop`, and its limits beside the time limit: a sweep needs one of all these.
TARGETS = ("accuracy", "gap", "own")
LIMITS = ("max_epochs", "max_updates", "max_steps")


class Stop(Strict):
    """When a run ends: once all its `TARGETS` hold, or at a limit. configs/README.md has its keys.

    A solver without a gap or a rule of its own does not have these targets.
    """

    accuracy: Annotated[
        tuple[Accuracy, ...],
        BeforeValidator(as_list),
        AfterValidator(distinct),
        AfterValidator(lambda values: tuple(sorted(values, reverse=True))),
    ] = ()
    distance: Literal["relative", "absolute"] = "relative"
    gap: PositiveReal | None = None
    own: Flag = False
    max_epochs: Passes | None = None
    max_updates: Passes | None = None
    max_steps: Passes | None = None
    time_limit: Duration = 60.0
    relative_limit: Annotated[Real, Field(gt=1.0)] | None = None
    grace: Duration = 30.0
    memory_limit: Size | None = None
    checkpoints: Literal["tenths", "passes", "early"] = "tenths"

    @model_validator(mode="after")
    def _ends(self) -> Stop:
        *others, last = (*TARGETS, *LIMITS)
        if not any(getattr(self, end) for end in (*others, last)):
            refuse(f"no end but a time limit; give {', '.join(others)} or {last}")
        if self.relative_limit is not None and not self.accuracy:
            refuse("a relative limit needs an accuracy; give that too", "relative_limit")
        return self


class SweepReference(Strict):
    """The certified optimum against which accuracies are measured."""

    gap: PositiveReal = 1e-4
    time_limit: Duration = 300.0


class Repeats(Strict):
    """How many repeats a cell has if the questions about the sweep decide it."""

    at_least: Repetitions = 5
    until: Literal["decided"]
    at_most: Repetitions = 60

    @model_validator(mode="after")
    def _ordered(self) -> Repeats:
        if self.at_most < self.at_least:
            refuse(
                f"'repeats.at_most' is {self.at_most}, less than at_least, which is "
                f"{self.at_least}; raise it",
                "at_most",
            )
        return self


_COUNT = TypeAdapter(Repetitions)


def _as_repeats(value: Any, _: ValidatorFunctionWrapHandler) -> int | Repeats:
    # By hand, because a union would report the errors of both its members for a wrong number.
    if isinstance(value, dict | Repeats):
        return Repeats.model_validate(value)
    return _COUNT.validate_python(value)


#: Repeats of each cell: a number, or a rule.
RepeatsOrNumber = Annotated[
    int | Repeats,
    WrapValidator(_as_repeats),
]
