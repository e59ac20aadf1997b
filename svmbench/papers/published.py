"""Published numbers and curves of an item, each with its source and a mark."""

from __future__ import annotations

import csv
import errno
import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from svmbench.claims.places import NAMED, Place, WrittenMeasure, same
from svmbench.config.reading import Strict, refuse
from svmbench.errors import is_endless, nearest
from svmbench.records.abscissae import ABSCISSAE
from svmbench.records.measures import ALONG

#: Axes that are numbers.
_NUMBERS = ("lambda", "C")


class PublishedFile(Strict):
    """A table with a row for each cell: its place, and its numbers."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9.-]*\.tsv$")
    where: Place = Place()
    measures: dict[str, WrittenMeasure] = Field(min_length=1)

    def values(self, folder: Path) -> list[dict[str, Any]]:
        """Its published values, as mappings; empty cells have none."""
        header, rows = read_rows(folder / self.name)
        for column in (*self.measures, *self.where.given):
            if column not in header:
                refuse(f"{self.name}:1: there is no column {column!r}; add it")
        found = []
        for line, row in enumerate(rows, 2):
            place = dict(self._place(row, line))
            if not all(
                any(same(place.get(name, ""), value) for value in values)
                for name, values in self.where.given.items()
            ):
                continue
            for column, measure in self.measures.items():
                if row[column]:
                    found.append({**place, "measure": measure, "value": _number(row[column])})
        if not found:
            refuse(f"no row of {self.name} has this place; correct 'where'")
        return found

    def _place(self, row: dict[str, str], line: int) -> Iterator[tuple[str, str | float]]:
        for name in NAMED:
            if text := row.get(name):
                value = _number(text) if name in _NUMBERS else text
                if name in _NUMBERS and isinstance(value, str):
                    refuse(f"{self.name}:{line}: {name} {text!r} is not a number; correct it")
                yield name, value


def read_rows(path: Path) -> tuple[list[str], list[dict[str, str]]]:
    """The column names and the rows of a file of tab-separated text."""
    try:
        if is_endless(path):
            raise OSError(errno.EINVAL, "no file")
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    except (OSError, UnicodeError, csv.Error):
        refuse(f"cannot read {path.name}; put the file beside the configuration")
    header = lines[0] if lines else []
    if len(set(header)) < len(header):
        refuse(f"{path.name}:1: a column is named twice; rename one")
    for number, row in enumerate(lines[1:], 2):
        if len(row) != len(header):
            refuse(f"{path.name}:{number}: {len(row)} columns instead of {len(header)}; mend it")
    return header, [dict(zip(header, row, strict=True)) for row in lines[1:]]


def _number(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text


#: Columns of a file of curves, and those that must be there.
_COLUMNS = (*NAMED, "x", "y", "at", "value", "note")
_REQUIRED = ("solver", "x", "y", "at", "value")


class _Placed(Strict):
    """The problem that something published belongs to, as far as it is given."""

    sweep: str | None = None
    dataset: str | None = None
    lambda_: float | None = Field(default=None, alias="lambda")
    C: float | None = None

    def place(self) -> dict[str, str | float]:
        """The axes that it gives, without the solver."""
        given = self.model_dump(by_alias=True, include=set(_Placed.model_fields))
        return {name: value for name, value in given.items() if value is not None}


class PublishedValue(_Placed):
    """One published number, by the row it belongs to."""

    solver: str | None = None
    measure: WrittenMeasure
    value: float | str


def _one_of(key: str, known: Collection[str]) -> AfterValidator:
    def check(name: str) -> str:
        if name not in known:
            refuse(f"{key} cannot be {name!r}; {nearest(name, known)}")
        return name

    return AfterValidator(check)


class PublishedCurve(_Placed):
    """Points of one published curve, by the row it belongs to."""

    solver: str
    x: Annotated[str, _one_of("x", ABSCISSAE)]
    y: Annotated[str, _one_of("y", ALONG)]
    points: tuple[tuple[float, float], ...] = Field(min_length=1)

    @field_validator("points")
    @classmethod
    def _in_order(cls, points: tuple[tuple[float, float], ...]) -> tuple[tuple[float, float], ...]:
        xs = [x for x, _ in points]
        if xs != sorted(xs):
            refuse("a curve's abscissae ascend; sort its points")
        return points


def _as_curves(value: Any, info: ValidationInfo) -> Any:
    """Take the name of a file beside the configuration for its curves."""
    if isinstance(value, str):
        folder = (info.context or {}).get("folder", Path())
        return tuple(_read(folder / value))
    if not isinstance(value, list | tuple):
        refuse("Input should be a list of curves, or the name of a file", value=value)
    return value


def _read(path: Path) -> Iterator[PublishedCurve]:
    """The curves of a file: tab-separated, one point a line, below a line of column names."""
    header, rows = read_rows(path)
    for name in header:
        if name not in _COLUMNS:
            refuse(f"{path.name}:1: unknown column {name!r}; {nearest(name, _COLUMNS)}")
    if missing := [name for name in _REQUIRED if name not in header]:
        refuse(f"{path.name}:1: there is no column {missing[0]!r}; add it")
    found: dict[tuple[tuple[str, str], ...], list[tuple[str, str]]] = {}
    first: dict[tuple[tuple[str, str], ...], int] = {}
    for number, cells in enumerate(rows, start=2):
        key = tuple((name, cells[name]) for name in header if name not in ("at", "value", "note"))
        found.setdefault(key, []).append((cells["at"], cells["value"]))
        first.setdefault(key, number)
    for key, points in found.items():
        given: Mapping[str, Any] = {name: cell for name, cell in key if cell}
        try:
            yield PublishedCurve.model_validate({**given, "points": points})
        except ValueError as error:
            what = error.errors()[0]["msg"] if hasattr(error, "errors") else str(error)
            refuse(f"{path.name}:{first[key]}: in the curve that begins here: {what}")


class Published(Strict):
    source: str
    mark: Literal["seed", "read"]  # printed in the paper itself; found in what 'source' names
    values: tuple[PublishedValue, ...] = ()
    file: PublishedFile | None = None
    curves: Annotated[tuple[PublishedCurve, ...], BeforeValidator(_as_curves)] = ()
    ranges: tuple[str, ...] = ()
    not_available: str | None = None

    @model_validator(mode="after")
    def _with_file(self, info: ValidationInfo) -> Published:
        folder = (info.context or {}).get("folder")
        if self.file is None or folder is None:
            return self
        read = tuple(PublishedValue.model_validate(each) for each in self.file.values(folder))
        return self.model_copy(update={"values": (*self.values, *read)})
