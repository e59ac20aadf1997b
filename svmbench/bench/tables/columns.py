"""Tables from column specifications: the page, Markdown and the CSV have one source."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import pandas as pd

from svmbench.bench.found import Found, Measured, grouped, stand_in_text
from svmbench.records.groups import Group, heading
from svmbench.report.table import Row, Section, Table, TableCell

R = TypeVar("R")


@dataclass(frozen=True)
class TableColumn(Generic[R]):
    """One column of a table."""

    name: str  # its name in the CSV, with its unit; empty for a column that only the page has
    heading: str  # its heading on the page; empty for a column that only the CSV has
    value: Callable[[R], Any]  # from a row to the number or text in the CSV
    # from that value to the text or cell on the page
    format: Callable[[Any], str | TableCell] = str


@dataclass(frozen=True)
class KeyedColumns(Generic[R]):
    """Columns of the page for the values of a key: one for each accuracy, or for each solver.

    Rows that differ only in this key share a line of the page.
    """

    key: Callable[[R], Any]  # from a row to its value of the key
    heading: Callable[[Any], str]  # from a value of the key to the column's heading
    cell: Callable[[R], str | TableCell]  # from a row to the cell on the page
    line: Callable[[R], Hashable]  # from a row to the key that distinguishes its line from others
    # whether the largest value comes first; otherwise the order of the rows
    descending: bool = True


@dataclass(frozen=True)
class TablePart(Generic[R]):
    """The rows below one heading of a table."""

    heading: str
    facts: str
    rows: Sequence[R]


@dataclass(frozen=True)
class TableSpec(Generic[R]):
    """A table's specification."""

    kind: str  # name of its files
    title: str
    columns: Sequence[TableColumn[R]]
    across: KeyedColumns[R] | None = None  # placed between ``columns`` and ``after`` on the page
    after: Sequence[TableColumn[R]] = ()
    texts: int = 1  # number of text columns on the page, from the left
    notes: Sequence[str] = ()  # how to read it
    recorded: Callable[[R], bool] = lambda row: True  # whether a row is in the CSV

    def table(self, parts: Iterable[TablePart[R]]) -> Table:
        """The table of these parts, without those that have no rows."""
        parts = [part for part in parts if part.rows]
        named = [column for column in (*self.columns, *self.after) if column.name]
        records = [
            {column.name: column.value(row) for column in named}
            for part in parts
            for row in part.rows
            if self.recorded(row)
        ]
        sections = tuple(map(self._section, parts))
        return Table(
            self.kind, self.title, (), (), sections, tuple(self.notes), pd.DataFrame(records)
        )

    def _section(self, part: TablePart[R]) -> Section:
        left = [column for column in self.columns if column.heading]
        right = [column for column in self.after if column.heading]
        keys = self._keys(part.rows)
        lines = (
            (
                *(column.format(column.value(line[0])) for column in left),
                *self._cells(line, keys),
                *(column.format(column.value(line[0])) for column in right),
            )
            for line in self._lines(part.rows)
        )
        rows = (
            Row(tuple(f if isinstance(f, TableCell) else TableCell(f) for f in line), opens=not at)
            for at, line in enumerate(lines)
        )
        headings = (
            *(column.heading for column in left),
            *(self.across.heading(key) for key in keys if self.across),
            *(column.heading for column in right),
        )
        return Section(part.heading, part.facts, headings, tuple(rows), self.texts)

    def _keys(self, rows: Sequence[R]) -> list[Any]:
        if self.across is None:
            return []
        keys = list(dict.fromkeys(map(self.across.key, rows)))
        return sorted(keys, reverse=True) if self.across.descending else keys

    def _lines(self, rows: Sequence[R]) -> list[list[R]]:
        """The rows of each line of the page."""
        if self.across is None:
            return [[row] for row in rows]
        return list(grouped(rows, self.across.line).values())

    def _cells(self, line: Sequence[R], keys: Sequence[Any]) -> Iterator[str | TableCell]:
        if self.across is not None:
            cells = {self.across.key(row): self.across.cell(row) for row in line}
            for key in keys:
                yield cells.get(key, "–")


# ---------------------------------------------------------------- rows of measurements


def source_text(found: Found, label: str, group: Group) -> str:
    """What the rows of a set were when they were measured, and the set's use, in words."""
    scale = stand_in_text(group)
    source = f"{label}: stand-in, {scale}" if scale else ""
    spec = next(each for each in found.plan.profile.sets if each.label == label)
    return "; ".join(filter(None, [source, spec.use]))


def parts_of(
    found: Found,
    kind: str,
    rows: Callable[[Measured], Iterable[R]],
    facts: Callable[[Measured], str] | None = None,
) -> Iterator[TablePart[R]]:
    """One part of a table for each part of a kind; its facts are those of the set unless given."""
    for part in found.of_kind(kind):
        words = facts(part) if facts else source_text(found, part.set, part.groups[0])
        name = heading(part.set, part.groups[0].stand_in)
        yield TablePart(name, words, list(rows(part)))
