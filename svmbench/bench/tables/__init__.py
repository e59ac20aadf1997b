"""The tables of a benchmark, by subject."""

from __future__ import annotations

from svmbench.bench.bounds import JudgedBounds
from svmbench.bench.found import Found
from svmbench.bench.tables.bounds import bounds_table
from svmbench.bench.tables.ratios import ahead_table, ratios_table
from svmbench.bench.tables.seconds import fastest_table, seconds_table, self_stopped_table
from svmbench.report.table import Table


def build_tables(found: Found, judged: JudgedBounds) -> list[Table]:
    """Every table that has something to show; who is fastest first, our own bounds last."""
    tables = [
        fastest_table(found, judged.threshold),
        ahead_table(found, judged.threshold),
        ratios_table(found, judged.threshold),
        seconds_table(found),
        self_stopped_table(found),
        bounds_table(judged.results),
    ]
    return [table for table in tables if table.sections]
