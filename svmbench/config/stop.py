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
    """When a run ends: once all its `TARGETS` hold, or at a limit.

    A solver without a gap or a rule of its own does not have these targets.
    """

    accuracy: Annotated[
        tuple[Accuracy, ...],
        BeforeValidator(as_list),
        AfterValidator(distinct),
        AfterValidator(lambda values: tuple(sorted(values, reverse=True))),
    ] = Field(
        default=(),
        description="Target: relative accuracies (P(w) - D_ref)/D_ref, of which the tightest "
        "ends a run; tables give the time to each.",
    )
    distance: Literal["relative", "absolute"] = Field(
        default="relative",
        description="What accuracies are: relative, (P(w) - D_ref)/D_ref, or absolute, P(w) - "
        "D_ref.",
    )
    gap: PositiveReal | None = Field(
        default=None,
        description="Target: relative gap P/D - 1 from the solver's own dual value; computing it "
        "is then part of the training time.",
    )
    own: Flag = Field(default=False, description="Target: the method's own stopping rule.")
    max_epochs: Passes | None = Field(
        default=None, description="Limit: presentations of rows, in units of the number of rows."
    )
    max_updates: Passes | None = Field(
        default=None, description="Limit: updates of the weights, in units of the number of rows."
    )
    max_steps: Passes | None = Field(
        default=None,
        description="Limit: steps, where each has the same number of rows: a mini-batch is one "
        "step.",
    )
    time_limit: Duration = Field(
        default=60.0, description="Limit: training time in seconds, or a duration such as 2m."
    )
    relative_limit: Annotated[Real, Field(gt=1.0)] | None = Field(
        default=None,
        description="Limit: multiple of the least training time of any solver on the problem "
        "to the tightest accuracy so far.",
    )
    grace: Duration = Field(
        default=30.0,
        description="Limit: silence of a worker beyond its time limit, in seconds, after which "
        "it is killed.",
    )
    memory_limit: Size | None = Field(
        default=None, description="Limit: memory of a worker beyond its data, such as 4GiB."
    )
    checkpoints: Literal["tenths", "passes", "early"] = Field(
        default="tenths",
        description="When a run is evaluated. tenths: in steps of at most a tenth from a hundredth "
        "of a pass on. early: the same from the first row on. passes: after each of the first "
        "2,000 passes, and then in steps of at most 0.5 %; times to an accuracy are those of whole "
        "passes.",
    )

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

    gap: PositiveReal = Field(
        default=1e-4,
        description="Its relative gap; at most a hundredth of the tightest accuracy, and that or "
        "1e-4, whichever is less, unless set.",
    )
    time_limit: Duration = Field(
        default=300.0, description="Time to reach it, in seconds, or a duration such as 5m."
    )


class Repeats(Strict):
    """How many repeats a cell has if the questions about the sweep decide it."""

    at_least: Repetitions = Field(default=5, description="For every cell.")
    until: Literal["decided"] = Field(
        description="decided: cells get further repeats while a question about them is open."
    )
    at_most: Repetitions = Field(
        default=60, description="For any cell, even if its questions are open."
    )

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
