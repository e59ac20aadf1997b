"""Prints a table as Markdown, LaTeX (booktabs) and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from svmbench.report.tables import Cell, Row, Section, Table

_TEX = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "#": r"\#",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"$<$",
    ">": r"$>$",
    "≥": r"$\geq$",
    "≤": r"$\leq$",
    "∞": r"$\infty$",
    "λ": r"$\lambda$",
    "ε": r"$\varepsilon$",
    "†": r"$\dagger$",
    "×": r"$\times$",
    "−": "$-$",
    "–": "--",
}
_TEXT_COLUMNS = 2

#: Characters of a Markdown table's row beyond which it would be broken in a terminal.
_WIDEST = 120


def to_markdown(table: Table) -> str:
    """The table as Markdown whose columns also line up in a terminal."""
    parts = [f"# {_plain(table.title)}", *map(_plain, table.header)]
    parts += [f"> **Note:** {_plain(warning)}" for warning in table.warnings]
    for section in table.sections:
        parts += [f"## {_plain(section.heading)}", section.facts, *_markdown_grids(section)]
    parts.append("\n".join(f"- {_plain(note)}" for note in table.notes))
    return "\n\n".join(parts) + "\n"


def to_latex(table: Table) -> str:
    r"""The table as one ``table`` environment a data set; needs ``\usepackage{booktabs}``."""
    lines = [r"% \usepackage{booktabs}"]
    for section in table.sections:
        lines += ["", *_latex_section(table, section)]
    return "\n".join(lines) + "\n"


def to_csv(table: Table) -> str:
    """The table's numbers with all their digits, one row a cell; unknown fields are empty."""
    return str(table.records.to_csv(index=False, lineterminator="\n"))


def _markdown_grids(section: Section) -> Iterator[str]:
    """The section's rows, with columns that do not fit beside the others in a grid below."""
    rows = [tuple(_markdown(Cell(name)) for name in section.columns)]
    rows += [tuple(map(_markdown, row.cells)) for row in section.rows]
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    for number, columns in enumerate(_fitting(widths)):
        grid = [tuple(row[at] for at in columns) for row in rows]
        if number:
            grid = [grid[0], *_with_content(grid[1:])]
        kept = [widths[at] for at in columns]
        rule = tuple(
            "-" * width if at < _TEXT_COLUMNS else "-" * (width - 1) + ":"
            for at, width in enumerate(kept)
        )
        yield "\n".join(_markdown_line(row, kept) for row in [grid[0], rule, *grid[1:]])


def _with_content(rows: Sequence[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """Rows that say something, each with the lambda of those it belongs to."""
    written = ""
    for row in rows:
        written = row[0] or written
        if any(row[_TEXT_COLUMNS:]):
            yield (written, *row[1:])
            written = ""


def _fitting(widths: Sequence[int]) -> list[list[int]]:
    """Positions of the columns of each grid: those of text, and as many others as fit."""
    texts = list(range(_TEXT_COLUMNS))
    grids = [list(texts)]
    for at in range(_TEXT_COLUMNS, len(widths)):
        wide = sum(widths[other] + 3 for other in [*grids[-1], at]) + 1 > _WIDEST
        if wide and len(grids[-1]) > _TEXT_COLUMNS:
            grids.append(list(texts))
        grids[-1].append(at)
    return grids


def _markdown_line(fields: tuple[str, ...], widths: list[int]) -> str:
    padded = [
        field.ljust(width) if at < _TEXT_COLUMNS else field.rjust(width)
        for at, (field, width) in enumerate(zip(fields, widths, strict=True))
    ]
    return f"| {' | '.join(padded)} |"


def _markdown(cell: Cell) -> str:
    text = _plain(cell.text)
    return f"**{text}**" if cell.best else text


def _plain(text: str) -> str:
    """Text that Markdown prints as it stands: labels are the user's and may hold anything."""
    return re.sub(r"([|*<`\\])", r"\\\1", text)


def _latex_section(table: Table, section: Section) -> list[str]:
    alignment = "l" * _TEXT_COLUMNS + "r" * (len(section.columns) - _TEXT_COLUMNS)
    remarks = [*table.header, *table.warnings, *table.notes]
    return [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{_latex(f'{table.title}. {section.heading}: {section.facts}')}.}}",
        rf"\begin{{tabular}}{{{alignment}}}",
        r"\toprule",
        " & ".join(map(_latex, section.columns)) + r" \\",
        *_latex_rows(section.rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\par\medskip\footnotesize\raggedright",
        *map(_latex_sentence, remarks),
        r"\end{table}",
    ]


def _latex_rows(rows: tuple[Row, ...]) -> list[str]:
    lines = []
    for row in rows:
        if row.opens:
            lines.append(r"\midrule")
        fields = (
            rf"\textbf{{{_latex(cell.text)}}}" if cell.best else _latex(cell.text)
            for cell in row.cells
        )
        lines.append(" & ".join(fields) + r" \\")
    return lines


def _latex_sentence(text: str) -> str:
    return _latex(text if text.endswith(".") else f"{text}.")


def _latex(text: str) -> str:
    return "".join(_TEX.get(letter, letter) for letter in text)
