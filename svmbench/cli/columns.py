"""Plain text in columns: the same on a terminal, in a pipe and in a file."""

from __future__ import annotations

from collections.abc import Sequence

#: Most characters in a line of prose.
WIDTH = 88

#: Blanks that Python does not count as printable, and that do nothing to a terminal.
_BLANKS = "\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}"


def printable(text: str) -> str:
    """A text with escapes in place of characters that a terminal would obey.

    Names and labels of another's files can contain anything.
    """
    return "".join(c if c.isprintable() or c in _BLANKS else repr(c).strip("'") for c in text)


def align(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of left-aligned columns two spaces apart, below a header."""
    table = [[printable(cell) for cell in row] for row in (header, *rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )
