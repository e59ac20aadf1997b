"""The model of a table: plain text in cells, with the same numbers unrounded beside it.

`svmbench.report.markup` prints it as Markdown, LaTeX and CSV.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import pandas as pd

Agreement = Literal["", "near", "far"]


@dataclass(frozen=True)
class TableCell:
    text: str
    best: bool = False  # printed bold
    # the number by which the page sorts this cell, +inf for an accuracy that was not reached. By
    # default it is the first number of the text.
    value: float | None = None
    hint: str = ""  # a remark that the page shows under the pointer
    agrees: Agreement = ""  # how near it is to a published number, where that is known


@dataclass(frozen=True)
class Row:
    cells: tuple[TableCell, ...]
    opens: bool = False  # whether this is the first row of a group (a λ)
    reference: bool = False  # whether it is a certified optimum, which stays above its λ's rows
    faded: bool = False  # whether its numbers say nothing about what the table is about


@dataclass(frozen=True)
class Section:
    heading: str
    facts: str  # size of the data and quality of the reference, in one line
    # their headings. The first ``texts`` columns hold text, all others numbers.
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    texts: int = 2
    # headings above the columns of numbers, each with the number of columns that it covers; empty
    # if the columns are not grouped
    spans: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Table:
    kind: str  # time, epochs or objective; or the name of a paper's table
    title: str
    # lines above the table: on which machine, when and how often the runs were made
    header: tuple[str, ...]
    warnings: tuple[str, ...]  # lines above the table: what makes its numbers less trustworthy
    sections: tuple[Section, ...]  # one for each data set
    notes: tuple[str, ...]  # lines below the table: how to read it
    # the numbers, one row for each cell; for the objective one for each row of the table
    records: pd.DataFrame
