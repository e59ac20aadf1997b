"""What a paper's file says of places in its results: which rows, and which measure of them."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from svmbench.config.refusal import refuse
from svmbench.errors import nearest

#: What tells the rows of tables apart, besides the sweep: columns of runs.csv.
AXES = ("sweep", "dataset", "lambda", "C", "solver", "m")

#: Measures that are taken at an accuracy; the others are those of the end of a run.
TO_ACCURACY = ("seconds", "epochs")

#: Measures of the end of a run, with what they are in words (unit in brackets).
AT_END = {
    "train_seconds": "training time [s]",
    "train_epochs": "epochs run",
    "seconds_a_pass": "time a pass [s]",
    "seconds_with_evaluation": "time with the cost evaluated at every step [s]",
    "primal": "P",
    "J": "J = P/λ",
    "sum_objective": "m P",
    "accuracy": "(P − P*)/P*",
    "suboptimality": "P − P*",
    "gap": "own gap P/D − 1",
    "test_error": "test error",
    "test_accuracy": "test accuracy",
    "train_error": "training error",
    "rows": "rows",
    "features": "features",
    "nonzeros_a_row": "nonzeros a row",
}


class Strict(BaseModel):
    """A mapping of a paper's file: no key but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Measure(Strict):
    """One number of a row: what, and at which accuracy for time and epochs."""

    what: str
    at: float | None = None

    @model_validator(mode="before")
    @classmethod
    def _written(cls, value: Any) -> Any:
        if isinstance(value, str):
            return {"what": value}
        if isinstance(value, dict) and len(value) == 1 and "what" not in value:
            ((what, at),) = value.items()
            return {"what": what, "at": at}
        return value

    @model_validator(mode="after")
    def _known(self) -> Measure:
        if self.what in TO_ACCURACY:
            if self.at is None:
                refuse(f"{self.what} to which accuracy? write {{{self.what}: 1e-2}}")
        elif self.what not in AT_END:
            refuse(f"unknown measure {self.what!r}; {nearest(self.what, [*TO_ACCURACY, *AT_END])}")
        elif self.at is not None:
            refuse(f"{self.what} is one of the end of a run; leave the accuracy out")
        return self

    @property
    def share(self) -> bool:
        """Whether it is a share, between 0 and 1."""
        return self.what in ("test_error", "test_accuracy", "train_error")

    @property
    def words(self) -> str:
        """What it is, with its unit."""
        if self.at is None:
            return AT_END[self.what]
        return f"{'time [s]' if self.what == 'seconds' else 'epochs'} to {self.at:g}"

    @property
    def column(self) -> str:
        """The measure as the name of a CSV column."""
        return self.what if self.at is None else f"{self.what}_to_{self.at!r}"


def _as_list(value: Any) -> Any:
    return value if isinstance(value, list | tuple | None) else [value]


Several = Annotated[tuple[str | float, ...], BeforeValidator(_as_list)]


class Place(Strict):
    """Some rows: those whose columns have one of the values given."""

    sweep: Several | None = None
    dataset: Several | None = None
    lambda_: Several | None = Field(default=None, alias="lambda")
    C: Several | None = None
    solver: Several | None = Field(default=None, description="Labels.")

    @property
    def given(self) -> dict[str, tuple[str | float, ...]]:
        """The columns that are restricted, by name."""
        values = self.model_dump(by_alias=True)
        return {name: tuple(value) for name, value in values.items() if value is not None}


def same(left: str | float, right: str | float) -> bool:
    """Whether two values of an axis are meant to be the same: numbers to nine digits."""
    if isinstance(left, str) or isinstance(right, str):
        return str(left) == str(right)
    return math.isclose(left, right, rel_tol=1e-9)
