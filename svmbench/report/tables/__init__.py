"""The tables of a report: the cost of each accuracy, and the objective at the stop."""

from __future__ import annotations

from svmbench.records.read import Results
from svmbench.report.table import Table
from svmbench.report.tables.accuracy import COUNTED, accuracy_table
from svmbench.report.tables.objective import objective_table


def build_tables(results: Results) -> list[Table]:
    """Build the tables the sweep asks for."""
    return [
        accuracy_table(results, kind) if kind in COUNTED else objective_table(results, kind)
        for kind in results.tables
        if kind == "objective" or results.accuracies
    ]
