"""Prints tables as Markdown, LaTeX (booktabs) and CSV, and writes them to files."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from svmbench.durable import write_text
from svmbench.report.table import Row, Section, Table, TableCell

_GREEK = (
    *("alpha", "beta", "gamma", "delta", "eta", "theta", "kappa", "mu", "nu", "pi", "rho"),
    *("sigma", "tau", "phi", "omega"),
)

#: What LaTeX prints of characters that it does not print as they are.
_TEX = {
    **{letter: f"\\{letter}" for letter in "{}#$%&_"},
    **{"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"},
    **{"<": "$<$", ">": "$>$", "|": r"\textbar{}", "≥": r"$\geq$", "≤": r"$\leq$", "·": r"$\cdot$"},
    **{"—": "---", "–": "--", "…": r"\ldots{}", "“": "``", "”": "''", "’": "'", "−": "$-$"},
    **{"½": r"$\frac12$", "ℓ": r"$\ell$", "√": r"$\surd$", "²": "$^2$", "∞": r"$\infty$"},
    **{letter: rf"$\{name}$" for letter, name in zip("αβγδηθκμνπρστφω", _GREEK, strict=True)},
    **{"λ": r"$\lambda$", "ε": r"$\varepsilon$", "†": r"$\dagger$", "×": r"$\times$"},
}


def write_tables(
    tables: Sequence[Table], folder: Path, suffixes: Sequence[str] = ("md", "csv", "tex")
) -> list[Path]:
    renderers = {"md": to_markdown, "csv": to_csv, "tex": to_latex}
    written = []
    for table in tables:
        for suffix in suffixes:
            path = folder / f"{table.kind}.{suffix}"
            write_text(path, renderers[suffix](table))
            written.append(path)
    return written


def to_csv(table: Table) -> str:
    """The table's numbers with all their digits, one row per cell; unknown fields are empty."""
    return str(table.records.to_csv(index=False, lineterminator="\n"))


def to_markdown(table: Table) -> str:
    """The table as Markdown with columns that also line up in a terminal."""
    parts = [f"# {_escaped(table.title)}", *map(_escaped, table.header)]
    parts += [f"> **Note:** {_escaped(warning)}" for warning in table.warnings]
    for section in table.sections:
        grid = markdown_grid(full_names(section), section.rows, section.texts)
        parts += [f"## {_escaped(section.heading)}", section.facts, grid]
    parts.append("\n".join(f"- {_escaped(note)}" for note in table.notes))
    return "\n\n".join(parts) + "\n"


def markdown_grid(names: Sequence[str], rows: Sequence[Row], texts: int) -> str:
    """Names of columns and rows, the first columns to the left."""
    lines = [[*map(_escaped, names)], *([_markdown(cell) for cell in row.cells] for row in rows)]
    widths = [max(3, *map(len, column)) for column in zip(*lines, strict=True)]
    rule = ["-" * width for width in widths[:texts]]
    lines.insert(1, rule + ["-" * (width - 1) + ":" for width in widths[texts:]])
    sides = "<" * texts + ">" * (len(widths) - texts)
    padded = [
        [f"{text:{side}{width}}" for text, side, width in zip(line, sides, widths, strict=True)]
        for line in lines
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in padded)


def full_names(section: Section) -> list[str]:
    """Names of the columns, each with the heading above it."""
    names, first = list(section.columns), section.texts
    for heading, width in section.spans:
        for at in range(first, first + width):
            names[at] = ": ".join(filter(None, (heading, names[at])))
        first += width
    return names


def _markdown(cell: TableCell) -> str:
    text = _escaped(cell.text)
    return f"**{text}**" if cell.best else text


def _escaped(text: str) -> str:
    """Text that Markdown prints literally: labels are the user's and may contain anything."""
    return re.sub(r"([|*<`\\])", r"\\\1", text)


def to_latex(table: Table) -> str:
    """The table as one ``table`` environment per data set; needs booktabs and graphicx."""
    lines = [r"% \usepackage{booktabs, graphicx}"]
    for section in table.sections:
        caption = f"{table.title}. {section.heading}: {section.facts}"
        remarks = [*table.header, *table.warnings, *table.notes]
        grid = latex_grid(full_names(section), section.rows, section.texts)
        lines += ["", *latex_table(caption, grid, [f"{each.rstrip('.')}." for each in remarks])]
    return "\n".join(lines) + "\n"


def latex_table(caption: str, grid: str, remarks: Sequence[str] = ()) -> Iterator[str]:
    yield r"\begin{table}"
    yield r"\centering\footnotesize\setlength{\tabcolsep}{3pt}\setlength{\belowcaptionskip}{4pt}"
    yield rf"\caption{{{latex_text(caption)}.}}"
    yield grid
    if remarks:
        yield r"\par\medskip\raggedright"
        yield from map(latex_text, remarks)
    yield r"\end{table}"


def latex_grid(
    names: Sequence[str], rows: Sequence[Row], texts: int, most: str = r"\columnwidth"
) -> str:
    """Names of columns and rows, shrunk to a width if they are wider."""
    lines = [
        rf"\resizebox{{\ifdim\width>{most} {most}\else\width\fi}}{{!}}{{%",
        rf"\begin{{tabular}}{{@{{}}{'l' * texts}{'r' * (len(names) - texts)}@{{}}}}",
        r"\toprule",
        " & ".join(map(latex_text, names)) + r" \\",
    ]
    for at, row in enumerate(rows):
        if row.opens or at == 0:
            lines.append(r"\midrule")
        fields = [latex_text(cell.text) for cell in row.cells]
        bold = [
            rf"\textbf{{{field}}}" if cell.best else field
            for field, cell in zip(fields, row.cells, strict=True)
        ]
        # After a line's end, LaTeX takes a bracket or a star for an argument.
        lines.append("{}" * bold[0].startswith(("[", "*")) + " & ".join(bold) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}}"])


def latex_text(text: str) -> str:
    """Text that LaTeX prints literally; ? for signs that it does not know."""
    return "".join(_TEX.get(letter) or _letter(letter) for letter in text)


def _letter(letter: str) -> str:
    """LaTeX reads Latin letters with their accents; raised and lowered signs get their place."""
    plain = unicodedata.normalize("NFKD", letter)
    if letter.isascii():
        return letter
    if plain in _TEX:
        return _TEX[plain]
    if plain.isascii():
        place = {"<super>": "^", "<sub>": "_"}.get(unicodedata.decomposition(letter).split()[0])
        return latex_text(plain) if place is None else rf"${place}{{{latex_text(plain)}}}$"
    return letter if plain[0].isascii() and letter.isalpha() else "?"
