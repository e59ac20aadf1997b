"""Compares results cell by cell: two folders, or two labels of one folder.

A cell is a data set, a λ, an accuracy and a label. Its repeats are paired by their number, which
identifies their seed, and all cells are judged together.
"""

from svmbench.report.comparison.compare import compare
from svmbench.report.comparison.model import ComparedCell, Comparison, Side
from svmbench.report.comparison.text import HEADER, rows, summary, title, to_json, to_markdown

__all__ = [
    "HEADER",
    "ComparedCell",
    "Comparison",
    "Side",
    "compare",
    "rows",
    "summary",
    "title",
    "to_json",
    "to_markdown",
]
