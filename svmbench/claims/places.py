"""Places in results as a file names them: which rows, and which of their measures."""

from __future__ import annotations

import math
import sys
from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, PlainValidator

from svmbench.config.reading import Strict, refuse
from svmbench.document import one_or_several
from svmbench.records.measures import Asked, Measure

#: Columns of runs.csv that, with the sweep, distinguish the rows of tables.
Axis = Literal["sweep", "dataset", "lambda", "C", "m", "solver"]
AXES: tuple[str, ...] = get_args(Axis)

#: Those that a file can name: m is known only once the rows are.
NAMED = tuple(axis for axis in AXES if axis != "m")

#: A cell's place: sweep, data set, solver, and λ or C, whichever the sweep gives.
Slot = dict[str, str | float]


def _as_asked(value: Any) -> Asked:
    """A measure as written: its name, or ``{seconds: 1e-2}``."""
    at = None
    if isinstance(value, dict) and len(value) == 1:
        ((value, at),) = value.items()
    if isinstance(value, Asked):
        return value
    if not isinstance(value, str):
        refuse("Input should be a measure, or a measure with its accuracy: {seconds: 1e-2}")
    if at is not None and (isinstance(at, bool) or not isinstance(at, int | float)):
        refuse("Input should be a number", value, value=at)
    if at is not None and not 0.0 < at <= sys.float_info.max:
        refuse("Input should be a finite number above 0", value, value=at)
    try:
        return Asked(value, None if at is None else float(at))
    except ValueError as error:
        refuse(str(error))


WrittenMeasure = Annotated[Asked, PlainValidator(_as_asked)]


def refuse_along(measure: Measure, key: str) -> None:
    """Refuse a measure that has no single value for a run, only a curve."""
    if measure.taken == "along":
        refuse(f"{measure.name} is known along a run only; use another one", key)


Several = Annotated[tuple[str | float, ...], BeforeValidator(one_or_several)]


class Place(Strict):
    """Some rows: those whose columns have one of the given values."""

    sweep: Several | None = None
    dataset: Several | None = None
    lambda_: Several | None = Field(default=None, alias="lambda")
    C: Several | None = None
    solver: Several | None = None

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
