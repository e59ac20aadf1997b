"""Plain text in columns: the same on a terminal, in a pipe and in a file."""

from __future__ import annotations

from collections.abc import Sequence


def align(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Lines of left-aligned columns two spaces apart, below a header.

    Parameters
    ----------
    header : sequence of str
    rows : sequence of sequences of str
        Each as long as the header.
    """
    table = [list(header), *(list(row) for row in rows)]
    widths = [max(len(row[column]) for row in table) for column in range(len(header))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in table
    )
