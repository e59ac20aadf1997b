"""Prints tables as Markdown, LaTeX (booktabs) and CSV, and writes them to files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from svmbench.durable import write_text
from svmbench.report.table import Row, Section, Table, TableCell

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
    "|": r"\textbar{}",
    "≥": r"$\geq$",
    "·": r"$\cdot$",
    "—": "---",
    "…": r"\ldots{}",
    "“": "``",
    "”": "''",
    "’": "'",
    "½": r"$\frac12$",
    "ℓ": r"$\ell$",
    "√": r"$\surd$",
    "²": r"$^2$",
    "≤": r"$\leq$",
    "∞": r"$\infty$",
    "λ": r"$\lambda$",  # whose name in Unicode is lamda
    "Λ": r"$\Lambda$",
    "ε": r"$\varepsilon$",
    "†": r"$\dagger$",
    "×": r"$\times$",
    "−": "$-$",
    "–": "--",
}

#: Combining accents and the commands that set them.
_ACCENTS = {
    "\u0300": "`", "\u0301": "'", "\u0302": "^", "\u0303": "~", "\u0308": '"', "\u030c": "v",
    "\u0327": "c",
}  # fmt: skip

#: Greek letters for which LaTeX has commands; the other capitals look like Latin letters.
_GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa", "mu"),
    *("nu", "xi", "pi", "rho", "sigma", "tau", "upsilon", "phi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Xi", "Pi", "Sigma", "Upsilon", "Phi", "Psi", "Omega"),
)

#: Width in characters beyond which a row of a Markdown table would be wrapped in a terminal, and a
#: row of a LaTeX table would leave the page.
_WIDEST, _WIDEST_PRINTED = 120, 84


def write_tables(
    tables: Sequence[Table], folder: Path, suffixes: Sequence[str] = ("md", "csv", "tex")
) -> list[Path]:
    """Write each table to ``folder/KIND.SUFFIX``, and return the paths."""
    renderers = {"md": to_markdown, "csv": to_csv, "tex": to_latex}
    written = []
    for table in tables:
        for suffix in suffixes:
            path = folder / f"{table.kind}.{suffix}"
            write_text(path, renderers[suffix](table))
            written.append(path)
    return written


def to_markdown(table: Table) -> str:
    """The table as Markdown with columns that also line up in a terminal."""
    parts = [f"# {_escaped(table.title)}", *map(_escaped, table.header)]
    parts += [f"> **Note:** {_escaped(warning)}" for warning in table.warnings]
    for section in table.sections:
        parts += [f"## {_escaped(section.heading)}", section.facts, *_markdown_grids(section)]
    parts.append("\n".join(f"- {_escaped(note)}" for note in table.notes))
    return "\n\n".join(parts) + "\n"


def to_latex(table: Table) -> str:
    r"""The table as one ``table`` environment per data set; needs ``\usepackage{booktabs}``."""
    lines = [r"% \usepackage{booktabs}"]
    for section in table.sections:
        lines += ["", *_latex_section(table, section)]
    return "\n".join(lines) + "\n"


def to_csv(table: Table) -> str:
    """The table's numbers with all their digits, one row per cell; unknown fields are empty."""
    return str(table.records.to_csv(index=False, lineterminator="\n"))


def _markdown_grids(section: Section) -> Iterator[str]:
    """The section's rows; columns that do not fit go into a grid below."""
    texts = section.texts
    rows = [tuple(_markdown(TableCell(name)) for name in _full_names(section))]
    rows += [tuple(map(_markdown, row.cells)) for row in section.rows]
    widths = [max(3, *map(len, column)) for column in zip(*rows, strict=True)]
    for number, columns in enumerate(_fitting(widths, _units(section), _WIDEST)):
        grid = [tuple(row[at] for at in columns) for row in rows]
        if number:
            grid = [grid[0], *_with_content(grid[1:], texts)]
        kept = [widths[at] for at in columns]
        rule = tuple(
            "-" * width if at < texts else "-" * (width - 1) + ":" for at, width in enumerate(kept)
        )
        yield "\n".join(_markdown_line(row, kept, texts) for row in [grid[0], rule, *grid[1:]])


def _full_names(section: Section) -> list[str]:
    """Names of the columns; the first below a heading carries it, the others continue it."""
    names = list(section.columns)
    for (heading, _), unit in zip(section.spans, _units(section), strict=False):
        first, *others = unit
        names[first] = ": ".join(filter(None, (heading, names[first])))
        for at in others:
            names[at] = f"… {names[at]}"
    return names


def _units(section: Section) -> list[list[int]]:
    """Positions of the columns of numbers that stay together: those below one heading."""
    units, first = [], section.texts
    widths = [width for _, width in section.spans] or [1] * (len(section.columns) - section.texts)
    for width in widths:
        units.append(list(range(first, first + width)))
        first += width
    return units


def _with_content(rows: Sequence[tuple[str, ...]], texts: int) -> Iterator[tuple[str, ...]]:
    """Rows that are not empty, each with the lambda it belongs to."""
    written = ""
    for row in rows:
        written = row[0] or written
        if any(row[texts:]):
            yield (written, *row[1:])
            written = ""


def _fitting(widths: Sequence[int], units: Sequence[list[int]], widest: int) -> list[list[int]]:
    """Positions of the columns of each grid: those of text, and as many units as fit."""
    texts = list(range(units[0][0])) if units else list(range(len(widths)))
    grids = [list(texts)]
    for unit in units:
        wide = sum(widths[other] + 3 for other in [*grids[-1], *unit]) + 1 > widest
        if wide and len(grids[-1]) > len(texts):
            grids.append(list(texts))
        grids[-1] += unit
    return grids


def _markdown_line(fields: tuple[str, ...], widths: list[int], texts: int) -> str:
    padded = [
        field.ljust(width) if at < texts else field.rjust(width)
        for at, (field, width) in enumerate(zip(fields, widths, strict=True))
    ]
    return f"| {' | '.join(padded)} |"


def _markdown(cell: TableCell) -> str:
    text = _escaped(cell.text)
    return f"**{text}**" if cell.best else text


def _escaped(text: str) -> str:
    """Text that Markdown prints literally: labels are the user's and may contain anything."""
    return re.sub(r"([|*<`\\])", r"\\\1", text)


def _latex_section(table: Table, section: Section) -> list[str]:
    remarks = [*table.header, *table.warnings, *table.notes]
    return [
        r"\begin{table}",
        r"\centering\small",
        rf"\caption{{{latex_text(f'{table.title}. {section.heading}: {section.facts}')}.}}",
        *_latex_grids(section),
        r"\par\medskip\footnotesize\raggedright",
        *map(_latex_sentence, remarks),
        r"\end{table}",
    ]


def _latex_grids(section: Section) -> Iterator[str]:
    """One tabular; groups of columns that are too wide together go below each other."""
    grids = [list(range(len(section.columns)))]
    if section.spans:
        rows = [section.columns, *(tuple(cell.text for cell in row.cells) for row in section.rows)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        grids = _fitting(widths, _units(section), _WIDEST_PRINTED)
    for number, columns in enumerate(grids):
        if number:
            yield r"\par\medskip"
        alignment = "l" * section.texts + "r" * (len(columns) - section.texts)
        yield rf"\begin{{tabular}}{{{alignment}}}"
        yield r"\toprule"
        yield from _latex_spans(section, columns)
        yield " & ".join(latex_text(section.columns[at]) for at in columns) + r" \\"
        yield from _latex_rows(section.rows, columns)
        yield r"\bottomrule"
        yield r"\end{tabular}"


def _latex_spans(section: Section, columns: Sequence[int]) -> Iterator[str]:
    """The headings above the columns, and the rules below them."""
    fields, rules = [""] * section.texts, []
    first = section.texts + 1
    for (heading, width), unit in zip(section.spans, _units(section), strict=False):
        if unit[0] in columns:
            fields.append(rf"\multicolumn{{{width}}}{{c}}{{{latex_text(heading)}}}")
            rules.append(rf"\cmidrule(lr){{{first}-{first + width - 1}}}")
            first += width
    if section.spans:
        yield " & ".join(fields) + r" \\"
        yield " ".join(rules)


def _latex_rows(rows: tuple[Row, ...], columns: Sequence[int]) -> Iterator[str]:
    for row in rows:
        if row.opens:
            yield r"\midrule"
        cells = [row.cells[at] for at in columns]
        fields = (
            rf"\textbf{{{latex_text(cell.text)}}}" if cell.best else latex_text(cell.text)
            for cell in cells
        )
        yield " & ".join(fields) + r" \\"


def _latex_sentence(text: str) -> str:
    return latex_text(text if text.endswith(".") else f"{text}.")


def latex_text(text: str) -> str:
    """Text that LaTeX prints literally, in ASCII."""
    return "".join(_TEX.get(letter) or _tex_letter(letter) for letter in text)


def _tex_letter(letter: str) -> str:
    """A letter in ASCII: Greek by its name, others with their accents; ? for what has no such form.

    Some stand for others, such as a raised figure, or a wide per cent sign.
    """
    if letter.isascii():
        return letter
    greek = re.fullmatch(r"GREEK (SMALL|CAPITAL) LETTER (\w+)", unicodedata.name(letter, ""))
    if greek is not None:
        name = greek[2].lower() if greek[1] == "SMALL" else greek[2].capitalize()
        return rf"$\{name}$" if name in _GREEK else "?"
    plain = unicodedata.normalize("NFKD", letter)
    if plain.isascii():
        place = {"<super>": "^", "<sub>": "_"}.get(unicodedata.decomposition(letter).split()[0])
        return latex_text(plain) if place is None else rf"${place}{{{latex_text(plain)}}}$"
    base, *marks = list(plain)
    for mark in marks:
        base = rf"\{_ACCENTS[mark]}{{{base}}}" if mark in _ACCENTS else base
    return base if base.isascii() and all(map(unicodedata.combining, marks)) else "?"
