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
    """One field of a table.

    Parameters
    ----------
    best : bool
        Printed bold.
    value : float, optional
        The number by which the page sorts this cell, +inf for an accuracy that was not reached. By
        default it is the first number of the text.
    hint : str
        A remark that the page shows under the pointer.
    agrees : {'', 'near', 'far'}
        How near it is to a published number, where that is known.
    """

    text: str
    best: bool = False
    value: float | None = None
    hint: str = ""
    agrees: Agreement = ""


@dataclass(frozen=True)
class Row:
    """One row of a table.

    Parameters
    ----------
    opens : bool
        Whether this is the first row of a group (a λ).
    label : str
        The solver's label; empty for a row that is not a solver's.
    faded : bool
        Whether its numbers say nothing about what the table is about.
    """

    cells: tuple[TableCell, ...]
    opens: bool = False
    label: str = ""
    faded: bool = False


@dataclass(frozen=True)
class Section:
    """The part of a table about one data set.

    Parameters
    ----------
    facts : str
        Size of the data and quality of the reference, in one line.
    columns : tuple of str
        Their headings. The first ``texts`` columns hold text, all others numbers.
    spans : tuple of (str, int)
        Headings above the columns of numbers, each with the number of columns that it covers;
        empty if the columns are not grouped.
    """

    heading: str
    facts: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    texts: int = 2
    spans: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class Table:
    """A table, ready to be printed.

    Parameters
    ----------
    kind : str
        time, epochs, passes or objective; or the name of a paper's table.
    header : tuple of str
        Lines above the table: on which machine, when and how often the runs were made.
    warnings : tuple of str
        Lines above the table: what makes its numbers less trustworthy.
    sections : tuple of Section
        One for each data set.
    notes : tuple of str
        Lines below the table: how to read it.
    records : DataFrame
        The numbers, one row for each cell; for the objective one for each row of the table.
    """

    kind: str
    title: str
    header: tuple[str, ...]
    warnings: tuple[str, ...]
    sections: tuple[Section, ...]
    notes: tuple[str, ...]
    records: pd.DataFrame
