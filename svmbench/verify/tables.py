"""Read the tables of a results folder, and compare them with the rows that the traces give."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from svmbench.errors import DataError
from svmbench.verify.outcome import ContradictionError

_INTEGER = re.compile(r"-?[0-9]+")
#: As numbers are written: float() alone accepts 1_0, other digits and blanks around the number.
_NUMBER = re.compile(r"-?[0-9]+(\.[0-9]+)?(e[+-]?[0-9]+)?")


def read_table(path: Path) -> tuple[list[str], list[list[str]]]:
    """Header and rows of a CSV file, every field as text.

    Raises DataError when the file cannot be read.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, strict=True))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: cannot be read ({error})") from error
    return (lines[0], lines[1:]) if lines else ([], [])


def check_row(file: str, header: Sequence[str], row: Sequence[str], known: dict[str, Any]) -> None:
    """Check every column of one row.

    Raises ContradictionError: for the first column that differs, is missing or does not belong
    there.
    """
    # Tables of an earlier version lack columns of which its traces know nothing.
    wanted = [name for name, value in known.items() if name in header or not _is_empty(value)]
    if list(header) != wanted:
        odd = sorted(set(header) ^ set(wanted)) or ["their order"]
        raise ContradictionError(f"{file}: its columns differ: {', '.join(odd)}")
    if len(row) != len(header):
        raise ContradictionError(f"{file}: a row of {len(row)} fields under {len(header)} columns")
    for column, text in zip(header, row, strict=True):
        if not _says(text, known[column]):
            says = "nothing of it" if _is_empty(known[column]) else repr(known[column])
            raise ContradictionError(
                f"{file}: {column} is {text or 'empty'}, its trace says {says}"
            )


def check_rows(
    file: str,
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    known: Iterable[dict[str, Any]],
) -> None:
    """Check all rows of a table that belong to one run, in their order."""
    wanted = list(known)
    if len(rows) != len(wanted):
        raise ContradictionError(f"{file}: {len(rows)} rows, its trace has {len(wanted)}")
    for row, each in zip(rows, wanted, strict=True):
        check_row(file, header, row, each)


def _says(text: str, value: Any) -> bool:
    """Whether a field is what is written for a value."""
    if _is_empty(value):
        return text == ""
    if isinstance(value, bool | str):
        return text == str(value)
    if isinstance(value, int) and _INTEGER.fullmatch(text):
        return int(text[:400]) == value
    return _NUMBER.fullmatch(text) is not None and bool(float(text) == value)


def _is_empty(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


@dataclass(frozen=True)
class Tables:
    """The tables of a folder, every field as text."""

    folder: Path
    header: list[str]  # the columns of runs.csv
    runs: list[list[str]]  # its rows
    names: list[str]  # the ids of its runs
    _read: dict[str, tuple[list[str], dict[str, list[list[str]]]]] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Tables:
        """Read runs.csv.

        Raises DataError when it cannot be read, or is not a table of runs.
        """
        path = folder / "runs.csv"
        header, rows = read_table(path)
        needed = ("id", "state", "dataset", "label", "lambda", "horizon", "repeat")
        sound = len(set(header)) == len(header) and all(name in header for name in needed)
        if not sound or any(len(row) != len(header) for row in rows):
            raise DataError(f"{path}: not a table of runs; run the sweep again")
        return cls(folder, header, rows, [row[header.index("id")] for row in rows])

    def at(self, column: str) -> int:
        """The place of a column of runs.csv."""
        return self.header.index(column)

    def of_runs(self, name: str) -> tuple[list[str], dict[str, list[list[str]]]]:
        """The columns of traces.csv or regret.csv, and its rows by run; empty without the file.

        Raises DataError when it cannot be read.
        """
        if name not in self._read:
            path, of_runs = self.folder / name, dict[str, list[list[str]]]()
            header, rows = read_table(path) if path.exists() else ([], [])
            for row in rows:
                of_runs.setdefault(row[0] if row else "", []).append(row)
            self._read[name] = header, of_runs
        return self._read[name]
