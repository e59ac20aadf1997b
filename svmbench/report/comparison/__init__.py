"""Compares results case by case: two folders, or two labels of one folder.

A case is a data set, a λ, an accuracy and a label. Its repeats are paired by their number, which
identifies their seed, and all cases are judged together.
"""

from svmbench.report.comparison.compare import compare
from svmbench.report.comparison.model import ComparedCase, Comparison, Side
from svmbench.report.comparison.text import HEADER, rows, summary, title, to_json

__all__ = [
    "HEADER",
    "ComparedCase",
    "Comparison",
    "Side",
    "compare",
    "rows",
    "summary",
    "title",
    "to_json",
]
