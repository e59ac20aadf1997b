"""Published numbers in a table of tab-separated text next to a paper's file."""

from __future__ import annotations

import csv
import errno
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field

from svmbench.claims.places import NAMED, Place, WrittenMeasure, same
from svmbench.config.reading import Strict
from svmbench.config.refusal import refuse
from svmbench.errors import is_endless

#: Axes that are numbers.
_NUMBERS = ("lambda", "C")


class PublishedFile(Strict):
    """A table with a row for each cell: its place, and its numbers."""

    name: str = Field(
        pattern=r"^[a-z0-9][a-z0-9.-]*\.tsv$",
        description="Tab-separated text in the paper's folder; the first line names its columns.",
    )
    where: Place = Field(default=Place(), description="The rows that are shown; all unless set.")
    measures: dict[str, WrittenMeasure] = Field(
        min_length=1,
        description="Measure of each column of numbers. Columns that are neither listed here nor "
        f"a place ({', '.join(NAMED)}) are remarks for readers of the file.",
    )

    def values(self, folder: Path) -> list[dict[str, Any]]:
        """Its published values, as mappings; empty cells have none."""
        header, rows = read_rows(folder / self.name)
        for column in (*self.measures, *self.where.given):
            if column not in header:
                refuse(f"{self.name}:1: there is no column {column!r}; add it")
        found = []
        for line, cells in enumerate(rows, 2):
            row = dict(zip(header, cells, strict=True))
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


def read_rows(path: Path) -> tuple[list[str], list[list[str]]]:
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
    return header, lines[1:]


def _number(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if math.isfinite(number) else text
