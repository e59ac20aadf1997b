"""The base class of transforms: a step with validated parameters, recorded in provenance."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, NoReturn

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    model_validator,
)

from svmbench.data.dataset import Array, Dataset
from svmbench.errors import DataError
from svmbench.kernels.rng import Generator

TrainAndTest = tuple[Dataset, Dataset | None]


#: The largest count: no file has so many rows, and larger numbers overflow.
MOST_ROWS = (1 << 63) - 1


def is_size(value: Any) -> bool:
    """Whether a value is a share of the rows: a fraction between 0 and 1, or a count."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return 1 <= value <= MOST_ROWS if isinstance(value, int) else 0.0 < value < 1.0


def _size(value: Any) -> Any:
    if is_size(value):
        return value
    raise ValueError("Input should be a fraction between 0 and 1, or a whole number of rows")


RowCount = Annotated[int, Field(ge=1, le=MOST_ROWS)]
RowShare = Annotated[float, Field(gt=0.0, lt=1.0)]
SampleSize = Annotated[
    int | float,
    BeforeValidator(_size),
]
"""A share of the rows: a fraction between 0 and 1, or a count."""

Seed = Annotated[int, Strict(), Field(ge=0, lt=1 << 63)]
RowNumber = Annotated[int, Strict(), Field(ge=0, le=MOST_ROWS)]
StrictRowCount = Annotated[RowCount, Strict()]
PositiveNumber = Annotated[float, Strict(), Field(gt=0.0, allow_inf_nan=False)]


@dataclass(frozen=True)
class Portion:
    """The training rows before or after a transform, whatever the size of the data set."""

    share: float = 1.0  # their number as a share of the set's rows, if it is not ``fixed``
    fixed: bool = False  # whether their number is the same for a larger or smaller set
    # the smallest share of the set in which every row is found that a transform names
    least: float = 0.0
    most: float = 1.0  # the share of the set beyond which no row is used
    # rows by which their number falls short of ``share``, because a transform has set that many
    # apart
    less: float = 0.0
    left: float | None = None  # their number if it is ``fixed`` and known

    def naming(
        self, count: float, m: int, *, first: bool = False, left: float | None = None
    ) -> Portion:
        """The same after rows are named."""
        if self.fixed:
            return replace(self, left=left)
        needed = (count + self.less) / (self.share * m)
        most = min(self.most, needed) if first else self.most
        return replace(self, fixed=True, least=max(self.least, needed), most=most, left=left)

    def part(self, share: float) -> Portion:
        """The same after a fraction of the rows is left."""
        left = None if self.left is None else share * self.left
        return replace(self, share=self.share * share, less=self.less * share, left=left)

    def without(self, count: float, m: int) -> Portion:
        """The same after ``count`` rows are set apart, of a set of m; at least one more is left."""
        if self.fixed:
            return replace(self, left=None if self.left is None else self.left - count)
        needed = (count + 1 + self.less) / (self.share * m)
        return replace(self, least=max(self.least, needed), less=self.less + count)


class Transform(BaseModel, ABC):
    """One step from a data set to another."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]  # its name in configurations
    # the parameter that may be given alone: ``{factor: 0.5}`` is ``{factor: {by: 0.5}}``
    main: ClassVar[str | None] = None

    @model_validator(mode="before")
    @classmethod
    def _shorthand(cls, given: Any) -> Any:
        return given if isinstance(given, dict) else cls.expand(given)

    @classmethod
    def expand(cls, given: Any) -> Any:
        if cls.main is None:
            raise ValueError(f"Input should be left out: {cls.name} has no parameters")
        return {cls.main: given}

    @abstractmethod
    def apply(self, train: Dataset, test: Dataset | None) -> TrainAndTest:
        """Apply it to training rows and, if there are any, test rows.

        Raises DataError when the rows do not allow it.
        """

    def portion(self, rows: Portion, m: int) -> Portion:
        """What it leaves of the training rows of a set of m, and which it names."""
        return rows

    def plain(self) -> Any:
        """Its shortest form in a configuration."""
        given = self.model_dump(mode="json", exclude_defaults=True)
        if not given:
            return self.name
        return {self.name: given[self.main] if self.main and set(given) == {self.main} else given}

    def __str__(self) -> str:
        """Its name with all parameters, for the record."""
        values = self.model_dump(mode="json", exclude_none=True)
        shown = ", ".join(f"{key}={value!r}" for key, value in values.items())
        return f"{self.name}({shown})" if shown else self.name

    def record(self, train: Dataset) -> str:
        """Its entry in the provenance when it is applied with these training rows."""
        return str(self)

    def refuse(self, data: Dataset, why: str) -> NoReturn:
        """Raise DataError with the data set, the transform, the reason and a remedy."""
        raise DataError(f"{data.name}: {self}: {why}")

    def shuffled_rows(self, m: int, seed: int) -> Array:
        """Return 0 .. m - 1 in a random order, int32; each kind of transform has its own order."""
        digest = hashlib.sha256(f"svmbench {self.name} {seed}".encode()).digest()
        order = np.arange(m, dtype=np.int32)
        Generator(int.from_bytes(digest[:8], "little")).shuffle(order)
        return order


class OfTrain(Transform, ABC):
    """A transform that applies statistics of the training rows to both parts."""

    def record(self, train: Dataset) -> str:
        """Its entry in the provenance, with the training text, on which test rows depend too."""
        source = train.provenance
        name = "stand-in" if source.stand_in else source.source
        return f"{self} of {name} {source.sha256[:12]}".rstrip()
