"""The tables of a benchmark, by subject."""

from __future__ import annotations

from svmbench.bench.found import Found
from svmbench.bench.tables.ratios import ahead_table, ratios_table
from svmbench.bench.tables.seconds import fastest_table, seconds_table
from svmbench.report.table import Table


def build_tables(found: Found, threshold: float) -> list[Table]:
    """Every table that has something to show, who is fastest first.

    - ``threshold``: the evidence that decides a question of the page.
    """
    tables = [
        fastest_table(found, threshold),
        ahead_table(found, threshold),
        ratios_table(found, threshold),
        seconds_table(found),
    ]
    return [table for table in tables if table.sections]
